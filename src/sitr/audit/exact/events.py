"""Figures of many pairs that are about events: ε at δ, and the ε that the loss exceeds with probability δ.

Each is the largest of all pairs. That maximum is one number t = e^ε: it is enough to prove of one t that it suffices
for every pair, and of a slightly smaller one that it does not for some pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.audit.exact.pairs import Pairs
from sitr.audit.exact.table import Matrix
from sitr.loss.law import FUNCTIONS, Vector
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

STEPS = 100
"""Newton's method ends after fewer steps: each one passes a corner of a polygon, and few are passed twice."""

WIDEST = 700.0
"""Beyond this ε, e^ε has no float."""


@dataclass(frozen=True, slots=True)
class Found:
    """A proved interval, and the pair that attains its lower end."""

    value: Interval
    row: int


def exponential(epsilon: float) -> tuple[float, float]:
    """Floats below and above e^ε, whatever ε has this float: rounding it moves e^ε by a share that grows with ε."""
    if epsilon > WIDEST:
        return math.exp(WIDEST), math.inf
    middle, error = math.exp(epsilon), FUNCTIONS * (1 + epsilon)
    return max(0.0, middle * (1 - error)), middle * (1 + error)


def logarithm(low: float, high: float) -> Interval:
    """ln of a number of at least 1 between two floats, at least 0."""
    ends = (math.log(low) if low > 0 else -math.inf, math.log(high) if high < math.inf else math.inf)
    return Interval(
        max(0.0, ends[0] - FUNCTIONS * (1 + abs(ends[0]))), max(0.0, ends[1] + FUNCTIONS * (1 + abs(ends[1])))
    )


def epsilon_at(pairs: Pairs, low: float, high: float) -> Found:
    """The least ε ≥ 0 with Σ(P − e^ε·Q)₊ ≤ δ for all pairs, for a δ between two floats."""
    mass = pairs.infinite()
    if float(mass.lower.max()) > high:
        return Found(Interval(math.inf, math.inf), int(np.argmax(mass.lower)))
    row, least = _root(pairs, high, -1)
    _, most = _root(pairs, low, 1)
    proved_low = _last(least, lambda t: float(pairs.some([row]).hockey_stick(t, t).lower[0]) > high)
    proved_high = _first(most, lambda t: bool(np.all(pairs.hockey_stick(t, t).upper <= low)))
    return Found(logarithm(proved_low, proved_high), row)


def _root(pairs: Pairs, delta: float, side: int) -> tuple[int, float]:
    """Nearly the largest t with Σ(P − tQ)₊ ≥ δ for some pair, which is returned too.

    A step of Newton's method stays left of the root, because the sum is convex in t. A pair whose sum is at most δ
    at some t stays there for larger t and is left out.
    """
    wrong = side * pairs.wrong
    rows, t, best = np.arange(len(pairs)), 1.0, 0
    for _ in range(STEPS):
        part = pairs.some(rows)
        over, slope = _sums(part, t, wrong)
        above = over > delta
        if not bool(above.any()):
            break
        with np.errstate(divide="ignore"):
            steps = np.where(above, (over - delta) / np.where(slope > 0.0, slope, 1e-300), 0.0)
        # The farthest step of a pair is the best bound on its own root.
        place = int(np.argmax(steps))
        best, rows = int(rows[place]), rows[above]
        if not steps[place] > 4e-16 * t or t > 1e300:
            break
        t = min(1e301, t + float(steps[place]))
    return best, t


def _sums(pairs: Pairs, t: float, wrong: float) -> tuple[Vector, Vector]:
    """Σ(P − tQ)₊ and Q's mass on that event."""
    found = []
    for p, q in pairs.blocks():
        smaller = q * (1 - wrong)
        excess = p * (1 + wrong) - t * smaller
        found.append((np.maximum(excess, 0.0).sum(axis=1), np.where(excess > 0.0, smaller, 0.0).sum(axis=1)))
    return np.concatenate([over for over, _ in found]), np.concatenate([mass for _, mass in found])


def _first(start: float, holds: Callable[[float], bool]) -> float:
    """A t near the start, or above it, for which this is proved; infinite if there is none."""
    off = 0.0
    while off < 1e3:
        if holds(start * (1 + off)):
            return start * (1 + off)
        off = off * 8 or 1e-15
    return math.inf


def _last(start: float, holds: Callable[[float], bool]) -> float:
    """A t near the start, or below it, for which this is proved; 1 if there is none."""
    off = 1e-15
    while off < 1.0:
        t = start * (1 - off)
        if t <= 1.0:
            return 1.0
        if holds(t):
            return t
        off *= 8
    return 1.0


def quantile(pairs: Pairs, low: float, high: float) -> Found:
    """The least ε ≥ 0 with P(L > ε) ≤ δ for all pairs, for a δ between two floats: a loss, or 0, or infinite."""
    mass = pairs.infinite()
    if float(mass.lower.max()) > high:
        return Found(Interval(math.inf, math.inf), int(np.argmax(mass.lower)))
    error = 2 * (pairs.wrong + pairs.summed)
    under = np.concatenate([_jump(p, q, high * (1 + error)) for p, q in pairs.blocks()])
    over = np.concatenate([_jump(p, q, low * (1 - error)) for p, q in pairs.blocks()])
    row, near = int(np.argmax(under)), 1 + 8 * pairs.wrong
    least, most = max(1.0, float(under[row]) / near), max(1.0, float(over.max()) * near)
    if least > 1.0 and not float(pairs.some([row]).exceeding(least, least).lower[0]) > high:
        least = 1.0
    if math.isinf(most) or not bool(np.all(pairs.exceeding(most, most).upper <= low)):
        most = math.inf
    return Found(logarithm(least, most), row)


def _jump(p: Matrix, q: Matrix, delta: float) -> Vector:
    """The least ratio P/Q of each pair above which P has at most this mass, up to rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(p > 0.0, p / q, 0.0)
    order = np.argsort(-ratios, axis=1)
    ratios = np.take_along_axis(ratios, order, axis=1)
    masses = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
    above = masses > delta  # with the outcome itself: it may be exceeded no more
    place = np.where(above.any(axis=1), above.argmax(axis=1), p.shape[1] - 1)
    found: Vector = np.take_along_axis(ratios, place[:, None], axis=1)[:, 0]
    return np.where(above.any(axis=1), found, 1.0)
