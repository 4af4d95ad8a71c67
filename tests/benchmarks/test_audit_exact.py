"""The benchmark of exact verification measures what it claims to measure. No times are compared."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.audit_exact import CASES, MOST, Row, measured, rows_table, targets


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_measured(case: str) -> None:
    row = measured(case, size=12, repeat=1)
    assert row.seconds > 0
    assert 0 < row.mu
    assert row.rho <= row.epsilon**2 / 2 * (1 + 1e-4)
    assert np.allclose(CASES[case](12).sum(axis=1), 1)


def test_targets_pass_and_fail() -> None:
    assert [one.verdict for one in targets([Row("a", MOST / 2, 1, 1, 1)])] == ["pass"]
    assert [one.verdict for one in targets([Row("a", MOST / 2, 1, 1, 1), Row("b", MOST * 2, 1, 1, 1)])] == ["FAIL"]
    assert rows_table([Row("a", 1, 1, 1, 1)]).row_count == 1
