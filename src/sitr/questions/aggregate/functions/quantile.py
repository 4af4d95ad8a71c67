"""QUANTILE, MEDIAN and APPROX_QUANTILES: values that a given share of all values lies below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.dataset.schema import Kind, Quantised
from sitr.errors import DescriptionError, QuestionError
from sitr.numbers import Number, finite
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Aggregate, Arguments, BoundAggregate, Estimate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.quantity import Rank, decimal
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import granules_of
from sitr.questions.aggregate.view import View

MOST_LEVELS = 100
"""The most quantiles of one call: each of them costs as much as a column."""


@dataclass(frozen=True, slots=True)
class Quantile(Operators):
    """The quantiles of an expression with public bounds at these levels; NULL and NaN count as no value.

    With `interval`, two more measurements for each level give an interval of values.

    >>> Quantile(Name("cost"), (Fraction(1, 4),)).sql()
    'QUANTILE(cost, 0.25)'
    """

    of: Expression
    levels: tuple[Fraction, ...]
    interval: bool = False

    function: ClassVar[str] = "QUANTILE"
    forms: ClassVar[tuple[str, ...]] = ("QUANTILE(column, level)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Quantile | None:
        match arguments:
            case Arguments((of, *levels), star=False, distinct=False) if levels and all(map(_number, levels)):
                return cls(of, tuple(_level(level.value) for level in levels))  # type: ignore[union-attr]
        return None

    def sql(self) -> str:
        levels = ", ".join(map(decimal, self.levels))
        called = f"QUANTILE({spelled(self.of)}, {levels if len(self.levels) == 1 else f'[{levels}]'})"
        return within_interval(called, interval=self.interval)

    def name(self) -> str:
        name = f"quantile_{self.of.name}" if isinstance(self.of, Name) else "quantile"
        return f"{name}_{decimal(self.levels[0])}" if len(self.levels) == 1 else name

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Quantile(of.expression, self.levels, self.interval)
        one = len(self.levels) == 1
        parts = tuple((f"_{decimal(level)}", level) for level in self.levels)
        return ranked(found, of, view, parts, interval=self.interval, one=one)


@dataclass(frozen=True, slots=True)
class Median(Operators):
    """The median of an expression with public bounds.

    >>> Median(Name("cost"), interval=True).sql()
    'WITH_INTERVAL(MEDIAN(cost))'
    """

    of: Expression
    interval: bool = False

    function: ClassVar[str] = "MEDIAN"
    forms: ClassVar[tuple[str, ...]] = ("MEDIAN(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Median | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return within_interval(f"MEDIAN({spelled(self.of)})", interval=self.interval)

    def name(self) -> str:
        return f"median_{self.of.name}" if isinstance(self.of, Name) else "median"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Median(of.expression, self.interval)
        return ranked(found, of, view, (("", Fraction(1, 2)),), interval=self.interval)


@dataclass(frozen=True, slots=True)
class ApproxQuantiles(Operators):
    """The n + 1 quantiles at 0, 1/n, …, 1, as in BigQuery: one column for each.

    >>> ApproxQuantiles(Name("cost"), 4).sql()
    'APPROX_QUANTILES(cost, 4)'
    """

    of: Expression
    many: int

    function: ClassVar[str] = "APPROX_QUANTILES"
    forms: ClassVar[tuple[str, ...]] = ("APPROX_QUANTILES(column, 4)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> ApproxQuantiles | None:
        match arguments:
            case Arguments((of, Literal(value=int(many))), star=False, distinct=False) if type(many) is int:
                return cls(of, many)
        return None

    def sql(self) -> str:
        return f"APPROX_QUANTILES({spelled(self.of)}, {self.many})"

    def name(self) -> str:
        return f"quantiles_{self.of.name}" if isinstance(self.of, Name) else "quantiles"

    def bound(self, view: View, /) -> BoundAggregate:
        if not 1 <= self.many < MOST_LEVELS:
            raise QuestionError(
                wanted=f"a whole number from 1 to {MOST_LEVELS - 1} in APPROX_QUANTILES",
                given=shown(self.many),
                do="Ask for fewer quantiles: they share the price.",
            )
        of = view.typed(self.of)
        parts = tuple((f"_{place}", Fraction(place, self.many)) for place in range(self.many + 1))
        return ranked(ApproxQuantiles(of.expression, self.many), of, view, parts, one=False)


def ranked(
    aggregate: Aggregate,
    of: Typed,
    view: View,
    parts: Sequence[tuple[str, Fraction]],
    *,
    interval: bool = False,
    one: bool = True,
) -> BoundAggregate:
    """The aggregate that shows these levels, each in a column of its own unless there is `one`."""
    if len(parts) > MOST_LEVELS:
        raise QuestionError(
            given=f"{aggregate.function} has {len(parts)} levels, and at most {MOST_LEVELS} are possible.",
            do="Ask for fewer quantiles: they share the price.",
        )
    quantised = granules_or_days(of, function=aggregate.function, table=view.name)
    # A quantile of reals stays real, however coarse its granularity.
    whole = quantised.granularity.denominator == 1 and of.kind is Kind.INTEGER
    kind = of.kind if of.kind in TEMPORAL else None
    levels = sorted({level for _, level in parts})
    middle = tuple(Rank(of, quantised, level) for level in levels)

    def column(level: Fraction) -> BoundAggregate:
        shown_as = aggregate if one else Quantile(of.expression, (level,), interval)
        if interval:
            ends = (1,) if level == 0 else (-1,) if level == 1 else (-1, 1)  # the other end of an extreme is its bound
            terms = (Rank(of, quantised, level), *(Rank(of, quantised, level, end) for end in ends))
            return BoundAggregate(shown_as, terms, Enclosed(), whole, quantised.granularity, kind, ranked=True)
        formula = InOrder(levels.index(level))
        return BoundAggregate(shown_as, middle, formula, whole, quantised.granularity, kind, ranked=True)

    columns = tuple((added, column(level)) for added, level in parts)
    if one:
        return columns[0][1]
    terms = tuple(dict.fromkeys(term for _, each in columns for term in each.terms))
    return BoundAggregate(aggregate, terms, parts=columns)


@dataclass(frozen=True, slots=True)
class InOrder:
    """The number at a place of the measured ones in growing order, counted from 0.

    Sorting is sound: if each interval contains its exact number, the numbers in order lie between the low ends in order
    and the high ends in order. The exact quantiles are in order by themselves.
    """

    place: int

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        if len(measured) == 1:
            return measured[0]
        value, low, high = (
            sorted(getattr(one, name) for one in measured)[self.place] for name in ("value", "low", "high")
        )
        return Estimate(value, low, high)

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        return max(errors)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """The first number, moved into the intersection of all intervals: all of them are about the same exact number."""

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        low, high = max(one.low for one in measured), min(one.high for one in measured)
        low, high = min(low, high), max(low, high)  # crossed ends are wrong anyway, and must not fail
        value = measured[0].value
        assert isinstance(value, Fraction)
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        return Estimate(min(max(value, low), high), low, high)

    def error(self, errors: Sequence[Fraction], /) -> Fraction:
        return max(errors)


def granules_or_days(of: Typed, *, function: str, table: str) -> Quantised:
    """How the values of an expression are counted: its bounds in granules, or in days or seconds since 1970."""
    if of.kind not in TEMPORAL:
        return granules_of(of, function=function, table=table)
    if of.column is not None and of.column.quantised is not None:
        return of.column.quantised
    if of.low is None or of.high is None or math.ceil(of.low) > math.floor(of.high):
        name = identifier(of.column.name) if of.column else of.text
        raise DescriptionError(
            given=f"{function}({name}) needs bounds, but the description of {table} has none for it.",
            do="Protect the data set with bounds for its column of dates, from public knowledge.",
        )
    return Quantised(math.ceil(of.low), math.floor(of.high), Fraction(1))


def within_interval(called: str, *, interval: bool) -> str:
    """The call, in WITH_INTERVAL if an interval is asked for."""
    return f"WITH_INTERVAL({called})" if interval else called


def _number(expression: Expression) -> bool:
    return isinstance(expression, Literal) and type(expression.value) in (int, float)


def _level(level: object) -> Fraction:
    """The level as it was written: 0.1 is a tenth."""
    number = finite(level)
    if number is None or not 0 <= number <= 1:
        raise QuestionError(
            wanted="levels from 0 to 1 for quantiles", given=shown(level), do="Write 0.5 for the median, or MEDIAN(…)."
        )
    return Fraction(repr(level)) if isinstance(level, float) else number


def median(column: Operand, *, interval: bool = False) -> Median:
    """The median of a column or an expression with public bounds; with `interval`, also an interval of values.

    >>> median("cost").sql()
    'MEDIAN(cost)'
    """
    return Median(operand(column), interval_flag(interval))


def quantile(column: Operand, level: Number | Sequence[Number], *, interval: bool = False) -> Quantile:
    """The quantile at a level from 0 to 1, or at several, in a column each; with `interval`, an interval of values too.

    Each interval costs two more measurements. Without it, the error is known in ranks only.

    >>> quantile("cost", 0.9).sql(), quantile("cost", [0.25, 0.75], interval=True).sql()
    ('QUANTILE(cost, 0.9)', 'WITH_INTERVAL(QUANTILE(cost, [0.25, 0.75]))')
    """
    several = isinstance(level, Sequence) and not isinstance(level, str)
    levels = tuple(map(_level, level)) if several else (_level(level),)  # type: ignore[arg-type]
    if not levels:
        raise QuestionError(wanted="at least one level for quantile()", given="none", do="Write quantile(…, 0.5).")
    return Quantile(operand(column), levels, interval_flag(interval))


def quantiles(column: Operand, many: int) -> ApproxQuantiles:
    """The many + 1 quantiles at 0, 1/many, …, 1, in a column each.

    >>> quantiles("cost", 4).sql()
    'APPROX_QUANTILES(cost, 4)'
    """
    return ApproxQuantiles(operand(column), many)


def interval_flag(interval: object) -> bool:
    """Whether an interval of values is asked for."""
    if not isinstance(interval, bool):
        raise QuestionError(wanted="True or False for interval", given=shown(interval), do="Write interval=True.")
    return interval
