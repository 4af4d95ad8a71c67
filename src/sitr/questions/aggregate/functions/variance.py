"""VAR and STDDEV: the variance and the standard deviation of an expression with public bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.expressions.typed import Typed, literal_typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.mean import centred, counted, ends
from sitr.questions.aggregate.functions.moments import VarianceFormula
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.spelling import Value
from sitr.questions.aggregate.term import Term, summed
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class _Spread(Operators):
    """A function of the sum of squares, the sum and the number of values, all centred on the middle of the bounds.

    The last two are those of AVG, so that a variance beside a mean takes one more measurement.
    """

    of: Expression

    function: ClassVar[str]
    forms: ClassVar[tuple[str, ...]]
    sample: ClassVar[bool]
    deviation: ClassVar[bool]

    @classmethod
    def read(cls, arguments: Arguments, /) -> Self | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"{self.function}({spelled(self.of)})"

    def name(self) -> str:
        short = self.function.lower()
        return f"{short}_{self.of.name}" if isinstance(self.of, Name) else short

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        total = centred(summed(of, function=self.function, table=view.name))
        away = difference(total, view)
        squares = summed(view.called("*", away, away), function=self.function, table=view.name)
        formula = VarianceFormula(*ends(total), sample=self.sample, deviation=self.deviation)
        return BoundAggregate(type(self)(of.expression), (squares, total, counted(of)), formula)


def difference(total: Term, view: View) -> Typed:
    """CLAMP(x, low, high) − centre: the value that a row adds to a centred sum, as an expression."""
    assert total.of is not None
    assert total.quantised is not None
    low, high = (literal_typed(_plain(end)) for end in total.quantised.ends)
    clamped = view.called("CLAMP", total.of, low, high)
    return (
        view.called("-", clamped, literal_typed(_plain(total.centre * total.granularity))) if total.centre else clamped
    )


def _plain(number: Fraction) -> Value:
    return number.numerator if number.denominator == 1 else float(number)


class Variance(_Spread):
    """The variance of a sample: squared differences from the mean, over the number of values minus 1.

    >>> Variance(Name("cost")).sql()
    'VAR_SAMP(cost)'
    """

    __slots__ = ()
    function: ClassVar[str] = "VAR_SAMP"
    forms: ClassVar[tuple[str, ...]] = ("VAR_SAMP(column)",)
    sample: ClassVar[bool] = True
    deviation: ClassVar[bool] = False


class PopulationVariance(_Spread):
    """The mean of the squared differences from the mean."""

    __slots__ = ()
    function: ClassVar[str] = "VAR_POP"
    forms: ClassVar[tuple[str, ...]] = ("VAR_POP(column)",)
    sample: ClassVar[bool] = False
    deviation: ClassVar[bool] = False


class StandardDeviation(_Spread):
    """The root of the variance of a sample."""

    __slots__ = ()
    function: ClassVar[str] = "STDDEV_SAMP"
    forms: ClassVar[tuple[str, ...]] = ("STDDEV_SAMP(column)",)
    sample: ClassVar[bool] = True
    deviation: ClassVar[bool] = True


class PopulationStandardDeviation(_Spread):
    """The root of the mean of the squared differences from the mean."""

    __slots__ = ()
    function: ClassVar[str] = "STDDEV_POP"
    forms: ClassVar[tuple[str, ...]] = ("STDDEV_POP(column)",)
    sample: ClassVar[bool] = False
    deviation: ClassVar[bool] = True


def variance(column: Operand, *, population: bool = False) -> Variance | PopulationVariance:
    """The variance of a column or an expression with public bounds; of a sample, unless it is the `population`."""
    return (PopulationVariance if population else Variance)(operand(column))


def standard_deviation(column: Operand, *, population: bool = False) -> StandardDeviation | PopulationStandardDeviation:
    """The standard deviation of a column or an expression; of a sample, unless it is the `population`."""
    return (PopulationStandardDeviation if population else StandardDeviation)(operand(column))
