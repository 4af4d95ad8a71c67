"""COUNT_IF: the number of rows for which a condition is true."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.expressions.rules import truths
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class CountIf(Operators):
    """The number of rows for which a condition is true.

    >>> CountIf(Name("smoker")).sql()
    'COUNT_IF(smoker)'
    """

    of: Expression

    function: ClassVar[str] = "COUNT_IF"
    forms: ClassVar[tuple[str, ...]] = ("COUNT_IF(condition)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> CountIf | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"COUNT_IF({spelled(self.of)})"

    def name(self) -> str:
        return f"count_if_{self.of.name}" if isinstance(self.of, Name) else "count_if"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        truths(self.function, (of,))
        return BoundAggregate(CountIf(of.expression), (Term(where=of),), whole=True, step=Fraction(1))


def count_if(condition: Operand) -> CountIf:
    """The number of rows for which a condition is true."""
    return CountIf(operand(condition))
