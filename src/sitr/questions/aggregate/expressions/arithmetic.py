"""The types and ranges of arithmetic. All numbers are doubles while they are computed with.

What has no value is NULL, and never an error: a quotient by 0, a root of a negative number, a result beyond a double.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import QuestionError
from sitr.numbers import exact
from sitr.questions.aggregate.expressions.multiples import without_remainder
from sitr.questions.aggregate.expressions.ranges import Range, whole
from sitr.questions.aggregate.expressions.rules import (
    Rule,
    any_nullable,
    numbers,
    range_of,
    whole_literal,
    wrong_count,
    wrong_type,
)
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, in_calendar

LARGEST = Fraction(2**1000)
"""Results beyond this may be too large for a double, and then they are NULL."""

FINITE = ("+", "-", "*", "/", "//", "%", "ROUND", "SQRT", "LN", "LOG10", "EXP", "POWER")
"""Functions whose results are finite or NULL."""


def _result(
    function: str, parts: tuple[Typed, ...], found: Range, *, integer: bool, step: Fraction | None, can_fail: bool
) -> Typed:
    """A number. It can be NULL if a part can, if the function `can_fail`, or if it may be too large or infinite."""
    large = found.low is None or found.high is None or max(-found.low, found.high) > LARGEST
    kind = Kind.INTEGER if integer else Kind.REAL
    endless = function in FINITE and any(map(_endless, parts))
    nullable = can_fail or large or endless or any_nullable(parts)
    return Typed(function, kind, parts, found.low, found.high, step, nullable)


def _endless(part: Typed) -> bool:
    """Whether it may be infinite: a column of real numbers can hold that, whatever its bounds, until it is computed."""
    if part.column is not None or part.kind not in NUMERIC:
        return part.kind is Kind.REAL
    return part.what not in (*FINITE, "CLAMP") and any(map(_endless, part.parts))


def _whole(parts: tuple[Typed, ...]) -> bool:
    return all(part.kind is Kind.INTEGER for part in parts)


def _common(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """The largest step of which both are multiples."""
    if one is None or other is None:
        return None
    return Fraction(
        math.gcd(one.numerator * other.denominator, other.numerator * one.denominator),
        one.denominator * other.denominator,
    )


def plus_or_minus(function: str, parts: tuple[Typed, ...]) -> Typed:
    """Numbers, or a date and a number of days; the difference of two dates is a number of days."""
    left, right = parts
    if left.kind in TEMPORAL or right.kind in TEMPORAL:
        return _calendar(function, left, right)
    numbers(function, parts)
    one, other = range_of(left), range_of(right)
    found = one + other if function == "+" else one - other
    by = without_remainder(parts) if function == "-" else None
    if by is not None:  # x - x % 10, which never falls as x grows
        found = one.mapped(lambda end: Fraction(math.trunc(end / by) * by))
        return _result(function, parts, found, integer=True, step=Fraction(by), can_fail=False)
    return _result(function, parts, found, integer=_whole(parts), step=_common(left.step, right.step), can_fail=False)


def _calendar(function: str, left: Typed, right: Typed) -> Typed:
    if left.kind is Kind.DATE and right.kind is Kind.DATE and function == "-":
        found = range_of(left) - range_of(right)
        return _result(function, (left, right), found, integer=True, step=Fraction(1), can_fail=False)
    if left.kind is Kind.DATE and right.kind is Kind.INTEGER:
        moved = range_of(left) + (range_of(right) if function == "+" else -range_of(right))
        found = moved.mapped(lambda end: in_calendar(end, Kind.DATE))
        return Typed(function, Kind.DATE, (left, right), found.low, found.high, Fraction(1))
    raise QuestionError(
        given=f"{left.text} {function} {right.text} cannot be computed with the types {left.kind.value} and "
        f"{right.kind.value}.",
        do="Write d + INTERVAL 3 DAY for a later date, or DATE_DIFF('hour', earlier, later) for a difference.",
    )


def times(function: str, parts: tuple[Typed, ...]) -> Typed:
    numbers(function, parts)
    left, right = parts
    step = left.step * right.step if left.step is not None and right.step is not None else None
    found = range_of(left) * range_of(right)
    if left == right and found.low is not None:  # a square
        ends = range_of(left).absolute()
        found = ends * ends
    return _result(function, parts, found, integer=_whole(parts), step=step, can_fail=False)


def divided(function: str, parts: tuple[Typed, ...]) -> Typed:
    """The quotient of two numbers, never rounded."""
    numbers(function, parts)
    left, right = parts
    found = range_of(left) / range_of(right)
    fixed = right.is_literal and right.low
    step = left.step / abs(fixed) if fixed and left.step is not None else None
    return _result(function, parts, found, integer=False, step=step, can_fail=not found.bounded)


def whole_quotient(function: str, parts: tuple[Typed, ...]) -> Typed:
    """The quotient rounded down."""
    numbers(function, parts)
    left, right = parts
    found = (range_of(left) / range_of(right)).mapped(lambda end: Fraction(math.floor(end)))
    return _result(function, parts, found, integer=True, step=Fraction(1), can_fail=not found.bounded)


def remainder(function: str, parts: tuple[Typed, ...]) -> Typed:
    """With the sign of the dividend."""
    numbers(function, parts)
    left, right = parts
    size = range_of(right).absolute()
    if size.high is None:
        return _result(function, parts, Range(), integer=_whole(parts), step=None, can_fail=True)
    most = max(size.high - 1, Fraction(0)) if _whole(parts) else size.high
    low = Fraction(0) if left.low is not None and left.low >= 0 else -most
    high = Fraction(0) if left.high is not None and left.high <= 0 else most
    zero = size.low is None or size.low <= 0
    step = Fraction(1) if _whole(parts) else None
    return _result(function, parts, Range(low, high), integer=_whole(parts), step=step, can_fail=zero)


def negated(function: str, parts: tuple[Typed, ...]) -> Typed:
    numbers(function, parts)
    (part,) = parts
    return _result(function, parts, -range_of(part), integer=_whole(parts), step=part.step, can_fail=False)


def absolute(function: str, parts: tuple[Typed, ...]) -> Typed:
    numbers(function, parts)
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    found = range_of(parts[0]).absolute()
    return _result(function, parts, found, integer=_whole(parts), step=parts[0].step, can_fail=False)


def rounded(function: str, parts: tuple[Typed, ...]) -> Typed:
    """To whole numbers, or to a number of decimal places."""
    if len(parts) not in (1, 2):
        raise wrong_count(function, f"{function}(x) or {function}(x, 2)")
    numbers(function, parts)
    places = whole_literal(function, parts[1], least=-15, most=15) if len(parts) == 2 else 0
    unit = Fraction(10) ** -places
    found = whole(range_of(parts[0]).mapped(lambda end: end / unit)).mapped(lambda end: end * unit)
    integer = places <= 0
    return _result(function, parts, found, integer=integer, step=unit, can_fail=False)


def rounded_down_or_up(function: str, parts: tuple[Typed, ...]) -> Typed:
    numbers(function, parts)
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    towards = math.floor if function == "FLOOR" else math.ceil
    found = range_of(parts[0]).mapped(lambda end: Fraction(towards(end)))
    return _result(function, parts, found, integer=True, step=Fraction(1), can_fail=False)


def sign(function: str, parts: tuple[Typed, ...]) -> Typed:
    numbers(function, parts)
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    found = range_of(parts[0]).mapped(lambda end: Fraction((end > 0) - (end < 0)))
    ends = Range(
        found.low if found.low is not None else Fraction(-1), found.high if found.high is not None else Fraction(1)
    )
    return _result(function, parts, ends, integer=True, step=Fraction(1), can_fail=False)


def smooth(function: str, parts: tuple[Typed, ...]) -> Typed:
    """SQRT, LN, LOG10 and EXP, which grow with their argument; ends are rounded outward."""
    numbers(function, parts)
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    part, compute = parts[0], _SMOOTH[function]
    defined = part.low is not None and (function == "EXP" or part.low > 0 or (function == "SQRT" and part.low == 0))
    low = None if part.low is None or not defined else _outward(compute, part.low, up=False)
    high = None if part.high is None else _outward(compute, part.high, up=True)
    if function in ("SQRT", "EXP"):
        low = Fraction(0) if low is None else max(low, Fraction(0))
    return _result(function, parts, Range(low, high), integer=False, step=None, can_fail=not defined)


_SMOOTH = {"SQRT": math.sqrt, "LN": math.log, "LOG10": math.log10, "EXP": math.exp}


def _outward(compute: object, end: Fraction, *, up: bool) -> Fraction | None:
    try:
        found = compute(float(end))  # type: ignore[operator]
    except (ValueError, OverflowError):
        return None
    away = max(abs(found), 1e-300) * 1e-12
    return exact(found + away if up else found - away)


def power(function: str, parts: tuple[Typed, ...]) -> Typed:
    """With a whole exponent from 0 to 8."""
    if len(parts) != 2:
        raise wrong_count(function, f"{function}(x, 2)")
    numbers(function, parts)
    times_itself = whole_literal(function, parts[1], least=0, most=8)
    one, found = range_of(parts[0]), Range(Fraction(1), Fraction(1))
    for _ in range(times_itself):
        found = found * one
    if times_itself % 2 == 0 and times_itself and one.bounded:
        ends = one.absolute()
        found = Range(ends.low**times_itself, ends.high**times_itself)  # type: ignore[operator]
    return _result(function, parts, found, integer=parts[0].kind is Kind.INTEGER, step=None, can_fail=False)


def clamped(function: str, parts: tuple[Typed, ...]) -> Typed:
    """CLAMP(x, low, high): a value beyond two numbers counts as the nearest of them."""
    if len(parts) != 3:
        raise wrong_count(function, "CLAMP(x, 0, 100)")
    part, low, high = parts
    if part.kind not in NUMERIC:
        raise wrong_type(function, part, needs="numbers")
    if not (
        low.is_literal and high.is_literal and low.low is not None and high.low is not None and low.low <= high.low
    ):
        raise QuestionError(
            given=f"CLAMP needs two numbers, the smaller one first, in place of {low.text} and {high.text}.",
            do="Write CLAMP(x, 0, 100), with bounds from public knowledge.",
        )
    found = range_of(part).clamped(low.low, high.low)
    integer = part.kind is Kind.INTEGER and _whole((low, high))
    step = part.step if part.step is not None and not (low.low % part.step or high.low % part.step) else None
    return _result(function, parts, found, integer=integer, step=step, can_fail=False)


ARITHMETIC: dict[str, Rule] = {
    "+": plus_or_minus,
    "-": plus_or_minus,
    "*": times,
    "/": divided,
    "//": whole_quotient,
    "%": remainder,
    "NEGATE": negated,
    "ABS": absolute,
    "ROUND": rounded,
    "FLOOR": rounded_down_or_up,
    "CEIL": rounded_down_or_up,
    "SIGN": sign,
    "SQRT": smooth,
    "LN": smooth,
    "LOG10": smooth,
    "EXP": smooth,
    "POWER": power,
    "CLAMP": clamped,
}
