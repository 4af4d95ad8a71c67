"""COUNT: the number of rows, of values, or of people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sitr.dataset.literals import shown
from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import Term


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows; of rows where a column is not NULL; or, with `distinct`, of values of the unit's column.

    >>> Count("patient_id", distinct=True).sql()
    'COUNT(DISTINCT patient_id)'
    """

    column: str | None = None
    distinct: bool = False

    function: ClassVar[str] = "COUNT"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*)", "COUNT(column)", "COUNT(DISTINCT unit)")

    @classmethod
    def read(cls, arguments: Arguments, /) -> Count | None:
        match arguments:
            case Arguments((), (), star=True, distinct=False) | Arguments((), (_,), star=False, distinct=False):
                return cls()
            case Arguments((column,), (), star=False):
                return cls(column, arguments.distinct)
        return None

    def sql(self) -> str:
        what = "*" if self.column is None else identifier(self.column)
        return f"COUNT({'DISTINCT ' if self.distinct else ''}{what})"

    def name(self) -> str:
        return "count" if self.column is None else f"count_{self.column}"

    def bound(self, table: Table, /) -> BoundAggregate:
        column = None if self.column is None else table.column(self.column)
        if self.distinct and (column is None or table.unit != Person(column.name)):
            unit = f"COUNT(DISTINCT {identifier(table.unit.column)})" if isinstance(table.unit, Person) else "COUNT(*)"
            name = "*" if column is None else column.name
            raise QuestionError(
                given=f"COUNT(DISTINCT {name}) is refused: only the privacy unit can be counted distinct.",
                do=f"Ask for {unit} instead.",
            )
        found = Count(None if column is None else column.name, self.distinct)
        return BoundAggregate(found, (Term(column, people=self.distinct),), whole=True, step=Fraction(1))


def count(column: str | None = None, *, distinct: str | None = None) -> Count:
    """The number of rows, of rows where `column` is not NULL, or of people, with the unit's column as `distinct`.

    >>> count(), count(distinct="patient_id")
    (Count(column=None, distinct=False), Count(column='patient_id', distinct=True))
    """
    if column is not None and distinct is not None:
        raise QuestionError(
            wanted="either a column or distinct in count()",
            given=f"both {shown(column)} and distinct={shown(distinct)}",
            do="Ask for two aggregates.",
        )
    return Count(distinct, distinct=True) if distinct is not None else Count(column)
