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
from sitr.questions.aggregate.functions.function import BoundAggregate, End, Estimate, Same, largest_error, show
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.stability import people, stability
from sitr.questions.aggregate.term import Term

KEYS = ""
"""The name of the measurement that decides which keys are shown; no column of an answer can have this name."""


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

    def joint(self, confidence: Number) -> Joint:
        """The noises of its measurements, for intervals that hold with this probability."""
        return Joint(tuple((each.noise, each.granularity) for each in self.measured), 1 - exact(confidence))

    def width(self, confidence: Number, *, rows: int | None = None) -> End:
        """The largest half-width of the intervals, in the column's unit; where the noisy count is at least `rows`.

        It is infinite for a column whose error depends on the data without a limit.
        """
        return largest_error(self.aggregate.formula, self.joint(confidence), rows=rows)

    def error(self, *, confidence: Number = 0.95, rows: int | None = None) -> float:
        """The same, rounded up."""
        width = self.width(confidence, rows=rows)
        return width if isinstance(width, float) else upward(width)

    @property
    def depends_on_rows(self) -> bool:
        """Whether its error is smaller where there are more rows."""
        return not isinstance(self.aggregate.formula, Same | Linear)

    def estimates(self, granules: Iterable[Sequence[int]], *, confidence: Number = 0.95) -> list[Estimate]:
        """The numbers that the column shows, with intervals, from the noisy integers of its measurements.

        Each estimate, taken alone, holds the exact number with probability `confidence`.
        """
        formula, noise = self.aggregate.formula, self.joint(confidence)
        if isinstance(formula, Same):
            (unit,), width = self._units(), noise.width((Fraction(1),))
            return [Estimate(n * unit, n * unit - width, n * unit + width) for (n,) in granules]
        return [show(formula, self._numbers(row), noise) for row in granules]

    def values(self, granules: Iterable[Sequence[int]]) -> list[Fraction | None]:
        """The numbers that the column shows, without intervals."""
        match self.aggregate.formula:
            case Same():
                (each,) = self.measured
                return [number * each.granularity for (number,) in granules]
            case Linear() as linear:
                return [linear.at(self._numbers(row)) for row in granules]
            case Quotient() as quotient:
                return [quotient.value(self._numbers(row)) for row in granules]
        return [one.value for one in self.estimates(granules)]

    def _units(self) -> list[Fraction]:
        return [each.granularity for each in self.measured]

    def _numbers(self, row: Sequence[int]) -> list[Fraction]:
        return [n * unit for n, unit in zip(row, self._units(), strict=True)]


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
        names = (named.name for named in self.query.query.aggregates)
        return self._shown(zip(names, self.query.columns, strict=True))

    @property
    def hidden(self) -> tuple[Shown, ...]:
        """The columns that only HAVING and ORDER BY use: they are measured, and not shown."""
        return self._shown(self.query.after.hidden)

    def _shown(self, columns: Iterable[tuple[str, BoundAggregate]]) -> tuple[Shown, ...]:
        found = {each.term: each for each in self.noisy}
        return tuple(Shown(name, column, tuple(found[term] for term in column.terms)) for name, column in columns)

    def together(self, confidence: Number, *, cells: int, simultaneous: bool = False) -> Number:
        """The confidence of each interval of an answer with this many cells.

        Where noisy numbers chose the rows, or if it is asked for, all intervals of all cells hold together: each of
        them misses with an equal share of 1 − `confidence`. See `sitr.questions.aggregate.after`.
        """
        if not (simultaneous or self.query.after.by_noise):
            return confidence
        return 1 - (1 - exact(confidence)) / max(1, cells * len(self.query.columns))

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
        plans = [_plan(query, way) for way in ways(paid)]
    return _useful(min(plans, key=lambda plan: sum(map(_relative_error, plan.noisy))))


def _useful(plan: AggregatePlan) -> AggregatePlan:
    """The plan, unless an error is too large for a double."""
    beyond = [each.term for each in plan.noisy if each.width(0.95) > sys.float_info.max]
    lost = [
        column.name for column in (*plan.columns, *plan.hidden) if any(each.term in beyond for each in column.measured)
    ]
    if lost:
        raise QuestionError(
            given=f"At the price {plan.price!r}, the error of {', '.join(lost)} exceeds {sys.float_info.max:.2g}.",
            do="Pay a little more, or describe the data set with narrower bounds or smaller caps.",
        )
    return plan


def _plan(query: BoundedQuery, way: Way, threshold: Threshold | None = None) -> AggregatePlan:
    part, spelled = way.bought.share(Fraction(1, len(query.terms))), text(query.query)
    measured = []
    for term in query.terms:
        name, unit, far = term.name, term.granularity, stability(query, term)
        noise = least_noise(part, l1=far.l1, l2=far.l2)
        measured.append(Measurement(name, noise if query.keys else noise.alone(), far, unit))
    keys = () if threshold is None else (Measurement(KEYS, threshold, people(query)),)
    return AggregatePlan((*measured, *keys), way.charged, spelled, query)


def _with_threshold(query: BoundedQuery, price: ApproximateDP) -> list[AggregatePlan]:
    """The keys get the same share of ε as a term, and all of δ beside pure noise or half of δ beside Gaussian noise."""
    epsilon = downward(exact(price.epsilon) / (len(query.terms) + 1))
    whole = _threshold(query, ApproximateDP(epsilon, price.delta))
    half = _threshold(query, ApproximateDP(epsilon, downward(exact(price.delta) / 2)))
    return [
        *(_plan(query, way, whole) for way in pure_ways(price, beside=(whole,))),
        *(_plan(query, way, half) for way in gaussian_ways(price, beside=(half,))),
    ]


def _threshold(query: BoundedQuery, price: ApproximateDP) -> Threshold:
    return Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)


def _relative_error(noisy: NoisyTerm) -> Fraction:
    """The error relative to one unit's largest contribution, so that terms in different units can be compared."""
    return Fraction(noisy.noise.error(), noisy.distance.largest)


def _refuse_unknown_keys(query: BoundedQuery, price: Promise) -> None:
    if unknown := [key.name for key in query.keys if key.keys is None]:
        raise QuestionError(
            given=f"The keys of {', '.join(unknown)} are not public, so the price needs δ > 0, but it is {price!r}.",
            do=f"Declare them with keys={{{unknown[0]!r}: […]}}, or set the budget and the price in approximate(ε, δ).",
        )
