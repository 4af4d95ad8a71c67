"""The Laplace mechanism on integers, and on any public grid."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from sitr.dataclass import dataclass
from sitr.flavors.pure import PureDP
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.additive import Noise, Reals
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.transform import LaplaceTransform
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws, Size
from sitr.noise.laplace import discrete_laplace, discrete_laplace_width
from sitr.numbers import Number, exact, float_below, positive, upward

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(frozen=True, slots=True)
class Laplace(Noise):
    """Add a multiple y of the granularity with P(y) ∝ e^{−|y|/scale} to every number of a vector of such multiples.

    If one unit moves the vector by at most Δ in the sum of sizes (ℓ1), the loss is at most Δ/scale. The granularity is
    public, and 1 unless another is chosen: integers.      [GRS12, Sec. 2; CKS20, Sec. 5]

    Numbers may be floats, which stand for the decimal they print as: 0.1 for one tenth. (A granularity that is a power
    of two stands for itself. A sensitivity that is no whole number of granules is rounded up.) Values may not be
    floats.

    This is not real Laplace noise, and its loss differs: for the loss of noise that another program draws, use
    `sitr.loss.laplace(scale=…)`.

    >>> Laplace(scale=20, sensitivity=6).promise()
    PureDP(epsilon=0.3)
    >>> noisy = Laplace(scale=3, sensitivity=1, granularity=Fraction(1, 1024)).release(Fraction(27, 4))
    >>> (noisy * 1024).denominator
    1
    """

    scale: Number
    sensitivity: Number = 1
    granularity: Number = 1

    law: ClassVar = "discrete Laplace"
    parameter: ClassVar = "scale"
    symbol: ClassVar = "scale"
    euclidean: ClassVar = False
    flavor: ClassVar = PureDP
    arithmetic: ClassVar = ("Δ / scale = {moved} / {size}", "ε")
    kurtosis: ClassVar = 6.0

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: Number, granularity: Number = 1) -> Self:
        """The least noise that keeps this promise: scale = Δ/ε, an exact fraction.

        >>> Laplace.fitting(PureDP(0.3), sensitivity=6).scale
        Fraction(20, 1)
        """
        one = cls(1, sensitivity, granularity)
        return replace(one, scale=exact(one.sensitivity) / positive(price.epsilon, name="epsilon", of="Laplace"))

    def cost(self) -> Fraction:
        """ε = Δ/scale."""
        return exact(self.sensitivity) / self.size

    def promise(self) -> PureDP:
        """ε = Δ/scale, rounded up."""
        return PureDP(upward(self.cost()))

    def loss(self) -> Loss:
        """The loss of one number that moves by Δ, in whole granules. No vector that moves by Δ in ℓ1 loses more.

        Let f(α) bound from below the errors of all tests of P against Q at level α, and g those of Q against R. A test
        of level α is one of level 1 − f(α) or less for Q, and errs at R with g(1 − f(α)) or more: g∘(1 − f) is a bound
        for P against R [DRS22, Thm 2.14]. The best test between log-concave noise and the same noise, moved by any
        distance, compares it with a threshold: one test for all distances. So if P is one number that moves by a to Q,
        and on by b to R, the bound is attained. The path (0, 0), (a, 0), (a, b) has the same f and g, and so the same
        bound; signs do not matter, and more numbers are more steps.

        Noise of a larger scale can be made from noise of a smaller one [GRS12, Sec. 4]: a scale that has no float of
        its own is rounded down.

        >>> Laplace(scale=10).loss().max() - 0.1 < 1e-12
        True
        """
        moved = math.floor(exact(self.sensitivity) / exact(self.granularity))
        if moved == 0:  # whole granules do not move at all; numbers that are yet to be rounded might
            return bounding(self.promise())
        return Loss.of(DiscreteLaplaceLaw(float_below(self.granules), moved))

    def width(self, *, confidence: Number) -> int:
        return discrete_laplace_width(scale=self.granules, confidence=confidence)

    def draw(self, size: Size | None, *, coins: Coins | None) -> int | Draws:
        return discrete_laplace(scale=self.granules, size=size, coins=coins)

    def transform(self) -> LaplaceTransform:
        return LaplaceTransform.of(self.granules)

    @property
    def deviation(self) -> float:
        """√2 times the scale.

        >>> Laplace(scale=1).deviation
        1.414...
        """
        return float(self.size) * math.sqrt(2)

    @property
    def mean_size(self) -> float:
        """E|Y| = 1/sinh(1/scale) on integers.

        >>> round(Laplace(scale=10).mean_size, 3)
        9.983
        """
        return 1 / math.sinh(min(700.0, float(1 / self.size)))

    def log_density(self, away: Reals) -> Reals:
        return -np.abs(away) / float(self.size)

    def mean_distance(self, moved: Reals) -> Reals:
        """E|d + Y| = |d| + s·e^{−|d|/s} for continuous noise of scale s."""
        scale, far = float(self.size), np.abs(moved)
        return np.asarray(far + scale * np.exp(-far / scale))
