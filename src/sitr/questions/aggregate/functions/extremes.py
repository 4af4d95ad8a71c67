"""MIN and MAX: the quantiles at levels 0 and 1.

No private mechanism shows the least value itself, which is one person's. A private minimum is a value that few values
lie below; its error says how few. At a high price, some value lies at or below it with the confidence of the error. At
a lower price it may lie below all values, and its interval says how far; with WITH_INTERVAL, a second measurement
limits the exact minimum, usually much closer.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.functions.quantile import interval_flag, ranked, within_interval
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Minimum(Operators):
    """A value that few values of an expression with public bounds lie below.

    >>> Minimum(Name("cost")).sql()
    'MIN(cost)'
    """

    of: Expression
    interval: bool = False

    function: ClassVar[str] = "MIN"
    forms: ClassVar[tuple[str, ...]] = ("MIN(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Minimum | None:
        match arguments:
            case Arguments((of,), star=False):  # DISTINCT makes no difference
                return cls(of)
        return None

    def sql(self) -> str:
        return within_interval(f"MIN({spelled(self.of)})", interval=self.interval)

    def name(self) -> str:
        return f"min_{self.of.name}" if isinstance(self.of, Name) else "min"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Minimum(of.expression, self.interval)
        return ranked(found, of, view, (("", Fraction(0)),), interval=self.interval)


@dataclass(frozen=True, slots=True)
class Maximum(Operators):
    """A value that few values of an expression with public bounds lie above.

    >>> Maximum(Name("cost")).sql()
    'MAX(cost)'
    """

    of: Expression
    interval: bool = False

    function: ClassVar[str] = "MAX"
    forms: ClassVar[tuple[str, ...]] = ("MAX(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Maximum | None:
        match arguments:
            case Arguments((of,), star=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return within_interval(f"MAX({spelled(self.of)})", interval=self.interval)

    def name(self) -> str:
        return f"max_{self.of.name}" if isinstance(self.of, Name) else "max"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        found = Maximum(of.expression, self.interval)
        return ranked(found, of, view, (("", Fraction(1)),), interval=self.interval)


def min(column: Operand, *, interval: bool = False) -> Minimum:
    """A value that few values lie below, of a column or an expression with public bounds.

    With `interval`, a second measurement limits the exact minimum.

    >>> min("cost", interval=True).sql()
    'WITH_INTERVAL(MIN(cost))'
    """
    return Minimum(operand(column), interval_flag(interval))


def max(column: Operand, *, interval: bool = False) -> Maximum:
    """A value that few values lie above, of a column or an expression with public bounds.

    With `interval`, a second measurement limits the exact maximum.

    >>> max("cost").sql()
    'MAX(cost)'
    """
    return Maximum(operand(column), interval_flag(interval))
