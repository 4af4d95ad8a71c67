"""SUM: the sum of an expression with public bounds."""

from __future__ import annotations

from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.schema import Kind
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.term import summed
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Sum(Operators):
    """The sum of an expression, each value clamped to its public bounds; NULL and NaN add nothing.

    >>> Sum(Name("cost")).sql()
    'SUM(cost)'
    """

    of: Expression

    function: ClassVar[str] = "SUM"
    forms: ClassVar[tuple[str, ...]] = ("SUM(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Sum | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"SUM({spelled(self.of)})"

    def name(self) -> str:
        return f"sum_{self.of.name}" if isinstance(self.of, Name) else "sum"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        term = summed(of, function=self.function, table=view.name)
        # A sum of reals stays real, however coarse its granularity.
        whole = term.granularity.denominator == 1 and of.kind is Kind.INTEGER
        return BoundAggregate(Sum(of.expression), (term,), whole=whole, step=term.granularity)


def sum(column: Operand, *, per_person: tuple[Number, Number] | None = None) -> Sum | PersonSum:
    """The sum of a column or an expression with public bounds.

    With `per_person`, all values of a person in a group are added and clamped once to these two numbers: see
    `PersonSum`.
    """
    if per_person is None:
        return Sum(operand(column))
    low, high = per_person
    return PersonSum(operand(column), Literal(low), Literal(high))  # type: ignore[arg-type]
