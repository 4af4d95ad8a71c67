"""Arithmetic on numbers with intervals: the result's interval holds whatever the numbers are within theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from sitr.dataclass import dataclass
from sitr.questions.aggregate.functions.function import End, Estimate

_ALL = (-math.inf, math.inf)
_MOST_BITS = 4096
"""Numbers with more digits than this count as unbounded, so that no power takes long."""


@dataclass(frozen=True, slots=True)
class Span:
    """A number, or None where SQL has NULL, with an interval; `null` says that the exact one may be NULL."""

    value: Fraction | None
    low: End
    high: End
    null: bool = False

    @classmethod
    def of(cls, shown: Estimate, *, null: bool) -> Span:
        """What is shown; `null` where the exact number may be NULL."""
        return cls(shown.value, shown.low, shown.high, null=null or shown.value is None)

    @classmethod
    def fixed(cls, value: Fraction) -> Span:
        return cls(value, value, value)

    def estimate(self) -> Estimate:
        """The number and its interval, which always holds it."""
        if self.value is None:
            return Estimate(None, self.low, self.high)
        return Estimate(self.value, min(self.low, self.value), max(self.high, self.value))


def _plus(one: End, other: End) -> End:
    if isinstance(one, float):
        return one
    return other if isinstance(other, float) else one + other


def _times(one: End, other: End) -> End:
    if one == 0 or other == 0:
        return Fraction(0)
    if isinstance(one, float) or isinstance(other, float):
        return math.inf if (one > 0) == (other > 0) else -math.inf
    return one * other


def _size(end: End) -> End:
    return end if end >= 0 else -end


def _known(parts: Sequence[Span]) -> list[Fraction] | None:
    """All values; None if one of them is NULL."""
    values = [part.value for part in parts if part.value is not None]
    return values if len(values) == len(parts) else None


def _null(parts: Sequence[Span]) -> bool:
    return any(part.null for part in parts)


def _sum(parts: Sequence[Span]) -> Span:
    one, other = parts
    known = _known(parts)
    return Span(sum(known) if known else None, _plus(one.low, other.low), _plus(one.high, other.high), _null(parts))  # type: ignore[arg-type]


def _negative(part: Span) -> Span:
    return Span(None if part.value is None else -part.value, -part.high, -part.low, part.null)


def _product(parts: Sequence[Span]) -> Span:
    one, other = parts
    known = _known(parts)
    ends = [_times(a, b) for a, b in product((one.low, one.high), (other.low, other.high))]
    return Span(known[0] * known[1] if known else None, min(ends), max(ends), _null(parts))


def _quotient(parts: Sequence[Span]) -> Span:
    """Unbounded, and perhaps NULL, where the divisor may be 0."""
    above, below = parts
    known = _known(parts)
    value = known[0] / known[1] if known and known[1] else None
    if below.low <= 0 <= below.high:
        return Span(value, *_ALL, null=True)
    inverse = Span(None, _inverse(below.high), _inverse(below.low))
    found = _product((above, inverse))
    return Span(value, found.low, found.high, _null(parts))


def _inverse(end: End) -> Fraction:
    return Fraction(0) if isinstance(end, float) else 1 / end


def _growing(function: Callable[[Fraction], Fraction]) -> Callable[[Sequence[Span]], Span]:
    """A function of one number that never falls."""

    def apply(parts: Sequence[Span]) -> Span:
        (part,) = parts[:1]
        ends = [end if isinstance(end, float) else function(end) for end in (part.low, part.high)]
        return Span(None if part.value is None else function(part.value), ends[0], ends[1], part.null)

    return apply


def _rounded(parts: Sequence[Span]) -> Span:
    """Halves are rounded away from 0."""
    unit = Fraction(10) ** -(int(parts[1].value or 0) if len(parts) == 2 else 0)

    def nearest(number: Fraction) -> Fraction:
        size = math.floor(abs(number) / unit + Fraction(1, 2)) * unit
        return size if number >= 0 else -size

    return _growing(nearest)(parts[:1])


def _absolute(parts: Sequence[Span]) -> Span:
    (part,) = parts
    value = None if part.value is None else abs(part.value)
    low = Fraction(0) if part.low <= 0 <= part.high else min(_size(part.low), _size(part.high))
    return Span(value, low, max(_size(part.low), _size(part.high)), part.null)


def _remainder(parts: Sequence[Span]) -> Span:
    """With the sign of the dividend; its size is below that of the divisor, and at most that of the dividend."""
    above, below = parts
    known = _known(parts)
    value = None
    if known and known[1]:
        value = known[0] - known[1] * math.trunc(known[0] / known[1])
    most = min(max(_size(below.low), _size(below.high)), max(_size(above.low), _size(above.high)))
    return Span(
        value,
        Fraction(0) if above.low >= 0 else -most,
        Fraction(0) if above.high <= 0 else most,
        _null(parts) or below.low <= 0 <= below.high,
    )


def _power(parts: Sequence[Span]) -> Span:
    part, times = parts[0], int(parts[1].value or 0)
    found = Span.fixed(Fraction(1))
    for _ in range(times):
        found = _product((found, part))
    if times and times % 2 == 0:
        size = _absolute((part,))
        ends = [_repeated(end, times) for end in (size.low, size.high)]
        found = Span(found.value, ends[0], ends[1], found.null)
    return found


def _repeated(end: End, times: int) -> End:
    return math.inf if isinstance(end, float) else end**times


def _smooth(function: Callable[[float], float], least: float) -> Callable[[Sequence[Span]], Span]:
    """A growing function of doubles above `least`: ends are rounded outward; NULL where it has no value."""

    def at(number: Fraction, away: float) -> End | None:
        try:
            found = function(float(number))
        except (OverflowError, ValueError):
            return math.inf if number > 1 else None
        return Fraction(found + away * (abs(found) * 1e-12 + 1e-300))

    def apply(parts: Sequence[Span]) -> Span:
        (part,) = parts
        value = None if part.value is None else at(part.value, 0.0)
        low = None if isinstance(part.low, float) else at(part.low, -1.0)
        high = math.inf if isinstance(part.high, float) else at(part.high, 1.0)
        lowest = -math.inf if function is math.log or function is math.log10 else Fraction(0)
        return Span(
            value if isinstance(value, Fraction) else None,
            lowest if low is None or isinstance(low, float) else max(lowest, low),
            math.inf if high is None else high,
            part.null or part.low <= least or value is None,
        )

    return apply


def _least(parts: Sequence[Span]) -> Span:
    """The smallest value that is not NULL."""
    values = [part.value for part in parts if part.value is not None]
    certain = [part.high for part in parts if not part.null]
    return Span(
        min(values) if values else None,
        min(part.low for part in parts),
        min(certain) if certain else max(part.high for part in parts),
        all(part.null for part in parts),
    )


def _greatest(parts: Sequence[Span]) -> Span:
    return _negative(_least([_negative(part) for part in parts]))


def _first(parts: Sequence[Span]) -> Span:
    """COALESCE: the exact one is the first that is not NULL, so it may be any up to the first that cannot be."""
    value = next((part.value for part in parts if part.value is not None), None)
    possible: list[Span] = []
    for part in parts:
        possible.append(part)
        if not part.null:
            break
    low, high = min(part.low for part in possible), max(part.high for part in possible)
    return Span(value, low, high, possible[-1].null)


def _null_if(parts: Sequence[Span]) -> Span:
    one, other = parts
    value = None if one.value == other.value else one.value
    return Span(value, one.low, one.high, one.null or (one.low <= other.high and other.low <= one.high))


def _clamped(parts: Sequence[Span]) -> Span:
    low, high = parts[1].value, parts[2].value
    assert low is not None
    assert high is not None
    found = _growing(lambda number: max(low, min(high, number)))(parts[:1])
    return Span(found.value, max(found.low, low), min(found.high, high), found.null)


Apply: TypeAlias = Callable[[Sequence[Span]], Span]

SPANS: dict[str, Apply] = {
    "+": _sum,
    "-": lambda parts: _sum((parts[0], _negative(parts[1]))),
    "*": _product,
    "/": _quotient,
    "//": lambda parts: _growing(lambda number: Fraction(math.floor(number)))((_quotient(parts),)),
    "%": _remainder,
    "NEGATE": lambda parts: _negative(parts[0]),
    "ABS": _absolute,
    "ROUND": _rounded,
    "FLOOR": _growing(lambda number: Fraction(math.floor(number))),
    "CEIL": _growing(lambda number: Fraction(math.ceil(number))),
    "SIGN": _growing(lambda number: Fraction((number > 0) - (number < 0))),
    "SQRT": _smooth(math.sqrt, -1e-300),
    "LN": _smooth(math.log, 0.0),
    "LOG10": _smooth(math.log10, 0.0),
    "EXP": _smooth(math.exp, -math.inf),
    "POWER": _power,
    "LEAST": _least,
    "GREATEST": _greatest,
    "COALESCE": _first,
    "NULLIF": _null_if,
    "CLAMP": _clamped,
}
"""The functions that can be applied to aggregates."""

MIND_NULL = frozenset({"CASE", "COALESCE", "GREATEST", "IS NULL", "LEAST"})
"""Functions that may have a value where one of their parts is NULL. Others are then NULL themselves."""


def applied(function: str, parts: Sequence[Span], known: Mapping[str, Apply] = SPANS) -> Span:
    """The result; unbounded where its ends have too many digits."""
    found = known[function](parts)
    low, high = (
        end if isinstance(end, float) or _short(end) else unbounded
        for end, unbounded in zip((found.low, found.high), _ALL, strict=True)
    )
    value = found.value if found.value is None or _short(found.value) else None
    return Span(value, low, high, found.null or value is None)


def _short(number: Fraction) -> bool:
    return number.numerator.bit_length() + number.denominator.bit_length() <= _MOST_BITS
