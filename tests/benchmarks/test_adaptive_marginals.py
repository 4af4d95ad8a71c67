"""The peer spends its price, no more, and with little noise its rows are near the data."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.adaptive_marginals import Spending, adaptive_marginals

GENERATOR = np.random.default_rng(3)
FIRST = GENERATOR.integers(0, 4, 5000)
ROWS = np.column_stack([FIRST, FIRST, (FIRST + (GENERATOR.random(5000) < 0.2)) % 4])


@pytest.mark.parametrize("annealed", [0, 2])
def test_all_rounds_together_cost_the_price(annealed: int) -> None:
    spending, rounds = Spending(0.05, 4), 0
    for _ in range(annealed):
        spending.anneal()
    while not spending.over:
        spending.finish()
        spending.used += spending.round
        rounds += 1
    assert spending.used == pytest.approx(0.05, rel=1e-9)
    assert 1 <= rounds <= 64 / 4**annealed + 3


@pytest.mark.slow
def test_rows_are_near_the_data() -> None:
    pytest.importorskip("mbi", reason="needs the extra synth")
    drawn = adaptive_marginals(ROWS, [4, 4, 4], rho=0.1)
    assert drawn.shape == ROWS.shape
    assert np.mean(drawn[:, 0] == drawn[:, 1]) > 0.95
    assert np.mean(drawn[:, 0] == drawn[:, 2]) == pytest.approx(np.mean(ROWS[:, 0] == ROWS[:, 2]), abs=0.05)
