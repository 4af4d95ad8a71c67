"""Moments of one loss around a point m, proved from both sides: E[f(L)] with f(l) = x²·h(λx), x = l − m.

Here h(y) = 2(e^y − 1 − y)/y², so that f is x² at λ = 0 (the variance) and 2(e^{λx} − 1 − λx)/λ² otherwise (the part
of an exponential moment above 1, in units of λ²/2). Nothing cancels, however small λ is. With `even`, λ|x| replaces λx:
that bounds f at every λ' between −λ and λ, because h increases.

As a function of u = e^{−l}, f is convex for losses above a bend and concave below it: f″(u)·u² = (2/λ)·((λ + 1)e^{λx}
− 1), which changes its sign at x = −ln(1 + λ)/λ. On a cell of a mesh, the mean of a convex function is at least its
value at the common loss of the cell and at most its chord; the mean of a concave function is the other way round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.law import FUNCTIONS, Law, Vector
from sitr.loss.mesh import Mesh, coarse, off_at, outline
from sitr.loss.moments import fine, log_chord, log_q_below, log_sum, mean, mesh_end, narrowed, spans
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

MEAN = 1e-4
"""How accurately the mean is computed before moments around it."""


@dataclass(frozen=True, slots=True)
class Around:
    """The function f of the module, with m = `centre` and λ = `tilt`, from −½ to 1 (to ½ if `even`)."""

    centre: float
    tilt: float = 0.0
    even: bool = False

    @property
    def bend(self) -> float:
        """The loss above which f is convex in e^{−l}, and below which it is concave."""
        tilt = -abs(self.tilt) if self.even else self.tilt
        return self.centre - (math.log1p(tilt) / tilt if tilt else 1.0)

    @property
    def rising(self) -> float:
        """The exponent with which f may grow with the loss."""
        return abs(self.tilt) if self.even else max(0.0, self.tilt)

    @property
    def falling(self) -> float:
        """The exponent with which f may grow below the centre."""
        return abs(self.tilt) if self.even else max(0.0, -self.tilt)

    def log(self, losses: Vector) -> Vector:
        """ln f."""
        x = losses - self.centre
        y = self.tilt * x
        y = np.abs(y) if self.even else y
        near = np.clip(y, -0.05, 0.05)
        series = np.zeros_like(y)
        for power in range(9, -1, -1):  # Σ 2yⁿ/(n + 2)!
            series = series * near + 2 / math.factorial(power + 2)
        safe = np.where(np.abs(y) < 0.05, 1.0, np.minimum(y, 600.0))
        direct = 2 * (np.expm1(safe) - safe) / safe**2
        with np.errstate(divide="ignore"):
            squared = 2 * np.log(np.abs(x))
            far = y + math.log(2) - 2 * np.log(np.maximum(y, 1.0))
            log_h = np.where(y > 600.0, far, np.log(np.where(np.abs(y) < 0.05, series, direct)))
        found: Vector = squared + log_h
        return found


def centre(law: Law) -> tuple[float, float]:
    """A float near the mean loss, and how far the mean may be from it."""
    found = mean(law, relative=MEAN)
    middle = (found.lower + found.upper) / 2
    return middle, (found.width / 2) * (1 + 1e-9) + 2 * math.ulp(middle)


def law_variance(law: Law, *, relative: float) -> Interval:
    """Var L = E[(L − m)²] − (E[L] − m)², for any m."""
    if law.infinite > 0.0:
        return Interval(math.inf, math.inf)
    if isinstance(law, GaussianLaw):
        return Interval(law.mu**2 * (1 - FUNCTIONS), law.mu**2 * (1 + FUNCTIONS))
    middle, off = centre(law)
    found = average(law, Around(middle), relative=relative)
    return Interval(max(0.0, found.lower - off * off * (1 + FUNCTIONS)), found.upper)


@lru_cache(maxsize=4096)
def average(law: Law, function: Around, *, relative: float) -> Interval:
    """E[f(L)] for a law without a mass at +∞, as narrow as requested where possible."""
    shape, back = outline(law), outline(law.reversed())
    # Above the mesh, f is compared with an exponential that grows faster.
    rate = function.rising + 1 / (1 + max(0.0, shape.high(-60.0)))

    def proved(rest: float, count: int) -> Interval:
        low = min(-back.high(rest), function.centre - 2 / (1 - function.falling) - 1)
        high = max(mesh_end(law, rate, rest), min(law.greatest, function.centre + 1))
        cells = coarse(shape, low=max(low, law.least), high=high)
        return _logs(fine(law, cells, tilt=function.tilt, count=count), law, function, rate)

    bounds = narrowed(proved, lambda bounds: bounds.width, relative=relative)
    lower, upper = (math.exp(one) if one < 709.0 else math.inf for one in (min(bounds.lower, 708.0), bounds.upper))
    return Interval(lower * (1 - FUNCTIONS), upper * (1 + FUNCTIONS) + math.ulp(0.0))


def _logs(cells: Mesh, law: Law, function: Around, rate: float) -> Interval:
    """ln E[f(L)] from below and from above."""
    lows, highs, common, wrong, sure, _ = spans(cells, law)
    log_p, _, slack = cells.masses
    width = highs - lows
    at_low, at_high = function.log(lows), function.log(highs)
    toward_larger = np.where(at_high > at_low, wrong, -wrong)
    margin = 1e-9 * (1 + abs(function.bend))
    convex, concave = lows >= function.bend + margin, highs <= function.bend - margin

    # From above: a chord, the value at the common loss (f falls below its bend), or the larger end.
    chord = log_chord(common - lows + toward_larger, width, at_low, at_high)
    lowest = np.clip(common - wrong, lows, highs)
    highest = np.select([convex, concave], [chord, function.log(lowest)], np.maximum(at_low, at_high))
    most = log_sum(cells.masses.log_p_most + highest)

    # From below: the value at the common loss, moved towards the centre, or a chord, or the smaller end.
    shift = np.where(sure, toward_larger, 0.0)
    chord = log_chord(common - lows - shift, width, at_low, at_high)
    x = np.clip(common, lows, highs) - function.centre
    near = function.centre + np.sign(x) * np.maximum(np.abs(x) - np.where(sure, wrong, 0.0), 0.0)
    inside = (lows <= function.centre) & (function.centre <= highs)
    smaller = np.where(inside, -np.inf, np.minimum(at_low, at_high))
    lowest = np.select([convex, concave], [function.log(near), chord], smaller)
    least = log_sum((log_p - slack + lowest)[sure])

    outside = float(np.logaddexp(_below(cells, law, function), _above(cells, law, function, rate)))
    whole = float(np.logaddexp(most, outside))
    rounding = 128 * FUNCTIONS  # of f where its terms nearly cancel, of shares and of sums
    return Interval(_rounded(least, -rounding), _rounded(whole, rounding))


def _rounded(log: float, rounding: float) -> float:
    return log + rounding + math.copysign(FUNCTIONS, rounding) * abs(log) if log > -math.inf else log


def _below(cells: Mesh, law: Law, function: Around) -> float:
    """ln of a bound on E[f; L below the mesh].

    f ≤ x²e^{−bx} with b the exponent `falling`, P is e^l times Q, and x²e^{−bx + l} increases up to x = −2/(1 − b).
    """
    log_q = log_q_below(law, cells.low)
    if log_q == -math.inf:
        return log_q
    b = function.falling
    last = min(cells.low, function.centre - 2 / (1 - b))
    x = cells.low - function.centre
    if last < cells.low:  # only where the law ends before: then f is largest at its least loss
        x = last - function.centre
    return log_q + 2 * math.log(abs(x)) - b * x + function.centre + x


def _above(cells: Mesh, law: Law, function: Around, rate: float) -> float:
    """ln of a bound on E[f; L above the mesh]: f ≤ x²e^{ax}, with a the exponent `rising`, and a < `rate`."""
    if cells.log_beyond == -math.inf:
        return -math.inf
    edge = max(0.0, cells.high - float(off_at(law, np.array((cells.high,)))[0]))
    spare = rate - function.rising
    x = max(edge - function.centre, 2 / spare)
    size = 2 * math.log(x) - spare * x - rate * function.centre
    return law.log_moment_above(rate, edge) + size
