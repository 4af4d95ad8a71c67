"""What WHERE says about the values of the rows that it keeps: bounds and keys that are public, because the question is.

`WHERE age BETWEEN 18 AND 65` bounds the ages that are summed, and `WHERE ward IN ('A', 'B')` lists the wards. The
distance never rests on this: a sum clamps each value to its bounds, and rows with other keys are left out, whatever was
concluded here. So a wrong conclusion could make an answer worse, but not less private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from sitr.dataclass import dataclass
from sitr.dataset.schema import NUMERIC, Column, Key, Kind, Quantised, quantise
from sitr.errors import DescriptionError
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, TEMPORAL, Typed

_KEYED = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, *TEMPORAL)
_MOST_WHOLE = 2**53
"""Beyond this, different whole numbers can be equal when they are compared as doubles."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a condition says about the values of an expression. NULL is never one of them."""

    low: Fraction | None = None
    high: Fraction | None = None
    keys: tuple[Key, ...] | None = None

    def __and__(self, other: Known) -> Known:
        keys = self.keys if other.keys is None else other.keys
        if self.keys is not None and other.keys is not None:
            keys = tuple(key for key in self.keys if key in other.keys)
        return Known(_either(max, self.low, other.low), _either(min, self.high, other.high), keys)

    def __or__(self, other: Known) -> Known:
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        if self.keys is None or other.keys is None:
            return Known(low, high)
        return Known(low, high, tuple(dict.fromkeys((*self.keys, *other.keys))))


def known(where: Typed | None) -> Mapping[Expression, Known]:
    """What a condition says about each expression in it.

    >>> from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS as F
    >>> from sitr.questions.aggregate.expressions.typed import column_typed, literal_typed
    >>> age = column_typed(Column("age", Kind.INTEGER))
    >>> known(F["AND"]("AND", (F[">"](">", (age, literal_typed(17))), F["<="]("<=", (age, literal_typed(65))))))
    {Name(name='age', table=None): Known(low=Fraction(18, 1), high=Fraction(65, 1), keys=None)}
    """
    if where is None:
        return {}
    if where.what == "AND":
        return reduce(_both, map(known, where.parts))
    if where.what == "OR":
        return reduce(_common, map(known, where.parts))
    if where.what == "NOT" and where.parts[0].what == "IS NULL":
        return {where.parts[0].parts[0].expression: Known()}
    if where.what in ("=", "<", "<=", ">", ">=") and where.parts[1].is_literal and not where.parts[0].is_literal:
        return {where.parts[0].expression: _compared(str(where.what), *where.parts)}
    if where.what == "IN":
        return {where.parts[0].expression: _listed(where.parts[0], where.parts[1:])}
    return {where.expression: Known(keys=(True,))} if where.column is not None else {}


def narrowed(typed: Typed, facts: Mapping[Expression, Known]) -> Typed:
    """The expression, with what is known about its values in the rows that are kept."""
    if typed.is_literal or (fact := facts.get(typed.expression)) is None:
        return typed
    low, high = _either(max, typed.low, fact.low), _either(min, typed.high, fact.high)
    if low is not None and high is not None and low >= high:  # a sum needs two bounds
        low, high = typed.low, typed.high
    keys = _keys(typed, fact)
    # A real number that is NaN counts as missing, and some comparisons let it pass.
    found = replace(typed, low=low, high=high, keys=keys, nullable=typed.nullable and typed.kind is Kind.REAL)
    return replace(found, what=_column(typed.what, found)) if isinstance(typed.what, Column) else found


def _keys(typed: Typed, fact: Known) -> tuple[Key, ...] | None:
    if typed.keys is not None:
        kept = tuple(key for key in typed.keys if key is not None and (fact.keys is None or key in fact.keys))
        return kept or typed.keys
    return fact.keys if fact.keys and len(fact.keys) <= MOST_KEYS else None


def _column(column: Column, found: Typed) -> Column:
    """The column with the bounds and keys of the rows that are kept.

    Bounds are whole granules, rounded outward: a value between two granules may be rounded to the one beyond.
    """
    quantised, keys = column.quantised, found.keys
    if found.low is not None and found.high is not None:
        if quantised is not None:
            lower = max(quantised.lower, math.floor(found.low / quantised.granularity))
            upper = min(quantised.upper, math.ceil(found.high / quantised.granularity))
            quantised = replace(quantised, lower=lower, upper=upper) if lower < upper else quantised
        else:
            quantised = _bounds(column, found.low, found.high)
    return replace(column, quantised=quantised, keys=keys)


def _bounds(column: Column, low: Fraction, high: Fraction) -> Quantised | None:
    if column.kind in TEMPORAL:
        return Quantised(math.floor(low), math.ceil(high), Fraction(1))
    try:
        return quantise(column.name, column.kind, (low, high), None) if column.kind in NUMERIC else None
    except DescriptionError:  # too far away for a sum
        return None


def _compared(function: str, value: Typed, literal: Typed) -> Known:
    if function == "=":
        return _listed(value, (literal,))
    end = literal.low
    if end is None:
        return Known()
    whole = value.kind in (Kind.INTEGER, Kind.DATE)
    if function in ("<", "<="):
        strict = Fraction(math.ceil(end) - 1) if function == "<" else Fraction(math.floor(end))
        return Known(high=strict if whole else end)
    strict = Fraction(math.floor(end) + 1) if function == ">" else Fraction(math.ceil(end))
    return Known(low=strict if whole else end)


def _listed(value: Typed, literals: tuple[Typed, ...]) -> Known:
    ends = [each.low for each in literals if each.low is not None]
    bounded = len(ends) == len(literals)
    low, high = (min(ends), max(ends)) if bounded else (None, None)
    exactly = value.kind in _KEYED and all(
        each.kind is value.kind and (value.kind is not Kind.INTEGER or abs(each.value) < _MOST_WHOLE)  # type: ignore[arg-type]
        for each in literals
    )
    keys = tuple(dict.fromkeys(each.value for each in literals)) if exactly else None
    return Known(low, high, keys)  # type: ignore[arg-type]


def _both(one: Mapping[Expression, Known], other: Mapping[Expression, Known]) -> Mapping[Expression, Known]:
    shared = {of: one[of] & other[of] for of in one if of in other}
    return {**one, **other, **shared}


def _common(one: Mapping[Expression, Known], other: Mapping[Expression, Known]) -> Mapping[Expression, Known]:
    return {of: one[of] | other[of] for of in one if of in other}


def _either(
    choose: Callable[[Fraction, Fraction], Fraction], one: Fraction | None, other: Fraction | None
) -> Fraction | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)
