"""Real Gaussian noise, rounded to a public grid."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.transform import RoundedTransform
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Draws, Size
from sitr.noise.rounded import rounded_gaussian, rounded_gaussian_width, rounded_law
from sitr.numbers import Number, exact, positive, upward


@dataclass(frozen=True, slots=True)
class RoundedGaussian(Noise):
    """Add ⌊σZ + ½⌋ granules to every number of a vector of multiples of a granule, Z standard normal, σ in granules.

    For whole k, k + ⌊σZ + ½⌋ = ⌊k + σZ + ½⌋: the answer is the answer of the real Gaussian mechanism, rounded. A
    function of a private answer is as private, so the answer keeps μ-Gaussian privacy with μ = Δ/σ, for vectors in
    every direction; Δ is the Euclidean length (ℓ2) by which one unit moves the vector.      [DRS22, Thm 2.7]

    For an approximate price this takes less noise than `Gaussian`, whose vectors are accounted by moments. For a
    zero-concentrated price the two take the same σ, and the variance of the discrete law is no larger than σ², while
    rounding adds about 1/12 of a squared granule: use `Gaussian` there. Floats are read as by `Gaussian`.

    >>> RoundedGaussian(sigma=4, sensitivity=2).promise()
    GaussianDP(mu=0.5)
    >>> noisy = RoundedGaussian(sigma=4, granularity=Fraction(1, 1024)).release([Fraction(27, 4), Fraction(0)])
    >>> [(number * 1024).denominator for number in noisy]
    [1, 1]
    """

    sigma: Number
    sensitivity: Number = 1
    granularity: Number = 1

    law: ClassVar = "rounded Gaussian"
    parameter: ClassVar = "sigma"
    symbol: ClassVar = "σ"
    euclidean: ClassVar = True
    flavor: ClassVar = GaussianDP
    arithmetic: ClassVar = ("Δ / σ = √{moved} / {size}", "μ")

    @classmethod
    def fitting(cls, price: ApproximateDP | GaussianDP, *, sensitivity: Number, granularity: Number = 1) -> Self:
        """The least noise that keeps this promise: σ = Δ/μ.

        For an approximate price μ is the largest float with δ_μ(ε) ≤ δ, which Arb proves: the analytic calibration.
        [BW18, Thm 8 and Alg. 1]

        >>> RoundedGaussian.fitting(GaussianDP(0.5), sensitivity=2).sigma
        Fraction(4, 1)
        >>> float(RoundedGaussian.fitting(ApproximateDP(1.0, 1e-6), sensitivity=10).sigma)
        42.24...
        """
        one = cls(1, sensitivity, granularity)
        promise = GaussianDP.fitting(price) if isinstance(price, ApproximateDP) else price
        return replace(one, sigma=exact(one.sensitivity) / positive(promise.mu, name="mu", of="RoundedGaussian"))

    def cost(self) -> Fraction:
        """μ = Δ/σ."""
        return exact(self.sensitivity) / self.size

    def promise(self) -> GaussianDP:
        """μ = Δ/σ, rounded up."""
        return GaussianDP(upward(self.cost()))

    def loss(self) -> Loss:
        """A bound: the loss of the real Gaussian mechanism, which rounding can only lower, and hardly does.

        >>> RoundedGaussian(sigma=4, sensitivity=2).loss().epsilon(delta=1e-6)
        Interval(lower=2.2..., upper=2.2...)
        """
        return replace(gaussian(sigma=self.sigma, sensitivity=self.sensitivity), bound=True)

    def width(self, *, confidence: Number) -> int:
        return rounded_gaussian_width(sigma=self.granules, confidence=confidence)

    def draw(self, size: Size | None, *, coins: Coins | None) -> int | Draws:
        if size is None:
            return rounded_law(self.granules).one(system_coins() if coins is None else coins)
        return rounded_gaussian(sigma=self.granules, size=size, coins=coins)

    def transform(self) -> RoundedTransform:
        return RoundedTransform.of(self.granules)
