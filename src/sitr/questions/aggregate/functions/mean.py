"""AVG: the mean of an expression with public bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.term import Term, summed
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Mean(Operators):
    """The mean of the values that are neither NULL nor NaN, each clamped to its public bounds.

    It is measured as the sum of the differences from the middle of the bounds, which one person moves by half of their
    distance, and the number of values.

    >>> Mean(Name("cost")).sql()
    'AVG(cost)'
    """

    of: Expression

    function: ClassVar[str] = "AVG"
    forms: ClassVar[tuple[str, ...]] = ("AVG(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Mean | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"AVG({spelled(self.of)})"

    def name(self) -> str:
        return f"avg_{self.of.name}" if isinstance(self.of, Name) else "avg"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        total = centred(summed(of, function=self.function, table=view.name))
        low, high = ends(total)
        middle = total.centre * total.granularity
        one, zero = Fraction(1), Fraction(0)
        formula = Quotient(Linear((one, middle)), Linear((zero, one)), low + middle, high + middle, count=1)
        return BoundAggregate(Mean(of.expression), (total, counted(of)), formula)


def centred(total: Term) -> Term:
    """The sum of the differences from the middle of the bounds."""
    assert total.quantised is not None
    lower, upper = total.quantised.lower, total.quantised.upper
    return total if lower == upper else replace(total, centre=(lower + upper) // 2)


def ends(total: Term) -> tuple[Fraction, Fraction]:
    """The bounds of what one row adds, in the unit of the expression."""
    low, high = total.reach
    return low * total.granularity, high * total.granularity


def counted(of: Typed) -> Term:
    """The number of values. All rows have one where the expression cannot be NULL, and COUNT(*) is the same number."""
    return Term(of) if of.nullable else Term()


def mean(column: Operand) -> Mean:
    """The mean of a column or an expression with public bounds."""
    return Mean(operand(column))
