"""The privacy loss itself: the laws of all releases, added from both sides."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, never
from sitr.accounting.views import Inapplicable
from sitr.flavors.promise import Points
from sitr.loss.loss import RELATIVE, Loss
from sitr.numbers import Interval, exact, upward


def loss(schedule: Schedule, delta: float) -> Total:
    """ε at δ of the sum of all losses, as an interval. Each law belongs to a mechanism that keeps the promises.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.gaussian import GaussianDP
    >>> loss(Schedule((Part((GaussianDP(0.5),), times=4),)), 1e-6)
    Total(lower=4.88..., upper=4.88..., two_sided=True)
    """
    found = epsilon_of(total_loss(schedule), above_zero(delta))
    parts = schedule.inner.parts
    single = all(part.known is None and len(part.promises) == 1 for part in parts)
    upper = min(found.upper, largest((part.promises[0].stated, part.times) for part in parts) if single else math.inf)
    return Total(min(found.lower, upper), upper, two_sided=True)


def epsilon_of(total: Loss, delta: float, *, relative: float = RELATIVE) -> Interval:
    """ε of a loss at a δ, or the reason why there is none."""
    found = total.epsilon(delta=delta, relative=relative)
    if found.lower == math.inf:
        raise Inapplicable(f"the loss may be infinite with probability {total.infinite_mass()}, which is more than δ")
    if found.upper == math.inf:
        raise Inapplicable("no upper bound could be proved: the loss may be infinite with a probability too close to δ")
    return found


def largest(stated: Iterable[tuple[Points, int]]) -> float:
    """The largest finite loss, exactly, where every step states one; the law of a loss only knows it rounded."""
    steps = list(stated)
    if not all(points for points, _ in steps):
        return math.inf
    return upward(sum((exact(points[-1][0]) * times for points, times in steps), Fraction(0)))


def total_loss(schedule: Schedule) -> Loss:
    """The losses of all releases of a schedule, added; a step without one is named."""
    inner = schedule.inner
    total = inner.mechanism.loss()
    if total is not None:
        return total
    place, part = next((place, part) for place, part in enumerate(inner.parts, start=1) if part.loss() is None)
    raise Inapplicable(f"{part.called(place)}: its promises do not determine the law of its loss")


LOSS = Theorem(name="loss", source="[ZDW22, Thm 10; DGKM22]", total=loss, adaptive=never)
