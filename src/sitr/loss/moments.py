"""Moments of one loss, K(λ) = ln E[e^{λL}], and its mean, as proved intervals.

Under P, u = e^{−L} has the mean 1 − β, where β is Q's mass outside of P. So E[e^{λL}] = 1 + λβ + E[g] with g =
e^{λl} − 1 + λ(e^{−l} − 1), which is 0 at l = 0, never negative and convex in u: nothing cancels, however small the
losses are. As λ tends to 0, g/λ tends to l − 1 + e^{−l}, which gives the mean in the same way.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.law import FUNCTIONS, ROUNDING, Law, Vector
from sitr.loss.mesh import Mesh, coarse, grid, off_at, outline, refined
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

ROUNDS = 10
FEW = 64
MOST_CELLS = 200_000
NEGLIGIBLE = 16.0

LARGEST = sys.float_info.max

HUGE = 1e30
"""Powers of a larger λ overflow. Beyond it, K(λ)/λ, which increases, is practically the greatest loss."""


@lru_cache(maxsize=4096)
def log_moment(law: Law, tilt: float, *, relative: float) -> Interval:
    """K(λ) for λ > 0."""
    if law.infinite > 0.0:
        return Interval(math.inf, math.inf)
    if isinstance(law, GaussianLaw):
        exact = tilt * (tilt + 1) * law.mu * law.mu / 2  # [Mir17, Prop. 7]
        return Interval(min(exact, LARGEST) * (1 - FUNCTIONS), exact * (1 + FUNCTIONS))
    most = tilt * law.greatest * (1 + 4 * FUNCTIONS)
    if tilt > HUGE:
        least = tilt / HUGE * log_moment(law, HUGE, relative=relative).lower
        return Interval(min(least, LARGEST) * (1 - 4 * FUNCTIONS), most)
    found = _log_excess(law, tilt, relative=relative)
    return Interval(
        log1p_exp(found.lower) * (1 - 2 * FUNCTIONS) if found.lower > -math.inf else 0.0,
        min(most, log1p_exp(found.upper) * (1 + 2 * FUNCTIONS)),
    )


@lru_cache(maxsize=4096)
def mean(law: Law, *, relative: float) -> Interval:
    """E[L]."""
    if law.infinite > 0.0:
        return Interval(math.inf, math.inf)
    if isinstance(law, GaussianLaw):
        exact = law.mu * law.mu / 2
        return Interval(min(exact, LARGEST) * (1 - FUNCTIONS), exact * (1 + FUNCTIONS))
    found = _log_excess(law, 0.0, relative=relative)
    lower, upper = (math.exp(one) if one < 709.0 else math.inf for one in (min(found.lower, 708.0), found.upper))
    return Interval(lower * (1 - FUNCTIONS), upper * (1 + FUNCTIONS))


def _log_excess(law: Law, tilt: float, *, relative: float) -> Interval:
    """ln of λβ + E[g], or of β + E[l − 1 + e^{−l}] if λ is 0."""
    shape, back = outline(law), outline(law.reversed())
    rate = tilt or 1 / (1 + max(0.0, shape.high(-60.0)))  # the tilt at which the tail above the mesh is bounded
    with np.errstate(divide="ignore"):
        outside = float(np.log(law.reversed().infinite * (tilt or 1.0)))

    def proved(rest: float, count: int) -> Interval:
        # Far below 0, Q's mass counts, because g is about e^{−l} there.
        cells = coarse(shape, low=-back.high(rest), high=mesh_end(law, rate, rest))
        ends = _excess(fine(law, cells, tilt=tilt, count=count), law, tilt, rate)
        lower, upper = (float(np.logaddexp(end, outside)) for end in ends)
        return Interval(lower - 8 * FUNCTIONS, upper + 8 * FUNCTIONS)

    def error(bounds: Interval) -> float:
        return bounds.width / max(1.0, log1p_exp(bounds.upper) if tilt else 1.0)

    return narrowed(proved, error, relative=relative)


def narrowed(
    proved: Callable[[float, int], Interval], error: Callable[[Interval], float], *, relative: float
) -> Interval:
    """Bounds on ln of a moment by finer and finer meshes, until their `error` is at most `relative`.

    `proved(rest, count)` gives bounds by a mesh of `count` cells outside of which e^rest of the moment may lie.
    """
    bounds, count, rest, wide = Interval(-math.inf, math.inf), FEW, -60.0, math.inf
    for _ in range(ROUNDS):
        found = proved(rest, count)
        bounds = Interval(max(bounds.lower, found.lower), min(bounds.upper, found.upper))
        before, wide = wide, error(bounds)
        # Finer cells do not help once the masses of the cells are not known well enough.
        if wide <= relative or 0.8 * before < wide < math.inf or count >= MOST_CELLS:
            break
        rest = min(rest, bounds.upper - NEGLIGIBLE + math.log(relative))
        count = math.ceil(count * (min(32.0, max(1.4, 1.2 * math.sqrt(wide / relative))) if wide < math.inf else 4))
    return bounds


def fine(law: Law, cells: Mesh, *, tilt: float, count: int) -> Mesh:
    """About `count` cells, chosen by three rounds with few."""
    for number in (FEW, FEW, FEW, count):
        cells = refined(law, cells, tilt=tilt, count=number)
    return cells


def _excess(cells: Mesh, law: Law, tilt: float, rate: float) -> tuple[float, float]:
    """ln E[g] from below, with every cell merged, and from above, with every cell split between its ends.

    The ends are moved out by their error. The error of a common loss is 2·slack. Shares are rounded towards the end
    with the larger g. Above the mesh, g ≤ e^{λl}, and l ≤ e^{rl}/r for any rate r; below it, g ≤ λe^{−l} (or e^{−l}),
    whose mean under P is Q's mass.
    """
    lows, highs, common, wrong, sure, off = spans(cells, law)
    at_low, at_high = log_g(lows, tilt), log_g(highs, tilt)
    chord = log_chord(common - lows + np.where(at_high > at_low, wrong, -wrong), highs - lows, at_low, at_high)
    most = log_sum(cells.masses.log_p_most + chord)
    toward = np.sign(common) * np.maximum(np.abs(common) - np.where(sure, wrong, 0.0), 0.0)
    least = log_sum((cells.masses.log_p - cells.masses.slack)[sure] + log_g(toward[sure], tilt))
    rest = log_q_below(law, cells.low) + math.log(tilt or 1.0)
    beyond = -math.inf
    if cells.log_beyond > -math.inf:
        beyond = law.log_moment_above(rate, max(0.0, cells.high - float(off[-1]))) - (0.0 if tilt else math.log(rate))
    whole = float(np.logaddexp(most, np.logaddexp(rest, beyond)))
    rounding = 128 * FUNCTIONS  # of g where its terms nearly cancel, of shares and of sums
    return least - rounding - FUNCTIONS * abs(least), whole + rounding + FUNCTIONS * abs(whole)


class Spans(NamedTuple):
    """The ends of cells, moved out by their errors, and the common loss of each with its error.

    `sure` are the cells whose mass is known from both sides, `off` are the errors of the ends.
    """

    lows: Vector
    highs: Vector
    common: Vector
    wrong: Vector
    sure: NDArray[np.bool_]
    off: Vector


def spans(cells: Mesh, law: Law) -> Spans:
    """The cells as losses; an error of 2·slack is the error of a common loss, apart from rounding."""
    off = np.maximum(off_at(law, cells.first), off_at(law, cells.last))
    log_p, log_q, slack = cells.masses
    some = log_p > -np.inf
    common = np.where(some, log_p, 0.0) - np.where(some, log_q, 0.0)
    wrong = 2 * slack + 8 * ROUNDING * (1 + np.abs(common))
    return Spans(cells.first - off, cells.last + off, common, wrong, some & np.isfinite(slack), off)


def log_chord(moved: Vector, width: Vector, at_low: Vector, at_high: Vector) -> Vector:
    """ln of the mean of a function if a cell's mass is split between its ends, so that P and Q keep theirs.

    `moved` is how far the common loss lies above the low end, and the last two are ln of the function at the ends.
    """
    moved = np.clip(moved, 0.0, width)
    with np.errstate(divide="ignore"):
        right = np.log(np.minimum(1.0, np.expm1(-moved) / np.expm1(-width)))
        left = -moved + np.log(np.minimum(1.0, np.expm1(moved - width) / np.expm1(-width)))
    found: Vector = np.logaddexp(left + at_low, right + at_high)
    return found


def log_q_below(law: Law, edge: float) -> float:
    """ln of a bound on Q's mass below an edge."""
    return float(law.cells(np.array((-math.inf, edge))).log_q_most[0])


def log_g(losses: Vector, tilt: float) -> Vector:
    """ln of e^{λl} − 1 + λ(e^{−l} − 1); if λ is 0, of l − 1 + e^{−l}."""
    size = np.abs(losses) * max(1.0, tilt)
    small = np.clip(losses, -0.05 / max(1.0, tilt), 0.05 / max(1.0, tilt))
    near = np.zeros_like(losses)
    for power in range(10, 1, -1):  # Σ (λ^{n−1} + (−1)ⁿ)·lⁿ/n!, times λ
        near = near * small + ((tilt ** (power - 1) if tilt else 0.0) + (-1) ** power) / math.factorial(power)
    near = near * small * small
    rise, fall = tilt * losses, -losses
    inside = np.clip(losses, -600.0, 600.0 / (tilt or 1.0))
    if tilt:
        direct = np.expm1(tilt * inside) + tilt * np.expm1(-inside)
        large, log_tilt = rise, math.log(tilt)
    else:
        direct = losses + np.expm1(-np.maximum(losses, -600.0))
        large, log_tilt = np.log(np.maximum(losses, 1.0)), 0.0
    with np.errstate(divide="ignore"):
        found = np.log(np.where(size < 0.05, near, np.maximum(direct, 0.0)))
    found = found + np.where(size < 0.05, log_tilt, 0.0)
    far = (rise > 600.0) if tilt else (losses > 1e17)
    return np.select([far, losses < -600.0], [large, fall + log_tilt], found)


def log_sum(logs: Vector) -> float:
    """ln Σ e^x."""
    top = float(logs.max(initial=-math.inf))
    return top + math.log(float(np.exp(logs - top).sum())) if math.isfinite(top) else top


def log1p_exp(x: float) -> float:
    """ln(1 + e^x)."""
    return math.log1p(math.exp(x)) if x < 40.0 else x + math.exp(-x)


def mesh_end(law: Law, tilt: float, log_rest: float) -> float:
    """A loss above which less than e^{log_rest} of the moment lies, or the last of the grid."""
    edges = grid()
    losses = edges[(edges > 2.0**-20) & (edges < min(law.greatest, math.inf))]

    def far_enough(place: int) -> bool:
        return law.log_moment_above(tilt, float(losses[place])) < log_rest

    if not len(losses) or not far_enough(len(losses) - 1):
        return min(law.greatest, float(grid()[-2]))
    return float(losses[bisect_left(range(len(losses)), True, key=far_enough)])
