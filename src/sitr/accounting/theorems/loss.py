"""The privacy loss itself: the laws of all releases, added from both sides."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.accounting.plan import Plan
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, never
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.numbers import exact, upward


def loss(plan: Plan, delta: float) -> Total:
    """ε at δ of the sum of all losses, as an interval: each law is that of a mechanism that keeps the promises.

    >>> from sitr.accounting.plan import Step
    >>> from sitr.flavors.gaussian import GaussianDP
    >>> loss(Plan((Step((GaussianDP(0.5),), times=4),)), 1e-6)
    Total(lower=4.88..., upper=4.88..., two_sided=True)
    """
    total = total_loss(plan)
    found = total.epsilon(delta=above_zero(delta))
    if found.lower == math.inf:
        raise Inapplicable(f"the loss may be infinite with probability {total.infinite_mass()}, which is more than δ")
    if found.upper == math.inf:
        raise Inapplicable("no upper bound could be proved: the loss may be infinite with a probability too close to δ")
    upper = min(found.upper, _largest(plan))
    return Total(min(found.lower, upper), upper, two_sided=True)


def _largest(plan: Plan) -> float:
    """The largest finite loss, exactly, where every step promises one; the law of a loss only knows it rounded."""
    losses = []
    for step in plan.inner.steps:
        match step.promises:
            case (PureDP(epsilon) | ApproximateDP(epsilon, _),) if step.stated is None:
                losses.append(exact(epsilon) * step.times)
            case (PrivacyProfile(points),) if step.stated is None:
                losses.append(exact(points[-1][0]) * step.times)
            case _:
                return math.inf
    return upward(sum(losses, Fraction(0)))


def total_loss(plan: Plan) -> Loss:
    """The losses of all releases of a plan, added; a step without one is named."""
    parts = []
    for place, step in enumerate(plan.inner.steps, start=1):
        if step.loss is None:
            called = f" ({step.name})" if step.name else ""
            raise Inapplicable(f"step {place}{called}: its promises do not tell the law of its loss")
        parts.append(step.loss * step.times)
    return Loss.compose(parts)


LOSS = Theorem(name="loss", source="[ZDW22, Thm 10; DGKM22]", total=loss, adaptive=never)
