"""Short ways to write expressions in tests."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.spelling import Value


def compare(name: str, comparison: str, value: Value | None) -> Call:
    return Call(comparison, (Name(name), Literal(value)))


def one_of(name: str, values: Sequence[Value]) -> Call:
    return Call("IN", (Name(name), *map(Literal, values)))


def like(name: str, pattern: str) -> Call:
    return Call("LIKE", (Name(name), Literal(pattern)))


def is_null(name: str) -> Call:
    return Call("IS NULL", (Name(name),))


def negated(part: Expression) -> Call:
    return Call("NOT", (part,))


def keys(*names: str) -> tuple[NamedKey, ...]:
    """Columns that keep their names in the answer."""
    return tuple(NamedKey(name, Name(name)) for name in names)
