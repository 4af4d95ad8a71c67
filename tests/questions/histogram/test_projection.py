"""Projections onto counts that can be: against brute force, against solvers, and at the ends of what may be given."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, milp, minimize

from sitr.errors import QuestionError
from sitr.questions.histogram.projection import Ties, lattice, nonnegative, simplex

NUMBERS = (-1.5, -1.0, 0.0, 0.25, 0.5, 1.0, 1.75, 3.0)
each_rule = pytest.mark.parametrize("ties", Ties, ids=lambda ties: ties.value)


def compositions(total: int, cells: int) -> np.ndarray:
    """All whole counts of so many cells with this total."""
    return np.array([c for c in product(range(total + 1), repeat=cells) if sum(c) == total])


@each_rule
@pytest.mark.parametrize("total", range(6))
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_the_lattice_point_is_as_near_as_any_other(cells: int, total: int, ties: Ties) -> None:
    every = compositions(total, cells)
    for noisy in product(NUMBERS, repeat=cells):
        y = np.array(noisy)
        found = lattice(y, total=total, ties=ties)
        assert found.dtype == np.int64
        assert found.sum() == total
        assert (found >= 0).all()
        assert np.abs(found - y).sum() == pytest.approx(np.abs(every - y).sum(axis=1).min(), abs=1e-12)


def test_brute_force_would_catch_what_is_left_over_in_the_largest_cell() -> None:
    """A broken twin: to round down and give the rest to the largest cell is not the nearest point."""
    y, total = np.array([0.9, 0.9, 3.0]), 4
    broken = np.array([0, 0, 4])
    nearest = np.abs(compositions(total, 3) - y).sum(axis=1).min()
    assert np.abs(broken - y).sum() > nearest
    assert np.abs(lattice(y, total=total, ties=Ties.DROP_SMALLEST) - y).sum() == pytest.approx(nearest)


@each_rule
@pytest.mark.parametrize("seed", range(12))
def test_the_lattice_point_costs_what_an_integer_programme_finds(seed: int, ties: Ties) -> None:
    """min Σt with t ≥ ±(c − y), c whole, c ≥ 0, Σc = n."""
    chance = np.random.default_rng(seed)
    cells, total = int(chance.integers(2, 12)), int(chance.integers(0, 30))
    y = chance.laplace(total / cells, 3.0, cells)
    eye, one = np.eye(cells), np.ones(cells)
    far = LinearConstraint(np.block([[eye, -eye], [-eye, -eye]]), ub=np.concatenate([y, -y]))
    summed = LinearConstraint(np.concatenate([one, 0 * one])[None, :], total, total)
    whole = np.concatenate([one, 0 * one])
    solved = milp(np.concatenate([0 * one, one]), constraints=[far, summed], integrality=whole)
    assert np.abs(lattice(y, total=total, ties=ties) - y).sum() == pytest.approx(solved.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_without_whole_numbers_nothing_is_nearer_by_more_than_rounding(seed: int) -> None:
    """The linear programme without integrality bounds the cost from below, and from above but for one unit per cell."""
    chance = np.random.default_rng(seed)
    y = chance.laplace(2.0, 2.0, 40)
    eye, one = np.eye(40), np.ones(40)
    solved = linprog(
        np.concatenate([0 * one, one]),
        A_ub=np.block([[eye, -eye], [-eye, -eye]]),
        b_ub=np.concatenate([y, -y]),
        A_eq=np.concatenate([one, 0 * one])[None, :],
        b_eq=[70],
    )
    cost = np.abs(lattice(y, total=70, ties=Ties.SOFT_THRESHOLD) - y).sum()
    assert solved.fun - 1e-6 <= cost <= solved.fun + 40


@each_rule
@given(
    noisy=st.lists(st.integers(-50, 50) | st.floats(-50, 50), min_size=1, max_size=30),
    total=st.integers(0, 2_000),
)
def test_every_rule_gives_counts_of_the_total(noisy: list[float], total: int, ties: Ties) -> None:
    y = np.array(noisy, np.float64)
    found = lattice(y, total=total, ties=ties)
    assert found.sum() == total
    assert (found >= 0).all()
    ups, downs = found > np.maximum(0, np.ceil(y)), found < np.maximum(0, np.floor(y))
    assert not (ups.any() and downs.any())  # one unit moved from the one to the other would be nearer


def test_rules_do_what_they_are_called() -> None:
    y = np.array([2, 7, 1, 4])
    assert lattice(y, total=9, ties=Ties.BY_INDEX).tolist() == [2, 7, 0, 0]
    assert lattice(y, total=9, ties=Ties.DROP_SMALLEST).tolist() == [0, 7, 0, 2]
    assert lattice(y, total=10, ties=Ties.SOFT_THRESHOLD).tolist() == [1, 6, 0, 3]
    assert lattice(y, total=7, ties=Ties.PROPORTIONAL).tolist() == [1, 4, 0, 2]
    assert lattice(y, total=20, ties=Ties.BY_INDEX).tolist() == [8, 7, 1, 4]
    assert lattice(y, total=18, ties=Ties.SOFT_THRESHOLD).tolist() == [3, 8, 2, 5]
    assert lattice(y, total=28, ties=Ties.DROP_SMALLEST).tolist() == [4, 14, 2, 8]
    assert lattice(np.zeros(3), total=7, ties=Ties.DROP_SMALLEST).tolist() == [3, 2, 2]


@pytest.mark.parametrize("seed", range(8))
def test_the_simplex_point_is_the_nearest_in_euclidean_length(seed: int) -> None:
    chance = np.random.default_rng(seed)
    y, total = chance.normal(1.0, 3.0, 6), 9.0
    found = simplex(y, total=total)
    solved = minimize(
        lambda c: ((c - y) ** 2).sum(),
        np.full(6, total / 6),
        jac=lambda c: 2 * (c - y),
        bounds=[(0, None)] * 6,
        constraints=[{"type": "eq", "fun": lambda c: c.sum() - total}],
        tol=1e-12,
    )
    assert found.sum() == pytest.approx(total)
    assert (found >= 0).all()
    assert found == pytest.approx(solved.x, abs=1e-4)
    assert ((found - y) ** 2).sum() <= solved.fun + 1e-7


def test_ends() -> None:
    assert simplex(np.array([5.0, -1.0]), total=0).tolist() == [0.0, 0.0]
    assert simplex(np.array([-4.0]), total=3).tolist() == [3.0]
    assert nonnegative(np.array([-4, 0, 2])).tolist() == [0.0, 0.0, 2.0]
    empty = lattice(np.full(10**6, -1), total=0, ties=Ties.DROP_SMALLEST)
    assert empty.sum() == 0
    huge = lattice(np.full(1000, 1e300), total=10, ties=Ties.SOFT_THRESHOLD)
    assert huge.sum() == 10


@pytest.mark.parametrize(
    ("noisy", "total"),
    [(np.zeros(0), 1), (np.zeros((2, 2)), 1), (np.array([np.nan]), 1), (np.array([np.inf]), 1), (np.zeros(2), -1)],
)
def test_what_is_no_row_of_counts_is_refused(noisy: np.ndarray, total: int) -> None:
    with pytest.raises(QuestionError, match="vector of finite"):
        lattice(noisy, total=total, ties=Ties.BY_INDEX)
