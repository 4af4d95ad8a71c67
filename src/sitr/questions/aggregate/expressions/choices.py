"""The types of expressions that choose one of several values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sitr.dataset.schema import NUMERIC, Key, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.literals import fitting
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.rules import (
    Rule,
    any_nullable,
    listed,
    numbers,
    range_of,
    truths,
    wrong_count,
)
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, TEMPORAL, Typed

MOST_LISTED = 10 * MOST_KEYS
"""The most keys of different values that are looked at to list those of a choice: a CASE can have hundreds of values,
each with thousands of keys. Beyond this, numbers and dates still have the keys that follow from their range."""


def one_kind(function: str, parts: Sequence[Typed]) -> tuple[Kind, list[Typed]]:
    """The type of all values together: NULL has any type, and whole numbers beside real ones are real.

    Beside dates, text literals are read as dates.
    """
    typed = [part for part in parts if not part.is_null]
    dates = next((part for part in typed if part.kind in TEMPORAL), None)
    if dates is not None:
        parts = [fitting(part, dates) if part.is_literal and not part.is_null else part for part in parts]
        typed = [part for part in parts if not part.is_null]
    kinds = list(dict.fromkeys(part.kind for part in typed))
    if not kinds:
        raise QuestionError(given=f"{function} has no value but NULL.", do="Give it at least one value.")
    if len(kinds) == 1:
        return kinds[0], list(parts)
    if all(kind in NUMERIC for kind in kinds):
        return Kind.REAL, list(parts)
    raise QuestionError(
        given=f"{function} has values of different types: {', '.join(kind.value for kind in kinds)}.",
        do="Give all values one type, with CAST where needed.",
    )


def _step(parts: Sequence[Typed]) -> Fraction | None:
    steps = {part.step for part in parts if not part.is_null and not (part.is_literal and part.low == 0)}
    found = next(iter(steps)) if len(steps) == 1 else None
    if found is None and all(part.kind is Kind.INTEGER or part.is_null for part in parts):
        return Fraction(1)
    return found


def _chosen(function: str, parts: tuple[Typed, ...], values: Sequence[Typed], *, nullable: bool) -> Typed:
    """One of these values; NULL too if it is `nullable`."""
    kind, _ = one_kind(function, values)
    present = [value for value in values if not value.is_null]
    found = range_of(present[0])
    for value in present[1:]:
        found = found.union(range_of(value))
    possible = dict.fromkeys(value.possible for value in values)
    keys: tuple[Key, ...] | None = None
    if None not in possible and kind is not Kind.REAL and sum(len(some or ()) for some in possible) <= MOST_LISTED:
        whole = [key for some in possible for key in some or () if key is not None]
        keys = listed([*whole, *([None] if nullable else [])])
    return Typed(function, kind, parts, found.low, found.high, _step(values), nullable, keys)


def case(function: str, parts: tuple[Typed, ...]) -> Typed:
    """CASE: conditions and values in turn, and a last value for ELSE."""
    conditions, values = list(parts[0 : len(parts) - 1 : 2]), list(parts[1::2])
    otherwise = [parts[-1]] if len(parts) % 2 else []
    truths(function, conditions)
    _, typed = one_kind(function, [*values, *otherwise])
    arranged = [part for pair in zip(conditions, typed, strict=False) for part in pair] + typed[len(conditions) :]
    nullable = not otherwise or any_nullable(typed)
    return _chosen(function, tuple(arranged), typed, nullable=nullable)


def coalesce(function: str, parts: tuple[Typed, ...]) -> Typed:
    """The first value that is not NULL."""
    _, typed = one_kind(function, parts)
    sure = next((place for place, part in enumerate(typed) if not part.nullable), len(typed))
    return _chosen(function, tuple(typed), typed[: sure + 1], nullable=all(part.nullable for part in typed))


def null_if(function: str, parts: tuple[Typed, ...]) -> Typed:
    """NULL if two values are equal, and else the first."""
    if len(parts) != 2:
        raise wrong_count(function, f"{function}(x, 0)")
    _, typed = one_kind(function, parts)
    first = typed[0]
    keys = None if first.keys is None else listed([*first.keys, None])
    return Typed(function, first.kind, tuple(typed), first.low, first.high, first.step, True, keys)


def least_or_greatest(function: str, parts: tuple[Typed, ...]) -> Typed:
    """The smallest or the largest of several numbers; NULLs are skipped."""
    numbers(function, parts)
    _, typed = one_kind(function, parts)
    found = range_of(typed[0])
    for part in typed[1:]:
        found = found.union(range_of(part))
    # It is never above, or below, a value that is never NULL.
    sure = [range_of(part) for part in typed if not part.nullable]
    if function == "LEAST":
        found = Range(found.low, min([each.high for each in sure if each.high is not None], default=found.high))
    else:
        found = Range(max([each.low for each in sure if each.low is not None], default=found.low), found.high)
    nullable = all(part.nullable for part in typed)
    kind = Kind.INTEGER if all(part.kind is Kind.INTEGER for part in typed) else Kind.REAL
    return Typed(function, kind, tuple(typed), found.low, found.high, _step(typed), nullable)


CHOICES: dict[str, Rule] = {
    "CASE": case,
    "COALESCE": coalesce,
    "NULLIF": null_if,
    "LEAST": least_or_greatest,
    "GREATEST": least_or_greatest,
}
