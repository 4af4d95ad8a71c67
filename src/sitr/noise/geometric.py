"""The geometric law: a natural number whose probability falls by the same factor with every step."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, overload

from flint import arb, fmpq

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, Size, collect_integers
from sitr.noise.inversion import FULL, Bits, Inversion, Inversions, Survival
from sitr.numbers import Number, positive

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

TABLES = 32
"""Scales of a law whose tables are cached, at most 2 MB each up to 2^60."""

_MOST = 16
"""The largest scale at which a geometric variable is drawn from one table."""


@overload
def geometric(*, scale: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def geometric(*, scale: Number, size: Size, coins: Coins | None = None) -> Draws: ...
def geometric(*, scale: Number, size: Size | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) = (1 − q)·q^y for y ≥ 0 with q = e^{−1/t}, exactly, for any rational t > 0.

    Many draws are 64-bit integers if P(Y > 2^62) < e^{−2^62/t} < 2^{−1000}, otherwise Python integers.

    >>> geometric(scale=0.01), geometric(scale=2**60, size=3).dtype
    (0, dtype('O'))
    """
    law, tossed = geometric_law(scale), system_coins() if coins is None else coins
    if size is None:
        return law.one(tossed)
    return collect_integers(lambda count: law.many(count, tossed), size=size, fits=law.fits)


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """Its digits are independent: with y = Σ d_i·256^i, q^y is the product of the (q^{256^i})^{d_i}.

    So ⌊Y/256^k⌋ is geometric, too, of scale t/256^k, and below it each digit has P(d) ∝ e^{−d·256^i/t} on 0, …, 255.
    """

    top: Inversion
    low: Inversions
    fits: bool

    def one(self, coins: Coins) -> int:
        words = coins.words(1 + len(self.low.laws))
        return self.one_below(self.top.at(words[0], coins), words[1:], coins)

    def many(self, size: int, coins: Coins) -> Draws:
        return self.many_below(self.top.many(size, coins), coins)

    def one_below(self, top: int, words: NDArray[np.uint64], coins: Coins) -> int:
        """Append the lower digits to the top ones."""
        for digit in self.low.at(words, coins):
            top = top << 8 | digit
        return top

    def many_below(self, top: NDArray[np.int64], coins: Coins) -> Draws:
        drawn: Draws = top if self.fits else top.astype(np.object_)
        for digit in self.low.laws:
            drawn <<= 8
            drawn |= digit.many(len(drawn), coins)
        return drawn


@lru_cache(TABLES, typed=True)
def geometric_law(scale: Number, digits: Bits = FULL) -> GeometricLaw:
    """The cache distinguishes equal numbers of different types: 0.1 means one tenth, Fraction(0.1) does not."""
    t = positive(scale, name="scale", of="noise")
    k = low_digits(t)
    rate = rational(256**k / t)
    top = Inversion(lambda i: arb(-i * rate).exp(), digits)
    return GeometricLaw(top, digit_laws(t, k, digits), fits=NEVER * t <= 2**62)


def low_digits(scale: Fraction) -> int:
    """The least k with t/256^k ≤ 16."""
    k = 0
    while scale > _MOST * 256**k:
        k += 1
    return k


def digit_laws(scale: Fraction, k: int, digits: Bits) -> Inversions:
    """The laws of the lowest k digits, highest first."""
    return Inversions(tuple(Inversion(_digit(rational(256**i / scale)), digits) for i in reversed(range(k))))


def _digit(rate: fmpq) -> Survival:
    """P(d) ∝ e^{−dr}: S(d) = (e^{−dr} − e^{−256r})/(1 − e^{−256r}) = e^{−dr}·(1 − e^{−(256−d)r})/(1 − e^{−256r})."""

    def survival(d: int) -> arb:
        if d >= 256:
            return arb(0)
        return arb(-d * rate).exp() * arb((d - 256) * rate).expm1() / arb(-256 * rate).expm1()

    return survival


def rational(number: Fraction) -> fmpq:
    """The fraction as FLINT's type."""
    return fmpq(number.numerator, number.denominator)
