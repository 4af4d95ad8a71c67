"""MIN and MAX: the quantiles at levels 0 and 1.

No private mechanism shows the least value itself, which is one person's. A private minimum is a value that few values
lie below; its error says how few. With the confidence of the error, some value lies at or below it, so it is an end of
an interval that begins at the lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.functions.quantile import ranked
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Minimum(Operators):
    """A value that few values of an expression with public bounds lie below.

    >>> Minimum(Name("cost")).sql()
    'MIN(cost)'
    """

    of: Expression

    function: ClassVar[str] = "MIN"
    forms: ClassVar[tuple[str, ...]] = ("MIN(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Minimum | None:
        match arguments:
            case Arguments((of,), star=False):  # DISTINCT makes no difference
                return cls(of)
        return None

    def sql(self) -> str:
        return f"MIN({spelled(self.of)})"

    def name(self) -> str:
        return f"min_{self.of.name}" if isinstance(self.of, Name) else "min"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Minimum(of.expression)
        return ranked(found, of, view, (("", Fraction(0)),))


@dataclass(frozen=True, slots=True)
class Maximum(Operators):
    """A value that few values of an expression with public bounds lie above.

    >>> Maximum(Name("cost")).sql()
    'MAX(cost)'
    """

    of: Expression

    function: ClassVar[str] = "MAX"
    forms: ClassVar[tuple[str, ...]] = ("MAX(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Maximum | None:
        match arguments:
            case Arguments((of,), star=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"MAX({spelled(self.of)})"

    def name(self) -> str:
        return f"max_{self.of.name}" if isinstance(self.of, Name) else "max"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Maximum(of.expression)
        return ranked(found, of, view, (("", Fraction(1)),))


def min(column: Operand) -> Minimum:
    """A value that few values lie below, of a column or an expression with public bounds."""
    return Minimum(operand(column))


def max(column: Operand) -> Maximum:
    """A value that few values lie above, of a column or an expression with public bounds."""
    return Maximum(operand(column))
