"""SUM: the sum of a column with declared bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sitr.dataset.schema import NUMERIC, Kind, Table
from sitr.errors import DescriptionError, QuestionError
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import Term


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a column, each value clamped to its declared bounds; NULL and NaN add nothing.

    >>> Sum("cost").sql()
    'SUM(cost)'
    """

    column: str

    function: ClassVar[str] = "SUM"
    forms: ClassVar[tuple[str, ...]] = ("SUM(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Sum | None:
        match arguments:
            case Arguments((column,), (), star=False, distinct=False):
                return cls(column)
        return None

    def sql(self) -> str:
        return f"SUM({identifier(self.column)})"

    def name(self) -> str:
        return f"sum_{self.column}"

    def bound(self, table: Table, /) -> BoundAggregate:
        term = summed(self.column, table, function=self.function)
        # A sum of reals stays real, however coarse its granularity.
        whole = term.granularity.denominator == 1 and table.column(self.column).kind is Kind.INTEGER
        return BoundAggregate(Sum(table.column(self.column).name), (term,), whole=whole, step=term.granularity)


def summed(name: str, table: Table, *, function: str) -> Term:
    """The sum of a column's granules, for a function that needs numbers with bounds."""
    column = table.column(name)
    if column.kind not in NUMERIC:
        raise QuestionError(
            given=f"{function} needs a column of numbers, but {column.name!r} has type {column.kind.value}.",
            do="Count it, or choose another column.",
        )
    if column.quantised is None:
        raise DescriptionError(
            given=f"{function}({column.name}) needs bounds, but the description of {table.name} has none for "
            f"{column.name!r}.",
            do=f"Protect the data set with bounds={{{column.name!r}: (low, high)}}, from public knowledge.",
        )
    return Term(column, column.quantised)


def sum(column: str) -> Sum:
    """The sum of a column with declared bounds."""
    return Sum(column)
