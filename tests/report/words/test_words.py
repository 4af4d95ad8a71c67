"""What all languages share: promises in symbols, and odds, rounded outward."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.words.notation import notation, odds


@given(st.floats(0.001, 20))
def test_odds_are_rounded_up(epsilon: float) -> None:
    shown = float(odds(epsilon).replace(",", ""))
    assert math.exp(epsilon) * (1 - 1e-12) <= shown <= math.exp(epsilon) * 1.011


@pytest.mark.parametrize(
    ("promise", "shown", "left"),
    [
        (PureDP(0.33335), "ε = 0.3334", "ε = 0.3333"),
        (ApproximateDP(1.0, 3.00001e-7), "ε = 1, δ = 3.001 × 10⁻⁷", "ε = 1, δ = 3 × 10⁻⁷"),
        (ZeroConcentratedDP(0.123456, xi=0.1), "ρ = 0.1235, ξ = 0.1", "ρ = 0.1234, ξ = 0.1"),
    ],
)
def test_promises_are_rounded_outward(promise: Additive, shown: str, left: str) -> None:
    assert notation(promise) == shown
    assert notation(promise, left=True) == left
