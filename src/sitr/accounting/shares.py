"""How δ is shared among the steps, for theorems that need one (ε, δ) of each release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.views import Inapplicable, as_approximate, each
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.numbers import ball, downward, exact
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Point:
    """The (ε, δ) that is used for a step. `whole`: it implies all promises of the step, so that nothing is lost."""

    epsilon: float
    delta: float
    times: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """The points of a schedule, and what they leave of δ; less than 0 where they leave nothing."""

    points: tuple[Point, ...]
    slack: Fraction

    @property
    def whole(self) -> bool:
        """Whether the points imply all promises: then a result that is exact for them is exact for the schedule."""
        return all(point.whole for point in self.points)


SMALLEST = 1e-250
"""Below this, floats cannot distinguish the rest of δ from rounding errors."""


def spare(points: Iterable[Point], delta: float) -> arb:
    """1 − (1 − δ)/Π(1 − δᵢ): the δ that infinite losses leave for finite ones."""
    with precision(224):
        finite = arb(0)
        for point in points:
            if point.delta == 1.0:
                raise Inapplicable("a step with δ = 1 promises nothing")
            finite += (-ball(point.delta)).log1p() * point.times
        if -finite.expm1() > ball(delta):
            raise Inapplicable(f"the loss may be infinite with probability {float((-finite.expm1()).mid()):.3g} > δ")
        return -((-ball(delta)).log1p() - finite).expm1()


@lru_cache(maxsize=16)
def shared(schedule: Schedule, *, delta: float, part: Fraction = Fraction(1, 2)) -> Shares:
    """Choose one point for each step; any choice that does not look at answers is sound.

    A step with stated points (pure, approximate, profile) is seen at one of them, never between them. First each gets
    its least δ. Of the rest, `part` is divided equally among the releases that can use more: those bounded by moments
    or by a Gaussian, at exactly their share, and profiles, at the least ε within it. The remainder is the slack.

    >>> shared(Schedule((Part((PureDP(0.1),), times=10),)), delta=1e-6).points
    (Point(epsilon=0.1, delta=0.0, times=10, whole=True),)
    """
    stated = [(_stated(part), part.times) for part in schedule.parts]
    least = sum((exact(points[-1][1]) * times for points, times in stated if points), Fraction(0))
    rest = max(Fraction(0), exact(delta) - least)
    flexible = sum(times for points, times in stated if len(points) != 1)
    share = part * rest / flexible if flexible else Fraction(0)
    # The view of equal steps is made once, so their number of times comes from the steps themselves.
    points = tuple(replace(point, times=times) for point, times in each(schedule, lambda part: _seen(part, share)))
    return Shares(points, exact(delta) - sum((exact(point.delta) * point.times for point in points), Fraction(0)))


def fixed(schedule: Schedule) -> bool:
    """Whether every step has exactly one stated point, so that its share of δ depends on no other step."""
    return all(len(_stated(part)) == 1 for part in schedule.parts)


def _stated(part: Part) -> tuple[tuple[float, float], ...]:
    """The points that were written down, by growing ε and falling δ."""
    points = tuple(point for promise in part.promises for point in promise.stated)
    return PrivacyProfile(points).points if points else ()


def _seen(part: Part, share: Fraction) -> Point:
    stated = _stated(part)
    if not stated:
        seen = as_approximate(part, delta=downward(share))
        return Point(seen.epsilon, seen.delta, part.times, whole=False)
    most = exact(stated[-1][1]) + share
    epsilon, delta = next(point for point in stated if exact(point[1]) <= most)
    promise: Promise = PrivacyProfile(((epsilon, delta),)) if delta else PureDP(epsilon)
    return Point(epsilon, delta, part.times, all(promise.covers(other) for other in part.promises))
