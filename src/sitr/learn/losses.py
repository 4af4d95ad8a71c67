"""The loss of one row, as a function of the model's prediction for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sitr.numbers import Number, exact

Numbers = NDArray[np.float64]

ABOVE = 1.0 + 2.0**-30
"""A bound on the relative rounding of a sum of up to a million numbers of at least 0."""


class RowLoss(Protocol):
    """A convex φ(prediction, target), with everything that minimising a sum and bounding one row's influence need."""

    lipschitz: ClassVar[float]
    """The largest φ'': how far a wrong prediction makes φ' wrong."""
    constant: ClassVar[bool]
    """Whether φ'' is always 1."""

    def slopes(self, predicted: Numbers, target: Numbers) -> Numbers:
        """φ', each accurate to within 16 units in the last place."""

    def bends(self, slope: Numbers) -> Numbers | None:
        """φ'' where φ' has this value, roughly; None if it is constant. It affects the speed, not the result."""

    def balls(self, predicted: arb, target: arb) -> tuple[arb, arb, arb]:
        """φ, φ' and (roughly) φ''."""

    def steepest(self, lengths: Numbers) -> Numbers:
        """Upper bounds on |φ'| at the minimum, for rows of these lengths."""

    def guessed(self, columns: int) -> tuple[float, float]:
        """For the choice of a penalty: V, the variance of good predictions, and h/(a·r²), how far rows spread."""

    def usual(self, length: float, curvature: float) -> tuple[float, float]:
        """About the largest mean |φ'| and the largest ‖w‖ at a minimum, for rows of this length."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """φ = ln(1 + e^{−ty}) for t = ±1: |φ'| < 1 and φ'' ≤ ¼. With t = 0 a row adds a constant.      [CMS11, Sec. 3.4]"""

    lipschitz: ClassVar = 0.25
    constant: ClassVar = False

    def slopes(self, predicted: Numbers, target: Numbers) -> Numbers:
        return -target / (1.0 + np.exp(target * predicted))

    def bends(self, slope: Numbers) -> Numbers:
        size = np.abs(slope)
        return size * (1.0 - size)

    def balls(self, predicted: arb, target: arb) -> tuple[arb, arb, arb]:
        margin = target * predicted
        small = (-abs(margin)).exp()  # never overflows
        wrong = 1 / (1 + small) if margin < 0 else small / (1 + small)
        if not (margin < 0 or margin >= 0):
            wrong = 1 / (1 + margin.exp())
        return arb.max(-margin, arb(0)) + small.log1p(), -target * wrong, target * target * wrong * (1 - wrong)

    def steepest(self, lengths: Numbers) -> Numbers:
        return np.ones_like(lengths)

    def guessed(self, columns: int) -> tuple[float, float]:  # noqa: ARG002
        return 5.0, 0.1  # a few directions decide which label is more likely

    def usual(self, length: float, curvature: float) -> tuple[float, float]:
        return 1.0, min(length / curvature, math.sqrt(2.0 * math.log(2.0) / curvature))  # J(w*) ≤ J(0) = ln 2


@dataclass(frozen=True, slots=True)
class Squared:
    """φ = ½(y − t)², with |t| ≤ B: at the minimum |φ'| ≤ B + ‖x‖·W, W the largest length of the weights.

    The weights are (XᵀX/n + Λ)⁻¹Xᵀt/n. A singular value s of X/√n makes s/(s² + Λ) of a target, at most 1/(2√Λ): so
    W = B/(2√Λ). (The objective at 0 alone gives twice that.) If no row is longer than R ≤ √Λ, s is not larger,
    and W = BR/(R² + Λ).
    """

    bound: float
    weights: float

    @classmethod
    def within(cls, bound: Number, *, regularization: float, norm: float | None) -> Squared:
        """The loss with its W, rounded up.

        >>> Squared.within(1, regularization=0.01, norm=None).weights
        5.00...
        >>> Squared.within(1, regularization=1.0, norm=0.5).weights
        0.40...
        """
        size = float(exact(bound))
        largest = size / (2.0 * math.sqrt(regularization))
        if norm is not None and norm**2 <= regularization:
            largest = size * norm / (norm**2 + regularization)
        return cls(size * ABOVE, largest * ABOVE)

    lipschitz: ClassVar = 1.0
    constant: ClassVar = True

    def slopes(self, predicted: Numbers, target: Numbers) -> Numbers:
        return predicted - target

    def bends(self, slope: Numbers) -> None:  # noqa: ARG002
        return None

    def balls(self, predicted: arb, target: arb) -> tuple[arb, arb, arb]:
        missed = predicted - target
        return missed * missed / 2, missed, arb(1)

    def steepest(self, lengths: Numbers) -> Numbers:
        return (self.bound + lengths * self.weights) * ABOVE

    def guessed(self, columns: int) -> tuple[float, float]:
        return 0.12 * self.bound**2, 1.0 / columns

    def usual(self, length: float, curvature: float) -> tuple[float, float]:  # noqa: ARG002
        return self.bound + length * self.weights, self.weights


@dataclass(frozen=True, slots=True)
class Huber:
    """φ = ½r² for |r| ≤ k and k|r| − ½k² beyond, r = y − t: |φ'| ≤ k whatever the target.      [Hub64]"""

    cut: float

    lipschitz: ClassVar = 1.0
    constant: ClassVar = False

    def slopes(self, predicted: Numbers, target: Numbers) -> Numbers:
        return np.clip(predicted - target, -self.cut, self.cut)

    def bends(self, slope: Numbers) -> Numbers:
        return (np.abs(slope) < self.cut).astype(np.float64)

    def balls(self, predicted: arb, target: arb) -> tuple[arb, arb, arb]:
        missed, cut = predicted - target, arb(self.cut)
        slope = arb.max(-cut, arb.min(cut, missed))
        # ½r² = slope·r − ½slope² within the cut, and this is right beyond it as well.
        return slope * missed - slope * slope / 2, slope, arb(0) if abs(missed) > cut else arb(1)

    def steepest(self, lengths: Numbers) -> Numbers:
        return np.full_like(lengths, self.cut)

    def guessed(self, columns: int) -> tuple[float, float]:
        return 0.06 * self.cut**2, 1.0 / columns

    def usual(self, length: float, curvature: float) -> tuple[float, float]:
        return self.cut, self.cut * length / curvature
