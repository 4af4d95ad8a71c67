"""Composition of profiles: several (ε, δ) of each release count at once."""

from __future__ import annotations

from fractions import Fraction

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Theorem, Total, at_most, never
from sitr.accounting.views import Inapplicable, as_profile, each
from sitr.flavors.profile import PrivacyProfile
from sitr.numbers import downward, exact

VERTICES = 2048
"""The most places at which tails are evaluated, over all kinds of steps: of many kinds, each gets fewer."""


def profile(schedule: Schedule, delta: float) -> Total:
    """The pair of laws that dominates each profile, convolved on a lattice.      [ZDW22, Thm 10; DGKM22, Sec. 4]

    The search of `Loss` gives the same ε with a proved lower end, but takes a hundred times as long for laws with this
    many atoms.

    A tail without end is cut where δ/2 divided by the number of releases is left of it.
    """
    floor = downward(exact(delta) * Fraction(1, 2 * schedule.releases))
    kinds = len({part.promises for part in schedule.parts})
    places = min(64, max(8, VERTICES // kinds))
    seen = each(schedule, lambda part: as_profile(part, floor=floor, places=places))
    whole = PrivacyProfile.compose_near(seen, delta=delta)
    if whole.infinite_mass() > delta:
        raise Inapplicable(f"the loss may be infinite with probability {whole.infinite_mass()}, which is more than δ")
    return at_most(whole.to_approximate(delta=delta).epsilon)


PROFILE = Theorem(name="profile", source="[ZDW22, Thm 10; DGKM22]", total=profile, adaptive=never)
