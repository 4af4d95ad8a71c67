"""The power of an attacker: the trade-off between false and true positives, computed from the profile."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sitr.loss.law import FUNCTIONS
from sitr.numbers import Interval

Profile = Callable[[float], Interval]
"""δ at an ε ≥ 0, as an interval."""

SMALLEST = 1e-290
"""The smallest false-positive rate that is looked at: the inverse of a much smaller one has no float."""

LOOKS = 24


@dataclass(slots=True)
class _Curve:
    """H_t = sup over tests of P(A) − t·Q(A), for all t > 0, with the values that are known."""

    forward: Profile
    backward: Profile
    known: dict[float, Interval] = field(default_factory=dict)

    def at(self, epsilon: float) -> Interval:
        """H at t = e^ε. H decreases, so values on either side bound it as well."""
        if epsilon not in self.known:
            found = self._look(epsilon)
            before = (bounds.upper for place, bounds in self.known.items() if place < epsilon)
            after = (bounds.lower for place, bounds in self.known.items() if place > epsilon)
            self.known[epsilon] = Interval(max(found.lower, *after, 0.0), min(found.upper, *before, 1.0))
        return self.known[epsilon]

    def _look(self, epsilon: float) -> Interval:
        """Below t = 1, H follows from the other direction: H_t(P‖Q) = 1 − t·(1 − H_{1/t}(Q‖P))."""
        if epsilon >= 0.0:
            return self.forward(epsilon)
        there, t = self.backward(-epsilon), math.exp(epsilon)
        least, most = (1 - t * (1 - one) for one in (there.lower, there.upper))
        return Interval(least - 8 * FUNCTIONS, most + 8 * FUNCTIONS)

    def points(self) -> list[tuple[float, Interval]]:
        """All known points, by increasing t."""
        return sorted((math.exp(epsilon), bounds) for epsilon, bounds in self.known.items())


def true_positive_rate(forward: Profile, backward: Profile, fpr: float) -> Interval:
    """The best true-positive rate of tests between P and Q with this false-positive rate: the least H_t + t·fpr over t.

    H is convex in t. Any t gives an upper bound. For the lower bound, H lies above each line through two of its points
    outside of the segment between them; so between two neighbouring points it lies above the higher of two such lines.
    """
    if fpr < SMALLEST:
        return Interval(fpr, true_positive_rate(forward, backward, SMALLEST).upper)  # it grows with fpr
    curve = _Curve(forward, backward)
    advantage = curve.at(0.0)  # the true-positive rate exceeds the false-positive rate by at most this
    # The best ε has Q(L > ε) = fpr, and no loss above ln(1/fpr) is that frequent.
    # Below −10, H is 1 to within e^{−10}.
    low, high = -math.log(1 / fpr) - 10.0, math.log(1 / fpr) + 1.0
    # At the ends, cheap bounds usually suffice: H is at least 1 − t, and decreases.
    curve.known[low] = Interval(1 - math.exp(low) - 8 * FUNCTIONS, 1.0)
    curve.known[high] = Interval(0.0, advantage.upper)
    golden, least = (math.sqrt(5) - 1) / 2, 0.0
    places = [low, high - golden * (high - low), low + golden * (high - low), high]
    for _ in range(LOOKS):
        costs = [curve.at(place).upper + math.exp(place) * fpr for place in places]
        best = min(range(4), key=costs.__getitem__)
        points = curve.points()
        upper, unknown = min((found.upper + t * fpr, found.width) for t, found in points)
        least = max(least, _least(points, fpr))  # lines through close points are less accurate
        # More places do not help once the uncertainty of H itself dominates.
        if upper - least <= 2 * unknown or places[3] - places[0] < 1e-3:
            break
        if best <= 1:
            places = [places[0], places[2] - golden * (places[2] - places[0]), places[1], places[2]]
        else:
            places = [places[1], places[2], places[1] + golden * (places[3] - places[1]), places[3]]
    if upper - least > 2 * unknown:  # H may be flat over a long interval
        del curve.known[high]
        curve.at(high)
        least = max(least, _least(curve.points(), fpr))
    # All of this is rounded, t = e^ε included.
    return Interval(max(fpr, least - 64 * FUNCTIONS), min(1.0, max(fpr, upper + 64 * FUNCTIONS)))


def _least(points: list[tuple[float, Interval]], fpr: float) -> float:
    """A lower bound on H_t + t·fpr over all t > 0."""
    least = min(points[0][1].lower, points[-1][0] * fpr)  # H decreases, and is at least 0
    for place in range(len(points) - 1):
        (left, at_left), (right, at_right) = points[place], points[place + 1]
        least = min(least, _between(points, place, left, right, at_left.lower, at_right.lower, fpr))
    return least


def _between(
    points: list[tuple[float, Interval]], place: int, left: float, right: float, low: float, high: float, fpr: float
) -> float:
    """The least of max(line from the left, line from the right) + t·fpr: at an end, or where they meet."""
    before = points[place - 1] if place > 0 else (0.0, Interval(1.0, 1.0))
    after = points[place + 2] if place + 2 < len(points) else None
    falling = (low - before[1].upper) / (left - before[0])
    rising = (after[1].upper - high) / (after[0] - right) if after else 0.0

    def above(t: float) -> float:
        return max(low + falling * (t - left), high - rising * (right - t)) + t * fpr

    candidates = [left, right]
    if rising != falling:
        meeting = (high - low - rising * right + falling * left) / (falling - rising)
        candidates.append(min(right, max(left, meeting)))
    return min(map(above, candidates))
