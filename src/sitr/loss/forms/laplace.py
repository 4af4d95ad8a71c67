"""Laplace noise, on the reals and on the integers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.law import (
    FUNCTIONS,
    ROUNDING,
    TOO_MANY,
    LossCells,
    Masses,
    SymmetricLaw,
    Vector,
    between,
    check,
    joined,
    log_one_minus_exp,
)
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LARGE = 50.0
"""The masses of a law with a larger loss are not listed one by one."""


@dataclass(frozen=True, slots=True)
class LaplaceLaw(SymmetricLaw):
    """Real-valued noise of scale b on a value that moves by Δ; ε = Δ/b.

    P(L ≤ l) = e^{(l−ε)/2}/2 and Q(L > l) = e^{−(l+ε)/2}/2 for −ε ≤ l < ε; the rest is at −ε and ε.  [BBG18, Thm 3]
    """

    epsilon: float

    def __post_init__(self) -> None:
        check(self.epsilon, "epsilon", above=0.0)

    @property
    def greatest(self) -> float:
        return self.epsilon

    def cells(self, edges: Vector) -> LossCells:
        inside = np.clip(edges, -self.epsilon, self.epsilon)
        outside = [edges < -self.epsilon, edges >= self.epsilon]
        # Both are at most ½ inside, so 1 minus them is as accurate.
        p_below = np.select(outside, [-np.inf, 0.0], (inside - self.epsilon) / 2 - math.log(2))
        q_above = np.select(outside, [0.0, -np.inf], -(inside + self.epsilon) / 2 - math.log(2))
        error = FUNCTIONS * (1 + np.abs(inside) + self.epsilon)
        return joined(
            between(log_one_minus_exp(p_below), p_below, error), between(q_above, log_one_minus_exp(q_above), error)
        )


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceLaw(SymmetricLaw):
    """Integer noise P(Y = y) ∝ e^{−|y|/b} on an integer that moves by Δ.

    The loss at y is (|y| − |y − Δ|)/b: from −Δ/b for y ≤ 0 to Δ/b for y ≥ Δ.      [GRS12, Sec. 2]
    """

    scale: float
    shift: int

    def __post_init__(self) -> None:
        check(self.scale, "scale", above=0.0)
        check(self.shift, "shift", above=0.0, below=2.0**52)

    @property
    def greatest(self) -> float:
        return self.shift / self.scale

    @property
    def blur(self) -> float:
        """The error of y = (lb + Δ)/2 is 3R(|l|b + Δ)/2, and the error of l is 2/b times that."""
        return 8 * ROUNDING * (1 + self.greatest)

    def atoms(self, low: float, high: float, /) -> Vector | None:
        """The losses are (2y − Δ)/b for 0 ≤ y ≤ Δ."""
        if self.shift >= TOO_MANY:
            return None
        losses = (2 * np.arange(self.shift + 1, dtype=np.float64) - self.shift) / self.scale
        return losses[(losses >= low) & (losses <= high)]

    @property
    def few(self) -> bool:
        """Whether the losses can be listed one by one, without masses that differ so much that floats lose them."""
        return self.shift < TOO_MANY and self.greatest <= LARGE

    def listed(self) -> FiniteLaw:
        """The same law, loss by loss: P has e^{−Δ/b}/(1 + e^{−1/b}) at the first and 1/(1 + e^{−1/b}) at the last.

        Between them the mass at y is e^{−(Δ−y)/b}·(1 − e^{−1/b})/(1 + e^{−1/b}).

        >>> DiscreteLaplaceLaw(2.0, 2).listed().losses
        (-1.0, 0.0, 1.0)
        """
        steps = np.arange(self.shift + 1, dtype=np.float64)
        logs = (steps - self.shift) / self.scale - math.log1p(math.exp(-1 / self.scale))
        logs[1:-1] += math.log(-math.expm1(-1 / self.scale))
        return FiniteLaw(tuple(((2 * steps - self.shift) / self.scale).tolist()), tuple(logs.tolist()))

    def cells(self, edges: Vector) -> LossCells:
        # The last y below each edge, from 0 on: all y ≤ 0 have the least loss.
        last = np.floor((np.clip(edges, self.least, self.greatest) * self.scale + self.shift) / 2)
        last = np.select([edges < self.least, edges >= self.greatest], [-np.inf, np.inf], last)
        return joined(self._between(last - self.shift), self._between(last))

    def _between(self, last: Vector) -> Masses:
        """P(Y > y) and P(Y ≤ y): a tail from m on has mass e^{−m/b}/(1 + e^{−1/b}) for m ≥ 1."""
        log_one = -math.log1p(math.exp(-1 / self.scale))
        above = np.where(last >= 0, -(np.maximum(last, 0) + 1) / self.scale + log_one, 0.0)
        below = np.where(last < 0, np.minimum(last, 0) / self.scale + log_one, 0.0)
        log_above = np.where(last >= 0, above, log_one_minus_exp(below))
        log_below = np.where(last < 0, below, log_one_minus_exp(above))
        # Each formula is for a mass of at most ½, so 1 minus it is as accurate.
        return between(log_above, log_below, np.full(len(last), 4 * FUNCTIONS), steps=last)
