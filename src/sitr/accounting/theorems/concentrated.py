"""Concentrated composition: means add, and so do squared spreads."""

from __future__ import annotations

from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Theorem, Total, above_zero, at_most, never
from sitr.accounting.views import as_concentrated, each
from sitr.flavors.concentrated import ConcentratedDP


def concentrated(schedule: Schedule, delta: float) -> Total:
    """(Σμ, √Στ²), then its best arrow to (ε, δ).      [DR16, Thm 3.5 and Thm 3.4]"""
    whole = ConcentratedDP.compose(promise * times for promise, times in each(schedule, as_concentrated))
    return at_most(whole.to_approximate(delta=above_zero(delta)).epsilon)


CONCENTRATED = Theorem(name="concentrated", source="[DR16, Thm 3.5]", total=concentrated, adaptive=never)
