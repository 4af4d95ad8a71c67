"""The power of a test is bounded from above, whatever the promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.report.power import detected_at


@given(st.floats(0.0, 20.0), st.floats(0.0, 0.5), st.floats(0.001, 0.5))
def test_no_test_does_better_than_the_promise_allows(epsilon: float, delta: float, alarms: float) -> None:
    exact = min(1.0, delta + math.exp(epsilon) * alarms, 1 - math.exp(-epsilon) * (1 - alarms - delta))
    assert exact * (1 - 1e-12) <= detected_at(epsilon, delta, alarms=alarms) <= exact * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "power"), [(0.0, 0.0, 0.01), (1e3, 0.0, 1.0), (0.0, 1.0, 1.0)])
def test_the_ends_are_exact(epsilon: float, delta: float, power: float) -> None:
    assert detected_at(epsilon, delta, alarms=0.01) == pytest.approx(power, rel=1e-12)
