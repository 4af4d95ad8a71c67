"""The privacy loss itself: the laws of all releases, added from both sides."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, never
from sitr.accounting.views import Inapplicable
from sitr.loss.loss import Loss
from sitr.numbers import exact, upward


def loss(schedule: Schedule, delta: float) -> Total:
    """ε at δ of the sum of all losses, as an interval. Each law belongs to a mechanism that keeps the promises.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.gaussian import GaussianDP
    >>> loss(Schedule((Part((GaussianDP(0.5),), times=4),)), 1e-6)
    Total(lower=4.88..., upper=4.88..., two_sided=True)
    """
    total = total_loss(schedule)
    found = total.epsilon(delta=above_zero(delta))
    if found.lower == math.inf:
        raise Inapplicable(f"the loss may be infinite with probability {total.infinite_mass()}, which is more than δ")
    if found.upper == math.inf:
        raise Inapplicable("no upper bound could be proved: the loss may be infinite with a probability too close to δ")
    upper = min(found.upper, _largest(schedule))
    return Total(min(found.lower, upper), upper, two_sided=True)


def _largest(schedule: Schedule) -> float:
    """The largest finite loss, exactly, if every step states one; the law of a loss has it only rounded."""
    losses = []
    for part in schedule.inner.parts:
        if part.known is not None or len(part.promises) > 1 or not (points := part.promises[0].stated):
            return math.inf
        losses.append(exact(points[-1][0]) * part.times)
    return upward(sum(losses, Fraction(0)))


def total_loss(schedule: Schedule) -> Loss:
    """The losses of all releases of a schedule, added; a step without one is named."""
    inner = schedule.inner
    total = inner.loss()
    if total is not None:
        return total
    place, part = next((place, part) for place, part in enumerate(inner.parts, start=1) if part.loss() is None)
    raise Inapplicable(f"{part.called(place)}: its promises do not determine the law of its loss")


LOSS = Theorem(name="loss", source="[ZDW22, Thm 10; DGKM22]", total=loss, adaptive=never)
