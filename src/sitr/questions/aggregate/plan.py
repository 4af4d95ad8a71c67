"""The plan of an aggregate question: its measured terms, and the columns that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

from sitr.dataclass import Remembering, dataclass
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, exact, least_whole, upward
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import (
    BoundAggregate,
    End,
    Estimate,
    JointFormula,
    Same,
    largest_error,
    show,
)
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.functions.operators import Over, OverRows
from sitr.questions.aggregate.keys import KeyThreshold
from sitr.questions.aggregate.other import draws as draws_of
from sitr.questions.aggregate.quantity import Quantity, Rank
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.window_errors import rank_error, rows_of_window

BESIDE = 1
"""How many ranks the usual definitions of a quantile differ by."""

KEYS = ""
"""The name of the measurement that decides which keys are shown; no column of an answer can have this name."""

BEYOND = "people beyond the cap on groups"
"""The name of the measurement of people who had rows in more groups than the cap."""


@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A term and the measurement that hides it, perhaps together with others."""

    term: Quantity
    measurement: Measurement

    @property
    def noise(self) -> Noise:
        found = self.measurement.mechanism if self.passed is None else self.passed.noise
        assert isinstance(found, Noise)
        return found

    @property
    def passed(self) -> Threshold | GaussianThreshold | None:
        """The threshold whose noisy numbers these are; None if they have a measurement of their own."""
        found = self.measurement.mechanism
        return found if isinstance(found, Threshold | GaussianThreshold) else None

    @property
    def choice(self) -> GroupedQuantile | None:
        """The mechanism of a quantile, which has no noise; None if there is noise."""
        found = self.measurement.mechanism
        return found if isinstance(found, GroupedQuantile) else None

    @property
    def law(self) -> Noise | ChosenTerm:
        """What hides the number: noise, or the choice of a quantile."""
        return self.noise if self.choice is None else ChosenTerm(self)

    @property
    def distance(self) -> Distance:
        assert self.measurement.distance is not None
        return self.measurement.distance

    @property
    def granularity(self) -> Fraction:
        return self.measurement.granularity

    def width(self, confidence: Number, *, draws: int = 1) -> Fraction:
        """The largest distance from a number to an end of its interval, in the column's unit.

        The number has as many `draws` of the noise.
        """
        if isinstance(self.term, Rank):
            return (self.term.quantised.upper - self.term.quantised.lower) * self.granularity
        if self.passed is not None:
            return Fraction(_widest(self.passed, confidence))
        if draws > 1:
            return Joint(((self.noise, self.granularity),), 1 - exact(confidence), draws).width((Fraction(1),))
        return self.noise.error(confidence=confidence) * self.granularity

    def estimates(self, numbers: Iterable[int], confidence: Number) -> list[Estimate]:
        """The measured numbers with their intervals, in the column's unit."""
        unit = self.granularity
        if isinstance(self.term, Rank):
            return [_chosen(self.term, self.choice, number, confidence) for number in numbers]
        if self.passed is not None:
            return [_passed(self.passed, number, confidence) for number in numbers]
        width = self.width(confidence)
        return [Estimate(n * unit, n * unit - width, n * unit + width) for n in numbers]


@dataclass(frozen=True, slots=True)
class ChosenTerm:
    """A quantile inside an expression: it lies between the bounds, and where its end holds, beyond that."""

    of: NoisyTerm

    def ends(self, value: Fraction, /, *, confidence: Number) -> tuple[Fraction, Fraction]:
        assert isinstance(self.of.term, Rank)
        found = _chosen(self.of.term, self.of.choice, int(value / self.of.granularity), confidence)
        assert isinstance(found.low, Fraction)
        assert isinstance(found.high, Fraction)
        return found.low, found.high

    def error(self, *, confidence: Number) -> Fraction:
        return self.of.width(confidence) / self.of.granularity


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the answer: a function of the numbers of one measurement, or of several."""

    name: str
    aggregate: BoundAggregate
    measured: tuple[NoisyTerm, ...]

    @property
    def sql(self) -> str:
        return self.aggregate.aggregate.sql()

    @property
    def released(self) -> bool:
        """Whether it shows the noisy numbers of its one measurement as they are."""
        return [each.term.name for each in self.measured if each.choice is None] == [self.sql]

    def joint(self, confidence: Number, *, draws: int = 1) -> Joint:
        """The noises of its measurements, each drawn so often, for intervals that hold with this probability."""
        noises = tuple((each.law, each.granularity) for each in self.measured)
        return Joint(noises, 1 - exact(confidence), draws)

    def width(self, confidence: Number, *, rows: int | None = None, draws: int = 1) -> End:
        """The largest half-width of the intervals, in the column's unit; where the noisy count is at least `rows`.

        It is infinite for a column whose error depends on the data without a limit. The numbers have as many `draws`
        of the noise.
        """
        if (passed := self._passed) is not None:
            return Fraction(_widest(passed, confidence, rows=rows))
        if self.aggregate.ranked:
            formula = self.aggregate.formula
            assert not isinstance(formula, JointFormula)
            return formula.error([each.width(self._level(confidence)) for each in self.measured])
        return largest_error(self.aggregate.formula, self.joint(confidence, draws=draws), rows=rows)

    def error(self, *, confidence: Number = 0.95, rows: int | None = None, draws: int = 1) -> float:
        """The same, rounded up; of a quantile the number of ranks, because values may lie anywhere between ranks."""
        ranks = self.ranks(confidence=confidence)
        width = self.width(confidence, rows=rows, draws=draws) if ranks is None else ranks
        return width if isinstance(width, float) else upward(width)

    def ranks(self, *, confidence: Number = 0.95) -> float | None:
        """How many ranks a quantile is off at most, with this confidence; None if the column is something else."""
        if not self.aggregate.ranked:
            return None
        level = self._level(confidence)
        found = [each.choice for each in self.measured if isinstance(each.term, Rank) and each.term.shown]
        return max(upward(exact(one.error(confidence=level)) + abs(one.offset)) for one in found if one is not None)

    @property
    def depends_on_rows(self) -> bool:
        """Whether its error is smaller where there are more rows."""
        if self._passed is not None:
            return True
        return not (self.aggregate.ranked or isinstance(self.aggregate.formula, Same | Linear))

    def estimates(
        self, granules: Iterable[Sequence[int]], *, confidence: Number = 0.95, draws: int = 1
    ) -> list[Estimate]:
        """The numbers that the column shows, with intervals, from the noisy integers of its measurements.

        Each estimate, taken alone, holds the exact number with probability `confidence`. The integers have as many
        `draws` of the noise.
        """
        formula = self.aggregate.formula
        if self.aggregate.ranked:
            assert not isinstance(formula, JointFormula)
            columns, level = zip(*granules, strict=True), self._level(confidence)
            found = [each.estimates(numbers, level) for each, numbers in zip(self.measured, columns, strict=False)]
            return [formula.show(row) for row in zip(*found, strict=True)]
        if self._passed is not None:
            return self.measured[0].estimates((number for (number,) in granules), confidence)
        noise = self.joint(confidence, draws=draws)
        if isinstance(formula, Same):
            (unit,), width = self._units(), noise.width((Fraction(1),))
            return [Estimate(n * unit, n * unit - width, n * unit + width) for (n,) in granules]
        return [show(formula, self._numbers(row), noise) for row in granules]

    def values(
        self, granules: Iterable[Sequence[int]], *, confidence: Number = 0.95, draws: int = 1
    ) -> list[Fraction | None]:
        """The numbers that the column shows, without intervals.

        A column of interval ends has this `confidence`, where the integers have as many `draws` of the noise.
        """
        match self.aggregate.formula:
            case Same():
                (each,) = self.measured
                return [number * each.granularity for (number,) in granules]
            case Linear() as linear:
                return [linear.at(self._numbers(row)) for row in granules]
            case Quotient() as quotient:
                return [quotient.value(self._numbers(row)) for row in granules]
        sure = confidence if self.aggregate.end else 0.95
        return [one.value for one in self.estimates(granules, confidence=sure, draws=draws)]

    @property
    def _passed(self) -> Threshold | GaussianThreshold | None:
        """The threshold whose noisy numbers it shows, if it does."""
        return self.measured[0].passed if isinstance(self.aggregate.formula, Same) else None

    def _units(self) -> list[Fraction]:
        return [each.granularity for each in self.measured]

    def _numbers(self, row: Sequence[int]) -> list[Fraction]:
        return [n * unit for n, unit in zip(row, self._units(), strict=True)]

    def _level(self, confidence: Number) -> Number:
        """The confidence of each measurement, so that all of them hold together."""
        many = len(self.measured)
        return confidence if many == 1 else 1 - (1 - exact(confidence)) / many


def _chosen(term: Rank, choice: GroupedQuantile | None, number: int, confidence: Number) -> Estimate:
    """A quantile, which lies between the bounds; an end of its interval bounds it, if that holds so often.

    An extreme that leans inward lies between its bound and the number beyond which such a choice would be rare.
    """
    assert choice is not None
    unit, (low, high) = term.granularity, term.quantised.ends
    value = number * unit
    if choice.inward:
        farthest = choice.beyond(number, confidence=confidence) * unit
        return Estimate(value, farthest if term.level else low, high if term.level else farthest)
    holds = choice.offset != 0 and choice.error(confidence=confidence) <= abs(choice.offset) - BESIDE
    return Estimate(
        value, value if holds and choice.offset < 0 else low, value if holds and choice.offset > 0 else high
    )


@lru_cache(4096)
def _passed(threshold: Threshold | GaussianThreshold, number: int, confidence: Number) -> Estimate:
    """A number of people that passed a threshold, with its interval."""
    low, high = threshold.ends(number, confidence=confidence)
    return Estimate(Fraction(number), Fraction(low), Fraction(high))


@lru_cache(256)
def _widest(threshold: Threshold | GaussianThreshold, confidence: Number, *, rows: int | None = None) -> int:
    """The largest distance from a number of people that passed a threshold to an end; of at least `rows`, if given.

    As long as the interval of a number reaches down to 1, the distance below it grows with the number; then it shrinks.
    The distance above it always grows. So the largest ones are where the interval leaves 1, and far away.
    """
    first = max(threshold.least, rows or 0)
    last = least_whole(lambda number: threshold.ends(number, confidence=confidence)[0] > 1, least=first)
    far = last + 100 * (threshold.noise.width(confidence=confidence) + 1)
    places = {first, max(first, last - 1), last, far}
    ends = ((number, *threshold.ends(number, confidence=confidence)) for number in places)
    return max(max(number - low, high - number) for number, low, high in ends)


@dataclass(frozen=True, slots=True)
class AggregatePlan(Remembering, Plan):
    """A plan for a bounded query: one measurement for each term, and one for the keys if they are not public.

    The threshold that selects keys may show the numbers of people that it selected them by: these are `counted`, and
    have no other measurement.
    """

    query: BoundedQuery
    counted: Term | None = None

    @cached_property
    def families(self) -> list[tuple[Quantity, ...]]:
        """The terms of each measurement, in order; the keys' and the people's beyond the cap come after them."""
        return [terms for terms in self.query.measured if terms[0] != self.counted]

    @cached_property
    def noisy(self) -> tuple[NoisyTerm, ...]:
        """The measured terms, each once."""
        found = {term: each for some, each in zip(self.families, self.measurements, strict=False) for term in some}
        if self.counted is not None:
            found[self.counted] = self[KEYS]
        return tuple(NoisyTerm(term, found[term]) for term in self.query.terms)

    @property
    def first(self) -> tuple[NoisyTerm, ...]:
        """Of each measurement but the keys', its first term: the others have the same noise."""
        own = (each for each in reversed(self.noisy) if each.passed is None)
        return tuple({id(each.measurement): each for each in own}.values())[::-1]

    @cached_property
    def columns(self) -> tuple[Shown, ...]:
        return self._shown(self.query.shown)

    @cached_property
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
        return 1 - (1 - exact(confidence)) / max(1, cells * len(self.query.shown))

    def expected(
        self, column: Shown, *, confidence: Number = 0.95, rows: int | None = None, cells: int | None = None
    ) -> float:
        """The largest error of a column in all rows, before any of them is read: see `Shown.error`.

        Where noisy numbers select the rows and nobody knows how many `cells` there will be, it is for a single one.
        """
        sure = self.sure(confidence, cells=cells)
        window = self._of_window(column, sure)
        if window is not None:
            return upward(window) if isinstance(window, Fraction) else window
        return column.error(confidence=sure, rows=rows, draws=self.other_draws)

    def _of_window(self, column: Shown, confidence: Number) -> End | None:
        """The largest error of a rank or of a total over public keys; None for other columns."""
        over, formula = column.aggregate.aggregate, column.aggregate.formula
        rows = rows_of_window(self.query, over) if isinstance(over, Over) and isinstance(formula, OverRows) else None
        if rows is None or not isinstance(over, Over) or not isinstance(formula, OverRows):
            return None
        if (ranked := rank_error(over, rows)) is not None:
            return ranked
        inner, measured = dict(formula.windows)[over], {each.term: each for each in self.noisy}
        summed = Shown(column.name, inner, tuple(measured[term] for term in inner.terms))
        width = summed.width(confidence, draws=rows)
        return width / rows if over.called == "AVG" else width

    def sure(self, confidence: Number, *, cells: int | None = None) -> Number:
        """The confidence of each interval with as many cells, or with those that are known before a release."""
        return self.together(confidence, cells=cells or self.query.cells or 1)

    @property
    def uncertain(self) -> bool:
        """Whether the errors depend on how many keys are released, which nobody knows before."""
        return self.query.after.by_noise and self.query.cells is None

    @property
    def threshold(self) -> KeyThreshold | None:
        """The mechanism that decides which keys are shown; None if all keys are public."""
        found = [each.mechanism for each in self.measurements if each.name == KEYS]
        assert not found or isinstance(found[0], KeyThreshold)
        return found[0] if found else None  # type: ignore[return-value]

    @property
    def other_draws(self) -> int:
        """How many draws of their noise the numbers of a row for other keys have; 1 if there is no such row."""
        if not self.query.other:
            return 1
        return max(draws_of(self.query, each.measurement.mechanism) for each in self.noisy)

    @property
    def beyond(self) -> Measurement | None:
        """The measurement of the people beyond the cap on groups, if there is one."""
        return next((each for each in self.measurements if each.name == BEYOND), None)

    @property
    def lost(self) -> Measurement | None:
        """The measurement of the rows that the caps left out, up to a second cap, if there is one."""
        return next((each for each in self.measurements if each.name == LOST), None)
