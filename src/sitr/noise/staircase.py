"""The discrete staircase law: as private as the Laplace law, with smaller noise for a large sensitivity."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, overload

from flint import arb

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, Size, collect_integers, random_bits
from sitr.noise.geometric import TABLES, GeometricLaw, geometric_law
from sitr.noise.inversion import FULL, Bits, Inversion
from sitr.noise.uniform import uniform_block
from sitr.numbers import Number, ball, natural, positive
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")


@overload
def staircase(
    *, epsilon: Number, sensitivity: int, width: int | None = None, size: None = None, coins: Coins | None = None
) -> int: ...
@overload
def staircase(
    *, epsilon: Number, sensitivity: int, width: int | None = None, size: Size, coins: Coins | None = None
) -> Draws: ...
def staircase(
    *,
    epsilon: Number,
    sensitivity: int,
    width: int | None = None,
    size: Size | None = None,
    coins: Coins | None = None,
) -> int | Draws:
    """P(y) ∝ b^k for |y| = kΔ + j, j < r, and b^{k+1} for r ≤ j < Δ, with b = e^{−ε} and 1 ≤ r ≤ Δ, exactly.

    A shift by Δ changes no probability by more than a factor e^ε [GV16]. The width r of the highest step is the one
    with the least E|Y|, unless given. For Δ = 1 this is the discrete Laplace law of scale 1/ε. Many draws are 64-bit
    integers if P(|Y| > 2^62) < 2^{−1000}, otherwise Python integers.

    >>> staircase(epsilon=1, sensitivity=10, size=(2, 3)).shape
    (2, 3)
    """
    law, tossed = staircase_law(epsilon, sensitivity, width), system_coins() if coins is None else coins
    if size is None:
        return law.one(tossed)
    return collect_integers(lambda count: law.many(count, tossed), size=size, fits=law.fits)


@dataclass(frozen=True, slots=True)
class StaircaseLaw:
    """N = KΔ + J and a fair sign, drawn again for −0. K is geometric of scale 1/ε.

    J is below r with probability r/(r + b(Δ − r)), and uniform there; otherwise it is uniform from r on.
    """

    steps: GeometricLaw
    inner: Inversion
    sensitivity: int
    width: int
    fits: bool

    def one(self, coins: Coins) -> int:
        while True:
            j = coins.below(self.width) if self.inner.one(coins) else self.width + coins.below(self._rest)
            drawn, sign = self.steps.one(coins) * self.sensitivity + j, coins.bits(1)
            if drawn or not sign:
                return -drawn if sign else drawn

    def many(self, size: int, coins: Coins) -> Draws:
        drawn, refused = self._propose(size, coins)
        while refused.any():
            again = np.flatnonzero(refused)
            drawn[again], refused[again] = self._propose(again.size, coins)
        return drawn

    def _propose(self, size: int, coins: Coins) -> tuple[Draws, NDArray[np.bool_]]:
        inner = self.inner.many(size, coins) == 1
        low, high = uniform_block(self.width, size, coins), uniform_block(self._rest, size, coins)
        steps = self.steps.many(size, coins)
        sign = random_bits(1, size=size, coins=coins)
        if not self.fits:
            steps, low, high = (part.astype(np.object_) for part in (steps, low, high))
        drawn = steps * self.sensitivity + np.where(inner, low, high + self.width)
        return drawn * (1 - 2 * sign), (drawn == 0) & (sign == 1)

    @property
    def _rest(self) -> int:
        """The number of J at or above r, or 1 if there are none, which is then unused."""
        return max(1, self.sensitivity - self.width)


@lru_cache(TABLES, typed=True)
def staircase_law(epsilon: Number, sensitivity: int, width: int | None, digits: Bits = FULL) -> StaircaseLaw:
    """The sampler, built once for each ε, Δ and r."""
    rate = positive(epsilon, name="epsilon", of="noise")
    delta = natural(sensitivity, name="sensitivity", of="noise")
    r = _best_width(rate, delta) if width is None else natural(width, name="width", of="a stair", most=delta)

    def survival(i: int) -> arb:
        return r / (r + (-ball(rate)).exp() * (delta - r)) if i == 1 else arb(0)

    fits = NEVER * delta / rate + delta <= 2**62
    return StaircaseLaw(geometric_law(1 / rate, digits), Inversion(survival, digits), delta, r, fits)


def _best_width(rate: Fraction, delta: int) -> int:
    """The r with the least E|Y|. With g = r + b(Δ − r) and h = r(r − 1) + b(Δ(Δ − 1) − r(r − 1)),

        E|Y| = (2bΔg/(1 − b) + h)/(2g − (1 − b)).

    It first falls and then rises: E|Y| ≤ x is h + 2bΔg/(1 − b) − x(2g − (1 − b)) ≤ 0, strictly convex in r, so between
    two places it is below the larger. If Arb cannot separate two widths, the first is used.
    """
    with precision(128 + 4 * delta.bit_length()):
        b, rest = (-ball(rate)).exp(), -(-ball(rate)).expm1()

        def mean(r: int) -> arb:
            g, h = r + b * (delta - r), r * (r - 1) + b * (delta * (delta - 1) - r * (r - 1))
            return (2 * b * delta * g / rest + h) / (2 * g - rest)

        low, high = 1, delta
        while low < high:
            middle = (low + high) // 2
            if mean(middle + 1) < mean(middle):
                low = middle + 1
            else:
                high = middle
    return low
