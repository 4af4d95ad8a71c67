"""Real Gaussian noise, rounded to a public grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.granularity import Exact, add_noise, movement
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Draws, Size
from sitr.noise.rounded import rounded_gaussian, rounded_gaussian_width, rounded_law
from sitr.numbers import Number, exact, granule, positive, upward

_NAME = "RoundedGaussian"


@dataclass(frozen=True, slots=True)
class RoundedGaussian:
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

    def __post_init__(self) -> None:
        grain = granule(self.granularity, of=_NAME)
        object.__setattr__(self, "sigma", positive(self.sigma, name="sigma", of=_NAME))
        object.__setattr__(self, "sensitivity", movement(self.sensitivity, grain, mechanism=_NAME, euclidean=True))
        object.__setattr__(self, "granularity", grain)

    @classmethod
    def fitting(
        cls, price: ApproximateDP | GaussianDP, *, sensitivity: Number, granularity: Number = 1
    ) -> RoundedGaussian:
        """The least noise that keeps this promise: σ = Δ/μ.

        For an approximate price μ is the largest float with δ_μ(ε) ≤ δ, which Arb proves: the analytic calibration.
        [BW18, Thm 8 and Alg. 1]

        >>> RoundedGaussian.fitting(GaussianDP(0.5), sensitivity=2).sigma
        Fraction(4, 1)
        >>> float(RoundedGaussian.fitting(ApproximateDP(1.0, 1e-6), sensitivity=10).sigma)
        42.24...
        """
        moved = movement(sensitivity, granule(granularity, of=_NAME), mechanism=_NAME, euclidean=True)
        promise = GaussianDP.fitting(price) if isinstance(price, ApproximateDP) else price
        return cls(moved / positive(promise.mu, name="mu", of=_NAME), moved, granularity)

    def in_granules(self) -> RoundedGaussian:
        """The same noise on numbers of granules: for large arrays, which hold integers.

        >>> RoundedGaussian(sigma=3, granularity=Fraction(1, 4)).in_granules()
        RoundedGaussian(sigma=Fraction(12, 1), sensitivity=Fraction(4, 1), granularity=Fraction(1, 1))
        """
        grain = exact(self.granularity)
        return RoundedGaussian(exact(self.sigma) / grain, exact(self.sensitivity) / grain)

    def promise(self) -> GaussianDP:
        """μ = Δ/σ."""
        return GaussianDP(upward(exact(self.sensitivity) / exact(self.sigma)))

    def loss(self) -> Loss:
        """A bound: the loss of the real Gaussian mechanism, which rounding can only lower, and hardly does.

        >>> RoundedGaussian(sigma=4, sensitivity=2).loss().epsilon(delta=1e-6)
        Interval(lower=2.2..., upper=2.2...)
        """
        return replace(gaussian(sigma=self.sigma, sensitivity=self.sensitivity), bound=True)

    def error(self, *, confidence: Number = 0.95) -> int | Fraction:
        """The least multiple w of the granularity with P(|y| ≤ w) ≥ confidence, for each number by itself.

        >>> RoundedGaussian(sigma=10).error(), RoundedGaussian(sigma=10, granularity=0.5).error()
        (20, Fraction(39, 2))
        """
        wide = rounded_gaussian_width(sigma=self.in_granules().sigma, confidence=confidence) * exact(self.granularity)
        return wide.numerator if exact(self.granularity).denominator == 1 else wide

    @overload
    def release(self, values: Exact, *, coins: Coins | None = None) -> Exact: ...
    @overload
    def release(self, values: Sequence[Exact], *, coins: Coins | None = None) -> list[Exact]: ...
    @overload
    def release(self, values: NDArray[np.integer[Any]], *, coins: Coins | None = None) -> Draws: ...
    def release(self, values: Any, *, coins: Coins | None = None) -> Any:
        """The value, or all of them, with fresh noise: integers, fractions or an array, as for `Laplace.release`.

        >>> RoundedGaussian(sigma=0.01).release([5, -7, 10**30])
        [5, -7, 1000000000000000000000000000000]
        """
        sigma = self.in_granules().sigma

        def draw(size: Size | None) -> int | Draws:
            if size is None:
                return rounded_law(sigma).one(system_coins() if coins is None else coins)
            return rounded_gaussian(sigma=sigma, size=size, coins=coins)

        return add_noise(values, draw, granularity=exact(self.granularity), mechanism=_NAME)
