"""The trade-off curve that a claim allows, for pictures."""

from __future__ import annotations

import math

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.report.views import trade_off

_STEPS = 200
_DELTAS = tuple(10.0 ** (-k / 4) for k in range(1, 33))


def allowed(claim: Promise) -> list[tuple[float, float]]:
    """Points (false positives, most true positives) of the curve that no test between neighbours may exceed.

    >>> allowed(ApproximateDP(0.0, 0.5))
    [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    if isinstance(claim, GaussianDP):
        # Φ(t) and Φ(t + μ); t is far enough out on both sides.
        ends = -5.0 - claim.mu, 5.0
        places = [ends[0] + (ends[1] - ends[0]) * step / _STEPS for step in range(_STEPS + 1)]
        inner = [(_normal(t), _normal(t + claim.mu)) for t in places]
        return [(0.0, 0.0), *inner, (1.0, 1.0)]
    points = claim.stated
    if not points:
        implied = (ApproximateDP.implied_by(claim, delta=delta) for delta in _DELTAS)
        points = tuple((one.epsilon, one.delta) for one in implied if one is not None)
    return trade_off(points) if points else [(0.0, 1.0), (1.0, 1.0)]


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2
