"""What an attacker can do: the trade-off between false alarms and hits, read off the profile from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sitr.loss.law import FUNCTIONS
from sitr.numbers import Interval

Profile = Callable[[float], Interval]
"""δ at an ε ≥ 0, as an interval."""

LOOKS = 24


@dataclass(slots=True)
class _Curve:
    """H_t = sup over tests of P(A) − t·Q(A), for all t > 0, and what is known of it."""

    forward: Profile
    backward: Profile
    known: dict[float, Interval] = field(default_factory=dict)

    def at(self, epsilon: float) -> Interval:
        """H at t = e^ε, which falls: what is known on either side of it counts as well."""
        if epsilon not in self.known:
            found = self._look(epsilon)
            before = (bounds.upper for place, bounds in self.known.items() if place < epsilon)
            after = (bounds.lower for place, bounds in self.known.items() if place > epsilon)
            self.known[epsilon] = Interval(max(found.lower, *after, 0.0), min(found.upper, *before, 1.0))
        return self.known[epsilon]

    def _look(self, epsilon: float) -> Interval:
        """Below t = 1 from the other direction: H_t(P‖Q) = 1 − t·(1 − H_{1/t}(Q‖P))."""
        if epsilon >= 0.0:
            return self.forward(epsilon)
        there, t = self.backward(-epsilon), math.exp(epsilon)
        least, most = (1 - t * (1 - one) for one in (there.lower, there.upper))
        return Interval(least - 8 * FUNCTIONS, most + 8 * FUNCTIONS)

    def points(self) -> list[tuple[float, Interval]]:
        """By growing t."""
        return sorted((math.exp(epsilon), bounds) for epsilon, bounds in self.known.items())


def true_positive_rate(forward: Profile, backward: Profile, fpr: float) -> Interval:
    """The best hit rate of tests between P and Q with this rate of false alarms: the least of H_t + t·fpr over t.

    H is convex in t. Any t gives an upper bound. For the lower one, H is above each line through two of its points,
    outside of them; so between neighbours among the points that were looked at it is above the higher of two lines.
    """
    curve = _Curve(forward, backward)
    advantage = curve.at(0.0)  # no more hits than false alarms and this
    # The best ε is where Q(L > ε) = fpr: no loss beyond ln(1/fpr) can be that frequent.
    # Below −10, H is 1 to within e^{−10}.
    low, high = -math.log(1 / fpr) - 10.0, math.log(1 / fpr) + 1.0
    # At the ends a look is seldom worth its cost: H is at least 1 − t, and falls.
    curve.known[low] = Interval(1 - math.exp(low) - 8 * FUNCTIONS, 1.0)
    curve.known[high] = Interval(0.0, advantage.upper)
    golden, least = (math.sqrt(5) - 1) / 2, 0.0
    places = [low, high - golden * (high - low), low + golden * (high - low), high]
    for _ in range(LOOKS):
        costs = [curve.at(place).upper + math.exp(place) * fpr for place in places]
        best = min(range(4), key=costs.__getitem__)
        points = curve.points()
        upper, unknown = min((found.upper + t * fpr, found.width) for t, found in points)
        least = max(least, _least(points, fpr))  # lines through points that are close to each other say less
        # Finer places do not help where most of what is unknown is so of H itself.
        if upper - least <= 2 * unknown or places[3] - places[0] < 1e-3:
            break
        if best <= 1:
            places = [places[0], places[2] - golden * (places[2] - places[0]), places[1], places[2]]
        else:
            places = [places[1], places[2], places[1] + golden * (places[3] - places[1]), places[3]]
    if upper - least > 2 * unknown:  # H may be flat for long
        del curve.known[high]
        curve.at(high)
        least = max(least, _least(curve.points(), fpr))
    # t = e^ε is rounded, as is all of this: H falls by at most t·(1 − H)/t when t grows by a factor.
    return Interval(max(fpr, least - 64 * FUNCTIONS), min(1.0, max(fpr, upper + 64 * FUNCTIONS)))


def _least(points: list[tuple[float, Interval]], fpr: float) -> float:
    """A lower bound on H_t + t·fpr over all t > 0."""
    least = min(points[0][1].lower, points[-1][0] * fpr)  # H falls, and is at least 0
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
