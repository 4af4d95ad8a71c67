"""The privacy loss itself: the laws of all releases, added from both sides."""

from __future__ import annotations

import math

from sitr.accounting.plan import Plan
from sitr.accounting.theorems.theorem import Bounds, Theorem, above_zero, never
from sitr.accounting.views import Inapplicable
from sitr.loss.loss import Loss


def loss(plan: Plan, delta: float) -> Bounds:
    """ε at δ of the sum of all losses, as an interval: each law is that of a mechanism that keeps the promises.

    >>> from sitr.accounting.plan import Step
    >>> from sitr.flavors.gaussian import GaussianDP
    >>> loss(Plan((Step((GaussianDP(0.5),), times=4),)), 1e-6)
    Bounds(lower=4.88..., upper=4.88..., two_sided=True)
    """
    total = total_loss(plan)
    above_zero(delta)
    if (mass := total.infinite_mass()) > delta:
        raise Inapplicable(f"the loss may be infinite with probability {mass}, which is more than δ")
    found = total.epsilon(delta=math.nextafter(delta, 0.0))  # not above the decimal that is meant
    upper = min(found.upper, total.max())
    if upper == math.inf:
        raise Inapplicable("losses so different in size cannot be told apart")
    return Bounds(min(found.lower, upper), upper, two_sided=True)


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
