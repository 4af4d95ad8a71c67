"""CASE over aggregates: conditions on numbers with intervals, and the values that they may choose.

A condition is a number too: 1 where it is true, 0 where it is false, and NULL where it is unknown. Its interval says
which of them it may be, whatever the numbers are within theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sitr.questions.aggregate.functions.function import End
from sitr.questions.aggregate.functions.spans import SPANS, Apply, Span

_NO, _YES = Fraction(0), Fraction(1)


def _truth(value: bool | None, *, may_hold: bool, may_fail: bool, null: bool) -> Span:
    return Span(
        None if value is None else Fraction(value),
        _NO if may_fail else _YES,
        _YES if may_hold else _NO,
        null or value is None,
    )


def _compared(
    holds: Callable[[End, End], bool], possible: Callable[[Span, Span], tuple[bool, bool]]
) -> Callable[[Sequence[Span]], Span]:
    """`possible` says whether a comparison may hold, and whether it may fail."""

    def compare(parts: Sequence[Span]) -> Span:
        one, other = parts
        value = None if one.value is None or other.value is None else holds(one.value, other.value)
        may_hold, may_fail = possible(one, other)
        null = one.null or other.null
        return _truth(value, may_hold=may_hold, may_fail=may_fail, null=null)

    return compare


def _meet(one: Span, other: Span) -> bool:
    return one.low <= other.high and other.low <= one.high


def _differ(one: Span, other: Span) -> bool:
    return not one.low == one.high == other.low == other.high


def _all(parts: Sequence[Span]) -> Span:
    values = [part.value for part in parts]
    value = False if _NO in values else None if None in values else True
    return _truth(
        value,
        may_hold=all(part.high == 1 for part in parts),
        may_fail=any(part.low == 0 for part in parts),
        null=any(part.null for part in parts),
    )


def _opposite(parts: Sequence[Span]) -> Span:
    (part,) = parts
    return Span(None if part.value is None else 1 - part.value, 1 - part.high, 1 - part.low, part.null)


def _any(parts: Sequence[Span]) -> Span:
    return _opposite((_all([_opposite((part,)) for part in parts]),))


def _is_null(parts: Sequence[Span]) -> Span:
    (part,) = parts
    return _truth(part.value is None, may_hold=part.null, may_fail=True, null=False)


def _one_of(parts: Sequence[Span]) -> Span:
    value, *others = parts
    return _any([CHOICES["="]((value, other)) for other in others])


def _case(parts: Sequence[Span]) -> Span:
    """The exact value is one of those whose condition may hold, up to the first one that certainly does."""
    pairs = list(zip(parts[0::2], parts[1::2], strict=False))
    otherwise = parts[-1] if len(parts) % 2 else Span(None, math.inf, -math.inf, null=True)
    value = next((then.value for when, then in pairs if when.value == 1), otherwise.value)
    possible: list[Span] = []
    for when, then in pairs:
        if when.high == 1:
            possible.append(then)
        if when.low == 1 and not when.null:
            break
    else:
        possible.append(otherwise)
    low, high = min(each.low for each in possible), max(each.high for each in possible)
    if low > high:  # only NULL is possible
        low, high = -math.inf, math.inf
    return Span(value, low, high, value is None or any(each.null for each in possible))


CHOICES: dict[str, Apply] = {
    **SPANS,
    "=": _compared(lambda one, other: one == other, lambda one, other: (_meet(one, other), _differ(one, other))),
    "<>": _compared(lambda one, other: one != other, lambda one, other: (_differ(one, other), _meet(one, other))),
    "<": _compared(lambda one, other: one < other, lambda one, other: (one.low < other.high, one.high >= other.low)),
    "<=": _compared(lambda one, other: one <= other, lambda one, other: (one.low <= other.high, one.high > other.low)),
    ">": _compared(lambda one, other: one > other, lambda one, other: (one.high > other.low, one.low <= other.high)),
    ">=": _compared(lambda one, other: one >= other, lambda one, other: (one.high >= other.low, one.low < other.high)),
    "AND": _all,
    "OR": _any,
    "NOT": _opposite,
    "IS NULL": _is_null,
    "IN": _one_of,
    "CASE": _case,
}
"""What can be applied to aggregates: arithmetic, conditions and CASE."""
