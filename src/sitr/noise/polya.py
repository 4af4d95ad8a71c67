"""The Pólya law: negative binomial noise of any shape, shares of which add up to Laplace noise.

With q = e^{−1/t}, NB(r, q) has P(n) = (1 − q)^r·q^n·(r)_n/n!. Shapes add: h independent shares of shape 1/h make one
geometric variable, and the difference of two of those is discrete Laplace noise of scale t.      [GX17]

It is the sum of N logarithmic variables, N ~ Poisson(−r·ln(1 − q)): E[z^n] is ((1 − q)/(1 − qz))^r, the exponential of
r·(ln(1 − q) − ln(1 − qz)).      [Que49] A logarithmic variable has P(n) ∝ q^n/n for n ≥ 1. It is drawn exactly, for
every scale: first b ≥ 0 with a probability ∝ q^{2^b}, then n from 2^b up to 2^{b+1}, uniformly. It is kept with
probability q^{n−2^b}·2^b/n, and otherwise both are drawn again: q^{2^b}·2^{−b} times that is q^n/n.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sitr.noise.coins import Coins, system_coins
from sitr.noise.geometric import TABLES, GeometricLaw, geometric_law
from sitr.noise.inversion import FULL, Bits, Inversion
from sitr.noise.poisson import poisson_survival
from sitr.numbers import Number, ball, positive


def negative_binomial(*, scale: Number, shape: Number, coins: Coins | None = None) -> int:
    """NB(r, e^{−1/t}), exactly, for any rational t > 0 and r > 0.

    >>> negative_binomial(scale=0.001, shape=0.5), negative_binomial(scale=2**60, shape=0.25) >= 0
    (0, True)
    """
    return polya_law(scale, shape).one(system_coins() if coins is None else coins)


def polya(*, scale: Number, shape: Number, coins: Coins | None = None) -> int:
    """A − B with independent A, B ~ NB(r, e^{−1/t}), exactly: a share r of discrete Laplace noise of scale t.

    >>> isinstance(polya(scale=10, shape=0.2), int)
    True
    """
    tossed = system_coins() if coins is None else coins
    law = polya_law(scale, shape)
    return law.one(tossed) - law.one(tossed)


@dataclass(frozen=True, slots=True)
class PolyaLaw:
    """How many logarithmic variables, and the size of each."""

    number: Inversion
    block: Inversion
    falling: GeometricLaw

    def one(self, coins: Coins) -> int:
        return sum(self._logarithmic(coins) for _ in range(self.number.one(coins)))

    def _logarithmic(self, coins: Coins) -> int:
        while True:
            b = self.block.one(coins)
            more, least = coins.bits(b), 1 << b
            # A geometric variable is at least `more` with probability q^more.
            if coins.below(least + more) < least and self.falling.one(coins) >= more:
                return least + more


@lru_cache(TABLES, typed=True)
def polya_law(scale: Number, shape: Number, digits: Bits = FULL) -> PolyaLaw:
    """The sampler, built once for each scale and shape."""
    t, r = positive(scale, name="scale", of="noise"), positive(shape, name="shape", of="noise")

    def log_rest() -> arb:
        """−ln(1 − q)."""
        return -(-(-ball(1 / t)).expm1()).log()

    def later(b: int) -> arb:
        """The probability of a block from b on."""
        return sum(_powers(t, b), arb(0)) / sum(_powers(t, 0), arb(0))

    number = Inversion(poisson_survival(lambda: ball(r) * log_rest()), digits)
    return PolyaLaw(number, Inversion(later, digits), geometric_law(t, digits))


def _powers(scale: Fraction, first: int) -> list[arb]:
    """q^{2^b} for b ≥ `first`, and a ball for all that are too small to matter at the working precision."""
    found, b = [], first
    while True:
        power = (-ball((1 << b) / scale)).exp()
        found.append(power)
        if power < arb(2) ** -4096:
            # The next is the square, and so on: all of them together are less than this one.
            return [*found, arb(0, power.upper())]
        b += 1
