"""Levelled laws: their mean is what is wanted, beyond chance, and they stay as near to the given ones as they can."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sitr.questions.synthetic.level import CHANCE, FEWEST, levelled

GENERATOR = np.random.default_rng(5)
LOGS = np.log(GENERATOR.dirichlet(np.full(6, 0.5), size=400) + 1e-6).astype(np.float32)
WANTED = np.array([0.3, 0.25, 0.2, 0.15, 0.09, 0.01])


def mean(logs: NDArray[np.float32]) -> NDArray[np.float64]:
    laws = np.exp(logs.astype(np.float64))
    found: NDArray[np.float64] = (laws / laws.sum(axis=1, keepdims=True)).mean(axis=0)
    return found


def test_the_mean_is_what_is_wanted() -> None:
    more = levelled(LOGS, WANTED, 1e12)
    assert abs(mean(LOGS) - WANTED).max() > 0.05
    assert mean(LOGS + more) == pytest.approx(WANTED, abs=2e-3)


def test_what_chance_explains_is_left_as_it_is() -> None:
    rows = 1_000.0
    near = mean(LOGS) + np.array([1, -1, 1, -1, 1, -1]) * 0.9 * CHANCE * np.sqrt(0.1 * 0.9 / rows)
    assert abs(levelled(LOGS, near, rows)).max() < 0.02
    assert abs(levelled(LOGS, near, 1e12)).max() > 0.05  # the broken twin knows no chance


def test_values_that_no_law_allows_stay_impossible() -> None:
    logs = LOGS.copy()
    logs[:, 0] = -np.inf
    found = mean(logs + levelled(logs, WANTED, 1e12))
    assert found[0] == 0
    assert np.isfinite(found).all()


@pytest.mark.parametrize(("laws", "rows"), [(FEWEST - 1, 1e12), (400, FEWEST - 1)])
def test_few_rows_change_nothing(laws: int, rows: float) -> None:
    assert not levelled(LOGS[:laws], WANTED, rows).any()
