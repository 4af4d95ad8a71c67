"""The discrete Laplace law: an integer whose probability falls by the same factor with every step from zero."""

from __future__ import annotations

from functools import lru_cache
from typing import overload

from flint import arb

from sitr.dataclass import dataclass
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, Size, collect_integers
from sitr.noise.geometric import TABLES, GeometricLaw, digit_laws, low_digits, rational
from sitr.noise.inversion import FULL, Bits, Inversion
from sitr.numbers import Number, ball, inside, natural, positive
from sitr.precision import precision


@overload
def discrete_laplace(*, scale: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def discrete_laplace(*, scale: Number, size: Size, coins: Coins | None = None) -> Draws: ...
def discrete_laplace(*, scale: Number, size: Size | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) ∝ e^{−|y|/t} on the integers, exactly, for any rational t > 0.      [GRS12, Sec. 2]

    Many draws are 64-bit integers if P(|Y| > 2^62) < 2e^{−2^62/t} < 2^{−1000}, otherwise Python integers.

    >>> discrete_laplace(scale=0.5, size=3).dtype, discrete_laplace(scale=2**60, size=(2, 3)).dtype
    (dtype('int64'), dtype('O'))
    """
    law, tossed = laplace_law(scale), system_coins() if coins is None else coins
    if size is None:
        return law.one(tossed)
    return collect_integers(lambda count: law.many(count, tossed), size=size, fits=law.size.fits)


@dataclass(frozen=True, slots=True)
class SignedGeometric:
    """A geometric N and a sign s: Y = N for s = 0, Y = −1 − N for s = 1, with P(s = 1) = q/(1 + q), q = e^{−1/t}.

    Then P(Y = y) = (1 − q)·q^y/(1 + q) for y ≥ 0, and (1 − q)·q^{−1−y}·q/(1 + q), the same function of |y|, for y < 0:
    there is one zero, and no draw is repeated. In binary, −1 − N is N with all bits inverted. The sign is drawn with
    the highest digits H of N: 2H + s has

        S(2h) = Q^h   and   S(2h + 1) = Q^h − P(H = h, s = 0) = Q^h·(Q + q)/(1 + q),   Q = e^{−256^k/t}.
    """

    size: GeometricLaw

    def one(self, coins: Coins) -> int:
        words = coins.words(1 + len(self.size.low.laws))
        drawn = self.size.top.at(words[0], coins)
        return self.size.one_below(drawn >> 1, words[1:], coins) ^ -(drawn & 1)

    def many(self, count: int, coins: Coins) -> Draws:
        drawn = self.size.top.many(count, coins)
        turned = -(drawn & 1)
        drawn >>= 1
        found = self.size.many_below(drawn, coins)
        found ^= turned
        return found


@lru_cache(TABLES, typed=True)
def laplace_law(scale: Number, digits: Bits = FULL) -> SignedGeometric:
    """The sampler, built once for each scale."""
    t = positive(scale, name="scale", of="noise")
    k = low_digits(t)
    rate, step = rational(1 / t), rational(256**k / t)

    def survival(i: int) -> arb:
        whole = arb(-(i // 2) * step).exp()
        if i % 2 == 0:
            return whole
        q = arb(-rate).exp()
        return whole * (arb(-step).exp() + q) / (1 + q)

    return SignedGeometric(GeometricLaw(Inversion(survival, digits), digit_laws(t, k, digits), fits=NEVER * t <= 2**62))


@precision()
def discrete_laplace_tail(k: int, *, scale: Number) -> arb:
    """P(Y ≥ k) = q^k/(1 + q) with q = e^{−1/t}, k ≥ 1: the sum of (1 − q)/(1 + q)·q^y over y ≥ k.

    >>> abs(discrete_laplace_tail(3, scale=10) - 0.388914) < 1e-6
    True
    """
    natural(k, name="start", of="a tail")
    t = positive(scale, name="scale", of="noise")
    return (-ball(k / t)).exp() / (1 + (-ball(1 / t)).exp())


def discrete_laplace_width(*, scale: Number, confidence: Number) -> int:
    """The least w with P(|Y| ≤ w) ≥ c:  w = ⌈t·ln(2/((1 − c)(1 + q)))⌉ − 1, from 2q^{w+1}/(1 + q) ≤ 1 − c.

    >>> discrete_laplace_width(scale=10, confidence=0.95)
    30
    """
    t, rest = positive(scale, name="scale", of="noise"), 1 - inside(confidence)
    bits = 64
    while True:
        with precision(bits):
            q = (-ball(1 / t)).exp()
            least = (ball(t) * (2 / (ball(rest) * (1 + q))).log()).ceil().unique_fmpz()
        if least is not None:
            return int(least) - 1
        # The loop ends: a tie would make q a root of a polynomial with rational coefficients, but e^{−1/t} is
        # transcendental for a rational t (Lindemann).
        bits *= 2
