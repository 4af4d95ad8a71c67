"""Windows over released rows: SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC).

They see the released rows of an answer, never the rows of people, and cost nothing beyond the aggregates inside. The
window of a row has all rows that HAVING leaves, or those with the same values of some keys. How they are computed, and
with which intervals, is in `sitr.questions.aggregate.windows`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Aggregated, Expression, spelled
from sitr.questions.aggregate.functions.function import (
    Aggregate,
    Arguments,
    BoundAggregate,
    End,
    Estimate,
    Same,
)
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.view import View

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


def windows_of(column: BoundAggregate) -> tuple[Over, ...]:
    """The windows in a column, with the names of the description; () if it has none."""
    found = column.formula.windows if isinstance(column.formula, OverRows) else ()
    return tuple(each for each, _ in found)


def check_windows(columns: Sequence[BoundAggregate], keys: Sequence[Expression]) -> None:
    """Refuse a window within anything but keys of the question."""
    for window in (each for column in columns for each in windows_of(column)):
        for part in window.within:
            if part not in keys:
                raise QuestionError(
                    given=f"PARTITION BY {spelled(part)} is not among the keys of the question.",
                    do="List it in GROUP BY, or leave it out.",
                )
