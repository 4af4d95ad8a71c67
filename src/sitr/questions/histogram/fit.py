"""The noise that a price pays for in a histogram, found before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sitr.dataset.cells import Axis, Categories, Grid, spelled
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
from sitr.mechanisms.prefix_gaussian import PrefixGaussian
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.summed import sum_error
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, exact, square_root_upward
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.nodes import text
from sitr.questions.histogram.buckets import deviation_distance, heights
from sitr.questions.histogram.checks import check
from sitr.questions.histogram.hierarchy import Hierarchy, best_branching
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Sparse, Tree, Unlisted
from sitr.questions.histogram.ranges import Range, flat_variance, prefix_variance, tree_variance
from sitr.questions.histogram.tally import Tally
from sitr.questions.ways import Way, ways

RANDOM = "Measure with Sparse(), or pay with the promise inside the random one."
"""The advice about a random price."""

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
    for_ranges: tuple[Range, ...] | None = None
    """The ranges for which the method was chosen, none of them for all; None if it was not chosen for ranges."""

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
    def prefixes(self) -> PrefixGaussian | None:
        """The noise on prefix sums; None if they are not measured."""
        found = self[COUNTS].mechanism
        return found if isinstance(found, PrefixGaussian) else None

    @property
    def cell_noise(self) -> Noise:
        """The noise of a cell; with prefix sums, a law of the same size, for processing noisy counts."""
        if self.prefixes is None:
            return self.noise
        return RoundedGaussian(sigma=float(self.prefixes.cell_deviations().max()))

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

    def error(self, *, confidence: Number = 0.95) -> float:
        """The error of one measured number, exact for the law of its noise; with prefix sums, of a cell at most."""
        if self.prefixes is not None:
            return float(self.prefixes.cell_widths(confidence=confidence).max())
        return int(self.noise.error(confidence=confidence))

    def range_error(self, first: int, last: int, *, confidence: Number = 0.95) -> float:
        """The error of the sum over the cells from `first` to `last`, before anything is spent.

        Not for Buckets(), Bins() and Unlisted(), with which the data decide which cells are joined or shown.
        """
        if isinstance(self.method, Buckets | Bins | Unlisted) or not 0 <= first <= last < (self.grid.line or 0):
            raise QuestionError(
                wanted="a range of cells in a line, measured by Flat(), Tree() or Prefixes()",
                given=f"{first!r} to {last!r} by {self.method!r}",
                do="Number the cells from 0; for joined cells, see the intervals of the answer.",
            )
        wanted = np.zeros(self.grid.line or 0)
        wanted[first : last + 1] = 1.0
        if self.prefixes is not None:
            beside = np.zeros(self.grid.size - len(wanted))
            return self.prefixes.width(np.concatenate([wanted, beside]), confidence=confidence)
        weights = np.concatenate(self.hierarchy.weights(wanted)) if self.hierarchy is not None else wanted
        return sum_error(self.noise, weights, confidence=confidence)

    def mean_noise(self) -> float:
        """E|Y| of one measured number; with prefix sums, of a cell at most."""
        return self.cell_noise.mean_size

    def range_deviation(self) -> float:
        """The root mean square error of the ranges for which the method was chosen, by default of all of them."""
        wanted = self.for_ranges or ()
        if self.prefixes is not None:
            parts = [
                prefix_variance(line, wanted) if line else _cell_variance(axis)
                for axis, (line, _) in zip(self.grid.axes, self.prefixes.axes, strict=True)
            ]
            return float(exact(self.prefixes.sigma)) * math.sqrt(math.prod(parts))
        tree = self.hierarchy
        flat = math.prod(_cell_variance(axis, wanted) for axis in self.grid.axes)
        return self.noise.deviation * math.sqrt(flat if tree is None else tree_variance(tree, wanted))


def _cell_variance(axis: Axis, wanted: tuple[Range, ...] = ()) -> float:
    """The mean number of cells in a range of one column; a category is a range of its own."""
    return 1.0 if isinstance(axis, Categories) else flat_variance(axis.ordinary, wanted)


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
    check(tally, method)
    if tally.grid is None:
        exposing = ApproximateDP | ApproximateZeroConcentratedDP
        if buys_noise(price) and isinstance(price, exposing) and price.delta > 0 and isinstance(method, Unlisted):
            return _fit_unlisted(tally, price, method)
        raise QuestionError(
            given="Categories that are not public are shown above a threshold, which needs a price in "
            f"approximate(ε, δ) or zcdp(ρ, δ) with δ > 0, but the price is {price!r}.",
            do="List the categories with keys, from public knowledge, or pay with a δ.",
        )
    paid = affordable(price, random=RANDOM)
    chosen = _choice(tally, paid, method)
    plans = [plan_of(tally, method, way, chosen) for way in ways(paid, beside=() if chosen is None else (chosen,))]
    return min(plans, key=lambda plan: plan.error())


def planned(
    tally: Tally, method: Method, price: Kept, counts: Measurement, choice: Exponential | Noise | None = None
) -> HistogramPlan:
    """The plan of these measurements."""
    chosen = () if choice is None else (Measurement(CHOICE, choice, tally.distance()),)
    return HistogramPlan((*chosen, counts), price, spell(tally, method), tally, method)


def plan_of(tally: Tally, method: Method, way: Way, choice: Exponential | Noise | None = None) -> HistogramPlan:
    """The plan of a method for one way to spend a price."""
    distance = _measured(tally, method, pure=isinstance(way.bought, PureDP))
    noise = least_noise(way.bought, l1=distance.l1, l2=distance.l2)
    return planned(tally, method, way.charged, Measurement(COUNTS, noise, distance), choice)


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
    return planned(tally, method, price, Measurement(COUNTS, threshold, distance))


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
    return planned(tally, Sparse(), found.promise(), Measurement(COUNTS, found, tally.distance()))


def _measured(tally: Tally, method: Method, *, pure: bool) -> Distance:
    """How far one unit moves all numbers that are measured together."""
    match method:
        case Flat() | Unlisted():
            return tally.distance()
        case Buckets() | Bins():
            return tally.merged_distance()
    assert tally.grid is not None and tally.grid.line is not None  # see `check`
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
    assert tally.grid is not None and tally.grid.line is not None  # see `check`
    return tally.grid.line
