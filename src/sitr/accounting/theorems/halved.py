"""Advanced composition with the mean loss halved."""

from __future__ import annotations

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.advanced import adaptive, around_mean
from sitr.accounting.theorems.theorem import Theorem, Total


def halved(schedule: Schedule, delta: float) -> Total:
    """ε = √(2 ln(1/δ')·Σεᵢ²) + Σεᵢ(e^{εᵢ} − 1)/2, with δ' = δ − Σδᵢ.      [DR16, Thm 1.1, with different εᵢ]

    Where the mean dominates, a total allows an ε per step that is larger by √2.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.pure import PureDP
    >>> halved(Schedule((Part((PureDP(0.1),), times=100),)), 1e-6).upper
    5.782...
    """
    return around_mean(schedule, delta, mean=lambda epsilon: epsilon * epsilon.expm1() / 2)


HALVED = Theorem(name="halved", source="[DR16, Thm 1.1; WRRW23, Thm 1]", total=halved, adaptive=adaptive)
