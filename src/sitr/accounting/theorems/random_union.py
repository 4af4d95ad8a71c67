"""Random composition: the inner promises add, and so do the fractions γ of data for which nothing is promised."""

from __future__ import annotations

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.basic import basic
from sitr.accounting.theorems.theorem import Theorem, Total, never
from sitr.accounting.views import Inapplicable


def random_union(schedule: Schedule, delta: float) -> Total:
    """(Σε, Σδ) of the inner promises, for all but a fraction `schedule.gamma` = Σγ of data.      [HRW11, Prop. 4.2]

    Data are assumed to be exchangeable, and γ is worth no more than its `schedule.basis`.

    Only for plans fixed in advance: if the second release is chosen after the first answer, it may be aimed at exactly
    the data for which it promises nothing. The ε means nothing without γ.
    """
    if not schedule.random:
        raise Inapplicable("no step is random: there is no fraction γ to add up")
    return basic(schedule.inner, delta)


RANDOM_UNION = Theorem(name="random_union", source="[HRW11, Prop. 4.2]", total=random_union, adaptive=never)
