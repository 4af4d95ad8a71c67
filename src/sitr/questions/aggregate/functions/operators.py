"""What can be done with any aggregate: compute with it, leave rows out of it, and show the ends of its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Aggregated, Expression, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.frame import Expr, Operand, operand
from sitr.questions.aggregate.functions.function import (
    Aggregate,
    AnyFormula,
    Arguments,
    BoundAggregate,
    End,
    Estimate,
    Same,
    show,
)
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear
from sitr.questions.aggregate.habits import AGGREGATED, Hinted
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View, both


class Operators(Hinted):
    """`sitr.sum("cost") / sitr.count()`, `sitr.count() > 10`: arithmetic and comparisons of aggregates.

    They act on what is released, so they cost nothing beyond the aggregates themselves.
    """

    __slots__ = ()
    _hints = AGGREGATED

    @property
    def expression(self) -> Expression:
        """The aggregate as a part of an expression."""
        return Aggregated(self)  # type: ignore[arg-type]

    def filter(self, condition: Expr) -> Filtered:
        """Only of rows for which this condition is true, as with FILTER (WHERE …) in SQL."""
        return Filtered(self, condition.expression)  # type: ignore[arg-type]

    def over(self, *keys: Operand) -> Over:
        """Its total over all released rows, or over those with the same values of these keys, as SUM(…) OVER in SQL."""
        return Over("SUM", self, tuple(map(operand, keys)))  # type: ignore[arg-type]

    def rank(self, *keys: Operand, descending: bool = False) -> Over:
        """The rank of each released row by it, among all rows or those with the same values of these keys."""
        return Over("RANK", self, tuple(map(operand, keys)), descending)  # type: ignore[arg-type]

    def interval_low(self) -> IntervalEnd:
        """The lower end of its 95% interval, as DP_INTERVAL_LOW in SQL."""
        return IntervalEnd(self)  # type: ignore[arg-type]

    def interval_high(self) -> IntervalEnd:
        """The upper end of its 95% interval, as DP_INTERVAL_HIGH in SQL."""
        return IntervalEnd(self, upper=True)  # type: ignore[arg-type]

    def round(self, decimals: int = 0) -> Expr:
        """Rounded to this many decimal places."""
        return Expr(self.expression).round(decimals)

    def abs(self) -> Expr:
        """Without its sign."""
        return Expr(self.expression).abs()

    def __add__(self, other: object) -> Expr:
        return Expr(self.expression) + other

    def __radd__(self, other: object) -> Expr:
        return other + Expr(self.expression)

    def __sub__(self, other: object) -> Expr:
        return Expr(self.expression) - other

    def __rsub__(self, other: object) -> Expr:
        return other - Expr(self.expression)

    def __mul__(self, other: object) -> Expr:
        return Expr(self.expression) * other

    def __rmul__(self, other: object) -> Expr:
        return other * Expr(self.expression)

    def __truediv__(self, other: object) -> Expr:
        return Expr(self.expression) / other

    def __rtruediv__(self, other: object) -> Expr:
        return other / Expr(self.expression)

    def __neg__(self) -> Expr:
        return -Expr(self.expression)

    def __lt__(self, other: object) -> Expr:
        return Expr(self.expression) < other

    def __le__(self, other: object) -> Expr:
        return Expr(self.expression) <= other

    def __gt__(self, other: object) -> Expr:
        return Expr(self.expression) > other

    def __ge__(self, other: object) -> Expr:
        return Expr(self.expression) >= other


@dataclass(frozen=True, slots=True)
class Filtered(Operators):
    """Another aggregate, of the kept rows for which a condition is true: only these add anything to its terms."""

    of: Aggregate
    where: Expression

    function: ClassVar[str] = "FILTER"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*) FILTER (WHERE condition)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Filtered | None:  # noqa: ARG003 - it is no function
        return None

    def sql(self) -> str:
        return f"{self.of.sql()} FILTER (WHERE {spelled(self.where)})"

    def name(self) -> str:
        return self.of.name()

    def bound(self, view: View, /) -> BoundAggregate:
        where = view.condition(self.where)
        found = self.of.bound(replace(view, where=both(view.where, where)))  # bounds may follow from the condition
        if isinstance(found.aggregate, Filtered):
            raise QuestionError(given="An aggregate has two filters.", do="Join both conditions with AND.")
        _refuse_windows(self, found)
        aggregate = Filtered(found.aggregate, where.expression)
        parts = tuple((name, _filtered(part, part.aggregate, where, view)) for name, part in found.parts)
        return replace(_filtered(found, aggregate, where, view), parts=parts)


def _refuse_windows(aggregate: Aggregate, found: BoundAggregate) -> None:
    """Refuse what would need the number of a window from one row alone."""
    if isinstance(found.formula, OverRows):
        raise QuestionError(
            given=f"{aggregate.sql()} cannot be computed from released rows.",
            do="Add up counts and sums, such as SUM(COUNT(*)) OVER (), or rank by one number.",
        )


def _filtered(found: BoundAggregate, aggregate: Aggregate, where: Typed, view: View) -> BoundAggregate:
    return replace(found, aggregate=aggregate, terms=tuple(_only(term, where, view) for term in found.terms))


def _only(term: Quantity, where: Typed, view: View) -> Quantity:
    return replace(term, where=where if term.where is None else view.called("AND", where, term.where))


@dataclass(frozen=True, slots=True)
class IntervalEnd(Operators):
    """The lower end of the 95% interval of another aggregate, or the `upper` one, as in Snowflake.

    It follows from what is released, so it costs nothing beyond its aggregate, and it is no estimate of its own: it has
    no interval and no error. Where an interval has no end, it is NULL.

    >>> from sitr.questions.aggregate.functions.count import Count
    >>> IntervalEnd(Count(), upper=True).sql()
    'DP_INTERVAL_HIGH(COUNT(*))'
    """

    of: Aggregate
    upper: bool = False

    function: ClassVar[str] = "DP_INTERVAL_LOW"
    forms: ClassVar[tuple[str, ...]] = ("DP_INTERVAL_LOW(n)", "DP_INTERVAL_HIGH(n)")

    @classmethod
    def read(cls, arguments: Arguments, /) -> IntervalEnd | None:  # noqa: ARG003 - it is no function of rows
        return None

    def sql(self) -> str:
        return f"DP_INTERVAL_{'HIGH' if self.upper else 'LOW'}({self.of.sql()})"

    def name(self) -> str:
        return f"{self.of.name()}_{'high' if self.upper else 'low'}"

    def bound(self, view: View, /) -> BoundAggregate:
        found = self.of.bound(view)
        if found.parts or found.end:
            raise QuestionError(
                given=f"{self.of.sql()} has no single interval.", do="Ask for the interval of one aggregate."
            )
        _refuse_windows(self, found)
        formula = EndOf(found.formula, self.upper)
        aggregate = IntervalEnd(found.aggregate, self.upper)
        return BoundAggregate(aggregate, found.terms, formula, found.whole, found.step, found.kind, end=True)


@dataclass(frozen=True, slots=True)
class EndOf:
    """An end of the interval that another formula shows."""

    of: AnyFormula
    upper: bool

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        found = show(self.of, numbers, noise)
        end = found.high if self.upper else found.low
        return Estimate(end if isinstance(end, Fraction) else None, end, end)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:  # noqa: ARG002 - it is what is shown
        return Fraction(0)


TOTALS = ("SUM", "AVG")
RANKS = ("RANK", "DENSE_RANK", "ROW_NUMBER")


@dataclass(frozen=True, slots=True)
class Over(Operators):
    """A total or a mean of an aggregate over released rows, or the rank of a row by an aggregate."""

    called: str
    of: Aggregate
    """What is added up, or what the rows are ranked by."""
    within: tuple[Expression, ...] = ()
    """The keys whose values are the same in all rows of the window."""
    descending: bool = False

    function: ClassVar[str] = "OVER"
    forms: ClassVar[tuple[str, ...]] = ("SUM(COUNT(*)) OVER ()", "RANK() OVER (ORDER BY COUNT(*) DESC)")

    @classmethod
    def read(cls, arguments: Arguments, /) -> Over | None:  # noqa: ARG003 - it is no function
        return None

    def sql(self) -> str:
        parts = [f"PARTITION BY {', '.join(map(spelled, self.within))}"] if self.within else []
        if self.called in TOTALS:
            return f"{self.called}({self.of.sql()}) OVER ({' '.join(parts)})"
        parts.append(f"ORDER BY {self.of.sql()}{' DESC' if self.descending else ''}")
        return f"{self.called}() OVER ({' '.join(parts)})"

    def name(self) -> str:
        return self.called.lower()

    def bound(self, view: View, /) -> BoundAggregate:
        inner = self.of.bound(view)
        within = tuple(view.typed(key).expression for key in self.within)
        added = isinstance(inner.formula, Same) or (isinstance(inner.formula, Linear) and not inner.formula.constant)
        several = inner.parts or inner.end or inner.ranked or isinstance(inner.formula, OverRows)
        if (self.called in TOTALS and not added) or several or inner.kind is not None:
            raise QuestionError(
                given=f"{self.sql()} cannot be computed from released rows.",
                do="Add up counts and sums, such as SUM(COUNT(*)) OVER (), or rank by one number.",
            )
        whole = self.called in RANKS or (self.called == "SUM" and inner.whole)
        resolved = replace(self, of=inner.aggregate, within=within)
        return BoundAggregate(resolved, inner.terms, OverRows(((resolved, inner),)), whole=whole)


@dataclass(frozen=True, slots=True)
class OverRows:
    """The formula of a column with windows: its numbers follow from all released rows, not from those of one row."""

    windows: tuple[tuple[Over, BoundAggregate], ...]
    """The windows of the column, each with what is inside it."""
    plain: tuple[tuple[Aggregated, BoundAggregate], ...] = ()
    """The other aggregates of the column."""

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:  # noqa: ARG002
        """Nothing is known from one row alone."""
        return Estimate(None, -math.inf, math.inf)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:  # noqa: ARG002
        return math.inf
