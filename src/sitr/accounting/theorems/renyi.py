"""Rényi composition, also known as the moments accountant: moments add order by order."""

from __future__ import annotations

from functools import lru_cache

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Adaptive, Theorem, Total, above_zero, at_most
from sitr.accounting.views import as_renyi, each
from sitr.flavors.renyi import RenyiDP


def renyi(schedule: Schedule, delta: float) -> Total:
    """Σ D_α at each order, then the arrow to (ε, δ) at the best order.      [Mir17, Prop. 1; CKS20, Prop. 12]"""
    return at_most(_whole(schedule).to_approximate(delta=above_zero(delta)).epsilon)


def published(schedule: Schedule, delta: float) -> Total:
    """The same sum with the arrow ε = D_α + ln(1/δ)/(α − 1).      [ACGMMTZ16, Thm 2]"""
    return at_most(_whole(schedule).to_approximate_as_published(delta=above_zero(delta)).epsilon)


@lru_cache(maxsize=16)
def _whole(schedule: Schedule) -> RenyiDP:
    return RenyiDP.compose(promise * times for promise, times in each(schedule, as_renyi))


def adaptive(schedule: Schedule, delta: float) -> Adaptive:
    """The best order is known only when all releases are: it must be fixed together with the budget."""
    return Adaptive.at_order(_whole(schedule).best_order(delta=delta))


def adaptive_as_published(schedule: Schedule, delta: float) -> Adaptive:
    """The same, with the order that is best for the older arrow."""
    return Adaptive.at_order(_whole(schedule).best_order_as_published(delta=delta))


RENYI = Theorem(name="renyi", source="[Mir17, Prop. 1; FZ21, Thm 4.3]", total=renyi, adaptive=adaptive)
RENYI_AS_PUBLISHED = Theorem(
    name="renyi_as_published", source="[ACGMMTZ16, Thm 2]", total=published, adaptive=adaptive_as_published
)
