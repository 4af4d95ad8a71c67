"""Normal numbers whose sums are correlated like prefix sums, rounded exactly.

On each axis the first n coordinates are a line, and the others lie beside it. The noise of coordinate t of a line is
Σ_{i≤t} c_{t−i}·Z_i with c_k = C(2k, k)/4^k and independent standard normal Z; beside the line it is Z itself; over
several axes these sums are nested. What is drawn is ⌊σ·w + ½⌋ of each coordinate w: see `sitr.sensitivity.prefixes`.

Rounding is exact, as for the residuals of tables (`sitr.noise.contrasts`): every Z is drawn to b binary digits, the
sums are computed in integers with bounds on what is not known, and where these do not decide a coordinate, more digits
of all numbers in it are drawn from their conditional law. No digit is drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from flint import fmpz_poly

from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.contrasts import Normal
from sitr.noise.draws import Draws
from sitr.noise.rounded import rounded_law
from sitr.numbers import positive

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Line = tuple[int, int]
"""Of one axis: how many coordinates are in a line, and how many beside it."""

DIGITS = 53
"""Binary digits of every normal number that are drawn first, if σ is at most 2^20. Tests draw fewer; the law stays."""

_FINE = 96
"""Binary digits of the coefficients c_k."""

_GUARD = 64
"""More digits with which they are computed: each of n ≤ 2^60 steps loses less than one unit."""


def rounded_prefixes(
    axes: Sequence[Line], sigma: Fraction, *, coins: Coins | None = None, digits: int = DIGITS
) -> Draws:
    """⌊σ·w + ½⌋ for all coordinates w.

    >>> rounded_prefixes([(3, 1), (2, 0)], Fraction(5)).shape
    (4, 2)
    """
    tossed = system_coins() if coins is None else coins
    size, shape = positive(sigma, name="sigma", of="noise"), tuple(map(sum, axes))
    bits = max(digits, digits - 20 + math.ceil(size).bit_length())
    known = [int(y) for y in rounded_law(Fraction(2**bits)).many(math.prod(shape), tossed)]
    drawn = np.array(known, np.object_).reshape(shape)
    sums, scale, blur = _sums(drawn, axes, bits)
    # Of each coordinate w, 2^scale·w is within `blur` of `sums`; ⌊σ·w + ½⌋ = ⌊(2pW + q·2^scale)/(2q·2^scale)⌋, σ = p/q.
    double, half = 2 * size.numerator, size.denominator << scale
    lows = [(double * (each - blur) + half) // (2 * half) for each in sums.ravel()]
    highs = [(double * (each + blur) + half) // (2 * half) for each in sums.ravel()]
    numbers: dict[tuple[int, ...], Normal] = {}
    for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low != high:
            at = tuple(int(each) for each in np.unravel_index(place, shape))
            lows[place] = _decide(at, axes, size, drawn, bits, numbers, tossed)
    fits = all(abs(each) < 2**62 for each in lows)
    found: Draws = np.array(lows, np.int64) if fits else np.array(lows, np.object_)
    return found.reshape(shape)


def _sums(drawn: Draws, axes: Sequence[Line], bits: int) -> tuple[Draws, int, int]:
    """2^scale·w of all coordinates w, nearly; the scale; and how far off they are, at most.

    Y/2^b is within half of 2^{−b} of Z, and a product of k coefficients within 3k·2^{−96} of its value, as each is at
    most 1 and within 2^{−95}.
    """
    lines = [line for line, _ in axes if line]
    scale, most = bits + _FINE * len(lines), 1
    found = drawn
    for axis, (line, _) in enumerate(axes):
        if line:
            c = _scaled(line, _FINE)
            most *= max(1 << _FINE, sum(c) + 2 * line)
            found = np.asarray(np.apply_along_axis(_convolved, axis, found, line, c), np.object_)
    unsure = 3 * len(lines) * sum(abs(int(y)) for y in drawn.ravel())
    return found, scale, (most + 1) // 2 + (unsure << _FINE * max(0, len(lines) - 1))


def _convolved(numbers: Draws, line: int, c: tuple[int, ...]) -> Draws:
    """Σ_{i≤t} c_{t−i}·y_i along a line, and 2^96·y beside it, in integers."""
    together = fmpz_poly([int(y) for y in numbers[:line]]) * fmpz_poly(list(c))
    inside = [int(together[t]) for t in range(line)]
    return np.array([*inside, *(int(y) << _FINE for y in numbers[line:])], np.object_)


@lru_cache(32)
def _scaled(line: int, bits: int) -> tuple[int, ...]:
    """⌊2^bits·c_k⌋ or one less, for k < n: c_k = c_{k−1}·(2k − 1)/2k."""
    found = [1 << bits + _GUARD]
    for k in range(1, line):
        found.append(found[-1] * (2 * k - 1) // (2 * k))
    return tuple(each >> _GUARD for each in found)


def _decide(
    place: tuple[int, ...],
    axes: Sequence[Line],
    sigma: Fraction,
    known: Draws,
    bits: int,
    numbers: dict[tuple[int, ...], Normal],
    coins: Coins,
) -> int:
    """One coordinate, exactly; `numbers` are those of which more digits were drawn already."""
    fine = 2 * _FINE
    terms = list(product(*(_inside(at, line) for at, (line, _) in zip(place, axes, strict=True))))
    for term in terms:
        at = tuple(i for i, _ in term)
        if at not in numbers:
            numbers[at] = Normal(int(known[at]), bits, coins)
    while True:
        low, high = _ends(terms, axes, numbers, fine)
        first, last = (math.floor(sigma * end + Fraction(1, 2)) for end in (low, high))
        if first == last:
            return first
        for term in terms:
            numbers[tuple(i for i, _ in term)].narrow(coins)
        fine += _FINE


def _inside(place: int, line: int) -> list[tuple[int, int | None]]:
    """The numbers in a coordinate of one axis, and which coefficient each has; None for 1."""
    return [(i, place - i) for i in range(place + 1)] if place < line else [(place, None)]


def _ends(
    terms: Sequence[tuple[tuple[int, int | None], ...]],
    axes: Sequence[Line],
    numbers: dict[tuple[int, ...], Normal],
    fine: int,
) -> tuple[Fraction, Fraction]:
    """An interval that contains a coordinate: coefficients are at most 2·2^{−fine} above the scaled ones."""
    low, high = Fraction(0), Fraction(0)
    tables: list[Any] = [_scaled(line, fine) if line else () for line, _ in axes]
    for term in terms:
        least = most = Fraction(1)
        for c, (_, k) in zip(tables, term, strict=True):
            if k is not None:
                least, most = least * Fraction(c[k], 2**fine), most * Fraction(c[k] + 2, 2**fine)
        number = numbers[tuple(i for i, _ in term)]
        low += min(least * number.low, most * number.low)
        high += max(least * number.high, most * number.high)
    return low, high
