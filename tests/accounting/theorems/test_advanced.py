from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.advanced import ADVANCED, advanced
from sitr.accounting.theorems.theorem import FIXED_SHARES, YES
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP


def equal(epsilon, delta, times):
    return Schedule((Part((ApproximateDP(epsilon, delta),), times=times),))


@given(st.floats(0.001, 3.0), st.sampled_from([0.0, 1e-9]), st.integers(1, 500), st.floats(1e-6, 0.1))
def test_the_published_formula_for_equal_steps(epsilon, delta, times, total):
    slack = total - times * delta
    published = math.sqrt(2 * times * math.log(1 / slack)) * epsilon + times * epsilon * math.expm1(epsilon)
    assert advanced(equal(epsilon, delta, times), total).upper == pytest.approx(published, rel=1e-12)


@given(st.floats(0.001, 3.0), st.integers(2, 50))
def test_the_form_for_different_steps_reduces_to_the_one_for_equal_steps(epsilon, times):
    apart = Schedule(tuple(Part((PureDP(epsilon),)) for _ in range(times)))
    assert advanced(apart, 1e-6).upper == pytest.approx(advanced(equal(epsilon, 0.0, times), 1e-6).upper, rel=1e-14)


def test_different_steps_by_hand():
    schedule = Schedule((Part((PureDP(0.1),), times=3), Part((ApproximateDP(0.2, 1e-7),), times=2)))
    squares, means = 3 * 0.01 + 2 * 0.04, 0.3 * math.expm1(0.1) + 0.4 * math.expm1(0.2)
    assert advanced(schedule, 1e-6).upper == pytest.approx(
        math.sqrt(2 * math.log(1 / 8e-7) * squares) + means, rel=1e-13
    )


def test_tails_get_half_of_what_is_left_and_the_slack_the_rest():
    epsilon = GaussianDP(0.1).to_approximate(delta=1e-7).epsilon
    schedule = Schedule((Part((GaussianDP(0.1),), times=5),))
    published = math.sqrt(2 * 5 * math.log(1 / 5e-7)) * epsilon + 5 * epsilon * math.expm1(epsilon)
    assert advanced(schedule, 1e-6).upper == pytest.approx(published, rel=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 5e-7])
def test_without_slack_it_says_nothing(delta):
    with pytest.raises(Inapplicable, match="δ"):
        advanced(equal(0.1, 1e-7, 10), delta)


@pytest.mark.parametrize(
    ("promise", "adaptive"),
    [(PureDP(0.1), YES), (ApproximateDP(0.1, 1e-9), FIXED_SHARES), (GaussianDP(0.1), FIXED_SHARES)],
)
def test_of_pure_steps_it_may_be_used_to_decide_when_to_stop(promise, adaptive):
    assert ADVANCED.adaptive(Schedule((Part((PureDP(0.5),)), Part((promise,), times=2))), 1e-6) == adaptive
