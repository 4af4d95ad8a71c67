"""COUNT: the number of rows, of values, or of people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sitr.dataset.literals import shown
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Count(Operators):
    """The number of rows; of rows where an expression is not NULL; or, with `distinct`, of values of the unit's column.

    >>> Count(Name("patient_id"), distinct=True).sql()
    'COUNT(DISTINCT patient_id)'
    """

    of: Expression | None = None
    distinct: bool = False

    function: ClassVar[str] = "COUNT"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*)", "COUNT(column)", "COUNT(DISTINCT unit)")

    @classmethod
    def read(cls, arguments: Arguments, /) -> Count | None:
        match arguments:
            case Arguments((), star=True, distinct=False) | Arguments((Literal(),), star=False, distinct=False):
                return cls()
            case Arguments((of,), star=False):
                return cls(of, arguments.distinct)
        return None

    def sql(self) -> str:
        what = "*" if self.of is None else spelled(self.of)
        return f"COUNT({'DISTINCT ' if self.distinct else ''}{what})"

    def name(self) -> str:
        return f"count_{self.of.name}" if isinstance(self.of, Name) else "count"

    def bound(self, view: View, /) -> BoundAggregate:
        of = None if self.of is None else view.typed(self.of)
        if self.distinct and (of is None or of.column is None or view.unit != Person(of.column.name)):
            unit = f"COUNT(DISTINCT {identifier(view.unit.column)})" if isinstance(view.unit, Person) else "COUNT(*)"
            raise QuestionError(
                given=f"COUNT(DISTINCT {'*' if of is None else of.text}) is refused: only the privacy unit can be "
                "counted distinct.",
                do=f"Ask for {unit} instead.",
            )
        found = Count(None if of is None else of.expression, self.distinct)
        # Where no row lacks a value, COUNT(*) is the same number, and is measured once for both.
        term = Term() if of is not None and not (self.distinct or of.nullable) else Term(of, people=self.distinct)
        return BoundAggregate(found, (term,), whole=True, step=Fraction(1))


def count(column: Operand | None = None, *, distinct: Operand | None = None) -> Count:
    """The number of rows, of rows where `column` is not NULL, or of people, with the unit's column as `distinct`.

    >>> count(), count(distinct="patient_id")
    (Count(of=None, distinct=False), Count(of=Name(name='patient_id', table=None), distinct=True))
    """
    if column is not None and distinct is not None:
        raise QuestionError(
            wanted="either a column or distinct in count()",
            given=f"both {shown(column)} and distinct={shown(distinct)}",
            do="Ask for two aggregates.",
        )
    if distinct is not None:
        return Count(operand(distinct), distinct=True)
    return Count(None if column is None else operand(column))
