"""DP_INTERVAL_LOW and DP_INTERVAL_HIGH: the ends of the 95% interval of another column, as in Snowflake.

An end follows from what is released, so it costs nothing beyond its aggregate, and it is no estimate of its own: it has
no interval and no error. Where an interval has no end, it is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sitr.errors import QuestionError
from sitr.questions.aggregate.functions.function import (
    Aggregate,
    AnyFormula,
    Arguments,
    BoundAggregate,
    End,
    Estimate,
    show,
)
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class IntervalEnd(Operators):
    """The lower end of the interval of another aggregate, or the `upper` one.

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


def interval_low(of: Aggregate) -> IntervalEnd:
    """The lower end of the 95% interval of an aggregate.

    >>> from sitr.questions.aggregate.functions.count import count
    >>> interval_low(count()).sql()
    'DP_INTERVAL_LOW(COUNT(*))'
    """
    return IntervalEnd(of)


def interval_high(of: Aggregate) -> IntervalEnd:
    """The upper end of the 95% interval of an aggregate."""
    return IntervalEnd(of, upper=True)
