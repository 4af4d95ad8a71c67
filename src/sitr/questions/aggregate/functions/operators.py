"""What Python can do with aggregates: operators build expressions of them, and filters leave rows out of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.functions.function import Aggregate, Arguments, BoundAggregate
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View


class Operators:
    """`sitr.sum("cost") / sitr.count()`, `sitr.count() > 10`: arithmetic and comparisons of aggregates.

    They act on what is released, so they cost nothing beyond the aggregates themselves.
    """

    __slots__ = ()

    @property
    def expression(self) -> Expression:
        """The aggregate as a part of an expression."""
        return Aggregated(self)  # type: ignore[arg-type]

    def filter(self, condition: Expr) -> Filtered:
        """Only of rows for which this condition is true, as with FILTER (WHERE …) in SQL."""
        return Filtered(self, condition.expression)  # type: ignore[arg-type]

    def round(self, decimals: int = 0) -> Expr:
        """Rounded to this many decimal places."""
        return Expr(self.expression).round(decimals)

    def abs(self) -> Expr:
        """Without its sign."""
        return Expr(self.expression).abs()

    def __add__(self, other: object) -> Expr:
        return Expr(self.expression) + other

    def __radd__(self, other: object) -> Expr:
        return other + Expr(self.expression)

    def __sub__(self, other: object) -> Expr:
        return Expr(self.expression) - other

    def __rsub__(self, other: object) -> Expr:
        return other - Expr(self.expression)

    def __mul__(self, other: object) -> Expr:
        return Expr(self.expression) * other

    def __rmul__(self, other: object) -> Expr:
        return other * Expr(self.expression)

    def __truediv__(self, other: object) -> Expr:
        return Expr(self.expression) / other

    def __rtruediv__(self, other: object) -> Expr:
        return other / Expr(self.expression)

    def __neg__(self) -> Expr:
        return -Expr(self.expression)

    def __lt__(self, other: object) -> Expr:
        return Expr(self.expression) < other

    def __le__(self, other: object) -> Expr:
        return Expr(self.expression) <= other

    def __gt__(self, other: object) -> Expr:
        return Expr(self.expression) > other

    def __ge__(self, other: object) -> Expr:
        return Expr(self.expression) >= other


@dataclass(frozen=True, slots=True)
class Filtered(Operators):
    """Another aggregate, of the kept rows for which a condition is true: only these add anything to its terms."""

    of: Aggregate
    where: Expression

    function: ClassVar[str] = "FILTER"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*) FILTER (WHERE condition)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Filtered | None:  # noqa: ARG003 - it is no function
        return None

    def sql(self) -> str:
        return f"{self.of.sql()} FILTER (WHERE {spelled(self.where)})"

    def name(self) -> str:
        return self.of.name()

    def bound(self, view: View, /) -> BoundAggregate:
        found, where = self.of.bound(view), view.condition(self.where)
        if isinstance(found.aggregate, Filtered):
            raise QuestionError(given="An aggregate has two filters.", do="Join both conditions with AND.")
        aggregate = Filtered(found.aggregate, where.expression)
        parts = tuple((name, _filtered(part, part.aggregate, where, view)) for name, part in found.parts)
        return replace(_filtered(found, aggregate, where, view), parts=parts)


def _filtered(found: BoundAggregate, aggregate: Aggregate, where: Typed, view: View) -> BoundAggregate:
    terms = tuple(_only(term, where.expression, view) for term in found.terms)
    return replace(found, aggregate=aggregate, terms=terms)


def _only(term: Quantity, where: Expression, view: View) -> Quantity:
    both = where if term.where is None else Call("AND", (where, term.where.expression))
    return replace(term, where=view.condition(both))
