"""The noise that a price pays for in a histogram, found before any row is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sitr.dataset.cells import Even, Grid, spelled
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.price import LEAST, MOST, affordable, buys_noise, in_range
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.candidates import least_noise
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.summed import sum_error
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, exact, square_root_upward
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.nodes import text
from sitr.questions.histogram.buckets import deviation_distance, heights
from sitr.questions.histogram.hierarchy import Hierarchy, best_branching
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Sparse, Tree, Unlisted
from sitr.questions.histogram.tally import Tally
from sitr.questions.ways import Way, ways

COUNTS, CHOICE = "counts", "choice"
"""The names of the measurements; bins and buckets are chosen before the counts are measured."""


@dataclass(frozen=True, slots=True)
class HistogramPlan(Plan):
    """A plan for a histogram: the counts, and before them the choice of bins or buckets if there is one.

    The counts are all numbers that get noise: cells, sums of neighbouring cells, or both. One noise is fitted to how
    far one person moves all of them together.
    """

    tally: Tally
    method: Method

    @property
    def grid(self) -> Grid:
        """The public cells."""
        assert self.tally.grid is not None, "unlisted categories have cells only after they are released"
        return self.tally.grid

    @property
    def noise(self) -> Noise:
        """The noise on each measured number."""
        counted = self[COUNTS].mechanism
        found = counted.noise if isinstance(counted, Threshold | GaussianThreshold | SparseHistogram) else counted
        assert isinstance(found, Noise)
        return found

    @property
    def distance(self) -> Distance:
        """How far one person moves all counts together."""
        found = self[COUNTS].distance
        assert found is not None
        return found

    @property
    def choice(self) -> Exponential | Noise | None:
        """The mechanism that chooses bins or buckets; None if there is nothing to choose."""
        found = next((each.mechanism for each in self.measurements if each.name == CHOICE), None)
        assert found is None or isinstance(found, Exponential | Noise)
        return found

    @property
    def threshold(self) -> Threshold | GaussianThreshold | None:
        """The rule that decides which categories are shown; None if all cells are public."""
        found = self[COUNTS].mechanism
        return found if isinstance(found, Threshold | GaussianThreshold) else None

    @property
    def sparse(self) -> SparseHistogram | None:
        """The mechanism that leaves empty cells without noise; None if all cells get noise."""
        found = self[COUNTS].mechanism
        return found if isinstance(found, SparseHistogram) else None

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The tree that is measured; None if none is."""
        line = self.grid.line if isinstance(self.method, Tree) else None
        return None if line is None else _hierarchy(self.method, line, pure=self.noise.flavor is PureDP)

    def error(self, *, confidence: Number = 0.95) -> int:
        """The error of one measured number, exact for the law of its noise."""
        return int(self.noise.error(confidence=confidence))

    def range_error(self, first: int, last: int, *, confidence: Number = 0.95) -> float:
        """The error of the sum over the cells from `first` to `last`, before anything is spent.

        Only for Flat() and Tree(): with other methods the data decide which cells are joined or shown.
        """
        if isinstance(self.method, Buckets | Bins | Unlisted) or not 0 <= first <= last < (self.grid.line or 0):
            raise QuestionError(
                wanted="a range of cells in a line, measured by Flat() or Tree()",
                given=f"{first!r} to {last!r} by {self.method!r}",
                do="Number the cells from 0; for joined cells, see the intervals of the answer.",
            )
        wanted = np.zeros(self.grid.line or 0)
        wanted[first : last + 1] = 1.0
        weights = np.concatenate(self.hierarchy.weights(wanted)) if self.hierarchy is not None else wanted
        return sum_error(self.noise, weights, confidence=confidence)

    def mean_noise(self) -> float:
        """E|Y| of one measured number."""
        return self.noise.mean_size


def spell(tally: Tally, method: Method) -> str:
    """A histogram in one line, for the ledger."""
    what = ", ".join(key.name for key in tally.query.keys) + ", unlisted categories"
    if tally.grid is not None:
        what = ", ".join(map(spelled, tally.grid.axes))
    return f"HISTOGRAM OF {what} BY {type(method).__name__.upper()}: {text(tally.query.query)}"


def fit(tally: Tally, price: Promise, *, method: Method, rows: int | None = None) -> HistogramPlan:
    """The plan with the least error that the price can pay. `Sparse` needs the number of `rows`, if it is public."""
    if isinstance(method, Sparse):
        return _fit_sparse(tally, price, rows)
    _check(tally, method)
    if tally.grid is None:
        exposing = ApproximateDP | ApproximateZeroConcentratedDP
        if buys_noise(price) and isinstance(price, exposing) and price.delta > 0 and isinstance(method, Unlisted):
            return _fit_unlisted(tally, price, method)
        raise QuestionError(
            given="Categories that are not public are shown above a threshold, which needs a price in "
            f"approximate(ε, δ) or zcdp(ρ, δ) with δ > 0, but the price is {price!r}.",
            do="List the categories with keys, from public knowledge, or pay with a δ.",
        )
    paid = affordable(price, random="Measure with Sparse(), or pay with the promise inside the random one.")
    chosen = _choice(tally, paid, method)
    plans = [_plan(tally, method, way, chosen) for way in ways(paid, beside=() if chosen is None else (chosen,))]
    return min(plans, key=lambda plan: plan.error())


def _planned(
    tally: Tally, method: Method, price: Kept, counts: Measurement, choice: Exponential | Noise | None = None
) -> HistogramPlan:
    chosen = () if choice is None else (Measurement(CHOICE, choice, tally.distance()),)
    return HistogramPlan((*chosen, counts), price, spell(tally, method), tally, method)


def _plan(tally: Tally, method: Method, way: Way, choice: Exponential | Noise | None) -> HistogramPlan:
    distance = _measured(tally, method, pure=isinstance(way.bought, PureDP))
    noise = least_noise(way.bought, l1=distance.l1, l2=distance.l2)
    return _planned(tally, method, way.charged, Measurement(COUNTS, noise, distance), choice)


def _fit_unlisted(
    tally: Tally, price: ApproximateDP | ApproximateZeroConcentratedDP, method: Unlisted
) -> HistogramPlan:
    """One draw is the count of a category and decides whether it is shown."""
    distance, groups = tally.distance(), tally.query.max_groups
    threshold: Threshold | GaussianThreshold
    if isinstance(price, ApproximateDP):
        threshold = Threshold.fitting(price, sensitivity=distance.l1, groups=groups)
    else:
        threshold = GaussianThreshold.fitting(price, sensitivity=distance.l2, groups=groups)
    return _planned(tally, method, price, Measurement(COUNTS, threshold, distance))


def _fit_sparse(tally: Tally, price: Promise, rows: int | None) -> HistogramPlan:
    """Public numbers alone decide which cells get noise; if all of them do, no γ is charged."""
    if tally.grid is None or not tally.size_is_public or rows is None:
        raise QuestionError(
            wanted="for Sparse(), public cells and a data set in which each row is a person and neighbours replace one "
            "row",
            given="unlisted categories"
            if tally.grid is None
            else f"unit={tally.query.unit!r} and relation={tally.query.relation}",
            do="Measure with Flat(), or protect the data set with unit=sitr.Row() and "
            "relation=sitr.Relation.REPLACE_ONE if each row is a different person.",
        )
    if not isinstance(price, RandomDP) or not isinstance(price.inner, PureDP) or not in_range(price.inner.epsilon):
        raise QuestionError(
            wanted=f"for Sparse(), a price of random(pure(ε), γ) with ε from {LEAST} to {MOST}",
            given=f"{price!r}",
            do="Pay with one from a budget with a γ, or measure with Flat(), which protects everybody.",
        )
    # Rows that no cell counts are people in one more cell, which is not shown.
    cells = tally.grid.size + (0 if tally.total_is_public else 1)
    found = (
        SparseHistogram.fitting(price, cells=cells, people=rows)
        if rows > 0
        else Laplace.fitting(price.inner, sensitivity=2)
    )
    return _planned(tally, Sparse(), found.promise(), Measurement(COUNTS, found, tally.distance()))


def _measured(tally: Tally, method: Method, *, pure: bool) -> Distance:
    """How far one unit moves all numbers that are measured together."""
    match method:
        case Flat() | Unlisted():
            return tally.distance()
        case Buckets() | Bins():
            return tally.merged_distance()
    assert tally.grid is not None and tally.grid.line is not None  # see _check
    above = _hierarchy(method, tally.grid.line, pure=pure).levels - 1
    cells, sums = tally.distance(), tally.merged_distance()
    largest = max(cells.largest, sums.largest) if above else cells.largest
    return Distance(cells.l1 + above * sums.l1, cells.l2_squared + above * sums.l2_squared, largest)


def _hierarchy(method: Method, line: int, *, pure: bool) -> Hierarchy:
    assert isinstance(method, Tree)
    return Hierarchy(line, method.branching or best_branching(line, pure=pure), method.rooted)


def _choice(tally: Tally, price: Additive, method: Method) -> Exponential | Noise | None:
    """The mechanism that chooses bins or buckets, for its share of the price, or of ε if the price is approximate."""
    if not isinstance(method, Buckets | Bins):
        return None
    moved, share = tally.distance(), exact(method.share)
    if isinstance(price, ZeroConcentratedDP | ApproximateZeroConcentratedDP):
        part: PureDP | ZeroConcentratedDP = ZeroConcentratedDP(price.rho).share(share)
    else:
        assert isinstance(price, PureDP | ApproximateDP)  # `affordable` refuses Gaussian prices
        part = PureDP(price.epsilon).share(share)
    if isinstance(method, Bins):
        epsilon = part.epsilon if isinstance(part, PureDP) else _bounded_range(part)
        return Exponential(epsilon, sensitivity=2 * moved.l1)
    line = _line(tally)
    if heights(line) == 0:
        return None  # one cell, and nothing to choose
    l1, l2_squared = deviation_distance(line, moved=moved)
    return least_noise(part, l1=l1, l2=square_root_upward(l2_squared), granularity=Fraction(1, 2 ** heights(line)))


def _bounded_range(price: ZeroConcentratedDP) -> float:
    """The largest ε with ε²/8 ≤ ρ."""
    epsilon = math.sqrt(8 * price.rho)
    while exact(epsilon) ** 2 > 8 * exact(price.rho):
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon


def _line(tally: Tally) -> int:
    assert tally.grid is not None and tally.grid.line is not None  # see _check
    return tally.grid.line


def _check(tally: Tally, method: Method) -> None:
    if isinstance(method, Flat | Unlisted):
        return
    if tally.grid is None or tally.grid.line is None:
        raise QuestionError(
            wanted=f"cells in a line for {type(method).__name__}(), of one column of numbers or dates",
            given="categories, or several columns",
            do="Measure them with Flat().",
        )
    if isinstance(method, Buckets | Bins) and not 0 < exact(method.share) < 1:
        raise QuestionError(
            wanted="a share of the price between 0 and 1 for the choice",
            given=f"share={method.share!r}",
            do="Choose for example Fraction(1, 4).",
        )
    if isinstance(method, Bins):
        _check_candidates(tally.grid, method.candidates)


def _check_candidates(grid: Grid, candidates: Sequence[int]) -> None:
    (axis,) = grid.axes
    whole = all(isinstance(number, int) and not isinstance(number, bool) and number >= 1 for number in candidates)
    different = len(set(candidates)) == len(candidates) >= 2
    if not isinstance(axis, Even) or not whole or not different or any(axis.bins % number for number in candidates):
        raise QuestionError(
            wanted="two or more numbers of bins of equal width, each of which divides the largest",
            given=f"{tuple(candidates)!r}",
            do="Write for example bins=(5, 10, 20, 40).",
        )
