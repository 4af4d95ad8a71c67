"""Zero-concentrated composition: lines above the moments add."""

from __future__ import annotations

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import YES, Adaptive, Theorem, Total, above_zero, at_most
from sitr.accounting.views import as_zero_concentrated, each
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


def zero_concentrated(schedule: Schedule, delta: float) -> Total:
    """(Σρ, Σξ), then the best arrow to (ε, δ).      [BS16, Lemma 1.7; CKS20, Prop. 12]"""
    return at_most(_whole(schedule).to_approximate(delta=above_zero(delta)).epsilon)


def adaptive(schedule: Schedule, delta: float) -> Adaptive:
    """Without ξ, the total grows with Σρ alone, which is a valid filter [WRRW23, Thm 1].

    With ξ it is the least over orders, and the best order changes with ρ. If ρ = 0 there is no best order.
    """
    whole = _whole(schedule)
    if whole.xi == 0.0:
        return YES
    if whole.rho == 0.0:
        return Adaptive(False, "if ρ = 0 is fixed in advance")
    return Adaptive.at_order(whole.to_renyi().best_order(delta=delta))


def _whole(schedule: Schedule) -> ZeroConcentratedDP:
    return ZeroConcentratedDP.compose(promise * times for promise, times in each(schedule, as_zero_concentrated))


ZERO_CONCENTRATED = Theorem(
    name="zero_concentrated",
    source="[BS16, Lemma 1.7; WRRW23, Thm 1]",
    total=zero_concentrated,
    adaptive=adaptive,
)
