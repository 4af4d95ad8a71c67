"""Gaussian noise: the loss is itself Gaussian."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, fmpq

from sitr.dataclass import dataclass
from sitr.loss.law import FUNCTIONS, ROUNDING, LossCells, Masses, SymmetricLaw, Vector, between, check, joined
from sitr.namespace import Later
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

special = Later("scipy.special")


@dataclass(frozen=True, slots=True)
class GaussianLaw(SymmetricLaw):
    """P = N(μ, 1) against Q = N(0, 1): the loss is μx − μ²/2, and N(μ²/2, μ²) under P.      [BW18, Lemma 3]

    >>> GaussianLaw(1.0).reversed()
    GaussianLaw(mu=1.0)
    """

    mu: float

    def __post_init__(self) -> None:
        check(self.mu, "mu", above=0.0)

    @property
    def greatest(self) -> float:
        return math.inf

    def cells(self, edges: Vector) -> LossCells:
        return gaussian_cells(edges, self.mu)

    def log_moment_above(self, tilt: float, edge: float) -> float:
        """E_P[e^{λL}; L > l] = e^{λ(λ+1)μ²/2}·P(N(0, 1) > l/μ − μ/2 − λμ), by completing the square."""
        place = edge / self.mu - self.mu / 2 - tilt * self.mu
        place -= 8 * ROUNDING * (edge / self.mu + self.mu + tilt * self.mu)
        log_tail = float(special.log_ndtr(-place))
        size = tilt * (tilt + 1) * self.mu * self.mu / 2
        return (
            size + log_tail + 2 * FUNCTIONS * (1 + size + abs(log_tail) + (place * place if log_tail > -1e300 else 0.0))
        )


def gaussian_cells(edges: Vector, mu: float | Vector) -> LossCells:
    """The masses of both sides between neighbouring edges; one μ, or one for each edge."""
    places = edges / mu
    # A quotient, a difference and μ itself (if it is the root of a sum) are rounded. The error of an edge of a normal
    # law is passed on as an error of its mass.
    off = 4 * ROUNDING * (np.abs(places) + mu / 2)
    return joined(normal_cells(places - mu / 2, off), normal_cells(places + mu / 2, off))


def normal_cells(edges: Vector, off: Vector) -> Masses:
    """ln of the standard normal mass between edges, each with an error of at most `off`.

    |d ln Φ(x)/dx| ≤ 1 + |x|, in either tail.
    """
    size = np.where(np.isinf(edges), 0.0, np.abs(edges))
    error = FUNCTIONS * (1 + size * size) + np.where(np.isinf(off), 0.0, off) * (1 + size)
    return between(special.log_ndtr(-edges), special.log_ndtr(edges), error)


def hockey_stick(mu: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), for μ > 0.      [BW18, Thm 8]

    >>> float(hockey_stick(Fraction(1), Fraction(1)).mid())
    0.1269...
    """
    bits = 128
    while True:
        with precision(bits):
            m, e = (arb(fmpq(number.numerator, number.denominator)) for number in (mu, epsilon))
            delta = normal(m / 2 - e / m) - e.exp() * normal(-m / 2 - e / m)
            # The two terms nearly cancel far out in the tail: raise the precision until the result is accurate.
            if delta.rad() < abs(delta.mid()) * 1e-25 or bits > 1 << 14:
                return delta
        bits *= 2


def normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2
