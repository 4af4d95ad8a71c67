"""Optimal composition of different steps: the most that releases with any (εᵢ, δᵢ) can lose, as a proved interval."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from fractions import Fraction

from flint import arb

from sitr.accounting.schedule import Schedule
from sitr.accounting.shares import SMALLEST, shared, spare
from sitr.accounting.theorems.theorem import Theorem, Total, never
from sitr.accounting.views import Inapplicable
from sitr.errors import WiderThanAsked
from sitr.flavors.approximate import LARGEST_LOSS
from sitr.loss.enumerated import enumerated
from sitr.loss.forms.finite import response
from sitr.loss.loss import RELATIVE, Loss
from sitr.numbers import Interval, ball, downward, exact, lower, upward
from sitr.precision import nearest, precision

ERROR = 0.05
"""The default width of an interval for ε."""

ENUMERATED = 2**20
"""Up to this many values of the sum (20 different steps) the answer is exact up to rounding."""


def optimal_mixed(schedule: Schedule, delta: float, *, error: float = ERROR) -> Total:
    """The least ε with 1 − Π(1 − δᵢ)·(1 − H(ε)) ≤ δ, where H is the hockey-stick of independent responses ±εᵢ.

    [MV16, Thm 1.5]. The loss of these responses answers: exactly, up to rounding, where it has few values, otherwise
    with an interval of at most this width if one can be proved. Releases with a tail get half of δ, as in `shared`.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> optimal_mixed(Schedule((Part((PureDP(0.1),), times=50), Part((PureDP(0.2),), times=50))), 1e-6).upper
    7.9903...
    """
    shares = shared(schedule, delta=delta)
    tail = spare(shares.points, delta)
    steps: Counter[float] = Counter()
    for point in shares.points:
        steps[point.epsilon] += point.times
    del steps[0.0]  # such a step has no finite loss
    reach = sum((exact(epsilon) * times for epsilon, times in steps.items()), Fraction(0))
    low, high = downward(reach), upward(reach)
    if steps and tail > 0:
        low, high = _interval(steps, tail, error)
    elif steps and not tail <= 0:
        low = _near(reach, steps, tail)
    return Total(min(low, high) if shares.whole else 0.0, min(high, upward(reach)), shares.whole)


def _near(reach: Fraction, steps: Counter[float], tail: arb) -> float:
    """A lower bound where nothing may be left of δ: H ≥ top·(1 − e^{ε−Σεᵢ}), where top is P(all signs are +)."""
    with precision(224):
        top = -sum(((-ball(epsilon)).exp().log1p() * times for epsilon, times in steps.items()), arb(0))
        part = tail.upper() / top.exp()
        return max(0.0, lower(ball(reach) + (-part).log1p())) if part < 1 else 0.0


def _interval(steps: Counter[float], tail: arb, error: float) -> tuple[float, float]:
    """ε at δ = tail: at the default width of a loss, and again more narrowly if that is wider than `error`.

    A float δ is answered for all numbers that round to it, so the tail may be rounded.
    """
    if not tail > arb(SMALLEST):
        raise Inapplicable(f"the δ left for finite losses is less than {SMALLEST}, which floats cannot resolve")
    if max(steps) > LARGEST_LOSS:
        return 0.0, math.inf
    loss = Loss.compose(Loss.of(response(epsilon), times) for epsilon, times in sorted(steps.items()))
    if (atoms := enumerated(loss.laws, most=ENUMERATED)) is not None:
        exact_answer = atoms.epsilon(tail)
        return exact_answer.lower, exact_answer.upper
    rest = nearest(tail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)
        found = loss.epsilon(delta=rest)
        if error < found.width < math.inf:
            finer = loss.epsilon(delta=rest, relative=min(RELATIVE, max(1e-9, error / (2 * found.upper))))
            found = Interval(max(found.lower, finer.lower), min(found.upper, finer.upper))
    return found.lower, found.upper


OPTIMAL_MIXED = Theorem(name="optimal_mixed", source="[MV16, Thm 1.5]", total=optimal_mixed, adaptive=never)
