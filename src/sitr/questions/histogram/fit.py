"""A histogram's plan: its cells, how they are measured, and the noise that a price pays for, before any row is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from sitr.dataset.cells import Even, Grid, Rule, spelled
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.summed import sum_error
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact, square_root_upward, upward
from sitr.questions.aggregate.fit import LEAST
from sitr.questions.aggregate.nodes import text
from sitr.questions.histogram.buckets import deviation_distance, heights
from sitr.questions.histogram.hierarchy import Hierarchy, best_branching
from sitr.questions.histogram.tally import Tally


@dataclass(frozen=True, slots=True)
class Flat:
    """Noise on every cell."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Noise on the cells and on stretches of b, b², … of them: for sums over ranges. The root, their sum, is measured
    too if `rooted`. Without a `branching` the best for ranges is taken."""

    branching: int | None = None
    rooted: bool = False


@dataclass(frozen=True, slots=True)
class Buckets:
    """Part of the price chooses which neighbouring cells are joined, the rest measures their sums."""

    share: Fraction = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class Bins:
    """Part of the price chooses how many bins of equal width there are, the rest measures these."""

    candidates: tuple[int, ...]
    share: Fraction = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Categories that nobody has listed: those are shown that enough people have, noise included.

    No category at all is one of them, unless it is dropped: from the noisy answer, which costs nothing.
    """

    missing: Rule = Rule.CELL


@dataclass(frozen=True, slots=True)
class Sparse:
    """Noise only where there are people, for a random price and people who are replaced; on every cell if the price's γ
    is too small for that. See `SparseHistogram`."""


Method = Flat | Tree | Buckets | Bins | Unlisted | Sparse
Noise = Laplace | Gaussian
Paid = TypeVar("Paid", PureDP, ZeroConcentratedDP)


@dataclass(frozen=True, slots=True)
class Plan:
    """A histogram with all its noise: everything that will happen to the data, and what it promises.

    `noise` is for every number that is measured, fitted to `distance`, which is that of all of them together. `choice`
    is what chooses bins or buckets beforehand, and `sparse` leaves empty cells without noise. `price` is what will be
    charged: without a δ or a γ that is not needed.
    """

    tally: Tally
    method: Method
    price: Kept
    noise: Noise
    distance: Distance
    choice: Exponential | Noise | None = None
    threshold: Threshold | None = None
    sparse: SparseHistogram | None = None

    @property
    def grid(self) -> Grid:
        assert self.tally.grid is not None, "categories that nobody has listed have a grid only once they are shown"
        return self.tally.grid

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The tree that is measured, if one is."""
        line = self.grid.line if isinstance(self.method, Tree) else None
        return None if line is None else _hierarchy(self.method, line, pure=isinstance(self.noise, Laplace))

    def promise(self) -> Kept:
        """What choice and measurement together promise: at most the price."""
        if self.sparse is not None:
            return self.sparse.promise()
        if self.threshold is not None:
            return self.threshold.promise()
        measured = self.noise.promise()
        match self.price, measured:
            case ZeroConcentratedDP(), ZeroConcentratedDP():
                return _total(measured, self._chosen(ZeroConcentratedDP))
            case ApproximateDP(delta=delta), ZeroConcentratedDP():
                found = measured.to_approximate(delta=delta)
                return ApproximateDP(upward(exact(found.epsilon) + exact(self._chosen_epsilon())), delta)
            case ApproximateDP(), PureDP():
                return ApproximateDP(upward(exact(measured.epsilon) + exact(self._chosen_epsilon())), 0.0)
        return _total(measured, self._chosen(PureDP))

    def infinite_mass(self) -> float:
        """P(L = +∞): the chance that somebody's presence is exposed outright, apart from the finite tail; and apart
        from the fraction γ of a random promise, which `SparseHistogram.exposed` counts."""
        return self.threshold.promise().delta if self.threshold is not None else 0.0

    def error(self, *, confidence: Number = 0.95) -> int:
        """The half-width of the interval of one measured number, exact for the law of its noise."""
        return int(self.noise.error(confidence=confidence))

    def range_error(self, first: int, last: int, *, confidence: Number = 0.95) -> float:
        """The half-width of the interval of the sum over these cells, before anything is spent.

        Only of what is measured cell by cell or by a tree: which cells will be joined is not known beforehand.
        """
        if isinstance(self.method, Buckets | Bins | Unlisted) or not 0 <= first <= last < (self.grid.line or 0):
            raise QuestionError(
                wanted="A range of cells in a line was wanted, measured by Flat() or Tree().",
                given=f"{first!r} to {last!r} by {self.method!r} was given.",
                do="Number the cells from 0. What joins cells errs as the data decide, see its intervals afterwards.",
            )
        wanted = np.zeros(self.grid.line or 0)
        wanted[first : last + 1] = 1.0
        weights = np.concatenate(self.hierarchy.weights(wanted)) if self.hierarchy is not None else wanted
        return sum_error(self.noise, weights, confidence=confidence)

    def mean_noise(self) -> float:
        """E|Y| of one measured number."""
        return mean_size(self.noise)

    def spelled(self) -> str:
        """The question in one line, for the ledger."""
        what = ", ".join(key.name for key in self.tally.query.keys) + ", unlisted categories"
        if self.tally.grid is not None:
            what = ", ".join(map(spelled, self.grid.axes))
        return f"HISTOGRAM OF {what} BY {type(self.method).__name__.upper()}: {text(self.tally.query.query)}"

    def _chosen(self, flavor: type[Additive]) -> Additive | None:
        """What the choice of bins or buckets costs. A range of losses of length ε is ε²/8-zCDP.      [CR21]"""
        match self.choice:
            case None:
                return None
            case Exponential(epsilon) if flavor is ZeroConcentratedDP:
                return ZeroConcentratedDP(upward(exact(epsilon) ** 2 / 8))
        return self.choice.promise()

    def _chosen_epsilon(self) -> float:
        part = self._chosen(PureDP)
        return part.epsilon if isinstance(part, PureDP) else 0.0


def fit(tally: Tally, price: Promise, *, method: Method, rows: int | None = None) -> Plan:
    """The plan with the least error that the price can pay. `Sparse` wants the number of `rows`, where it is public."""
    if isinstance(method, Sparse):
        return _fit_sparse(tally, price, rows)
    _check(tally, method)
    match price:
        case PureDP() if price.epsilon >= LEAST and tally.grid is not None:
            return _fit_pure(tally, price, method)
        case ZeroConcentratedDP(xi=0.0) if price.rho >= LEAST and tally.grid is not None:
            return _fit_concentrated(tally, price, method)
        case ApproximateDP() if price.epsilon >= LEAST and (price.delta == 0 or LEAST <= price.delta < 1):
            if tally.grid is not None:
                return _fit_approximate(tally, price, method)
            if price.delta > 0 and isinstance(method, Unlisted):
                return _fit_unlisted(tally, price, method)
    unlisted = "Categories that are not public are shown above a threshold only, which wants approximate(ε, δ), δ > 0."
    raise QuestionError(
        wanted=unlisted
        if tally.grid is None
        else "A price that buys a histogram was wanted: pure(ε), zcdp(ρ), or approximate(ε, δ) with δ < 1; "
        f"ε, ρ and a δ above 0 are at least {LEAST}.",
        given=f"{price!r} was given.",
        do="List them with keys, from public knowledge, or pay with a δ."
        if tally.grid is None
        else "Measure with Sparse(), or pay with the promise inside it."
        if isinstance(price, RandomDP)
        else "Pay with one.",
    )


def _fit_pure(tally: Tally, price: PureDP, method: Method) -> Plan:
    first, rest = _parts(price, method)
    distance = _measured(tally, method, pure=True)
    plan = Plan(tally, method, price, Laplace.fitting(rest, sensitivity=distance.l1), distance)
    return plan if first is None else replace(plan, choice=_pure_choice(tally, first, method))


def _fit_concentrated(tally: Tally, price: ZeroConcentratedDP, method: Method) -> Plan:
    first, rest = _parts(price, method)
    distance = _measured(tally, method, pure=False)
    plan = Plan(tally, method, price, Gaussian.fitting(rest, sensitivity=distance.l2), distance)
    return plan if first is None else replace(plan, choice=_concentrated_choice(tally, first, method))


def _fit_approximate(tally: Tally, price: ApproximateDP, method: Method) -> Plan:
    """Laplace or Gaussian noise, whichever errs less; a choice beforehand is paid by ε alone."""
    pure = _fit_pure(tally, PureDP(price.epsilon), method)
    candidates = [replace(pure, price=ApproximateDP(price.epsilon, 0.0))]
    first, rest = _parts(PureDP(price.epsilon), method)
    rho = ZeroConcentratedDP.fitting(ApproximateDP(rest.epsilon, price.delta))
    if rho.rho > 0:
        distance = _measured(tally, method, pure=False)
        plan = Plan(tally, method, price, Gaussian.fitting(rho, sensitivity=distance.l2), distance)
        candidates.append(plan if first is None else replace(plan, choice=_pure_choice(tally, first, method)))
    return min(candidates, key=lambda plan: plan.error())


def _fit_unlisted(tally: Tally, price: ApproximateDP, method: Unlisted) -> Plan:
    """One draw decides whether a category is shown and is its count."""
    distance = tally.distance()
    threshold = Threshold.fitting(price, sensitivity=distance.l1, groups=tally.query.max_groups)
    return Plan(tally, method, price, threshold.noise, distance, threshold=threshold)


def _fit_sparse(tally: Tally, price: Promise, rows: int | None) -> Plan:
    """Which cells get noise depends on public numbers alone, and so does what is charged: no γ where all of them do."""
    if tally.grid is None or not tally.size_is_public or rows is None:
        raise QuestionError(
            wanted="Sparse() wants public cells and a data set in which each row is a person and neighbours replace "
            "one row.",
            given="Categories that nobody has listed were given."
            if tally.grid is None
            else f"unit={tally.query.unit!r} and relation={tally.query.relation} were given.",
            do="Measure with Flat(); or protect the data set with unit=sitr.Row() and "
            "relation=sitr.Relation.REPLACE_ONE, if that is what is meant.",
        )
    if not isinstance(price, RandomDP) or not isinstance(price.inner, PureDP) or price.inner.epsilon < LEAST:
        raise QuestionError(
            wanted=f"A price that buys noise where people are was wanted: random(pure(ε), γ), with ε at least {LEAST}.",
            given=f"{price!r} was given.",
            do="Pay with one, from a budget with a γ; or measure with Flat(), which protects everybody.",
        )
    # Rows that are counted nowhere are people in one more cell, which is not shown.
    cells = tally.grid.size + (0 if tally.total_is_public else 1)
    found = (
        SparseHistogram.fitting(price, cells=cells, people=rows)
        if rows > 0
        else Laplace.fitting(price.inner, sensitivity=2)
    )
    if isinstance(found, Laplace):
        return Plan(tally, Sparse(), found.promise(), found, tally.distance())
    return Plan(tally, Sparse(), found.promise(), found.noise, tally.distance(), sparse=found)


def _measured(tally: Tally, method: Method, *, pure: bool) -> Distance:
    """How far one unit moves all numbers that are measured together."""
    match method:
        case Flat() | Unlisted():
            return tally.distance()
        case Buckets() | Bins():
            return tally.merged_distance()
    assert tally.grid is not None and tally.grid.line is not None  # _check has seen to it
    above = _hierarchy(method, tally.grid.line, pure=pure).levels - 1
    cells, sums = tally.distance(), tally.merged_distance()
    largest = max(cells.largest, sums.largest) if above else cells.largest
    return Distance(cells.l1 + above * sums.l1, cells.l2_squared + above * sums.l2_squared, largest)


def _hierarchy(method: Method, line: int, *, pure: bool) -> Hierarchy:
    assert isinstance(method, Tree)
    return Hierarchy(line, method.branching or best_branching(line, pure=pure), method.rooted)


def _parts(price: Paid, method: Method) -> tuple[Paid | None, Paid]:
    """What pays for the choice of bins or buckets, and what is left for the measurement: exactly the price together."""
    if not isinstance(method, Buckets | Bins):
        return None, price
    first = price.share(exact(method.share))
    if isinstance(price, PureDP):
        return first, PureDP(downward(exact(price.epsilon) - exact(first.epsilon)))
    return first, ZeroConcentratedDP(downward(exact(price.rho) - exact(first.rho)))


def _pure_choice(tally: Tally, price: PureDP, method: Method) -> Exponential | Laplace | None:
    moved = tally.distance()
    if isinstance(method, Bins):
        return Exponential(price.epsilon, sensitivity=2 * moved.l1)
    line = _line(tally)
    if heights(line) == 0:
        return None  # one cell, and nothing to choose
    grain = Fraction(1, 2 ** heights(line))
    return Laplace.fitting(price, sensitivity=deviation_distance(line, moved=moved)[0], granularity=grain)


def _concentrated_choice(tally: Tally, price: ZeroConcentratedDP, method: Method) -> Exponential | Gaussian | None:
    moved = tally.distance()
    if isinstance(method, Bins):
        epsilon = math.sqrt(8 * price.rho)
        while exact(epsilon) ** 2 > 8 * exact(price.rho):
            epsilon = math.nextafter(epsilon, 0.0)
        return Exponential(epsilon, sensitivity=2 * moved.l1)
    line = _line(tally)
    if heights(line) == 0:
        return None
    length = square_root_upward(deviation_distance(line, moved=moved)[1])
    return Gaussian.fitting(price, sensitivity=length, granularity=Fraction(1, 2 ** heights(line)))


def _line(tally: Tally) -> int:
    assert tally.grid is not None and tally.grid.line is not None  # _check has seen to it
    return tally.grid.line


def _check(tally: Tally, method: Method) -> None:
    if isinstance(method, Flat | Unlisted):
        return
    if tally.grid is None or tally.grid.line is None:
        raise QuestionError(
            wanted=f"{type(method).__name__} wants cells in a line: one column of numbers or dates.",
            given="Categories, or several columns, were given.",
            do="Measure them with Flat().",
        )
    if isinstance(method, Buckets | Bins) and not 0 < exact(method.share) < 1:
        raise QuestionError(
            wanted="The share of the price that pays for a choice lies between 0 and 1.",
            given=f"share={method.share!r} was given.",
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
            wanted="Numbers of bins to choose from are two or more, of equal width, and each divides the largest.",
            given=f"{tuple(candidates)!r} was given.",
            do="Write for example bins=(5, 10, 20, 40).",
        )


def mean_size(noise: Noise) -> float:
    """E|Y|: 1/sinh(1/t) for discrete Laplace noise of scale t; σ·√(2/π) for Gaussian, to within a few percent if σ ≥ 1.

    >>> round(mean_size(Laplace(scale=10)), 3), round(mean_size(Gaussian(sigma=10)), 3)
    (9.983, 7.979)
    """
    if isinstance(noise, Laplace):
        return 1 / math.sinh(min(700.0, float(1 / exact(noise.scale))))
    return float(exact(noise.sigma)) * math.sqrt(2 / math.pi)


def _total(measured: Additive, chosen: Additive | None) -> Additive:
    return measured if chosen is None else measured + chosen  # type: ignore[operator]
