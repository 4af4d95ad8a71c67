"""Arithmetic of doubles in PostgreSQL that cannot fail.

PostgreSQL raises an error where a result of doubles overflows, where it underflows to 0, and for a quotient by 0. An
error on one row would be an answer about that row. So each operation is guarded by comparisons that cannot fail, and
has the result of IEEE 754 otherwise: NULL where that is not finite, and 0 where it is too small.

Operands are scaled by powers of two, which is exact. Let S = 2^−512 and B = 2^512.

- Product, both |a|, |b| ≥ 1: it overflows if and only if (aS)(bS) rounds to 1 or more, with the same digits.
- Product, both < 1: it is 0 if and only if |ab| ≤ 2^−1075. Then both are below 2^−540, or (aB)(bB) ≤ 2^−51.
- Product, one ≥ 1 and the other < 1: it lies between them.
- Quotient, |b| ≥ 1: only a quotient of |a| < 1 can be 0, and then (aB)/(bS) ≤ 2^−51.
- Quotient, |b| < 1: with |a| < 2^−50 it is below 2^1024; otherwise it overflows if and only if (aS)/(bB) rounds to 1 or
  more, which is divided only if |aS| < |bB|.
- Sum: it can overflow only if both are at least 10^280 in size, and does so if and only if half of it reaches 2^1023.

`a` and `b` are names of columns or expressions of type double precision that are short enough to be written often.
"""

from __future__ import annotations

from fractions import Fraction

INFINITY = "CAST('Infinity' AS double precision)"
LARGEST = float.fromhex("0x1.fffffffffffffp+1023")
_SMALL, _BIG = (f"CAST({2.0**power!r} AS double precision)" for power in (-512, 512))
_TINY = f"CAST({2.0**-51!r} AS double precision)"
_HALF = "0.49999999999999994"
"""The double before 1/2: added to it, no number below a half rounds up to 1, and a half does."""


def double(value: float) -> str:
    """A number of our own, never one of a user."""
    return f"CAST({value!r} AS double precision)"


def half_away(q: str) -> str:
    """The nearest whole number of a finite double, half away from zero; round() of doubles takes the even one."""
    return f"(sign({q}) * floor(abs({q}) + {double(float(_HALF))}))"


def finite(a: str) -> str:
    """Whether a number is finite. NaN is above infinity here, and NULL is not finite."""
    return f"abs({a}) < {INFINITY}"


def added(a: str, sign: str, b: str) -> str:
    """a + b or a − b."""
    half = f"abs({a} * 0.5 {sign} {b} * 0.5) < {double(2.0**1023)}"
    safe = f"CASE WHEN abs({a}) < {double(1e280)} OR abs({b}) < {double(1e280)} THEN TRUE ELSE {half} END"
    return f"CASE WHEN {finite(a)} AND {finite(b)} THEN CASE WHEN {safe} THEN {a} {sign} {b} END END"


def product(a: str, b: str) -> str:
    """a · b."""
    large = f"CASE WHEN abs(({a} * {_SMALL}) * ({b} * {_SMALL})) < 1 THEN {a} * {b} END"
    tiny = f"greatest(abs({a}), abs({b})) < {double(2.0**-540)}"  # the scaled product would underflow too
    small = (
        f"CASE WHEN {a} = 0 OR {b} = 0 OR {tiny} THEN 0 WHEN abs(({a} * {_BIG}) * ({b} * {_BIG})) <= {_TINY} THEN 0 "
    )
    return (
        f"CASE WHEN {finite(a)} AND {finite(b)} THEN CASE WHEN abs({a}) >= 1 AND abs({b}) >= 1 THEN {large} "
        f"WHEN abs({a}) < 1 AND abs({b}) < 1 THEN {small}ELSE {a} * {b} END ELSE {a} * {b} END END"
    )


def quotient(a: str, b: str) -> str:
    """a / b; NULL if b is 0."""
    least = f"CASE WHEN abs(({a} * {_BIG}) / ({b} * {_SMALL})) <= {_TINY} THEN 0 ELSE {a} / {b} END"
    most = (
        f"CASE WHEN abs({a}) * {_SMALL} < abs({b}) * {_BIG} "
        f"THEN CASE WHEN abs(({a} * {_SMALL}) / ({b} * {_BIG})) < 1 THEN {a} / {b} END END"
    )
    return (
        f"CASE WHEN {finite(a)} AND {b} <> 0 THEN CASE WHEN abs({b}) = {INFINITY} THEN 0 WHEN {finite(b)} THEN "
        f"CASE WHEN {a} = 0 THEN 0 WHEN abs({b}) >= 1 THEN CASE WHEN abs({a}) >= 1 THEN {a} / {b} ELSE {least} END "
        f"WHEN abs({a}) < {double(2.0**-50)} THEN {a} / {b} ELSE {most} END END END"
    )


def remainder(a: str, b: str) -> str:
    """a − b·⌊a/b⌋ towards zero, exactly: of integers, which all doubles are in units of 2^−1074."""
    whole = f"{a} = trunc({a}) AND {b} = trunc({b}) AND abs({a}) < {double(2.0**53)} AND abs({b}) < {double(2.0**53)}"
    small = f"CAST(CAST({a} AS bigint) % CAST({b} AS bigint) AS double precision)"
    left = f"mod({_units(a)}, {_units(b)})"
    # Fewer than 2^1000 units are a double. More of them are a multiple of 2^900, and from 2^1200 on a multiple of
    # 2^1074, which is 1, because a double has 53 digits.
    exact = (
        f"CASE WHEN {left} < {2**1000} "
        f"THEN CAST({left} AS double precision) * {double(2.0**-537)} * {double(2.0**-537)} "
        f"WHEN {left} < {2**1200} THEN CAST(div({left}, {2**900}) AS double precision) * {double(2.0**-174)} "
        f"ELSE CAST(div({left}, {2**1074}) AS double precision) END"
    )
    zero = f"CASE WHEN {left} = 0 THEN 0 ELSE {exact} END"
    return (
        f"CASE WHEN {finite(a)} AND {b} <> 0 THEN CASE WHEN abs({b}) = {INFINITY} THEN {a} WHEN {finite(b)} THEN "
        f"CASE WHEN {a} = 0 THEN 0 WHEN {whole} THEN {small} ELSE sign({a}) * {zero} END END END"
    )


def _units(a: str) -> str:
    """The size of a finite double in units of 2^−1074: m·2^(e−1) for its mantissa m and exponent e ≥ 1."""
    bits = f"CAST(CAST('x' || encode(float8send(abs({a})), 'hex') AS bit(64)) AS bigint)"
    exponent, digits = f"({bits} >> 52)", f"({bits} & {2**52 - 1})"
    mantissa = f"CAST(CASE WHEN {exponent} = 0 THEN {digits} ELSE {digits} + {2**52} END AS numeric)"
    return f"({mantissa} * power(CAST(2 AS numeric), CAST(greatest({exponent}, 1) - 1 AS numeric)))"


def power(a: str, times: int) -> str:
    """a^times; the ends, which are doubles, lie inside those where power() fails."""
    if times == 0:
        return f"CASE WHEN {a} IS NOT NULL THEN 1 END"
    if times == 1:
        return f"CASE WHEN {finite(a)} THEN {a} END"
    least, most = (
        _root(Fraction(1, 2**1074), times, up=True),
        _root(Fraction(2**1024) * (1 - Fraction(1, 2**52)), times),
    )
    return (
        f"CASE WHEN abs({a}) <= {double(most)} THEN CASE WHEN abs({a}) < {double(least)} THEN 0 "
        f"ELSE power({a}, {double(float(times))}) END END"
    )


def _root(of: Fraction, times: int, *, up: bool = False) -> float:
    """The largest double whose power is at most `of`, or the smallest whose power is at least `of`."""
    low, high = 0.0, LARGEST
    while True:
        middle = low / 2 + high / 2
        if middle in (low, high):
            return high if up else low
        below = Fraction(middle) ** times < of if up else Fraction(middle) ** times <= of
        low, high = (middle, high) if below else (low, middle)


def smooth(function: str, a: str) -> str:
    """SQRT, LN, LOG10 or EXP. The largest argument of EXP is ln 2^1024, and below ln 2^−1075 it is 0."""
    if function == "EXP":
        safe = f"CASE WHEN {a} < -745.13 THEN 0 ELSE exp({a}) END"
        return f"CASE WHEN {a} <= {double(709.782712893384)} THEN {safe} END"
    defined = f"{a} >= 0" if function == "SQRT" else f"{a} > 0"
    return f"CASE WHEN {defined} AND {finite(a)} THEN {function.lower()}({a}) END"
