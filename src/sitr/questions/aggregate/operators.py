"""The operators of Python on expressions and aggregates: they build expressions, and compute nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.questions.aggregate.expressions.expression import Aggregated, Expression

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame import Expr


class Operators:
    """`sitr.sum("cost") / sitr.count()`, `sitr.count() > 10`: arithmetic and comparisons of aggregates.

    They act on what is released, so they cost nothing beyond the aggregates themselves.
    """

    __slots__ = ()

    @property
    def expression(self) -> Expression:
        """The aggregate as a part of an expression."""
        return Aggregated(self)  # type: ignore[arg-type]

    def filter(self, condition: Expr) -> Operators:
        """Only of rows for which this condition is true, as with FILTER (WHERE …) in SQL."""
        from sitr.questions.aggregate.functions.filtered import Filtered  # noqa: PLC0415 - it is one of these itself

        return Filtered(self, condition.expression)  # type: ignore[arg-type]

    def round(self, decimals: int = 0) -> Expr:
        """Rounded to this many decimal places."""
        return _expr(self).round(decimals)

    def abs(self) -> Expr:
        """Without its sign."""
        return _expr(self).abs()

    def __add__(self, other: object) -> Expr:
        return _expr(self) + other

    def __radd__(self, other: object) -> Expr:
        return other + _expr(self)

    def __sub__(self, other: object) -> Expr:
        return _expr(self) - other

    def __rsub__(self, other: object) -> Expr:
        return other - _expr(self)

    def __mul__(self, other: object) -> Expr:
        return _expr(self) * other

    def __rmul__(self, other: object) -> Expr:
        return other * _expr(self)

    def __truediv__(self, other: object) -> Expr:
        return _expr(self) / other

    def __rtruediv__(self, other: object) -> Expr:
        return other / _expr(self)

    def __neg__(self) -> Expr:
        return -_expr(self)

    def __lt__(self, other: object) -> Expr:
        return _expr(self) < other

    def __le__(self, other: object) -> Expr:
        return _expr(self) <= other

    def __gt__(self, other: object) -> Expr:
        return _expr(self) > other

    def __ge__(self, other: object) -> Expr:
        return _expr(self) >= other


def _expr(of: Operators) -> Expr:
    from sitr.questions.aggregate.frame import Expr  # noqa: PLC0415 - aggregates are built with it

    return Expr(of.expression)
