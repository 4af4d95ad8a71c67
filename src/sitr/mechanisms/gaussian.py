"""The Gaussian mechanism on integers, and on any public grid."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.discrete_mu import discrete_mu
from sitr.loss.forms.discrete_gaussian import LARGEST_SIGMA, DiscreteGaussianLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.granularity import movement
from sitr.mechanisms.mechanism import whole_shift
from sitr.mechanisms.transform import GaussianTransform
from sitr.noise.bell import bell_sums
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws, Size
from sitr.noise.gaussian import discrete_gaussian, discrete_gaussian_width
from sitr.numbers import (
    Number,
    ball,
    exact,
    flag,
    float_above,
    float_below,
    inside,
    positive,
    square_root_upward,
    upper,
    upward,
)
from sitr.precision import precision

_CLOSE = Fraction(1, 2**40)
"""The relative precision of the search for σ."""

_LONG = 1000
"""Beyond this ε only P(L > ε) is computed: e^ε times the other part of δ would need as many digits."""


@dataclass(frozen=True, slots=True)
class Gaussian(Noise):
    """Add a multiple y of the granularity with P(y) ∝ e^{−y²/(2σ²)} to every number of a vector of such multiples.

    If one unit moves the vector by at most Δ in Euclidean length (ℓ2), D_α ≤ αΔ²/(2σ²) for all α > 1. The granularity
    is public, and 1 unless another is chosen: integers.      [CKS20, Thm 4 and Cor. 15]

    Numbers may be floats, which stand for the decimal they print as: 0.1 for one tenth. (A granularity that is a power
    of two stands for itself. A sensitivity is rounded up, unless it surely is a whole number of granules.) Values may
    not be floats.

    With `single` only one number may be released at a time: its loss is known better than a vector's, see `loss`.

    This is not the real Gaussian noise that training code draws, and its loss differs: use `sitr.Training`, or
    `sitr.loss.gaussian(sigma=…)`, for that.

    >>> Gaussian(sigma=4, sensitivity=2).promise()
    ZeroConcentratedDP(rho=0.125)
    >>> noisy = Gaussian(sigma=4, granularity=Fraction(1, 1024)).release([Fraction(27, 4), Fraction(0)])
    >>> [(number * 1024).denominator for number in noisy]
    [1, 1]
    """

    sigma: Number
    sensitivity: Number = 1
    granularity: Number = 1
    single: bool = False

    law: ClassVar = "discrete Gaussian"
    parameter: ClassVar = "sigma"
    symbol: ClassVar = "σ"
    euclidean: ClassVar = True
    flavor: ClassVar = ZeroConcentratedDP
    arithmetic: ClassVar = ("Δ² / (2σ²) = {moved} / (2 × {size}²)", "ρ")

    def __post_init__(self) -> None:
        Noise.__post_init__(self)
        flag(self.single, name="single", of="Gaussian")

    @classmethod
    def fitting(
        cls,
        price: ZeroConcentratedDP | ApproximateDP,
        *,
        sensitivity: Number,
        granularity: Number = 1,
        single: bool = False,
    ) -> Self:
        """The least noise that keeps this promise: σ = Δ/√(2ρ), rounded up to a fraction.

        An approximate promise is kept by the ρ that implies it. For a `single` number less noise is enough: the σ with
        δ(ε) = P(Y > t − Δ) − e^ε·P(Y > t) ≤ δ, t = εσ²/Δ + Δ/2, of which both parts are summed with proved errors.
        (On the reals Y is normal, and this is the analytic calibration [BW18, Thm 8 and Alg. 1].) A vector of
        integers cannot be rotated so that only one of them moves: there the shortcut is not known to hold.

        >>> Gaussian.fitting(ZeroConcentratedDP(0.125), sensitivity=2).sigma
        Fraction(4, 1)
        >>> price = ApproximateDP(0.5, 1e-6)
        >>> float(Gaussian.fitting(price, sensitivity=1).sigma)
        8.67...
        >>> float(Gaussian.fitting(price, sensitivity=1, single=True).sigma), classical_sigma(0.5, delta=1e-6)
        (8.05..., 10.59...)
        """
        one = cls(1, sensitivity, granularity, single)
        moved, grain = exact(one.sensitivity), exact(one.granularity)
        if isinstance(price, ApproximateDP):
            inside(price.delta, name="delta", of="Gaussian", example=1e-6)
            if single:
                shift = whole_shift(moved / grain, mechanism="Gaussian")
                return replace(one, sigma=_analytic(exact(price.epsilon), exact(price.delta), shift) * grain)
            price = ZeroConcentratedDP.fitting(price)
        rho = positive(price.rho, name="rho", of="Gaussian")
        return replace(one, sigma=moved * square_root_upward(1 / (2 * rho)))

    def alone(self) -> Self:
        return replace(self, single=True)

    def cost(self) -> Fraction:
        """ρ = Δ²/(2σ²)."""
        return exact(self.sensitivity) ** 2 / (2 * self.size**2)

    def promise(self) -> ZeroConcentratedDP:
        """ρ = Δ²/(2σ²), rounded up."""
        return ZeroConcentratedDP(upward(self.cost()))

    def loss(self) -> Loss:
        """The loss of one number that moves by Δ, in whole granules, if it is `single` or Δ < √2 granules.

        A grid cannot be rotated so that only one number moves, and four numbers that move by one granule may lose more
        than one that moves by two. But a vector that moves by less than √2 granules moves one number, by one. σ is
        rounded down to a float, by less than the law's `blur` allows for. For other vectors see `vector_loss`.

        >>> Gaussian(sigma=4, sensitivity=2, single=True).loss().epsilon(delta=1e-6)
        Interval(lower=2.2..., upper=2.2...)
        >>> vector = Gaussian(sigma=40, sensitivity=20)
        >>> vector.loss().epsilon(delta=1e-6).upper, vector.promise().to_approximate(delta=1e-6).epsilon
        (2.2..., 2.4...)
        """
        moved = exact(self.sensitivity) / exact(self.granularity)
        if moved >= 1 and (self.single or moved**2 < 2) and self.granules < LARGEST_SIGMA:
            return Loss.of(DiscreteGaussianLaw(float_below(self.granules), math.floor(moved)))
        return vector_loss(self.granules, moved**2)

    def width(self, *, confidence: Number) -> int:
        return discrete_gaussian_width(sigma=self.granules, confidence=confidence)

    def draw(self, size: Size | None, *, coins: Coins | None) -> int | Draws:
        return discrete_gaussian(sigma=self.granules, size=size, coins=coins)

    def transform(self) -> GaussianTransform:
        return GaussianTransform.of(self.granules)


def vector_loss(sigma: Fraction, square: Fraction) -> Loss:
    """A bound for every vector of integers that moves by Δ in ℓ2, Δ² = `square`, with noise of this σ.

    It is the loss of real Gaussian noise with Δ times the μ of one number that moves by one: see
    `sitr.loss.discrete_mu`. Real noise of the same σ would have Δ/σ, which is a little too small.

    >>> vector_loss(Fraction(40), Fraction(400))
    Loss(laws=((GaussianLaw(mu=0.5001...), 1),), bound=True)
    """
    one = exact(discrete_mu(float_below(sigma)).upper)
    return Loss.of(GaussianLaw(float_above(square_root_upward(square) * one)), bound=True)


@precision()
def classical_sigma(epsilon: Number, *, delta: Number, sensitivity: Number = 1) -> float:
    """√(2 ln(1.25/δ))·Δ/ε, rounded up: the calibration of the textbooks, for ε < 1 only and for noise on the reals.

    It is shown for comparison; `Gaussian.fitting` needs less.      [DR14, Thm A.1]

    >>> classical_sigma(0.9, delta=1e-5)
    5.38...
    >>> classical_sigma(2, delta=1e-5)
    Traceback (most recent call last):
    sitr.errors.InvalidPromise: Expected 0 < ε < 1 for the classical calibration, got epsilon=2. ...
    """
    size = positive(epsilon, name="epsilon", of="The classical calibration")
    moved = movement(sensitivity, None, mechanism="The classical calibration")
    if size >= 1:
        raise InvalidPromise(
            wanted="0 < ε < 1 for the classical calibration",
            given=f"epsilon={epsilon!r}",
            do="Use Gaussian.fitting: beyond 1 the classical noise is too little to keep the promise.",
        )
    inside(delta, name="delta", of="Gaussian", example=1e-6)
    return upper((2 * (ball(Fraction(5, 4)) / ball(delta)).log()).sqrt() * ball(moved / size))


def _analytic(epsilon: Fraction, delta: Fraction, shift: int) -> Fraction:
    """A float σ that keeps (ε, δ), only a little larger than one that does not."""

    def keeps(sigma: Fraction) -> bool:
        return bool(_excess(sigma, shift, epsilon, delta) <= 0)

    high = Fraction(shift)
    while not keeps(high):
        high *= 2
    low = high / 2
    while keeps(low):
        low, high = low / 2, low
    while high - low > _CLOSE * high:
        middle = Fraction(float((low + high) / 2))  # a float, which laws do not round
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _excess(sigma: Fraction, shift: int, epsilon: Fraction, delta: Fraction) -> arb:
    """θ·(δ(ε) − δ) for Y + Δ against Y. The losses (2yΔ − Δ²)/(2σ²) that are larger than ε are those of y > t.

    A shorter move never increases it, and the other direction is the mirror image.
    """
    bits = 128 + 2 * math.ceil(min(epsilon, Fraction(_LONG))) + delta.denominator.bit_length()
    border = epsilon * sigma**2 / shift + Fraction(shift, 2)
    with precision(bits + 64):
        whole, tail = bell_sums(sigma, bits=bits)
        near, far = math.floor(border - shift), math.floor(border)
        excess = tail(near) if near >= 0 else whole - tail(-near - 1)
        if epsilon <= _LONG:
            excess -= ball(epsilon).exp() * tail(far)
        return excess - ball(delta) * whole
