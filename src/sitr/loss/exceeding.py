"""P(L > ε): how often the loss exceeds ε, which probabilistic differential privacy bounds.      [MKAGV08]

The tail of a single law is known. For a sum, let H(t) be the hockey-stick at t = e^ε. It is convex, and P(L > ε) =
H(t) − t·H′(t), where H′ is the slope to the right of t. A secant to the left of t falls at least as steeply, one to its
right at most as steeply: both give a bound, and the truth is between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from flint import arb

from sitr.loss.forms.gaussian import normal
from sitr.loss.law import FUNCTIONS, ROUNDING, Law
from sitr.namespace import Later
from sitr.numbers import Interval
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

STEPS = (0.3, 0.1, 0.03, 0.01, 0.003)
"""Lengths of secants, in losses: long ones cost little accuracy of H, short ones follow its curve."""

SMALLEST = math.ulp(0.0)


def single_exceeding(law: Law, epsilon: float) -> Interval:
    """P(L > ε) for one law: an edge may be off, so the tail is computed on both sides of ε."""
    off = (law.blur + 8 * ROUNDING) * (1 + epsilon)
    found = law.cells(np.array((epsilon - off, epsilon + off, math.inf)))
    most = float(np.logaddexp(*found.log_p_most))
    least = float(found.log_p[1] - found.slack[1])
    return _probability(math.exp(least) + law.infinite, math.exp(min(0.0, most)) + law.infinite)


def gaussian_exceeding(mu: float, epsilon: float) -> Interval:
    """Φ(μ/2 − ε/μ), because L is N(μ²/2, μ²)."""
    with precision(128):
        # The answer holds for the float and for the decimal that it prints as.
        least, most = (normal(arb(mu) / 2 - arb(math.nextafter(epsilon, end)) / arb(mu)) for end in (math.inf, 0.0))
        return _probability(float(least.lower()), float(most.upper()))


def secant_exceeding(delta: Callable[[float], Interval], epsilon: float) -> Interval:
    """P(L > ε) for any loss, from its hockey-stick at several ε."""
    here = delta(epsilon)
    lower, upper = here.lower, 1.0
    for step in STEPS:
        after = delta(epsilon + step)
        lower = max(lower, here.lower + (here.lower - after.upper) / math.expm1(step) * (1 - 8 * FUNCTIONS))
        if epsilon >= step:
            before = delta(epsilon - step)
            upper = min(upper, here.lower + (before.upper - here.lower) / -math.expm1(-step) * (1 + 8 * FUNCTIONS))
    return _probability(lower, upper)


def dominated_exceeding(delta: Callable[[float], Interval], epsilon: float) -> Interval:
    """P(L > ε) ≤ δ(ε − h)/(1 − e^{−h}), for any loss whose hockey-stick is at most δ.

    Secants do not bound it: merging outputs lowers the hockey-stick, but may raise losses above ε.
    """
    upper = 1.0
    for step in (*STEPS, 1.0, 3.0, epsilon):
        if 0.0 < step <= epsilon:
            upper = min(upper, delta(epsilon - step).upper / -math.expm1(-step) * (1 + 8 * FUNCTIONS))
    return _probability(0.0, upper)


def _probability(lower: float, upper: float) -> Interval:
    return Interval(max(0.0, lower * (1 - 8 * FUNCTIONS)), min(1.0, upper * (1 + 8 * FUNCTIONS) + SMALLEST))
