"""COUNT: the number of rows, of values, or of people."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.dataset.schema import GROUPABLE
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.quantity import Distinct, Quantity
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Count(Operators):
    """The number of rows; of rows where an expression is not NULL; or, with `distinct`, of different values.

    Different values of the unit's column are people: a person adds 1 to each group. Otherwise a person adds as many
    values to a group as they may have rows in it.

    >>> Count(Name("patient_id"), distinct=True).sql()
    'COUNT(DISTINCT patient_id)'
    """

    of: Expression | None = None
    distinct: bool = False

    function: ClassVar[str] = "COUNT"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*)", "COUNT(column)", "COUNT(DISTINCT column)")

    @classmethod
    def read(cls, arguments: Arguments, /) -> Count | None:
        match arguments:
            case Arguments((Literal(value=None),)):
                return None
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
        found = Count(None if of is None else of.expression, self.distinct)
        return BoundAggregate(found, (self._term(of, view),), whole=True, step=Fraction(1))

    def _term(self, of: Typed | None, view: View) -> Quantity:
        if not self.distinct:
            # Where no row lacks a value, COUNT(*) is the same number, and is measured once for both.
            return Term() if of is not None and not of.nullable else Term(of)
        unit = view.unit.column if isinstance(view.unit, Person) else None
        if of is not None and of.column is not None and of.column.name == unit:
            return Term(of, people=True)
        if of is None or of.kind not in GROUPABLE:
            people = "COUNT(*)" if unit is None else f"COUNT(DISTINCT {identifier(unit)})"
            kinds = ", ".join(kind.value for kind in GROUPABLE)
            what = "*" if of is None else f"{of.text}, which has type {of.kind.value}"
            raise QuestionError(
                given=f"COUNT(DISTINCT …) cannot count {what}.",
                do=f"Count a column of type {kinds}, write CAST(… AS INTEGER), or ask for {people}.",
            )
        return Distinct(of)


def count(column: Operand | None = None, *, distinct: Operand | None = None) -> Count:
    """The number of rows, of rows where `column` is not NULL, or of different values of `distinct`, without NULL.

    With the column that identifies people as `distinct`, it is the number of people.

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
