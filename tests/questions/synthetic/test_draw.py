"""The law of drawn rows, by chi-square; twins with a mistake are found by the same tests."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import draw
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.draw import from_joint, from_sample
from sitr.questions.synthetic.weighted_rows import WeightedRows

RARE = 1e-7


def statistic(counts: np.ndarray, share: np.ndarray) -> float:
    expected = share * counts.sum()
    return float(((counts - expected)[share > 0] ** 2 / expected[share > 0]).sum())


def follows(counts: np.ndarray, share: np.ndarray) -> bool:
    """Neither farther from the law than chance allows, nor in a cell that it does not have."""
    return not counts[share == 0].any() and statistic(counts, share) < chi2.ppf(1 - RARE, (share > 0).sum() - 1)


def sparse(cells: int) -> np.ndarray:
    share = np.random.default_rng(1).dirichlet(np.full(cells, 0.5))
    share[[3, cells - 1]] = 0.0
    return np.asarray(share / share.sum())


def test_a_table_is_drawn_by_its_shares() -> None:
    share = sparse(50)
    counts = np.bincount(from_joint(share, 200_000, coins=TestCoins(2)), minlength=50)
    assert np.abs(counts - 200_000 * share).max() < 1 + 1e-6  # ⌊Np⌋ or ⌈Np⌉
    assert not counts[share == 0].any()
    tilted = share * np.linspace(0.9, 1.1, 50)
    broken = np.bincount(from_joint(tilted / tilted.sum(), 200_000, coins=TestCoins(2)), minlength=50)
    assert np.abs(broken - 200_000 * share).max() > 2


@pytest.mark.parametrize("rows", [1, 3])
def test_single_rows_of_a_table_have_its_law(rows: int) -> None:
    """One row of each draw: these are independent, and chi-square tells both sides."""
    share, coins = sparse(12), TestCoins(8)
    drawn = [int(from_joint(share, rows, coins=coins)[-1]) for _ in range(6_000)]
    counts = np.bincount(drawn, minlength=12)
    assert follows(counts, share)
    assert statistic(counts, share) > chi2.ppf(RARE, 9)
    assert not follows(counts, share[::-1])


def test_half_as_many_rows_as_equal_cells_are_not_every_second_cell() -> None:
    cells = from_joint(np.full(4096, 1 / 4096), 2048, coins=TestCoins(3))
    assert len(np.unique(cells)) == 2048
    assert follows(np.bincount(cells % 2, minlength=2), np.full(2, 0.5))
    assert not follows(np.bincount(np.arange(0, 4096, 2) % 2, minlength=2), np.full(2, 0.5))


def sample(rows: int = 300) -> WeightedRows:
    """Rows of three columns that depend on each other; the last one has 30 cells in 9 atoms, one cell of them empty."""
    generator = np.random.default_rng(4)
    first = generator.integers(0, 4, rows)
    second = (2 * first + generator.integers(0, 3, rows)) % 9
    third = (first + second + generator.integers(0, 4, rows)) % 9
    atoms = (np.arange(4), np.arange(9), np.sort(np.append(np.arange(9), generator.integers(0, 9, 21))))
    shares = tuple(generator.dirichlet(np.full(cells, 2.0)) for cells in (4, 9, 30))
    shares[2][5] = 0.0
    shares[2][:] /= shares[2].sum()
    codes = np.column_stack([first, second, third]).astype(np.int32)
    return WeightedRows(codes, generator.dirichlet(np.full(rows, 3.0)), atoms, shares)


def pair(rows: Codes, i: int, j: int, cells: tuple[int, int]) -> np.ndarray:
    return np.bincount(rows[:, i] * cells[1] + rows[:, j], minlength=cells[0] * cells[1])


PAIRS = ((0, 1, (4, 9)), (0, 2, (4, 30)), (1, 2, (9, 30)))


def test_a_sample_is_drawn_by_its_law() -> None:
    """Rows together stray less than independent ones, so chi-square is on the safe side; pairs show a lost order."""
    model = sample()
    rows = from_sample(model, 100_000, coins=TestCoins(5))
    for place, cells in enumerate((4, 9, 30)):
        assert follows(np.bincount(rows[:, place], minlength=cells), model.marginal(place))
    for i, j, shape in PAIRS:
        assert follows(pair(rows, i, j, shape), model.marginal(i, j).ravel())
        assert not follows(pair(rows, i, j, shape), model.marginal(i, j).ravel()[::-1])


def test_cells_in_one_order_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the cells of an atom were not shuffled, columns would depend on each other within their atoms.

    Exchanges between rows, which would repair that, have a test of their own.
    """
    monkeypatch.setattr(draw, "evened", lambda _, rows, **__: rows)
    wide = replace(sample(), atoms=(np.zeros(4, int), np.zeros(9, int), np.zeros(30, int)))
    wide = replace(wide, rows=np.zeros((1, 3), dtype=np.int32), weights=np.ones(1))
    assert follows(pair(from_sample(wide, 50_000, coins=TestCoins(5)), 0, 1, (4, 9)), wide.marginal(0, 1).ravel())
    monkeypatch.setattr(draw, "permuted", lambda size, *_, **__: np.arange(size))
    rows = from_sample(wide, 50_000, coins=TestCoins(5))
    assert follows(np.bincount(rows[:, 0], minlength=4), wide.marginal(0))
    assert not follows(pair(rows, 0, 1, (4, 9)), wide.marginal(0, 1).ravel())


def test_single_rows_have_the_law_too() -> None:
    """A row drawn by itself: here they are independent, and chi-square tells both sides."""
    model, coins = sample(), TestCoins(6)
    rows = np.vstack([from_sample(model, 1, coins=coins) for _ in range(3_000)])
    counts, share = pair(rows, 0, 1, (4, 9)), model.marginal(0, 1).ravel()
    assert follows(counts, share)
    assert statistic(counts, share) > chi2.ppf(RARE, (share > 0).sum() - 1)


def test_rows_are_spread_evenly() -> None:
    """The first column is the first in the order of the rows, and each of its atoms is one cell."""
    model = sample()
    rows = from_sample(model, 70_000, coins=TestCoins(7))
    assert np.abs(np.bincount(rows[:, 0], minlength=4) - 70_000 * model.marginal(0)).max() < 1 + 1e-6


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8])
def test_any_number_of_rows(rows: int) -> None:
    assert from_sample(sample(), rows, coins=TestCoins(1)).shape == (rows, 3)
    assert from_joint(np.array([1.0]), rows, coins=TestCoins(1)).tolist() == [0] * rows


@pytest.mark.slow
def test_a_million_rows_of_14_columns_in_five_seconds() -> None:
    generator = np.random.default_rng(4)
    rows = generator.integers(0, 60, (50_000, 14)).astype(np.int32)
    shares = tuple(generator.dirichlet(np.full(60, 0.5)) for _ in range(14))
    model = WeightedRows(rows, np.full(50_000, 1 / 50_000), (np.arange(60),) * 14, shares)
    start = time.process_time()
    from_sample(model, 1_000_000, coins=TestCoins(1))
    assert time.process_time() - start < 5
