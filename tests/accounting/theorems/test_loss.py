"""The row of the privacy loss: the truth lies in its interval, and it knows its limits."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.loss import LOSS, loss, total_loss
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.accounting.theorems.theorem import NO
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import RELATIVE, Loss
from sitr.numbers import ball


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.floats(0.01, 2.0), st.sampled_from([0.0, 1e-6, 1e-3])), min_size=1, max_size=5),
    st.sampled_from([1e-2, 0.1]),
)
def test_the_truth_about_responses_lies_in_the_interval(worst_delta, plan_of, releases, delta):
    found = loss(plan_of(releases), delta)
    assert found.two_sided
    assert worst_delta(releases, found.upper) <= ball(delta) * (1 + ball(1e-12))
    if found.lower > 0.0:
        assert worst_delta(releases, found.lower) >= ball(delta) * (1 - ball(1e-12))
    assert found.width <= 3 * RELATIVE * max(found.upper, 0.1)


@pytest.mark.parametrize("times", [1, 10, 1000])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_equal_approximate_releases_as_the_optimal_theorem_has_them(times, delta):
    schedule = Schedule((Part((ApproximateDP(0.1, 1e-13),), times=times),))
    found, exactly = loss(schedule, delta), optimal_equal(schedule, delta)
    assert found.lower <= exactly.upper * (1 + 1e-12)
    assert exactly.lower <= found.upper * (1 + 1e-12)


def test_gaussian_steps_as_one_gaussian():
    found = loss(read_schedule([{"gaussian": {"sigma": 4, "sensitivity": 1}, "times": 4}]), 1e-6)
    assert found.lower <= GaussianDP(0.5).to_approximate(delta=1e-6).epsilon <= found.upper * (1 + 1e-12)
    assert found.width < 1e-9


def test_sampling_is_seen_whole():
    """The interval of sampled Laplace noise is below what its pure promise alone allows."""
    step = {"subsampled": {"rate": 0.1, "step": {"laplace": {"scale": 1, "sensitivity": 1}}}, "times": 50}
    schedule = read_schedule([step])
    alone = Schedule((Part(schedule.parts[0].promises, times=50),))
    assert loss(schedule, 1e-6).upper < loss(alone, 1e-6).lower


def test_a_profile_is_its_dominating_pair():
    profile = PrivacyProfile(((0.1, 1e-2), (0.5, 1e-4), (1.0, 1e-9)))
    pair = profile.worst_loss()
    assert pair is not None
    for epsilon in (0.0, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0, 2.0):
        found = pair.delta(epsilon=epsilon)
        assert found.lower <= profile.delta(epsilon=epsilon) * (1 + 1e-9)
        assert found.upper >= profile.delta(epsilon=epsilon) * (1 - 1e-9)


def test_several_promises_without_a_mechanism_tell_no_law():
    assert Part((PureDP(1.0), ZeroConcentratedDP(0.1))).loss() is None
    assert Part((PureDP(1.0), ZeroConcentratedDP(0.1)), known=Loss.of(GaussianLaw(1.0))).loss() is not None


@pytest.mark.parametrize("promise", [ZeroConcentratedDP(0.1), RenyiDP.at({2: 0.1})])
def test_moments_tell_no_law_and_the_step_is_named(promise):
    schedule = Schedule((Part((PureDP(0.1),)), Part((promise,), name="survey")))
    with pytest.raises(Inapplicable) as none:
        loss(schedule, 1e-6)
    assert none.value.reason == "step 2 (survey): its promises do not determine the law of its loss"


def test_infinite_losses_beyond_delta():
    with pytest.raises(Inapplicable, match="infinite with probability"):
        loss(Schedule((Part((ApproximateDP(0.1, 1e-3),)),)), 1e-6)
    with pytest.raises(Inapplicable, match="δ above 0"):
        loss(Schedule((Part((PureDP(0.1),)),)), 0.0)


def test_nothing_released_loses_nothing():
    found = loss(Schedule((Part((PureDP(0.0),), times=5), Part((GaussianDP(0.0),)))), 1e-6)
    assert (found.lower, found.upper) == (0.0, 0.0)


def test_losses_beyond_all_lattices_have_none():
    assert PureDP(1e300).worst_loss() is None
    assert math.isfinite(loss(Schedule((Part((PureDP(500.0),), times=3),)), 1e-6).upper)


def test_the_count_is_not_forgotten():
    total = total_loss(
        read_schedule([{"laplace": {"scale": 1, "sensitivity": 1}, "times": 7}, {"pure": {"epsilon": 1}}])
    )
    assert sorted(times for _, times in total.laws) == [1, 7]


def test_it_never_decides_when_to_stop():
    assert LOSS.adaptive(Schedule((Part((PureDP(0.1),)),)), 1e-6) == NO


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.3, 1e-6), (0.1, 0.1)])
def test_one_approximate_promise_at_its_own_delta_has_its_own_epsilon(epsilon, delta):
    promise = ApproximateDP(epsilon, delta)
    for one in (promise, PrivacyProfile(((epsilon, delta),))):
        found = loss(Schedule((Part((one,)),)), delta)
        assert epsilon * (1 - 1e-9) <= found.lower <= found.upper == epsilon
    with pytest.raises(Inapplicable, match="too close to δ"):
        loss(Schedule((Part((promise,)),)), math.nextafter(delta, 0.0))
    with pytest.raises(Inapplicable, match="more than δ"):
        loss(Schedule((Part((promise,)),)), delta / 2)


def test_the_largest_loss_of_promises_is_their_exact_sum():
    schedule = Schedule((Part((PureDP(0.1),)), Part((PureDP(0.2),))))
    assert loss(schedule, 1e-300).upper == 0.3
