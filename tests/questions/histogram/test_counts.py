"""Released counts: the law of their noise, the truth of their intervals, and valid output at every end."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from sitr.dataset.cells import Categories, Dates, Even, Grid, Rule, Step
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import fit
from sitr.questions.histogram.isotonic import Form
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Sparse, Tree, Unlisted
from sitr.questions.histogram.projection import Ties
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally

X, WARD, DAY = Column("x", Kind.REAL), Column("ward", Kind.TEXT), Column("day", Kind.DATE)
ONE, FLAT = PureDP(1.0), Flat()
CERTAIN = 1e-7
"""A right sampler fails a test with less than this probability."""


def grid(bins: int, missing: Rule = Rule.CELL) -> Grid:
    return Grid((Even(X, Fraction(0), Fraction(1), bins, missing=missing),))


def made(
    counts: dict[Any, Any],
    cells: Grid | Column,
    *,
    price: Kept = ONE,
    method: Method = FLAT,
    relation: Relation = Relation.ADD_REMOVE,
    rows: int | None = None,
    seed: int = 0,
) -> Histogram:
    table = Table("t", (X, WARD, DAY), Row(), relation, 1, 1)
    return release(fit(Tally.of(table, cells), price, method=method, rows=rows), counts, coins=TestCoins(seed))


QUIET: list[tuple[Additive, Method]] = [
    (PureDP(1e6), Flat()),
    (ZeroConcentratedDP(1e9), Flat()),
    (PureDP(1e6), Tree(2)),
    (ZeroConcentratedDP(1e9), Tree(3, rooted=True)),
    (PureDP(1e6), Buckets()),
    (ApproximateDP(1e6, 1e-3), Bins((4, 8))),
]


@pytest.mark.parametrize(("price", "method"), QUIET, ids=str)
def test_with_hardly_any_noise_the_counts_are_exact(price: Additive, method: Method) -> None:
    found = made({0: 5, 3: 9, 4: 2, 8: 1}, grid(8), price=price, method=method)
    assert found.counts == pytest.approx([5, 0, 0, 9, 2, 0, 0, 0, 1])


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", [PureDP(0.5), ZeroConcentratedDP(0.02)], ids=str)
def test_the_noise_of_every_cell_has_the_law_that_is_said(price: Additive, relation: Relation) -> None:
    """By chi-square; noise of half the scale, as for half the sensitivity, is rejected."""
    cells = 40_000
    found = made({7: 100}, grid(cells, Rule.DROP), price=price, relation=relation, seed=3)
    drawn = np.asarray(found.levels[0], np.int64).copy()
    drawn[7] -= 100
    noise = found.plan.noise

    def p_value(weights: Any) -> float:
        far = 12
        inner = np.array([weights(y) for y in range(-3000, 3001)])
        inner /= inner.sum()
        middle = inner[3000 - far : 3000 + far + 1]
        expected = np.concatenate([middle, [1 - middle.sum()]]) * cells
        seen = np.array([*((drawn == y).sum() for y in range(-far, far + 1)), (np.abs(drawn) > far).sum()])
        return float(chisquare(seen, expected).pvalue)

    if isinstance(noise, Laplace):
        t = float(noise.scale)
        assert t == (2.0 if relation is Relation.ADD_REMOVE else 4.0)
        assert p_value(lambda y: math.exp(-abs(y) / t)) > CERTAIN
        assert p_value(lambda y: math.exp(-abs(y) / (t / 2))) < CERTAIN
    else:
        s = float(noise.size)
        assert s == pytest.approx(5.0 * (1 if relation is Relation.ADD_REMOVE else math.sqrt(2)))
        assert p_value(lambda y: math.exp(-y * y / (2 * s * s))) > CERTAIN
        assert p_value(lambda y: math.exp(-y * y / (s * s))) < CERTAIN


def covered(truth: np.ndarray, found: Histogram, confidence: float) -> np.ndarray:
    low, high = found.ends(confidence=confidence)
    return (low <= truth) & (truth <= high)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("price", [PureDP(0.5), ZeroConcentratedDP(0.05)], ids=str)
@pytest.mark.parametrize("method", [Flat(), Tree(4), Tree(8, rooted=True), Buckets()], ids=str)
def test_intervals_hold_the_exact_counts(method: Method, price: Additive) -> None:
    """At 90%, over 64 cells and 60 releases: the share that is held is at least 90%, but for chance (six standards of
    the worst dependence, that of releases), and a tree's or a cell's is not much wider than it must be."""
    truth = np.round(40 * np.exp(-((np.arange(64) - 20) ** 2) / 200)).astype(int)
    counts = {place: int(count) for place, count in enumerate(truth) if count}
    exactly = np.append(truth, 0)
    held = [
        covered(exactly, made(counts, grid(64), price=price, method=method, seed=seed), 0.9).mean()
        for seed in range(60)
    ]
    assert np.mean(held) >= 0.9 - 6 * 0.3 / math.sqrt(60 * 8)
    halved = []
    for seed in range(10):
        found = made(counts, grid(64), price=price, method=method, seed=seed)
        low, high = found.ends(confidence=0.9)
        middle, far = (low + high) / 2, (high - low) / 8
        halved.append(((middle - far <= exactly) & (exactly <= middle + far)).mean())
    if isinstance(method, Flat):
        assert np.mean(halved) < 0.9 - 6 * 0.3 / math.sqrt(10 * 8)  # a quarter of the width is seen to be too little


@pytest.mark.sampled(3)
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", [PureDP(0.5), ZeroConcentratedDP(0.05)], ids=str)
@pytest.mark.parametrize("method", [Flat(), Tree(3), Buckets()], ids=str)
def test_ranges_are_told_with_intervals_that_hold(method: Method, price: Additive, relation: Relation) -> None:
    """Of 400 as many as stated, but for five standard deviations: with Chernoff's bound nearly all would be held. A
    range of buckets may cut some of them, of which anything may be meant: it is held more often."""
    truth = 200 + np.arange(30) % 7 * 5
    counts = {place: int(count) for place, count in enumerate(truth)}
    held = 0
    for seed in range(400):
        found = made(counts, grid(30, Rule.DROP), price=price, method=method, relation=relation, seed=seed)
        told = found.over(np.arange(4, 23), confidence=0.8)
        held += told.low <= truth[4:23].sum() <= told.high
        assert told.value == pytest.approx(found.counts[4:23].sum())
    five = 5 * math.sqrt(400 * 0.8 * 0.2)
    assert held >= 320 - five
    assert held <= 320 + five or isinstance(method, Buckets)


@pytest.mark.parametrize("method", [Flat(), Tree(3), Buckets()], ids=str)
def test_nothing_is_said_to_be_above_a_public_total(method: Method) -> None:
    found = made({0: 5, 9: 3}, grid(9), method=method, relation=Relation.REPLACE_ONE)
    assert found.total == 8
    assert found.over(np.arange(10)).high <= 8
    assert found.ends()[1].max() <= 8
    days = Grid((Dates(DAY, date(2024, 1, 1), date(2024, 1, 9), Step.DAY, Rule.CLAMP, Rule.CELL),))
    assert made({0: 5}, days, method=method, relation=Relation.REPLACE_ONE).over(np.arange(10)).high <= 5


def test_cells_beside_the_line_have_intervals_of_their_own() -> None:
    found = made({2: 50, 4: 900}, grid(4), method=Tree(2))
    low, high = found.ends()
    far = found.plan.noise.error()
    assert (low[4], high[4]) == (float(found.special[0]) - far, float(found.special[0]) + far)
    told = found.over(np.array([4]))
    assert (told.low, told.high) == (low[4], high[4])


def test_the_number_of_bins_that_is_chosen_is_that_of_the_cells() -> None:
    """Flat counts are told best in one bin, spikes in many; either choice leaves bins with exact intervals."""
    flat = made(dict.fromkeys(range(64), 40), grid(64), method=Bins((1, 8, 64)), price=PureDP(1.0))
    assert flat.grid.axes[0].ordinary == 1
    spiky = dict.fromkeys(range(0, 64, 5), 2000)
    found = made(spiky, grid(64), method=Bins((1, 8, 64)), price=PureDP(1.0))
    assert found.grid.axes[0].ordinary == 64
    assert covered(np.array([64 * 40, 0]), flat, 0.999999).all()
    assert flat.over(np.array([0])).high - flat.over(np.array([0])).low == 2 * flat.plan.error()


def test_of_a_stretch_that_is_cut_anything_may_be_meant() -> None:
    found = made({0: 5, 1: 5, 2: 5, 3: 5, 6: 70}, grid(8, Rule.DROP), price=PureDP(1e6), method=Buckets())
    assert found.starts is not None
    assert found.starts[1] == 4  # the first four are one stretch
    inside, whole = found.over(np.array([0, 1])), found.over(np.arange(4))
    assert (inside.value, inside.low, inside.high) == pytest.approx((10, 0, 20))
    assert (whole.low, whole.high) == pytest.approx((20, 20))


# Every end


@pytest.mark.sampled(30)
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("method", [Flat(), Tree(), Tree(2), Buckets(), Bins((1, 6))], ids=str)
@pytest.mark.parametrize("counts", [{}, {5: 1}, {0: 10**12}, {6: 3}], ids=str)
def test_empty_tables_one_row_and_one_value_give_valid_counts(
    counts: dict[int, int], method: Method, price: Additive, relation: Relation
) -> None:
    found = made(counts, grid(6), price=price, method=method, relation=relation)
    low, high = found.ends()
    assert found.counts.shape == low.shape == high.shape == (found.grid.size,)
    assert found.grid.size == 7 or isinstance(method, Bins)
    assert np.isfinite(found.counts).all()
    assert (low <= high).all()
    assert (low >= 0).all()
    whole = found.lattice()
    assert (whole.counts >= 0).all()
    assert whole.counts.sum() == found.estimated_total()
    if relation is Relation.REPLACE_ONE:
        assert found.estimated_total() == sum(counts.values())
    for other in (found.simplex(), found.nonnegative(), found.isotonic(Form.ONE_PEAK)):
        assert np.isfinite(other.counts).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", [Flat(), Tree(), Buckets(), Bins((10, 10**6))], ids=str)
def test_a_million_empty_cells(method: Method) -> None:
    found = made({}, grid(10**6), method=method)
    assert found.counts.shape == (found.grid.size,)
    assert found.grid.size == 10**6 + 1 or isinstance(method, Bins)
    assert found.lattice(total=0).counts.sum() == 0
    assert found.lattice(total=50, ties=Ties.SOFT_THRESHOLD).counts.sum() == 50


TINY: list[Additive] = [PureDP(1e-90), ZeroConcentratedDP(1e-90), ApproximateDP(1e-60, 1e-9)]


@pytest.mark.parametrize(
    ("method", "price"),
    [
        # Two stages at a tiny approximate price need a long search; one stage is quick and stays a sample.
        pytest.param(method, price, marks=pytest.mark.slow)
        if isinstance(price, ApproximateDP) and isinstance(method, Buckets | Bins)
        else (method, price)
        for method in (Flat(), Tree(2), Buckets(), Bins((2, 8)))
        for price in TINY
    ],
    ids=str,
)
def test_noise_beyond_64_bits(method: Method, price: Additive) -> None:
    found = made({3: 5}, grid(8), price=price, method=method)
    low, high = found.ends()
    assert found.counts.dtype == low.dtype == high.dtype == np.float64
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.over(np.arange(0, 2)).high)
    assert found.lattice(total=7).counts.sum() == 7


def test_one_cell() -> None:
    for method in (Flat(), Tree(), Buckets()):
        found = made({0: 7}, grid(1, Rule.DROP), method=method, price=PureDP(1e6))
        assert found.counts.tolist() == [7.0]
        assert found.over(np.array([0])).value == 7.0


# What is done afterwards


def test_what_is_done_afterwards_is_said_and_leaves_the_intervals() -> None:
    found = made({0: 30, 2: 10}, grid(4))
    after = found.nonnegative().lattice(total=40, ties=Ties.BY_INDEX)
    assert after.processed == ("negative counts put to zero", "nearest whole counts of sum 40 (by index)")
    assert all((a == b).all() for a, b in zip(after.ends(), found.ends(), strict=True))
    assert (found.isotonic(Form.FALLING).counts[4:] == found.counts[4:]).all()  # beside the line


def test_what_cannot_be_done_is_refused() -> None:
    listed = made({0: 3}, Grid((Categories(WARD, ("a", "b")),)))
    with pytest.raises(QuestionError, match="one column of numbers or dates"):
        listed.isotonic(Form.RISING)
    with pytest.raises(QuestionError, match="whole number"):
        listed.lattice(total=-1)


# Categories that nobody has listed


def test_unlisted_categories_are_shown_above_the_threshold_in_their_order() -> None:
    counts = {("b",): (400, 400), ("a",): (300, 300), (None,): (500, 500), ("rare",): (1, 1)}
    found = made(counts, WARD, price=ApproximateDP(1.0, 1e-6), method=Unlisted())
    assert [cell.label for cell in found.grid.axes[0].cells()] == ["a", "b", "(no value)"]
    assert found.counts == pytest.approx([300, 400, 500], abs=40)
    without = made(counts, WARD, price=ApproximateDP(1.0, 1e-6), method=Unlisted(Rule.DROP))
    assert [cell.label for cell in without.grid.axes[0].cells()] == ["a", "b"]
    nothing = made({("rare",): (1, 1)}, WARD, price=ApproximateDP(1.0, 1e-6), method=Unlisted())
    assert nothing.counts.size == 0


def test_whoever_is_alone_is_shown_as_rarely_as_delta_says() -> None:
    """δ = 0.02 is so large that it can be seen; a threshold that is lower by one would show more."""
    counts = {(f"{place}",): (1, 1) for place in range(20_000)}
    found = made(counts, WARD, price=ApproximateDP(1.0, 0.02), method=Unlisted(), seed=4)
    threshold = found.plan.threshold
    assert threshold is not None
    shown, six = len(found.counts), 6 * math.sqrt(20_000 * 0.02)
    exactly = threshold.promise().delta
    assert abs(shown - 20_000 * exactly) < six
    assert 20_000 * exactly * math.e > 20_000 * 0.02 + six  # one lower: e times as many, beyond the price


# Noise only where there are people

RANDOM = RandomDP(PureDP(0.5), 0.1)
FEW = {2: 1, 7: 3, 30: 996, 100: 1}
"""Of a hundred cells in a line, and the one for rows without a value, which is full too."""


def sparsely(counts: dict[int, int] = FEW, *, missing: Rule = Rule.CELL, rows: int = 1001, seed: int = 0) -> Histogram:
    said = {"price": RANDOM, "method": Sparse(), "relation": Relation.REPLACE_ONE, "rows": rows, "seed": seed}
    return made(counts, grid(100, missing), **said)  # type: ignore[arg-type]


def test_zeros_stay_zeros_and_it_is_known_which() -> None:
    for seed in range(20):
        found = sparsely(seed=seed)
        assert found.empty is not None
        assert set(np.flatnonzero(~found.empty)) == set(FEW)
        assert not found.counts[found.empty].any()
        low, high = found.ends()
        assert not high[found.empty].any()
        assert (low[~found.empty] >= 1).all()
        assert (high[~found.empty] >= low[~found.empty]).all()
        for after in (found.lattice(), found.simplex(), found.nonnegative(), found.lattice(ties=Ties.SOFT_THRESHOLD)):
            assert not after.counts[found.empty].any()
        assert found.lattice().counts.sum() == found.total == 1001


def test_intervals_of_full_cells_hold_them() -> None:
    places, exactly = list(FEW), np.array(list(FEW.values()))
    inside = np.zeros(4)
    for seed in range(1000):
        low, high = sparsely(seed=seed).ends(confidence=0.9)
        inside += (low[places] <= exactly) & (exactly <= high[places])
    assert (inside >= 850).all()  # of 1,000 at 90%, five standard deviations below
    assert inside[1] < 1000


def test_noise_of_full_cells_has_the_law_that_is_said() -> None:
    """Cells with one person too: whether there is noise depends on no count but 0."""
    scale = 4
    drawn = np.array([sparsely(seed=seed).counts[[2, 7, 30, 100]] - [1, 3, 996, 1] for seed in range(1000)])
    for column in drawn.T:
        assert chisquare(*binned(column, scale)).pvalue > CERTAIN
        assert chisquare(*binned(column, scale / 2)).pvalue < CERTAIN  # noise of another scale is seen


def binned(drawn: NDArray[Any], scale: float) -> tuple[list[int], list[float]]:
    """Observed and expected: discrete Laplace noise is y with probability (1 − q)/(1 + q)·q^|y|, q = e^{−1/scale}."""
    q, edges = math.exp(-1 / scale), (-5, -2, -1, 0, 1, 2, 3, 6)
    above = [q**edge / (1 + q) if edge > 0 else 1 - q ** (1 - edge) / (1 + q) for edge in edges]  # P(Y ≥ edge)
    ends = [1.0, *above, 0.0]
    counted, _ = np.histogram(drawn, [-np.inf, *edges, np.inf])
    return counted.tolist(), [len(drawn) * (a - b) for a, b in pairwise(ends)]


def test_a_sum_has_the_noise_of_its_full_cells_only() -> None:
    found = sparsely()
    alone, both, none = found.over(np.arange(29, 40)), found.over(np.arange(40)), found.over(np.arange(40, 99))
    assert alone.value - alone.low == found.plan.error()
    assert both.high - both.low > alone.high - alone.low
    assert (none.value, none.low, none.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("counts", [{}, {3: 5}, FEW], ids=str)
def test_rows_that_are_counted_nowhere_are_not_shown(counts: dict[int, int]) -> None:
    dropped = {place: count for place, count in counts.items() if place < 100}
    found = sparsely(dropped, missing=Rule.DROP)
    assert len(found.counts) == 100
    assert found.total is None
    assert set(np.flatnonzero(~found.empty)) == set(dropped)  # type: ignore[operator]
    assert found.lattice(total=7).counts.sum() == 7


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_where_gamma_is_too_small_every_cell_has_noise(rows: int) -> None:
    found = sparsely({5: rows} if rows else {}, rows=rows)
    assert found.empty is None
    assert np.count_nonzero(found.counts) > 50
    assert found.plan.price == PureDP(0.5)
