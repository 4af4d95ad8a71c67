"""The noise that a price pays for in an aggregate question, fitted before any row is read."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise, NoisePrice
from sitr.mechanisms.candidates import least_noise
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact, upward
from sitr.plans.noise import Way, affordable, gaussian_ways, largest_fitting, pure_ways, ways
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import BoundAggregate, Estimate, Same
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.quantity import Bar, Quantity, Rank
from sitr.questions.aggregate.stability import people, stability

END = 1 - Fraction(5, 100) / 3
"""The confidence of each end of a quantile's interval: an interval with a number and two ends is shown for 95%."""

BESIDE = 1
"""How many ranks the usual definitions of a quantile differ by."""

KEYS = ""
"""The name of the measurement that decides which keys are shown; no column of an answer can have this name."""


@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A term and the measurement that hides it, perhaps together with others."""

    term: Quantity
    measurement: Measurement

    @property
    def noise(self) -> Noise:
        assert isinstance(self.measurement.mechanism, Noise)
        return self.measurement.mechanism

    @property
    def choice(self) -> GroupedQuantile | None:
        """The mechanism of a quantile, which has no noise; None if there is noise."""
        found = self.measurement.mechanism
        return found if isinstance(found, GroupedQuantile) else None

    @property
    def distance(self) -> Distance:
        assert self.measurement.distance is not None
        return self.measurement.distance

    @property
    def granularity(self) -> Fraction:
        return self.measurement.granularity

    def width(self, confidence: Number) -> Fraction:
        """The largest distance from a number to an end of its interval, in the column's unit."""
        if isinstance(self.term, Rank):
            return (self.term.quantised.upper - self.term.quantised.lower) * self.granularity
        return self.noise.error(confidence=confidence) * self.granularity

    def estimates(self, numbers: Iterable[int], confidence: Number) -> list[Estimate]:
        """The measured numbers with their intervals, in the column's unit."""
        unit = self.granularity
        if isinstance(self.term, Rank):
            return [_chosen(self.term, self.choice, number, confidence) for number in numbers]
        width = self.width(confidence)
        return [Estimate(n * unit, n * unit - width, n * unit + width) for n in numbers]


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the answer: a function of the numbers of one measurement, or of several."""

    name: str
    aggregate: BoundAggregate
    measured: tuple[NoisyTerm, ...]

    @property
    def sql(self) -> str:
        return self.aggregate.aggregate.sql()

    def width(self, confidence: Number) -> Fraction:
        """The largest half-width of the intervals, in the column's unit."""
        return self.aggregate.formula.error(self._widths(confidence))

    def error(self, *, confidence: Number = 0.95) -> float:
        """The same, rounded up; of a quantile the number of ranks, because values may lie anywhere between ranks."""
        ranks = self.ranks(confidence=confidence)
        return upward(self.width(confidence)) if ranks is None else ranks

    def ranks(self, *, confidence: Number = 0.95) -> float | None:
        """How many ranks a quantile is off at most, with this confidence; None if the column is something else."""
        if not self.aggregate.ranked:
            return None
        level = self._level(confidence)
        found = [each.choice for each in self.measured if isinstance(each.term, Rank) and each.term.shown]
        return max(upward(exact(one.error(confidence=level)) + abs(one.offset)) for one in found if one is not None)

    def estimates(self, granules: Iterable[Sequence[int]], *, confidence: Number = 0.95) -> list[Estimate]:
        """The numbers that the column shows, with intervals, from the noisy integers of its measurements.

        Each estimate, taken alone, holds the exact number with probability `confidence`. With m measurements, each has
        an interval for 1 − (1 − confidence)/m, so that all of them hold together by the union bound.
        """
        columns = zip(*granules, strict=True)
        level = self._level(confidence)
        found = [each.estimates(numbers, level) for each, numbers in zip(self.measured, columns, strict=False)]
        return [self.aggregate.formula.show(row) for row in zip(*found, strict=True)]

    def values(self, granules: Iterable[Sequence[int]]) -> list[Fraction]:
        """The numbers that the column shows, without intervals."""
        if isinstance(self.aggregate.formula, Same):
            (each,) = self.measured
            return [number * each.granularity for (number,) in granules]
        return [one.value for one in self.estimates(granules)]

    def _widths(self, confidence: Number) -> list[Fraction]:
        return [each.width(self._level(confidence)) for each in self.measured]

    def _level(self, confidence: Number) -> Number:
        """The confidence of each measurement, so that all of them hold together."""
        many = len(self.measured)
        return confidence if many == 1 else 1 - (1 - exact(confidence)) / many


def _chosen(term: Rank, choice: GroupedQuantile | None, number: int, confidence: Number) -> Estimate:
    """A quantile, which lies between the bounds; an end of its interval bounds it, if that holds so often."""
    assert choice is not None
    unit, (low, high) = term.granularity, term.quantised.ends
    holds = term.end != 0 and choice.error(confidence=confidence) <= abs(choice.offset) - BESIDE
    value = number * unit
    return Estimate(value, value if holds and term.end < 0 else low, value if holds and term.end > 0 else high)


@dataclass(frozen=True, slots=True)
class AggregatePlan(Plan):
    """A plan for a bounded query: one measurement for each term, and one for the keys if they are not public."""

    query: BoundedQuery

    @property
    def noisy(self) -> tuple[NoisyTerm, ...]:
        """The measured terms, each once. Measurements have the order of `query.measured`."""
        found = {
            term: each for some, each in zip(self.query.measured, self.measurements, strict=False) for term in some
        }
        return tuple(NoisyTerm(term, found[term]) for term in self.query.terms)

    @property
    def first(self) -> tuple[NoisyTerm, ...]:
        """Of each measurement, its first term: the others have the same noise."""
        return tuple({id(each.measurement): each for each in reversed(self.noisy)}.values())[::-1]

    @property
    def columns(self) -> tuple[Shown, ...]:
        found = {each.term: each for each in self.noisy}
        return tuple(
            Shown(name, column, tuple(found[term] for term in column.terms)) for name, column in self.query.shown
        )

    @property
    def threshold(self) -> Threshold | None:
        """The mechanism that decides which keys are shown; None if all keys are public."""
        found = [each.mechanism for each in self.measurements if each.name == KEYS]
        assert not found or isinstance(found[0], Threshold)
        return found[0] if found else None  # type: ignore[return-value]


def fit(query: BoundedQuery, price: Promise) -> AggregatePlan:
    """The plan with the least error at this price; each term gets an equal share."""
    paid = affordable(price)
    if isinstance(paid, ApproximateDP) and paid.delta > 0 and not query.known:
        plans = _with_threshold(query, paid)
    else:
        _refuse_unknown_keys(query, paid)
        plans = [plan for way in ways(paid) for plan in _plans(query, way)]
    return _useful(min(plans, key=lambda plan: sum(map(_relative_error, plan.noisy))))


def _useful(plan: AggregatePlan) -> AggregatePlan:
    """The plan, unless an error is too large for a double."""
    beyond = [each.term for each in plan.noisy if each.choice is None and each.width(0.95) > sys.float_info.max]
    lost = [column.name for column in plan.columns if any(each.term in beyond for each in column.measured)]
    if lost:
        raise QuestionError(
            given=f"At the price {plan.price!r}, the error of {', '.join(lost)} exceeds {sys.float_info.max:.2g}.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _plan(query: BoundedQuery, way: Way, threshold: Threshold | None = None) -> AggregatePlan:
    part, spelled = way.bought.share(Fraction(1, len(query.measured))), text(query.query)
    measured = [_measurement(query, terms, part) for terms in query.measured]
    keys = () if threshold is None else (Measurement(KEYS, threshold, people(query)),)
    return AggregatePlan((*measured, *keys), way.charged, spelled, query)


def _plans(query: BoundedQuery, way: Way, threshold: Threshold | None = None) -> list[AggregatePlan]:
    """The plan that spends a price this way; none if no plan is proved to keep it.

    Beside Gaussian noise of μ, a quantile gets the rate with ρ = μ²/2, and so the noise of both shrinks and grows
    together. Choices are not Gaussian: the largest μ is the one for which the loss of the whole plan keeps the price.
    """
    choices = any(isinstance(term, Rank) for term in query.terms)
    if not (choices and isinstance(way.bought, GaussianDP) and isinstance(way.charged, ApproximateDP)):
        return [_plan(query, way, threshold)]
    price = way.charged

    def at(mu: float) -> AggregatePlan:
        return _plan(query, Way(price, GaussianDP(mu)), threshold)

    def fits(mu: float) -> bool:
        loss = at(mu).loss()
        return loss is not None and price.proved_by(loss)

    found = largest_fitting(fits, start=way.bought.mu)
    return [] if found is None else [at(found)]


def _measurement(query: BoundedQuery, terms: tuple[Quantity, ...], part: NoisePrice) -> Measurement:
    """The measurement of some terms together, for this share of the price."""
    term, far = terms[0], stability(query, terms[0])
    if isinstance(term, Rank):
        return Measurement(term.name, _choice(query, term, part), None, term.granularity)
    assert far is not None
    noise = least_noise(part, l1=far.l1, l2=far.l2)
    alone = not query.keys and len(terms) == 1
    name = f"HISTOGRAM({term.of.text}, …)" if isinstance(term, Bar) else term.name
    return Measurement(name, noise.alone() if alone else noise, far, term.granularity)


def _choice(query: BoundedQuery, term: Rank, part: NoisePrice) -> GroupedQuantile:
    """The choice of a quantile in each group. A Gaussian share says only how large its rate is, and proves nothing.

    The offset of an end covers its error, when this column is shown with a confidence of 95%, and one rank more: so the
    interval holds every usual definition of a quantile, which lie between neighbouring values.
    """
    quantised = term.quantised
    one = GroupedQuantile(
        rate=1,
        level=term.level,
        low=quantised.lower,
        high=quantised.upper,
        each=query.max_rows_per_group,
        groups=query.max_groups,
        cells=query.cells,
        relation=query.relation,
        offset=term.end,
    )
    fitted = one.fitted(part.to_zero_concentrated() if isinstance(part, GaussianDP) else part)
    return replace(fitted, offset=term.end * (math.ceil(fitted.error(confidence=END)) + BESIDE))


def _with_threshold(query: BoundedQuery, price: ApproximateDP) -> list[AggregatePlan]:
    """The keys get the same share of ε as a term, and all of δ beside pure noise or half of δ beside Gaussian noise."""
    epsilon = downward(exact(price.epsilon) / (len(query.measured) + 1))
    whole = _threshold(query, ApproximateDP(epsilon, price.delta))
    half = _threshold(query, ApproximateDP(epsilon, downward(exact(price.delta) / 2)))
    return [
        *(plan for way in pure_ways(price, beside=(whole,)) for plan in _plans(query, way, whole)),
        *(plan for way in gaussian_ways(price, beside=(half,)) for plan in _plans(query, way, half)),
    ]


def _threshold(query: BoundedQuery, price: ApproximateDP) -> Threshold:
    return Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)


def _relative_error(noisy: NoisyTerm) -> Fraction:
    """The error relative to one unit's largest contribution, so that terms in different units can be compared."""
    if noisy.choice is not None:
        return exact(noisy.choice.error()) / noisy.choice.each
    return Fraction(noisy.noise.error(), noisy.distance.largest)


def _refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if unknown := [key.name for key in query.keys if key.keys is None]:
        raise QuestionError(
            given=f"The keys of {', '.join(unknown)} are not public, so the price needs δ > 0, but it is {price!r}.",
            do=f"Declare them with keys={{{unknown[0]!r}: […]}}, or set the budget and the price in approximate(ε, δ).",
        )
