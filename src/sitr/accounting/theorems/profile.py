"""Composition of profiles: several (ε, δ) of each release count at once."""

from __future__ import annotations

from fractions import Fraction

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.loss import epsilon_of, largest, total_loss
from sitr.accounting.theorems.theorem import Theorem, Total, at_most, never
from sitr.accounting.views import Inapplicable, as_profile, each
from sitr.numbers import downward, exact

VERTICES = 2048
"""The most places at which tails are evaluated, over all kinds of steps: of many kinds, each gets fewer."""

RELATIVE = 1e-4
"""The relative width of the interval for ε."""


def profile(schedule: Schedule, delta: float) -> Total:
    """The sum of the losses of the pairs of laws that dominate each profile.      [ZDW22, Thm 10]

    A tail without end is cut where δ/2 divided by the number of releases is left of it.
    """
    floor = downward(exact(delta) * Fraction(1, 2 * schedule.releases))
    kinds = len({part.promises for part in schedule.parts})
    places = min(64, max(8, VERTICES // kinds))
    seen = each(schedule, lambda part: as_profile(part, floor=floor, places=places))
    most = largest((promise.points, times) for promise, times in seen)
    total = total_loss(Schedule(tuple(Part((promise,), times) for promise, times in seen)))
    if delta == 0.0 and total.infinite_mass() > 0.0:
        raise Inapplicable(f"the loss may be infinite with probability {total.infinite_mass()}, which is more than δ")
    return at_most(min(most, epsilon_of(total, delta, relative=RELATIVE).upper) if delta else most)


PROFILE = Theorem(name="profile", source="[ZDW22, Thm 10; DGKM22]", total=profile, adaptive=never)
