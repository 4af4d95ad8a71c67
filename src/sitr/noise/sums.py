"""Exponentials and their sums, enclosed by integers: however many there are, Arb computes each of them, or the first
two, in one short computation.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate

from flint import arb

from sitr.numbers import ball
from sitr.precision import undisturbed


def exponential_sums(terms: Iterable[tuple[int, Fraction]], *, bits: int, beyond: arb | None = None) -> list[arb]:
    """For terms (w, x) the sums of w·e^{−x}, from the first on, x ≥ 0: none of them, one, two, … all of them.

    Every term is enclosed by two neighbouring multiples of 2^{−bits}, or three at most, and integers are added without
    an error. `beyond`, which is added to all sums, stands for terms that are only bounded.

    >>> [float(each.mid()) for each in exponential_sums([(3, Fraction(0)), (1, Fraction(10**6))], bits=64)]
    [0.0, 3.0, 3.0]
    """
    start = (0, 0) if beyond is None else undisturbed(2 * bits, ends, beyond, bits)
    known = (_term(weight, exponent, bits) for weight, exponent in terms)
    sums = accumulate(known, lambda one, other: (one[0] + other[0], one[1] + other[1]), initial=start)
    return [between(low, high, bits) for low, high in sums]


def _term(weight: int, exponent: Fraction, bits: int) -> tuple[int, int]:
    return undisturbed(bits + weight.bit_length() + 32, lambda: ends(weight * (-ball(exponent)).exp(), bits))


def bell(rate: Fraction, *, last: int, bits: int) -> list[tuple[int, int]]:
    """Integers l and h with l ≤ 2^bits·e^{−rate·y²} ≤ h, for y = 1, …, last; h − l ≤ 2(y + 1)².

    e^{−rate·(y + 1)²} = e^{−rate·y²}·r(y) with r(y) = e^{−rate·(2y + 1)}, and r(y + 1) = r(y)·e^{−2·rate}. All of them
    are at most 1, so a product is off by at most the sum of the errors of its factors, and 1 for rounding it: r(y) by
    at most 2 + 3y.

    >>> bell(Fraction(1, 10), last=2, bits=10)
    [(926, 927), (684, 689)]
    """
    (low, high), (lower, higher) = (undisturbed(bits + 32, _exponential, times * rate, bits) for times in (1, 2))
    found = [(low, high)]
    least, most = low, high
    for _ in range(last - 1):
        low, high = low * lower >> bits, -(-high * higher >> bits)
        least, most = least * low >> bits, -(-most * high >> bits)
        found.append((least, most))
    return found


def between(low: int, high: int, bits: int) -> arb:
    """The ball from 2^{−bits}·low to 2^{−bits}·high, at any precision: middle and radius are exact.

    >>> between(5, 6, 1).contains(arb(2.75))
    True
    """
    return arb((low + high, -bits - 1), (high - low, -bits - 1))


def _exponential(exponent: Fraction, bits: int) -> tuple[int, int]:
    return ends((-ball(exponent)).exp(), bits)


def ends(number: arb, bits: int) -> tuple[int, int]:
    """Integers l and h with l ≤ 2^bits·x ≤ h for every x in the ball, next to each other if the precision suffices.

    >>> undisturbed(64, ends, arb(2.75), 1)
    (5, 6)
    """
    scaled = number * arb((1, bits))
    return floor(scaled.lower()), -floor(-scaled.upper())


def floor(number: arb) -> int:
    """The floor of a ball of radius zero, at any precision.

    >>> floor(arb(-2.5)), floor(arb(7))
    (-3, 7)
    """
    mantissa, exponent = (int(part) for part in number.man_exp())
    if mantissa.bit_length() + exponent <= 0:  # between −1 and 1, with an exponent perhaps too large to shift by
        return -1 if mantissa < 0 else 0
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent
