"""Joined cells: how far one unit moves what is looked at, and that what is chosen is right where there is no noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sitr.neighbors.distance import Distance
from sitr.questions.histogram.buckets import bin_scores, cut, deviation, deviation_distance, deviations, heights, spread

ONE = Distance(l1=1, l2_squared=1, largest=1)


@pytest.mark.parametrize("cells", [2, 3, 4, 5, 8])
def test_no_step_of_one_count_moves_deviations_farther_than_is_said(cells: int) -> None:
    """Every table of small counts, every neighbour; and the bound is reached up to the rounding of means."""
    l1, squares = deviation_distance(cells, moved=ONE)
    scale, farthest, longest = 2 ** heights(cells), Fraction(0), Fraction(0)
    values = range(3) if cells <= 4 else (0, 3)
    for counts in product(values, repeat=cells):
        before = np.concatenate(deviations(np.array(counts)))
        for place in range(cells):
            more = np.array(counts)
            more[place] += 1
            moved: np.ndarray = np.abs(np.concatenate(deviations(more)) - before)  # type: ignore[operator]
            farthest = max(farthest, Fraction(int(moved.sum()), scale))
            longest = max(longest, Fraction(int((moved**2).sum()), scale**2))
    assert farthest <= l1
    assert longest <= squares
    assert farthest >= l1 / 2  # a bound that is far from any table would waste the budget


@pytest.mark.parametrize("bins", [(1, 2, 4, 8)])
def test_no_step_of_one_count_moves_a_score_by_2(bins: tuple[int, ...]) -> None:
    farthest = Fraction(0)
    for counts in product((0, 2), repeat=8):
        before = bin_scores(np.array(counts), bins=bins, mean_noise=Fraction(3))
        for place in range(8):
            more = np.array(counts)
            more[place] += 1
            after = bin_scores(more, bins=bins, mean_noise=Fraction(3))
            farthest = max(farthest, *(abs(a - b) for a, b in zip(after, before, strict=True)))
    assert Fraction(3, 2) < farthest < 2


def test_large_counts_do_not_overflow() -> None:
    counts = np.array([2**60, 0, 2**60, 0])
    assert deviation(counts, width=4).tolist() == [4 * 2 * 2**60]
    assert [int(number) for level in deviations(counts) for number in level] == [2**62, 2**62, 2**63]


def test_without_noise_alike_cells_are_joined_and_others_are_not() -> None:
    counts = np.array([5, 5, 5, 5, 90, 0, 7, 7, 3])
    starts = cut([level.astype(float) for level in deviations(counts)], cells=9, mean_noise=1.0)
    assert starts.tolist() == [0, 4, 5, 6, 8]


@pytest.mark.parametrize("cells", [2, 5, 8, 11])
def test_the_cut_is_the_best_of_all_dyadic_cuts(cells: int) -> None:
    counts = np.random.default_rng(cells).integers(0, 9, cells)
    levels, top = deviations(counts), heights(cells)
    starts = cut([level.astype(float) for level in levels], cells=cells, mean_noise=2.5)

    def dyadic(first: int, height: int) -> list[list[tuple[int, int]]]:
        if first >= cells:
            return [[]]
        whole = [[(first, height)]]
        if height == 0:
            return whole
        left, right = dyadic(first, height - 1), dyadic(first + 2 ** (height - 1), height - 1)
        return whole + [a + b for a in left for b in right]

    def cost(stretches: list[tuple[int, int]]) -> float:
        own = [levels[h - 1][first >> h] / 2**top if h else 0.0 for first, h in stretches]
        return float(sum(own)) + 2.5 * len(stretches)

    every = {tuple(first for first, _ in one): cost(one) for one in dyadic(0, top)}
    assert every[tuple(starts.tolist())] == pytest.approx(min(every.values()))


def test_one_cell_has_nothing_to_join() -> None:
    assert heights(1) == 0
    assert deviations(np.array([4])) == []
    assert cut([], cells=1, mean_noise=1.0).tolist() == [0]


def test_sums_are_spread_evenly() -> None:
    assert spread(np.array([6.0, 1.0]), np.array([0, 3]), cells=4).tolist() == [2.0, 2.0, 2.0, 1.0]
