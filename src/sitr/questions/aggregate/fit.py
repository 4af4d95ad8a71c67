"""The noise that a price pays for in an aggregate question, fitted before any row is read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.candidates import least_noise
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact, upward
from sitr.plans.noise import Way, affordable, gaussian_ways, pure_ways, ways
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import BoundAggregate, Estimate, Same
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.aggregate.term import Term
from sitr.sensitivity.bounded import bounded

KEYS = ""
"""The name of the measurement that decides which keys are shown; no column of an answer can have this name."""

BEYOND = "people beyond the cap on groups"
"""The name of the measurement of people who had rows in more groups than the cap."""


@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A term and the measurement that hides it."""

    term: Term
    measurement: Measurement

    @property
    def noise(self) -> Noise:
        assert isinstance(self.measurement.mechanism, Noise)
        return self.measurement.mechanism

    @property
    def distance(self) -> Distance:
        assert self.measurement.distance is not None
        return self.measurement.distance

    @property
    def granularity(self) -> Fraction:
        return self.measurement.granularity

    def width(self, confidence: Number) -> Fraction:
        """The half-width of the interval around each number, in the column's unit."""
        return self.noise.error(confidence=confidence) * self.granularity


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
        """The same, rounded up."""
        return upward(self.width(confidence))

    def estimates(self, granules: Iterable[Sequence[int]], *, confidence: Number = 0.95) -> list[Estimate]:
        """The numbers that the column shows, with intervals, from the noisy integers of its measurements.

        Each estimate, taken alone, holds the exact number with probability `confidence`. With m measurements, each has
        an interval for 1 − (1 − confidence)/m, so that all of them hold together by the union bound.
        """
        widths = self._widths(confidence)
        units = [(each.granularity, width) for each, width in zip(self.measured, widths, strict=True)]
        show = self.aggregate.formula.show
        return [show([_around(n * unit, w) for n, (unit, w) in zip(row, units, strict=True)]) for row in granules]

    def values(self, granules: Iterable[Sequence[int]]) -> list[Fraction]:
        """The numbers that the column shows, without intervals."""
        if isinstance(self.aggregate.formula, Same):
            (each,) = self.measured
            return [number * each.granularity for (number,) in granules]
        return [one.value for one in self.estimates(granules)]

    def _widths(self, confidence: Number) -> list[Fraction]:
        missed = (1 - exact(confidence)) / len(self.measured)
        return [each.width(confidence if len(self.measured) == 1 else 1 - missed) for each in self.measured]


def _around(value: Fraction, width: Fraction) -> Estimate:
    return Estimate(value, value - width, value + width)


@dataclass(frozen=True, slots=True)
class AggregatePlan(Plan):
    """A plan for a bounded query: one measurement for each term, and one for the keys if they are not public."""

    query: BoundedQuery

    @property
    def noisy(self) -> tuple[NoisyTerm, ...]:
        """The measured terms, each once. Measurements have the order of the terms; their names only describe them."""
        return tuple(map(NoisyTerm, self.query.terms, self.measurements))

    @property
    def columns(self) -> tuple[Shown, ...]:
        found = {each.term: each for each in self.noisy}
        return tuple(
            Shown(named.name, column, tuple(found[term] for term in column.terms))
            for named, column in zip(self.query.query.aggregates, self.query.columns, strict=True)
        )

    @property
    def threshold(self) -> Threshold | None:
        """The mechanism that decides which keys are shown; None if all keys are public."""
        found = [each.mechanism for each in self.measurements if each.name == KEYS]
        assert not found or isinstance(found[0], Threshold)
        return found[0] if found else None  # type: ignore[return-value]

    @property
    def beyond(self) -> Measurement | None:
        """The measurement of the people beyond the cap on groups, if there is one."""
        return next((each for each in self.measurements if each.name == BEYOND), None)


def fit(query: BoundedQuery, price: Promise) -> AggregatePlan:
    """The plan with the least error at this price; each term gets an equal share."""
    paid = affordable(price)
    if isinstance(paid, ApproximateDP) and paid.delta > 0 and not query.known:
        plans = _with_threshold(query, paid)
    else:
        _refuse_unknown_keys(query, paid)
        plans = [_plan(query, way) for way in ways(paid)]
    return _useful(min(plans, key=_total_error))


def _useful(plan: AggregatePlan) -> AggregatePlan:
    """The plan, unless an error is too large for a double."""
    beyond = [each.term for each in plan.noisy if each.width(0.95) > sys.float_info.max]
    lost = [column.name for column in plan.columns if any(each.term in beyond for each in column.measured)]
    if lost:
        raise QuestionError(
            given=f"At the price {plan.price!r}, the error of {', '.join(lost)} exceeds {sys.float_info.max:.2g}.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _plan(query: BoundedQuery, way: Way, threshold: Threshold | None = None) -> AggregatePlan:
    shares, spelled = _shares(query), text(query.query)
    measured = []
    for term in query.terms:
        name, unit, far = term.name, term.granularity, stability(query, term)
        noise = least_noise(way.bought.share(shares[term]), l1=far.l1, l2=far.l2)
        measured.append(Measurement(name, noise if query.keys else noise.alone(), far, unit))
    keys = () if threshold is None else (Measurement(KEYS, threshold, people(query)),)
    beyond = ()
    if query.watch is not None and query.watch.beyond:
        one = bounded(low=0, high=1, groups=1, cells=1, relation=query.relation)
        noise = least_noise(way.bought.share(shares[None]), l1=one.l1, l2=one.l2)
        beyond = (Measurement(BEYOND, noise.alone(), one),)
    return AggregatePlan((*measured, *keys, *beyond), way.charged, spelled, query)


def _shares(query: BoundedQuery) -> dict[Term | None, Fraction]:
    """The share of each term, and under None that of the people beyond the cap on groups.

    What is shown gets equal shares of the whole, or of what the bias leaves; what is watched gets equal shares too.
    """
    shown, watch = query.shown_terms, query.watch
    watched: list[Term | None] = [term for term in query.terms if term not in shown]
    watched += [None] if watch is not None and watch.beyond else []
    spent = watch.share if watch is not None and watched else Fraction(0)
    shares: dict[Term | None, Fraction] = {term: (1 - spent) / len(shown) for term in shown}
    return shares | {term: spent / len(watched) for term in watched}


def _with_threshold(query: BoundedQuery, price: ApproximateDP) -> list[AggregatePlan]:
    """The keys get the same share of ε as a term, and all of δ beside pure noise or half of δ beside Gaussian noise."""
    epsilon = downward(exact(price.epsilon) / (len(query.shown_terms) + 1))
    whole = _threshold(query, ApproximateDP(epsilon, price.delta))
    half = _threshold(query, ApproximateDP(epsilon, downward(exact(price.delta) / 2)))
    return [
        *(_plan(query, way, whole) for way in pure_ways(price, beside=(whole,))),
        *(_plan(query, way, half) for way in gaussian_ways(price, beside=(half,))),
    ]


def _threshold(query: BoundedQuery, price: ApproximateDP) -> Threshold:
    return Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)


def _total_error(plan: AggregatePlan) -> Fraction:
    shown = plan.query.shown_terms
    return sum((_relative_error(each) for each in plan.noisy if each.term in shown), Fraction(0))


def _relative_error(noisy: NoisyTerm) -> Fraction:
    """The error relative to one unit's largest contribution, so that terms in different units can be compared."""
    return Fraction(noisy.noise.error(), noisy.distance.largest)


def _refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if unknown := [key.name for key in query.keys if key.keys is None]:
        raise QuestionError(
            given=f"The keys of {', '.join(unknown)} are not public, so the price needs δ > 0, but it is {price!r}.",
            do=f"Declare them with keys={{{unknown[0]!r}: […]}}, or set the budget and the price in approximate(ε, δ).",
        )
