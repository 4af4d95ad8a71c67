"""The Laplace mechanism on integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.flavors.pure import PureDP
from sitr.loss.bounds import Number, exact, upward
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import float_below, positive, whole_shift
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace, discrete_laplace_width


@dataclass(frozen=True, slots=True)
class Laplace:
    """Add an integer Y with P(Y = y) ∝ e^{−|y|/scale} to every number of a vector of integers.

    If one unit moves the vector by at most Δ in the sum of sizes (ℓ1), the loss is at most Δ/scale.
    [GRS12, Sec. 2; CKS20, Sec. 5]

    >>> Laplace(scale=20, sensitivity=6).promise()
    PureDP(epsilon=0.3)
    """

    scale: Number
    sensitivity: Number = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, name="scale", mechanism="Laplace"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, name="sensitivity", mechanism="Laplace"))

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: Number) -> Laplace:
        """The least noise that keeps this promise: scale = Δ/ε, an exact fraction.

        >>> Laplace.fitting(PureDP(0.3), sensitivity=6).scale
        Fraction(20, 1)
        """
        moved = positive(sensitivity, name="sensitivity", mechanism="Laplace")
        return cls(moved / positive(price.epsilon, name="epsilon", mechanism="Laplace"), moved)

    def promise(self) -> PureDP:
        """ε = Δ/scale."""
        return PureDP(upward(exact(self.sensitivity) / exact(self.scale)))

    def loss(self) -> Loss:
        """The loss of one number that moves by Δ, which must be whole; noise on a vector keeps `promise()`.

        Noise of a larger scale can be made from noise of a smaller one [GRS12, Sec. 4]: a scale that has no float of
        its own is rounded down.

        >>> Laplace(scale=10).loss().max() - 0.1 < 1e-12
        True
        """
        shift = whole_shift(self.sensitivity, mechanism="Laplace")
        return Loss.of(DiscreteLaplaceLaw(float_below(self.scale), shift))

    def error(self, *, confidence: Number = 0.95) -> int:
        """The least w with P(|Y| ≤ w) ≥ confidence, for each number by itself."""
        return discrete_laplace_width(scale=self.scale, confidence=confidence)

    def release(self, values: Sequence[int], *, coins: Coins | None = None) -> list[int]:
        """The values with fresh noise."""
        noise = discrete_laplace(scale=self.scale, size=len(values), coins=coins)
        return [value + int(y) for value, y in zip(values, noise, strict=True)]
