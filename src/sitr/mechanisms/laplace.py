"""The Laplace mechanism on integers, and on any public grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sitr.flavors.pure import PureDP
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.granularity import Exact, add_noise, movement
from sitr.mechanisms.mechanism import bounding
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws
from sitr.noise.laplace import discrete_laplace, discrete_laplace_width
from sitr.numbers import Number, exact, float_below, granule, positive, upward


@dataclass(frozen=True, slots=True)
class Laplace:
    """Add a multiple y of the granularity with P(y) ∝ e^{−|y|/scale} to every number of a vector of such multiples.

    If one unit moves the vector by at most Δ in the sum of sizes (ℓ1), the loss is at most Δ/scale. The granularity is
    public, and 1 unless another is chosen: integers.      [GRS12, Sec. 2; CKS20, Sec. 5]

    Numbers may be floats, which stand for the decimal they print as: 0.1 for one tenth. (A granularity that is a power
    of two stands for itself. A sensitivity that is no whole number of granules is rounded up.) Values may not.

    This is not real Laplace noise, and its loss differs: that of noise which another program draws is
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

    def __post_init__(self) -> None:
        grain = granule(self.granularity, of="Laplace")
        object.__setattr__(self, "scale", positive(self.scale, name="scale", of="Laplace"))
        object.__setattr__(self, "sensitivity", movement(self.sensitivity, grain, mechanism="Laplace"))
        object.__setattr__(self, "granularity", grain)

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: Number, granularity: Number = 1) -> Laplace:
        """The least noise that keeps this promise: scale = Δ/ε, an exact fraction.

        >>> Laplace.fitting(PureDP(0.3), sensitivity=6).scale
        Fraction(20, 1)
        """
        grain = granule(granularity, of="Laplace")
        moved = movement(sensitivity, grain, mechanism="Laplace")
        return cls(moved / positive(price.epsilon, name="epsilon", of="Laplace"), moved, grain)

    def in_granules(self) -> Laplace:
        """The same noise on numbers of granules: for large arrays, which hold integers.

        >>> Laplace(scale=3, granularity=Fraction(1, 4)).in_granules()
        Laplace(scale=Fraction(12, 1), sensitivity=Fraction(4, 1), granularity=Fraction(1, 1))
        """
        grain = exact(self.granularity)
        return Laplace(exact(self.scale) / grain, exact(self.sensitivity) / grain)

    def promise(self) -> PureDP:
        """ε = Δ/scale."""
        return PureDP(upward(exact(self.sensitivity) / exact(self.scale)))

    def loss(self) -> Loss:
        """The loss of one number that moves by Δ, in whole granules. No vector that moves by Δ in ℓ1 loses more.

        Let f(α) bound from below the errors of all tests of P against Q at level α, and g those of Q against R. A test
        of level α is one of level 1 − f(α) or less for Q, and errs at R with g(1 − f(α)) or more: g∘(1 − f) is a bound
        for P against R [DRS22, Thm 2.14]. Noise that is log-concave is told from the same, moved by any way, best by
        asking if it lies beyond a border: one test for all ways. So if P is one number that moves by a to Q, and on by
        b to R, the bound is attained. The path (0, 0), (a, 0), (a, b) has the same f and g, and so the same bound;
        signs do not matter, and more numbers are more steps.

        Noise of a larger scale can be made from noise of a smaller one [GRS12, Sec. 4]: a scale that has no float of
        its own is rounded down.

        >>> Laplace(scale=10).loss().max() - 0.1 < 1e-12
        True
        """
        counted = self.in_granules()
        moved = math.floor(exact(counted.sensitivity))
        if moved == 0:  # whole granules do not move at all; numbers that are yet to be rounded might
            return bounding(self.promise())
        return Loss.of(DiscreteLaplaceLaw(float_below(counted.scale), moved))

    def error(self, *, confidence: Number = 0.95) -> int | Fraction:
        """The least multiple w of the granularity with P(|y| ≤ w) ≥ confidence, for each number by itself.

        >>> Laplace(scale=10).error(), Laplace(scale=10, granularity=0.5).error()
        (30, Fraction(30, 1))
        """
        width = discrete_laplace_width(scale=self.in_granules().scale, confidence=confidence)
        wide = width * exact(self.granularity)
        return wide.numerator if exact(self.granularity).denominator == 1 else wide

    @overload
    def release(self, values: Exact, *, coins: Coins | None = None) -> Exact: ...
    @overload
    def release(self, values: Sequence[Exact], *, coins: Coins | None = None) -> list[Exact]: ...
    @overload
    def release(self, values: NDArray[np.integer[Any]], *, coins: Coins | None = None) -> Draws: ...
    def release(self, values: Any, *, coins: Coins | None = None) -> Any:
        """The value, or all of them, with fresh noise.

        Integers, of any size, where the granularity is whole, otherwise fractions. An array of integers is answered by
        one: of 64-bit integers if they are wide enough for all answers, otherwise of Python's. Floats are refused,
        and so are numbers between two multiples: see `sitr.mechanisms.granularity` for a way to round.

        >>> Laplace(scale=0.001).release([5, -7, 10**30]), Laplace(scale=0.001).release(5)
        ([5, -7, 1000000000000000000000000000000], 5)
        >>> Laplace(scale=0.001).release(0.1 + 0.2)
        Traceback (most recent call last):
        sitr.errors.InvalidParameter: Expected integers for Laplace, got something else. Round what each unit adds...
        """
        scale = self.in_granules().scale
        return add_noise(
            values,
            lambda size: discrete_laplace(scale=scale, size=size, coins=coins),
            granularity=exact(self.granularity),
            mechanism="Laplace",
        )
