"""One release: the hockey-stick is P(L > ε) − e^ε·Q(L > ε), at any ε."""

from __future__ import annotations

import math

import numpy as np

from sitr.loss.law import FUNCTIONS, ROUNDING, Law, Vector
from sitr.loss.mesh import outline
from sitr.numbers import Interval

LOOKS = 128
ROUNDS = 8
SMALLEST = math.ulp(0.0)


def single_delta(law: Law, epsilon: float) -> Interval:
    """δ(ε), from below at ε, and from above at ε less what an edge may be off."""
    off = _off(law) * (1 + epsilon)
    low, high = profile(law, np.array((max(0.0, epsilon - off), epsilon)))
    spare = off if epsilon < off else 0.0  # δ falls by no more than x over a length of x
    return Interval(float(low[1]), min(1.0, float(high[0]) + spare))


def single_epsilon(law: Law, delta: float, *, narrow: float) -> Interval:
    """The least ε ≥ 0 with δ(ε) ≤ δ: so many looks at once between the last ε with more and the first with less.

    They come as close to each other as `narrow`, relative to ε, if that can be told.
    """
    goals = (delta * (1 - 4 * ROUNDING), delta * (1 + 4 * ROUNDING))
    if single_delta(law, 0.0).upper <= goals[0]:
        return Interval(0.0, 0.0)
    end = outline(law).high(math.log(delta) - 1.0)
    left, right = 0.0, end + 4 * _off(law) * (1 + end)
    proved = math.inf
    for _ in range(ROUNDS):
        looks = np.linspace(left, right, LOOKS)
        low, high = profile(law, looks)
        more, less = np.flatnonzero(low > goals[1]), np.flatnonzero(high <= goals[0])
        proved = min(proved, float(looks[less[0]]) if len(less) else math.inf)
        narrowed = (float(looks[more[-1]]) if len(more) else left, min(right, proved))
        if narrowed == (left, right):
            break
        left, right = narrowed
        if right - left <= narrow * right:
            break
    # A `left` above 0 was proved, and 0 is always right.
    return Interval(left, proved + _off(law) * (1 + proved))


def profile(law: Law, epsilons: Vector) -> tuple[Vector, Vector]:
    """From below δ(ε), and from above δ(ε + what an edge may be off), for ε ≥ 0 that grow.

    Whatever set of outputs {L > x} is, P's mass of it less e^ε times Q's is a bound from below. If the edge is
    at x instead of ε, that with e^x is δ(x), and δ falls.
    """
    found = law.cells(np.append(epsilons, math.inf))
    slack = np.where(np.isinf(found.slack), 0.0, found.slack)
    certain = np.isfinite(found.slack)
    p_most, q_most = (_tails(logs + slack, 1) for logs in (found.log_p, found.log_q))
    p_least, q_least = (_tails(np.where(certain, logs - slack, -np.inf), -1) for logs in (found.log_p, found.log_q))
    low = _difference(p_least, epsilons * (1 + ROUNDING) + q_most)
    high = _difference(p_most, epsilons - _off(law) * (1 + epsilons) + q_least)
    least, most = law.infinite * (1 - 4 * FUNCTIONS), law.infinite * (1 + 4 * FUNCTIONS) + 4 * SMALLEST
    return (
        np.maximum(0.0, low * (1 - 8 * FUNCTIONS) + least - 4 * SMALLEST),
        np.minimum(1.0, high * (1 + 8 * FUNCTIONS) + most),
    )


def _off(law: Law) -> float:
    """How far an edge may be off, relative to 1 + |l|."""
    return law.blur + 4 * ROUNDING


def _tails(logs: Vector, side: int) -> Vector:
    """ln of all masses from here on, rounded up or down: each sum adds F at most, and R of its logarithm."""
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
