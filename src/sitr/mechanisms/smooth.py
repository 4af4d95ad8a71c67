"""Noise that follows the smooth sensitivity of the data: little where nobody can move the answer far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from sitr.errors import IncompatiblePromises, InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.dilation import (
    gaussian_delta,
    gaussian_dilation,
    laplace_delta,
    laplace_dilation,
    student_dilation,
    student_epsilon,
)
from sitr.mechanisms.mechanism import bounding
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins
from sitr.noise.rounded import rounded_gaussian, rounded_laplace, rounded_student
from sitr.numbers import Number, ball, exact, inside, natural, positive, upper, upward
from sitr.precision import precision
from sitr.sensitivity.decay import LEAST
from sitr.sensitivity.smoothed import Smooth


class NoiseKind(Enum):
    """Laws that stay nearly the same when they are dilated a little."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    STUDENT = "student"


@dataclass(frozen=True, slots=True)
class SmoothNoise:
    """Add noise of scale s(X)/α to the statistic: neighbours' answers are shifted by at most α, and dilated by e^β.

    Shift and dilation are in units of the narrower noise; `sitr.mechanisms.dilation` says what they cost together, and
    no constant is quoted. Laplace and Gaussian noise keep (ε, δ), Student's keeps ε.      [NRS07, Lemma 2.6]

    The noise is continuous, and rounded to whole granules together with the statistic: see `sitr.noise.rounded`.

    >>> from sitr.sensitivity import median, smooth
    >>> rule = smooth(median, bounds=(0, 100))
    >>> SmoothNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule).dilation
    0.0530...
    >>> SmoothNoise.fitting(PureDP(1.0), sensitivity=rule).promise()
    PureDP(epsilon=1.0)
    """

    sensitivity: Smooth
    noise: NoiseKind
    epsilon: Number
    shift: Number
    dilation: float
    freedom: int = 3
    """The degrees of Student's noise; other noise has none."""

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        if not isinstance(self.sensitivity, Smooth):
            raise QuestionError(
                wanted="a statistic with its smooth sensitivity",
                given=repr(self.sensitivity),
                do="Write for example smooth(median, bounds=(0, 200)).",
            )
        _check_kind(self.noise)
        if not self.dilation >= LEAST:
            raise InvalidPromise(
                wanted=f"a dilation of at least {LEAST:g}",
                given=repr(self.dilation),
                do="Use SmoothNoise.fitting.",
            )
        for name in ("epsilon", "shift"):
            object.__setattr__(self, name, positive(getattr(self, name), name=name, of="SmoothNoise"))
        self.promise()  # raises an error if there is none

    @classmethod
    def fitting(
        cls,
        price: ApproximateDP | PureDP,
        *,
        sensitivity: Smooth,
        noise: NoiseKind | None = None,
        shift: Number | None = None,
        freedom: int = 3,
    ) -> SmoothNoise:
        """Noise that keeps this promise: Laplace for an approximate one, Student's for a pure one, or the one chosen.

        A larger shift α makes the noise s/α smaller, and leaves less for the dilation β, so that s itself is larger.
        Where a median's neighbours in rank are evenly spread, s ∝ 1/β. Unless a shift is chosen, α·β is therefore made
        nearly as large as it can be, whatever the data: for Laplace noise by α = ε/2.
        """
        if not isinstance(price, ApproximateDP | PureDP):
            raise IncompatiblePromises(
                wanted="an approximate or a pure price for SmoothNoise",
                given=repr(price),
                do="Use ApproximateDP(epsilon, delta) or PureDP(epsilon).",
            )
        if noise is None:
            noise = NoiseKind.LAPLACE if isinstance(price, ApproximateDP) else NoiseKind.STUDENT
        _check_kind(noise)
        e = positive(price.epsilon, name="epsilon", of="SmoothNoise")
        room = _room(price, noise, freedom)
        if shift is not None:
            a = positive(shift, name="shift", of="SmoothNoise")
        else:
            a = e / 2 if noise is NoiseKind.LAPLACE else _split(_most(e, noise, freedom), room)
        b = room(a)
        if b < LEAST:
            raise InvalidPromise(
                given=f"With a shift of {float(a):g}, {price!r} leaves no room for scales that differ.",
                do="Choose a smaller shift, or a larger ε or δ.",
            )
        return cls(sensitivity, noise, e, a, b, freedom)

    def promise(self) -> ApproximateDP | PureDP:
        """ε if the noise is Student's, otherwise (ε, δ) with the δ of this shift and dilation."""
        e, dilated = exact(self.epsilon), {"shift": self.shift, "dilation": self.dilation}
        if self.noise is not NoiseKind.STUDENT:
            delta = laplace_delta if self.noise is NoiseKind.LAPLACE else gaussian_delta
            return ApproximateDP(upward(e), delta(e, **dilated))
        if exact(least := student_epsilon(**dilated, freedom=self.freedom)) > e:
            raise InvalidPromise(
                wanted=f"a shift and a dilation that cost no more than epsilon={float(e):g}",
                given=f"a cost of {least:g}",
                do="Use SmoothNoise.fitting.",
            )
        return PureDP(upward(e))

    def loss(self) -> Loss:
        """A bound: the pair of the promise. The true loss depends on the data.      [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
        """The statistic of these values with fresh noise, a multiple of the granularity.

        It may be outside the bounds; clamping it costs nothing.
        """
        scale, centre = self._scale(values), self.sensitivity.centre(values)
        return (centre + self._draw(scale, coins)) * self.sensitivity.granularity

    @precision()
    def error(self, values: Any, *, confidence: Number = 0.95) -> Fraction:
        """With this confidence the answer is at most this far from the statistic of the values on the grid.

        **It is as secret as the data**: it reveals their scale. For a number to be shown, pass made-up data.

        >>> from sitr.sensitivity import median, smooth
        >>> mechanism = SmoothNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=smooth(median, bounds=(0, 100)))
        >>> float(mechanism.error([i / 10 for i in range(1001)]))
        4.38...
        """
        reached = ball(self._scale(values)) * self._quantile(1 - inside(confidence))
        # |Y| ≤ w where |b·Z| < w + ½.
        width = max(0, math.ceil(exact(upper(reached - 0.5))))
        rest = Fraction(0) if self.sensitivity.statistic.whole else Fraction(1, 2)
        return (width + rest) * self.sensitivity.granularity

    def _scale(self, values: Any) -> Fraction:
        """The scale of the noise, in granules."""
        return exact(self.sensitivity.scale(values, self.dilation)) / exact(self.shift)

    def _draw(self, scale: Fraction, coins: Coins | None) -> int:
        match self.noise:
            case NoiseKind.LAPLACE:
                return rounded_laplace(scale=scale, coins=coins)
            case NoiseKind.GAUSSIAN:
                return rounded_gaussian(sigma=scale, coins=coins)
            case NoiseKind.STUDENT:
                return rounded_student(scale=scale, freedom=self.freedom, coins=coins)

    @precision()
    def _quantile(self, rest: Fraction) -> arb:
        """z with P(|Z| > z) ≤ rest, for noise of scale 1."""
        match self.noise:
            case NoiseKind.LAPLACE:
                return -ball(rest).log()
            case NoiseKind.GAUSSIAN:
                return arb(2).sqrt() * ball(rest).erfcinv()
            case NoiseKind.STUDENT:
                return _student_quantile(rest, freedom=self.freedom)


def _check_kind(noise: object) -> None:
    if not isinstance(noise, NoiseKind):
        raise QuestionError(
            wanted="a NoiseKind",
            given=repr(noise),
            do="Write for example NoiseKind.LAPLACE.",
        )


Room = Callable[[Fraction], float]
"""From the shift to the largest dilation."""


def _room(price: ApproximateDP | PureDP, noise: NoiseKind, freedom: int) -> Room:
    if noise is NoiseKind.STUDENT:
        natural(freedom, name="freedom", of="SmoothNoise")
        return lambda a: student_dilation(price.epsilon, shift=a, freedom=freedom)
    if isinstance(price, PureDP):
        raise InvalidPromise(
            wanted="noise that keeps a pure promise",
            given=f"{noise}, whose loss has no bound if neighbours' scales differ at all",
            do="Use NoiseKind.STUDENT, or an ApproximateDP.",
        )
    if not 0 < price.delta < 1:
        raise InvalidPromise(
            wanted="a price with 0 < delta < 1",
            given=repr(price),
            do="Choose a small positive delta, for example 1e-6, or a PureDP with Student's noise.",
        )
    dilation = laplace_dilation if noise is NoiseKind.LAPLACE else gaussian_dilation
    return lambda a: dilation(price.epsilon, delta=price.delta, shift=a)


def _most(epsilon: Fraction, noise: NoiseKind, freedom: int) -> float:
    """A shift that leaves no dilation at all: 2√ν·sinh(ε/(ν + 1)) for Student's noise, √(2ε) for the bell."""
    if noise is NoiseKind.STUDENT:
        return 2 * math.sqrt(freedom) * math.sinh(min(float(epsilon) / (freedom + 1), 700.0))
    return math.sqrt(2 * float(epsilon))


def _split(most: float, room: Room) -> Fraction:
    """The α with the largest α·β on a grid of factors 2^{1/8}: the product grows and then falls."""
    best, found = Fraction(0), exact(most)
    for i in range(1, 200):
        a = exact(float(f"{most * 2 ** (-i / 8):.4g}"))
        product = a * exact(room(a))
        if product < best:
            break
        if product > best:
            best, found = product, a
    return found


def _student_quantile(rest: Fraction, *, freedom: int) -> arb:
    """By halving: P(|Z| > z) is the regularised incomplete beta function of ν/(ν + z²).      [DLMF, §8.17]"""

    def enough(z: float) -> bool:
        with precision(128):
            inner = freedom / (freedom + arb(z) ** 2)
            return bool(inner.beta_lower(arb(freedom) / 2, arb(0.5), regularized=True) <= ball(rest))

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return arb(high)
