"""A sum of independent losses: its moments, the tilt that makes a tail its centre, and the window it then lies in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sitr.loss.law import ROUNDING, Indices, Vector
from sitr.loss.mesh import Nodes
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LONGEST, WORK = 1 << 18, 1 << 27
"""At most LONGEST frequencies and WORK transform values, unless most of them are proved to vanish.

If that is not enough, more smoothing is used than requested.
"""

TOGETHER = 1 << 17
"""About this many exponentials are computed together."""

SLIGHTEST = 2.0**-40
"""A tilt that is practically 0."""

Part = tuple[Nodes, int]
"""A law and how many times it is added."""


class Comb(NamedTuple):
    """Evenly spaced losses: an origin plus integer multiples of a pitch."""

    origin: float
    pitch: float

    @property
    def reach(self) -> float:
        """How far before a place the line is computed. Farther away, its decrease would be lost in rounding."""
        return min(self.pitch, 8.0)


@dataclass(frozen=True, eq=False)
class SumOfLaws:
    """The sum of laws and of Gaussian losses with total variance V, which have the mean V/2."""

    parts: list[Part]
    variance: float

    @cached_property
    def row(self) -> tuple[Vector, Vector, Indices, Vector]:
        """ln of the masses, the losses, where each law starts, and how many times it is added."""
        lengths = [len(nodes.losses) for nodes, _ in self.parts]
        return (
            np.concatenate([nodes.log_masses for nodes, _ in self.parts]),
            np.concatenate([nodes.losses for nodes, _ in self.parts]),
            np.cumsum([0, *lengths[:-1]]),
            np.array([float(times) for _, times in self.parts]),
        )

    @property
    def empty(self) -> bool:
        """Whether some law, and so the sum, has no finite loss."""
        return any(len(nodes.losses) == 0 for nodes, _ in self.parts)

    @property
    def off(self) -> float:
        """The error of the sum, from the errors of all losses."""
        return sum(times * nodes.off for nodes, times in self.parts)

    @cached_property
    def comb(self) -> Comb | None:
        """The comb on which all sums lie, if no loss is Gaussian and all spacings are multiples of one pitch."""
        if self.variance > 0.0 or self.empty or all(len(nodes.losses) == 1 for nodes, _ in self.parts):
            return None
        gaps = [float(np.diff(nodes.losses).min(initial=math.inf)) for nodes, _ in self.parts]
        nodes, pitch = self.parts[int(np.argmin(gaps))][0], min(gaps)
        if pitch < 64 * self.off:
            return None
        extent = float(nodes.losses[-1] - nodes.losses[0])
        pitch = extent / round(extent / pitch)
        for one, _ in self.parts:
            places = (one.losses - one.losses[0]) / pitch
            if np.any(np.abs(places - np.round(places)) * pitch > one.off):
                return None
        return Comb(sum(times * float(nodes.losses[0]) for nodes, times in self.parts), pitch)

    @property
    def longest(self) -> int:
        """The largest number of frequencies that is computed."""
        return min(LONGEST, WORK // max((len(nodes.losses) for nodes, _ in self.parts), default=1))

    @property
    def infinite(self) -> float:
        """1 − Π(1 − mass at +∞)."""
        if any(nodes.infinite >= 1.0 for nodes, _ in self.parts):
            return 1.0
        return 0.0 - math.expm1(sum(times * math.log1p(-nodes.infinite) for nodes, times in self.parts))

    def log_moments(self, tilts: Vector) -> Vector:
        """K at each of these λ."""
        found = tilts * (tilts + 1) * self.variance / 2
        if not self.parts:
            return found
        log_masses, losses, starts, times = self.row
        lengths = np.diff(np.append(starts, len(losses)))
        wide = max(1, TOGETHER // len(losses))
        for first in range(0, len(tilts), wide):
            exponents = log_masses + tilts[first : first + wide, None] * losses
            tops = np.maximum.reduceat(exponents, starts, axis=1)
            wholes = np.add.reduceat(np.exp(exponents - np.repeat(tops, lengths, axis=1)), starts, axis=1)
            found[first : first + wide] += ((tops + np.log(wholes)) * times).sum(axis=1)
        return found

    def rounding(self, tilt: float) -> float:
        """A bound on the rounding error of K at every λ up to this one, and of differences of two such values."""
        found = tilt * (tilt + 1) * self.variance
        for nodes, times in self.parts:
            largest = float(np.abs(nodes.log_masses).max()) + tilt * float(np.abs(nodes.losses).max())
            found += times * (largest + len(nodes.losses) + 64)
        return 8 * ROUNDING * found

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(λ), the tilted mean K' and the tilted variance K'' of the sum: estimates, not bounds."""
        v = self.variance
        whole, mean, spread = tilt * (tilt + 1) * v / 2, (tilt + 0.5) * v, v
        if self.parts:
            log_masses, losses, starts, times = self.row
            exponents = log_masses + tilt * losses
            tops = np.maximum.reduceat(exponents, starts)
            lengths = np.diff(np.append(starts, len(losses)))
            weights = np.exp(exponents - np.repeat(tops, lengths))
            wholes = np.add.reduceat(weights, starts)
            means = np.add.reduceat(weights * losses, starts) / wholes
            spreads = np.add.reduceat(weights * (losses - np.repeat(means, lengths)) ** 2, starts) / wholes
            whole += float((times * (tops + np.log(wholes))).sum())
            mean += float((times * means).sum())
            spread += float((times * spreads).sum())
        return whole, mean, spread


def tilt_for(total: SumOfLaws, log_delta: float, *, start: float, at_most: float) -> float:
    """The λ whose tilted mean is near the ε of this δ: λK' − K = ln(g/δ), with the saddle-point's prefactor g.

    δ(ε) ≈ e^{K − λε}·g with g = 1/(λ(λ + 1)√(2πK'')), at most 1.      [LR80, in outline]
    """

    def missing(tilt: float) -> float:
        whole, mean, variance = total.cumulants(tilt)
        factor = 1 / (tilt * (tilt + 1) * math.sqrt(2 * math.pi * variance)) if variance > 0.0 else 1.0
        return tilt * mean - whole + log_delta - min(0.0, math.log(factor))

    return _rising(missing, start, at_most=at_most)


def tilt_to(total: SumOfLaws, epsilon: float, *, start: float, at_most: float) -> float:
    """The λ whose tilted mean is ε: K' = ε."""
    return _rising(lambda tilt: total.cumulants(tilt)[1] - epsilon, start, at_most=at_most)


def _rising(function: Callable[[float], float], start: float, *, at_most: float) -> float:
    """The λ at which an increasing function becomes positive, within 3%, by bisection and false position in ln λ."""
    low = high = min(at_most, max(SLIGHTEST, start))
    at_low = at_high = function(high)
    factor = 1.3
    while at_high < 0.0 and high < at_most:
        low, at_low, high, factor = high, at_high, min(at_most, factor * high), factor**2
        at_high = function(high)
    while at_low > 0.0 and low > SLIGHTEST:
        high, at_high, low, factor = low, at_low, max(SLIGHTEST, low / factor), factor**2
        at_low = function(low)
    halve = False
    while high > 1.03 * low and at_low < 0.0 < at_high:
        part = 0.5 if halve else min(0.95, max(0.05, at_low / (at_low - at_high)))
        middle, halve = low * (high / low) ** part, not halve
        value = function(middle)
        low, at_low, high, at_high = (middle, value, high, at_high) if value < 0.0 else (low, at_low, middle, value)
    # The function jumps where the tilted law moves from one mode to another; the nearer mode is the better one.
    return high if at_high < 0.0 else low


def window(total: SumOfLaws, tilt: float, log_outside: float) -> tuple[float, float]:
    """Losses below and above which the tilted sum has a mass of at most e^{log_outside} each.

    By Chernoff, P(S ≥ x) ≤ e^{K(λ+s) − K(λ) − sx} for each s > 0: that is small enough from x = (K(λ+s) − K(λ)
    − log)/s on. A smaller mass compensates for rounding errors of K.
    """
    _, _, variance = total.cumulants(tilt)
    best = math.sqrt(-2 * log_outside / variance)  # the best s of a Gaussian
    log_outside -= total.rounding(tilt + 1.5 * best)
    # Downward only to λ = −1, where E_P[e^{−L}] ≤ 1: beyond it, moments may be huge.
    up = best * np.array((1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 0.5, 0.75, 1.0, 1.5))  # smaller for heavier tails
    down = -np.minimum(up, tilt + 1)
    here, *there = total.log_moments(tilt + np.concatenate(((0.0,), up, down)))
    above, below = np.split(np.array(there) - here - log_outside, 2)
    return float((below / down).max()), float((above / up).min())
