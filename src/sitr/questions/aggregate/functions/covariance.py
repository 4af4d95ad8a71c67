"""COVAR and CORR: the covariance and the correlation of two expressions with public bounds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Self

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.functions.function import AnyFormula, Arguments, BoundAggregate
from sitr.questions.aggregate.functions.mean import centred, counted, ends
from sitr.questions.aggregate.functions.moments import CorrelationFormula, CovarianceFormula
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.functions.variance import difference
from sitr.questions.aggregate.term import Term, summed
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class _Pairs(Operators):
    """A function of the rows where both expressions have a value."""

    of: Expression
    other: Expression

    function: ClassVar[str]
    forms: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, arguments: Arguments, /) -> Self | None:
        match arguments:
            case Arguments((of, other), star=False, distinct=False):
                return cls(of, other)
        return None

    def sql(self) -> str:
        return f"{self.function}({spelled(self.of)}, {spelled(self.other)})"

    def name(self) -> str:
        named = [part.name for part in (self.of, self.other) if isinstance(part, Name)]
        return "_".join([self.function.lower(), *(named if len(named) == 2 else [])])

    def bound(self, view: View, /) -> BoundAggregate:
        sums = [
            centred(summed(view.typed(part), function=self.function, table=view.name)) for part in (self.of, self.other)
        ]
        away = [difference(total, view) for total in sums]
        product = summed(view.called("*", *away), function=self.function, table=view.name)
        squares = [summed(view.called("*", each, each), function=self.function, table=view.name) for each in away]
        alone = [_beside(term, away[1 - place], view) for place, term in enumerate(sums)]
        bent = [_beside(term, away[1 - place], view) for place, term in enumerate(squares)]
        assert product.of is not None
        names = [total.of.expression for total in sums if total.of is not None]
        terms = (product, *alone, *(bent if self._bent() else ()), counted(product.of))
        return BoundAggregate(type(self)(*names), terms, self._formula(sums))

    def _bent(self) -> bool:
        return False

    @abstractmethod
    def _formula(self, sums: list[Term]) -> AnyFormula:
        """How the column follows from the sums."""


def _beside(term: Term, other: Typed, view: View) -> Term:
    """The term, of the rows where the other expression has a value too."""
    return term if not other.nullable else replace(term, where=view.called("NOT", view.called("IS NULL", other)))


class Covariance(_Pairs):
    """The covariance of a sample.

    >>> Covariance(Name("cost"), Name("days")).sql()
    'COVAR_SAMP(cost, days)'
    """

    __slots__ = ()
    function: ClassVar[str] = "COVAR_SAMP"
    forms: ClassVar[tuple[str, ...]] = ("COVAR_SAMP(one, other)",)

    def _formula(self, sums: list[Term]) -> AnyFormula:
        return CovarianceFormula(ends(sums[0]), ends(sums[1]), sample=True)


class PopulationCovariance(_Pairs):
    """The covariance: the mean of the products of the differences from both means."""

    __slots__ = ()
    function: ClassVar[str] = "COVAR_POP"
    forms: ClassVar[tuple[str, ...]] = ("COVAR_POP(one, other)",)

    def _formula(self, sums: list[Term]) -> AnyFormula:
        return CovarianceFormula(ends(sums[0]), ends(sums[1]))


class Correlation(_Pairs):
    """The covariance over both standard deviations."""

    __slots__ = ()
    function: ClassVar[str] = "CORR"
    forms: ClassVar[tuple[str, ...]] = ("CORR(one, other)",)

    def _bent(self) -> bool:
        return True

    def _formula(self, sums: list[Term]) -> AnyFormula:
        return CorrelationFormula(ends(sums[0]), ends(sums[1]))


def covariance(column: Operand, other: Operand, *, population: bool = False) -> Covariance | PopulationCovariance:
    """The covariance of two columns or expressions; of a sample, unless it is the `population`."""
    return (PopulationCovariance if population else Covariance)(operand(column), operand(other))


def correlation(column: Operand, other: Operand) -> Correlation:
    """The correlation of two columns or expressions."""
    return Correlation(operand(column), operand(other))
