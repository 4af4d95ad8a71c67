"""Noise on a vector that is the same in all directions: pure privacy for sensitivities in Euclidean length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.granularity import add_noise, checked_fields
from sitr.mechanisms.mechanism import bounding
from sitr.noise.coins import Coins
from sitr.noise.rounded import rounded_spherical
from sitr.numbers import Number, ball, exact, inside, positive, square_root_upward, upward
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Spherical:
    """Add a vector of density ∝ e^{−‖z‖/scale}, rounded to multiples of the granularity, to a vector of such multiples.

    If one unit moves the vector by at most Δ in Euclidean length, the loss is at most Δ/scale (triangle inequality).
    The length of the noise has the Gamma law of d, its direction is uniform.      [CMS11, Alg. 1]

    >>> Spherical(scale=4, sensitivity=2).promise()
    PureDP(epsilon=0.5)
    >>> Spherical(scale=0.001).release([Fraction(3), Fraction(-4)])
    [Fraction(3, 1), Fraction(-4, 1)]
    """

    scale: Number
    sensitivity: Number = 1
    granularity: Number = 1

    def __post_init__(self) -> None:
        checked_fields(self, "scale", euclidean=True)

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: Number, granularity: Number = 1) -> Spherical:
        """The least noise that keeps this promise: scale = Δ/ε.

        >>> Spherical.fitting(PureDP(0.5), sensitivity=2).scale
        Fraction(4, 1)
        """
        one = cls(1, sensitivity, granularity)
        return replace(one, scale=exact(one.sensitivity) / positive(price.epsilon, name="epsilon", of="Spherical"))

    def promise(self) -> PureDP:
        """ε = Δ/scale."""
        return PureDP(upward(exact(self.sensitivity) / exact(self.scale)))

    def loss(self) -> Loss:
        """A bound: the response that every PureDP(ε) allows.      [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    @precision()
    def error(self, *, size: int, confidence: Number = 0.95) -> Fraction:
        """A length that noise on `size` numbers stays within, with this confidence: P(‖z‖ > t) = Q(d, t/scale).

        >>> float(Spherical(scale=1, granularity=2.0**-20).error(size=1)), float(Spherical(scale=1).error(size=20))
        (2.99..., 30.1...)
        """
        rest, low, high = ball(1 - inside(confidence)), Fraction(0), Fraction(size)

        def keeps(length: Fraction) -> bool:
            return bool(ball(length).gamma_upper(arb(size), regularized=True) <= rest)

        while not keeps(high):
            low, high = high, 2 * high
        while high - low > Fraction(1, 1024):
            middle = (low + high) / 2
            low, high = (low, middle) if keeps(middle) else (middle, high)
        return exact(self.scale) * high + exact(self.granularity) * square_root_upward(Fraction(size)) / 2

    def release(self, values: Sequence[Fraction], *, coins: Coins | None = None) -> list[Fraction]:
        """All of them with fresh noise."""
        scale = exact(self.scale) / exact(self.granularity)
        noisy: list[Fraction] = add_noise(
            values,
            lambda size: rounded_spherical(scale=scale, size=size, coins=coins),
            granularity=exact(self.granularity),
            mechanism="Spherical",
        )
        return noisy
