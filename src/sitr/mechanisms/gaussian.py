"""The Gaussian mechanism on integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import Number, exact, square_root_upward, upward
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import float_below, positive, whole_shift
from sitr.noise.coins import Coins
from sitr.noise.gaussian import discrete_gaussian, discrete_gaussian_width


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Add an integer Y with P(Y = y) ∝ e^{−y²/(2σ²)} to every number of a vector of integers.

    If one unit moves the vector by at most Δ in Euclidean length (ℓ2), D_α ≤ αΔ²/(2σ²) for all α > 1.
    [CKS20, Thm 4 and Cor. 15]

    >>> Gaussian(sigma=4, sensitivity=2).promise()
    ZeroConcentratedDP(rho=0.125)
    """

    sigma: Number
    sensitivity: Number = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, name="sigma", mechanism="Gaussian"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, name="sensitivity", mechanism="Gaussian"))

    @classmethod
    def fitting(cls, price: ZeroConcentratedDP, *, sensitivity: Number) -> Gaussian:
        """The least noise that keeps this promise: σ = Δ/√(2ρ), rounded up to a fraction.

        >>> Gaussian.fitting(ZeroConcentratedDP(0.125), sensitivity=2).sigma
        Fraction(4, 1)
        """
        rho = positive(price.rho, name="rho", mechanism="Gaussian")
        moved = positive(sensitivity, name="sensitivity", mechanism="Gaussian")
        return cls(moved * square_root_upward(1 / (2 * rho)), moved)

    def promise(self) -> ZeroConcentratedDP:
        """ρ = Δ²/(2σ²)."""
        return ZeroConcentratedDP(upward(exact(self.sensitivity) ** 2 / (2 * exact(self.sigma) ** 2)))

    def loss(self) -> Loss:
        """The loss of one number that moves by Δ, which must be whole; noise on a vector keeps `promise()`.

        σ is rounded down to a float, by less than the law's `blur` allows for.

        >>> Gaussian(sigma=4, sensitivity=2).loss().epsilon(delta=1e-6)
        Bounds(lower=2.2..., upper=2.2...)
        """
        shift = whole_shift(self.sensitivity, mechanism="Gaussian")
        return Loss.of(DiscreteGaussianLaw(float_below(self.sigma), shift))

    def error(self, *, confidence: Number = 0.95) -> int:
        """The least w with P(|Y| ≤ w) ≥ confidence, for each number by itself."""
        return discrete_gaussian_width(sigma=self.sigma, confidence=confidence)

    def release(self, values: Sequence[int], *, coins: Coins | None = None) -> list[int]:
        """The values with fresh noise."""
        noise = discrete_gaussian(sigma=self.sigma, size=len(values), coins=coins)
        return [value + int(y) for value, y in zip(values, noise, strict=True)]
