from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.advanced import advanced
from sitr.accounting.theorems.halved import HALVED, halved
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.accounting.theorems.theorem import FIXED_SHARES, YES
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP


def equal(epsilon, times):
    return Schedule((Part((PureDP(epsilon),), times=times),))


@given(st.floats(0.001, 3.0), st.integers(1, 500), st.floats(1e-9, 0.1))
def test_exactly_half_of_the_mean_is_saved(epsilon, times, delta):
    saved = advanced(equal(epsilon, times), delta).upper - halved(equal(epsilon, times), delta).upper
    assert saved == pytest.approx(times * epsilon * math.expm1(epsilon) / 2, rel=1e-9, abs=1e-12)


@given(st.floats(0.01, 1.0), st.integers(1, 300), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_between_the_optimum_and_the_older_theorem(epsilon, times, delta):
    schedule = equal(epsilon, times)
    assert optimal_equal(schedule, delta).lower <= halved(schedule, delta).upper <= advanced(schedule, delta).upper


def test_halving_buys_a_factor_of_the_square_root_of_two():
    """Where the mean dominates (k large), the same total allows an ε per step that is larger by √2."""

    def affordable(theorem, total, times):
        low, high = 0.0, 1.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if theorem(equal(middle, times), 1e-6).upper <= total else (low, middle)
        return low

    times, total = 10**8, 1e5  # √(2k ln 1/δ)·ε is then a fiftieth of the total
    ratio = affordable(halved, total, times) / affordable(advanced, total, times)
    assert ratio == pytest.approx(math.sqrt(2), rel=0.01)


@pytest.mark.parametrize(
    ("promise", "adaptive"),
    [(PureDP(0.1), YES), (ApproximateDP(0.1, 1e-9), FIXED_SHARES), (GaussianDP(0.1), FIXED_SHARES)],
)
def test_of_pure_steps_it_may_be_used_to_decide_when_to_stop(promise, adaptive):
    assert HALVED.adaptive(Schedule((Part((PureDP(0.5),)), Part((promise,), times=2))), 1e-6) == adaptive
