"""What the rules of all functions share: how an argument is refused, and how a result is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from sitr.dataset.schema import NUMERIC, Key, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, Typed

Rule: TypeAlias = Callable[[str, tuple[Typed, ...]], Typed]
"""Gives the call of a function its type, or raises a `QuestionError`."""


def range_of(part: Typed) -> Range:
    """The public range of its numbers."""
    return Range(part.low, part.high)


def any_nullable(parts: Iterable[Typed]) -> bool:
    return any(part.nullable for part in parts)


def wrong_type(function: str, part: Typed, *, needs: str) -> QuestionError:
    """The error for an argument of another type."""
    return QuestionError(
        given=f"{function} needs {needs}, but NULL has no type."
        if part.is_null
        else f"{function} needs {needs}, but {part.mentioned} has type {part.kind.value}.",
        do="Use another function, or CAST it.",
    )


def wrong_count(function: str, form: str) -> QuestionError:
    """The error for too few or too many arguments."""
    return QuestionError(given=f"{function} has the wrong number of arguments.", do=f"Write {form}.")


def numbers(function: str, parts: Sequence[Typed]) -> None:
    """Refuse arguments that are not numbers."""
    for part in parts:
        if part.kind not in NUMERIC:
            raise wrong_type(function, part, needs="numbers")


def truths(function: str, parts: Sequence[Typed]) -> None:
    """Refuse arguments that are neither true nor false."""
    for part in parts:
        if part.kind is not Kind.BOOLEAN:
            raise wrong_type(function, part, needs="a condition")


def texts(function: str, parts: Sequence[Typed]) -> None:
    """Refuse arguments that are not text."""
    for part in parts:
        if part.kind is not Kind.TEXT:
            raise wrong_type(function, part, needs="text")


def whole_literal(function: str, part: Typed, *, least: int, most: int = 10**6) -> int:
    """The value of an argument that must be written as a whole number."""
    value = part.value if part.is_literal else None
    if type(value) is not int or not least <= value <= most:
        raise QuestionError(
            given=f"{function} needs a whole number from {least} to {most:,} in place of {part.text}.",
            do="Write the number itself.",
        )
    return value


def listed(keys: Iterable[Key]) -> tuple[Key, ...] | None:
    """Different keys in their order, NULL last; None if there are too many to list."""
    found: dict[tuple[type, Key], Key] = {}
    for key in keys:
        found.setdefault((type(key), key), key)
        if len(found) > MOST_KEYS:
            return None
    return tuple(sorted(found.values(), key=lambda key: key is None))


def truth(function: str, parts: tuple[Typed, ...], *, nullable: bool) -> Typed:
    """A result that is true, false or, if it is `nullable`, NULL."""
    keys = (False, True, *((None,) if nullable else ()))
    return Typed(function, Kind.BOOLEAN, parts, nullable=nullable, keys=keys)
