"""The benchmark of tables runs, and finds less error than equal shares."""

from __future__ import annotations

import pytest

from benchmarks.tables import measured, question


@pytest.mark.parametrize("replaced", [False, True])
def test_small_tables_are_measured(replaced: bool) -> None:
    found = measured(question(4, 3, (1, 2), replaced=replaced), 500)
    assert found["tables"] == 10
    assert found["cells"] == 4 * 3 + 6 * 9
    assert found["largest error"] < found["error of equal shares"]
    assert found["above the optimum, %"] <= 1
