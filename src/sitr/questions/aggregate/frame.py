"""Questions in Python calls: the arguments of `group_by(…).agg(…)` and `where(…)`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from sitr.dataset.literals import shown
from sitr.errors import InvalidUse, QuestionError
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name, spelled
from sitr.questions.aggregate.spelling import Value


def column(name: str) -> Expr:
    """A column to compute or compare with: `column("days") > 3`, `column("cost") / 100`.

    >>> ((column("days") > 3) & ~column("ward").is_null()).text
    '(days > 3) AND (NOT (ward IS NULL))'
    """
    return Expr(Name(name))


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """An expression on rows. Operators compute and compare; conditions are joined with & and |, and negated with ~.

    In operators, Python values are literals: `column("ward") == "Surgery"`.
    """

    expression: Expression

    __hash__ = None  # type: ignore[assignment]  # == makes a condition, so it cannot compare the keys of a dict

    @property
    def text(self) -> str:
        """The expression as SQL."""

        return spelled(self.expression)

    def __bool__(self) -> bool:
        raise InvalidUse(
            given="Conditions are joined with &, | and ~, not with `and`, `or`, `not` or a chain of comparisons.",
            do="Write (a > 1) & (b < 2).",
        )

    def __and__(self, other: Expr) -> Expr:
        return Expr(Call("AND", (self.expression, other.expression)))

    def __or__(self, other: Expr) -> Expr:
        return Expr(Call("OR", (self.expression, other.expression)))

    def __invert__(self) -> Expr:
        return self._call("NOT")

    def __eq__(self, value: object) -> Expr:  # type: ignore[override]
        return self._call("=", value)

    def __ne__(self, value: object) -> Expr:  # type: ignore[override]
        return self._call("<>", value)

    def __lt__(self, value: object) -> Expr:
        return self._call("<", value)

    def __le__(self, value: object) -> Expr:
        return self._call("<=", value)

    def __gt__(self, value: object) -> Expr:
        return self._call(">", value)

    def __ge__(self, value: object) -> Expr:
        return self._call(">=", value)

    def __add__(self, other: object) -> Expr:
        return self._call("+", other)

    def __radd__(self, other: object) -> Expr:
        return Expr(value_or_expression(other))._call("+", self)

    def __sub__(self, other: object) -> Expr:
        return self._call("-", other)

    def __rsub__(self, other: object) -> Expr:
        return Expr(value_or_expression(other))._call("-", self)

    def __mul__(self, other: object) -> Expr:
        return self._call("*", other)

    def __rmul__(self, other: object) -> Expr:
        return Expr(value_or_expression(other))._call("*", self)

    def __truediv__(self, other: object) -> Expr:
        return self._call("/", other)

    def __rtruediv__(self, other: object) -> Expr:
        return Expr(value_or_expression(other))._call("/", self)

    def __neg__(self) -> Expr:
        return self._call("NEGATE")

    def abs(self) -> Expr:
        """Without its sign."""
        return self._call("ABS")

    def round(self, decimals: int = 0) -> Expr:
        """Rounded to this many decimal places."""
        return self._call("ROUND", *((decimals,) if decimals else ()))

    def between(self, low: object, high: object) -> Expr:
        """`low ≤ value ≤ high`."""
        return (self >= low) & (self <= high)

    def is_in(self, values: Iterable[Value]) -> Expr:
        """The value is one of these."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise QuestionError(
                wanted="a list of values",  # not a text, whose letters would be the values
                given=shown(values),
                do="Write is_in([…]), even for one value.",
            )
        return Expr(Call("IN", (self.expression, *(Literal(_plain(value)) for value in values))))

    def like(self, pattern: str) -> Expr:
        """The text matches a pattern with % and _."""
        return self._call("LIKE", pattern)

    def is_null(self) -> Expr:
        """There is no value."""
        return self._call("IS NULL")

    def _call(self, function: str, *others: object) -> Expr:
        return Expr(Call(function, (self.expression, *map(value_or_expression, others))))


Operand: TypeAlias = "str | Expr"
"""What an aggregate is of: the name of a column, or an expression."""


def operand(of: Operand) -> Expression:
    """The expression; a text is the name of a column."""
    if isinstance(of, Expr):
        return of.expression
    if isinstance(of, str):
        return Name(of)
    raise QuestionError(
        wanted="the name of a column, or an expression",
        given=shown(of),
        do='Write for example sum("cost") or sum(sitr.column("cost") / 100).',
    )


def value_or_expression(value: object) -> Expression:
    """The expression; anything else is a literal."""
    found = getattr(value, "expression", None)  # of an `Expr`, or of an aggregate
    return found if isinstance(found, Name | Literal | Call | Aggregated) else Literal(_plain(value))


def _plain(value: object) -> Value:
    """A NumPy scalar as a plain Python value. Its type is checked later, where the column is known."""
    return cast("Value", value.item() if isinstance(value, np.generic) else value)
