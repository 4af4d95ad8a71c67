"""An expression on one row, as frozen values: the same whether it was written in SQL or in Python calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.questions.aggregate.spelling import Value, identifier, literal


@dataclass(frozen=True, slots=True)
class Name:
    """A column, perhaps with the name of its table before it."""

    name: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A value; None is NULL."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator, by its name in `registry`, with its arguments.

    Nested ANDs and nested ORs are flattened: (a AND b) AND c and a AND (b AND c) are the same question.

    >>> spelled(Call("*", (Call("+", (Name("x"), Literal(1))), Literal(2))))
    '(x + 1) * 2'
    """

    function: str
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if self.function in ("AND", "OR"):
            flat = (leaf for part in self.arguments for leaf in _same(self.function, part))
            object.__setattr__(self, "arguments", tuple(flat))


class Written(Protocol):
    """Anything that can be written as SQL."""

    def sql(self) -> str:
        """It, in one spelling."""


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate inside arithmetic, HAVING or ORDER BY. No row has a value for it."""

    of: Written


Expression: TypeAlias = Name | Literal | Call | Aggregated


def _same(function: str, part: Expression) -> tuple[Expression, ...]:
    return part.arguments if isinstance(part, Call) and part.function == function else (part,)


def levels(expression: Expression) -> int:
    """How deeply calls are nested, found without recursion, because Python calls can nest without limit."""
    depth, level = 0, [expression]
    while level := [part for whole in level if isinstance(whole, Call) for part in whole.arguments]:
        depth += 1
    return depth


def names(expression: Expression) -> Iterator[Name]:
    """The columns that it uses, each as often as it is used."""
    if isinstance(expression, Name):
        yield expression
    elif isinstance(expression, Call):
        for part in expression.arguments:
            yield from names(part)


def aggregates(expression: Expression) -> Iterator[Aggregated]:
    """The aggregates in it, each as often as it is used."""
    if isinstance(expression, Aggregated):
        yield expression
    elif isinstance(expression, Call):
        for part in expression.arguments:
            yield from aggregates(part)


COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
INFIX = ("+", "-", "*", "/", "//", "%", "||", *COMPARISONS)
PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "isodow", "doy")
"""The parts of a date or a time that have names."""


def spelled(expression: Expression) -> str:
    """The expression as SQL in one spelling, which reads back the same."""
    match expression:
        case Name(name, table):
            return identifier(name) if table is None else f"{identifier(table)}.{identifier(name)}"
        case Literal(value=None):
            return "NULL"
        case Literal(value):
            return literal(value) if isinstance(value, Value) else shown(value)
        case Aggregated(of):
            return of.sql()
        case Call(function, arguments):
            return _SPELLED.get(function, _called)(function, arguments)


def inner(expression: Expression) -> str:
    """The expression as an operand: in brackets if an operator is its outermost part."""
    match expression:
        case Name() | Aggregated():
            bare = True
        case Literal(value):
            bare = not (isinstance(value, int | float) and math.copysign(1, value) < 0)
        case Call(function):
            bare = function not in (*INFIX, *_UNSAFE)
    return spelled(expression) if bare else f"({spelled(expression)})"


_UNSAFE = ("AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "IS NULL", "NEGATE", "DATE_ADD")

_Spelling: TypeAlias = Callable[[str, Sequence[Expression]], str]


def _called(function: str, arguments: Sequence[Expression]) -> str:
    return f"{function}({', '.join(map(spelled, arguments))})"


def _infix(function: str, arguments: Sequence[Expression]) -> str:
    left, right = arguments
    plain = function in COMPARISONS
    return f"{inner(left)} {function} {spelled(right) if plain and isinstance(right, Literal) else inner(right)}"


def _joined(function: str, arguments: Sequence[Expression]) -> str:
    return f" {function} ".join(f"({spelled(part)})" for part in arguments)


def _case(_: str, arguments: Sequence[Expression]) -> str:
    pairs, rest = cases(arguments)
    branches = " ".join(f"WHEN {spelled(when)} THEN {spelled(then)}" for when, then in pairs)
    return f"CASE {branches}{f' ELSE {spelled(rest)}' if rest is not None else ''} END"


def cases(arguments: Sequence[Expression]) -> tuple[list[tuple[Expression, Expression]], Expression | None]:
    """The branches of a CASE, and what follows ELSE, if anything does."""
    pairs = list(zip(arguments[0::2], arguments[1::2], strict=False))
    return pairs, arguments[-1] if len(arguments) % 2 else None


def _word(part: Expression) -> str:
    assert isinstance(part, Literal)
    return str(part.value)


_SPELLED: dict[str, _Spelling] = {
    **dict.fromkeys(INFIX, _infix),
    "AND": _joined,
    "OR": _joined,
    "NOT": lambda _, parts: f"NOT ({spelled(parts[0])})",
    "NEGATE": lambda _, parts: f"-{inner(parts[0])}",
    "IN": lambda _, parts: f"{inner(parts[0])} IN ({', '.join(map(spelled, parts[1:]))})",
    "LIKE": lambda _, parts: f"{inner(parts[0])} LIKE {spelled(parts[1])}",
    "ILIKE": lambda _, parts: f"{inner(parts[0])} ILIKE {spelled(parts[1])}",
    "IS NULL": lambda _, parts: f"{inner(parts[0])} IS NULL",
    "CASE": _case,
    "CAST": lambda _, parts: f"CAST({spelled(parts[0])} AS {_word(parts[1])})",
    "EXTRACT": lambda _, parts: f"EXTRACT({_word(parts[0])} FROM {spelled(parts[1])})",
    "DATE_TRUNC": lambda _, parts: f"DATE_TRUNC({spelled(parts[0])}, {spelled(parts[1])})",
    "AT TIME ZONE": lambda _, parts: f"{inner(parts[0])} AT TIME ZONE {spelled(parts[1])}",
    "DATE_ADD": lambda _, parts: f"{inner(parts[0])} + INTERVAL ({spelled(parts[1])}) {_word(parts[2]).upper()}",
}
