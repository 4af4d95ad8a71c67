"""One release: the hockey-stick is P(L > ε) − e^ε·Q(L > ε), at any ε."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.loss.law import FUNCTIONS, ROUNDING, Law, Vector
from sitr.loss.mesh import outline
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

LOOKS = 128
ROUNDS = 8
SMALLEST = math.ulp(0.0)


def single_delta(law: Law, epsilon: float) -> Interval:
    """δ(ε): from below at ε, and from above at ε minus the error of an edge."""
    off = _off(law) * (1 + epsilon)
    low, high = profile(law, np.array((max(0.0, epsilon - off), epsilon)))
    spare = off if epsilon < off else 0.0  # δ decreases by at most x over a length of x
    return Interval(float(low[1]), min(1.0, float(high[0]) + spare))


def single_epsilon(law: Law, delta: float, *, narrow: float, least: float = 0.0) -> Interval:
    """The least ε ≥ 0 with δ(ε) ≤ δ, from LOOKS values at once between the last larger and the first smaller one.

    The search ends when these two are as close as `narrow`, relative to ε, or when nothing much closer can be proved.
    If ε is not larger than `least`, no more than that is proved.
    """
    goals = (delta * (1 - 4 * ROUNDING), delta * (1 + 4 * ROUNDING))
    if single_delta(law, least).upper <= goals[0]:
        return Interval(0.0, least)
    end = outline(law).high(math.log(delta) - 1.0)
    left, right = 0.0, end + 4 * _off(law) * (1 + end)
    proved, looks = math.inf, np.linspace(left, right, LOOKS)
    for _ in range(ROUNDS):
        low, high = profile(law, looks)
        more, less = np.flatnonzero(low > goals[1]), np.flatnonzero(high <= goals[0])
        proved = min(proved, float(looks[less[0]]) if len(less) else math.inf)
        width, left = right - left, float(looks[more[-1]]) if len(more) else left
        right = min(right, proved)
        if right - left <= narrow * right or right - left > 0.8 * width:
            break
        share = _crossing(low[more[-1]], high[less[0]], delta) if len(more) and len(less) else 0.5
        looks = _looks(left, right, near=left + share * (right - left))
    # A `left` above 0 was proved, and 0 is always a lower bound.
    return Interval(left, proved + _off(law) * (1 + proved))


def _crossing(above: float, below: float, delta: float) -> float:
    """Where ln δ(ε) passes ln δ on its way between two values, if it is almost a line there, from 0 to 1."""
    goal = math.log(delta)
    first, last = math.log(above) - goal, goal - math.log(below) if below > 0.0 else math.inf
    return first / (first + last) if first + last > 0.0 else 0.5


def _looks(left: float, right: float, *, near: float) -> Vector:
    """Half of them evenly between both ends, and half ever denser towards a value."""
    away = (right - left) * 0.5 ** np.arange(1.0, LOOKS // 4 + 1.0)
    every = np.concatenate([np.linspace(left, right, LOOKS // 2), near - away, near + away])
    found: Vector = np.unique(np.clip(every, left, right))
    return found


def profile(law: Law, epsilons: Vector) -> tuple[Vector, Vector]:
    """A lower bound on δ(ε), and an upper bound on δ(ε + error of an edge), for increasing ε ≥ 0.

    For every set of outputs, P's mass minus e^ε times Q's mass is a lower bound on δ(ε). If the edge is at x instead of
    ε, the same with e^x is δ(x), and δ decreases.
    """
    found = law.cells(np.append(epsilons, math.inf))
    p_most, q_most = (_tails(logs, 1) for logs in (found.log_p_most, found.log_q_most))
    p_least, q_least = (_tails(logs - found.slack, -1) for logs in (found.log_p, found.log_q))
    low = _difference(p_least, epsilons * (1 + ROUNDING) + q_most)
    high = _difference(p_most, epsilons - _off(law) * (1 + epsilons) + q_least)
    least, most = law.infinite * (1 - 4 * FUNCTIONS), law.infinite * (1 + 4 * FUNCTIONS) + 4 * SMALLEST
    return (
        np.maximum(0.0, low * (1 - 8 * FUNCTIONS) + least - 4 * SMALLEST),
        np.minimum(1.0, high * (1 + 8 * FUNCTIONS) + most),
    )


def _off(law: Law) -> float:
    """The error of an edge, relative to 1 + |l|."""
    return law.blur + 4 * ROUNDING


def _tails(logs: Vector, side: int) -> Vector:
    """ln of the total mass from each place on, rounded up or down: each sum adds an error of at most F."""
    found: Vector = np.logaddexp.accumulate(logs[::-1])[::-1]
    finite = np.where(np.isneginf(found), 0.0, found)
    return found + side * len(logs) * FUNCTIONS * (1 + np.abs(finite))


def _difference(more: Vector, less: Vector) -> Vector:
    """e^more − e^less, or 0 if that is negative."""
    some = more > -np.inf
    top = np.where(some, more, 0.0)
    ratio = np.minimum(np.where(np.isneginf(less), -np.inf, less - top), 0.0)
    found: Vector = np.where(some, np.exp(np.minimum(top, 1.0)) * -np.expm1(ratio), 0.0)
    return found
