from __future__ import annotations

import math

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.curves import LaplaceMoments, SampledGaussian
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.views import (
    Inapplicable,
    _on_sample,
    as_approximate,
    as_concentrated,
    as_gaussian,
    as_profile,
    as_renyi,
    as_zero_concentrated,
    each,
)
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.subsampled import amplified
from sitr.numbers import ball

PURE, APPROXIMATE = PureDP(0.5), ApproximateDP(0.5, 1e-6)
PROFILE = PrivacyProfile(((0.5, 1e-4), (1.0, 1e-6)))
CONCENTRATED, ZERO = ConcentratedDP(0.125, 0.5), ZeroConcentratedDP(0.125)
RENYI, GAUSSIAN = RenyiDP.at({2.0: 0.1, 8.0: 0.5}), GaussianDP(0.5)
RANDOM = RandomDP(PURE, 0.1)

VIEWS = {
    "approximate": lambda step: as_approximate(step, delta=1e-6),
    "profile": lambda step: as_profile(step, floor=1e-6),
    "concentrated": as_concentrated,
    "zero_concentrated": as_zero_concentrated,
    "renyi": as_renyi,
    "gaussian": as_gaussian,
}
SEEN = {
    PURE: set(VIEWS),
    APPROXIMATE: {"approximate", "profile"},
    PROFILE: {"approximate", "profile"},
    CONCENTRATED: {"approximate", "profile", "concentrated", "zero_concentrated", "renyi"},
    ZERO: {"approximate", "profile", "zero_concentrated", "renyi"},
    RENYI: {"approximate", "profile", "renyi"},
    GAUSSIAN: {"approximate", "profile", "zero_concentrated", "renyi", "gaussian"},
    RANDOM: set(),
}


@pytest.mark.parametrize("promise", SEEN, ids=lambda promise: type(promise).__name__)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_implied_or_refused_with_a_reason(promise, name):
    step = Part((promise,))
    if name in SEEN[promise]:
        seen = VIEWS[name](step)
        assert promise == seen or promise.covers(seen)
    else:
        with pytest.raises(Inapplicable) as none:
            VIEWS[name](step)
        assert len(none.value.reason) > 20


def test_the_reason_for_moments_of_an_approximate_promise():
    with pytest.raises(Inapplicable, match=r"an \(ε, δ\) promise bounds neither the largest loss nor any moment"):
        as_renyi(Part((APPROXIMATE,)))


def test_the_best_promise_is_taken():
    step = Part((PureDP(2.0), GaussianDP(0.1), PureDP(1.0), ZeroConcentratedDP(9.0)))
    assert as_gaussian(step) == GaussianDP(0.1)
    assert as_zero_concentrated(step) == ZeroConcentratedDP(0.005)
    assert as_concentrated(step) == PureDP(1.0).to_concentrated()
    assert as_approximate(step, delta=1e-6) == GaussianDP(0.1).to_approximate(delta=1e-6)


def test_moments_of_several_promises_are_the_least_at_each_order():
    step = Part((PureDP(1.0), RenyiDP(LaplaceMoments(1.0)), ZeroConcentratedDP(0.01)))
    curve = as_renyi(step).curve
    assert curve(2.0) == 0.02
    assert curve(1000.0) == LaplaceMoments(1.0)(1000.0) < 1.0


def test_equal_curves_are_one():
    assert as_renyi(Part((PURE, PURE.to_renyi()))) == PURE.to_renyi()


def test_at_a_larger_delta_an_approximate_promise_says_more():
    assert as_approximate(Part((APPROXIMATE,)), delta=1e-6) == APPROXIMATE
    assert as_approximate(Part((APPROXIMATE,)), delta=1e-2).epsilon < 0.5
    with pytest.raises(Inapplicable, match="1e-06"):
        as_approximate(Part((APPROXIMATE,)), delta=1e-7)


@pytest.mark.parametrize("promise", [CONCENTRATED, ZERO, RENYI, GAUSSIAN])
def test_a_tail_without_end_needs_a_delta(promise):
    with pytest.raises(Inapplicable, match="δ above 0"):
        as_approximate(Part((promise,)), delta=0.0)
    with pytest.raises(Inapplicable, match="δ above 0"):
        as_profile(Part((promise,)), floor=0.0)


@pytest.mark.parametrize("floor", [1e-3, 1e-9])
@pytest.mark.parametrize("promise", [CONCENTRATED, ZERO, RENYI, GAUSSIAN, RenyiDP(SampledGaussian(0.1, 1.0))])
def test_a_smooth_tail_is_seen_at_true_points_down_to_the_floor(promise, floor):
    profile = as_profile(Part((promise,)), floor=floor)
    assert profile.infinite_mass() == pytest.approx(floor, rel=1e-9)
    step = Part((promise,))
    for epsilon, delta in profile.points[1::7]:
        assert epsilon >= as_approximate(step, delta=delta).epsilon * (1 - 1e-9)


def test_the_sampled_gaussian_is_seen_at_its_exact_tail():
    promise = RenyiDP(SampledGaussian(0.1, 1.0))
    seen = as_approximate(Part((promise,)), delta=1e-6)
    assert seen == SampledGaussian(0.1, 1.0).to_approximate(delta=1e-6)
    assert seen.epsilon < promise.to_approximate(delta=1e-6).epsilon


def test_a_step_without_the_view_is_named():
    schedule = Schedule((Part((PURE,), times=2), Part((APPROXIMATE,), name="histogram")))
    with pytest.raises(Inapplicable, match=r"^step 2 \(histogram\): an \(ε, δ\) promise"):
        each(schedule, as_renyi)
    assert each(Schedule(schedule.parts[:1]), as_gaussian) == [(PURE.to_gaussian(), 2)]


@given(st.lists(st.tuples(st.floats(0, 800), st.floats(1e-300, 1)), min_size=1, max_size=5), st.floats(1e-12, 1))
def test_points_on_a_sample_are_rounded_up_and_hardly(points, rate):
    for point, (epsilon, delta) in zip(points, _on_sample(tuple(points), rate), strict=True):
        # As `amplified`, which rounds the true ones to the next float; beyond e^709 it knows more.
        smaller, rarer = amplified(*point, rate=rate)
        assert smaller <= math.nextafter(epsilon, math.inf)
        assert rarer <= math.nextafter(delta, math.inf)
        assert epsilon <= smaller * (1 + 1e-12) + 1e-320 or epsilon == point[0] > 700
        assert delta <= rarer * (1 + 1e-12) + 1e-320
        with ctx.workprec(1200):
            assert not (ball(rate) * ball(point[0]).expm1()).log1p() > ball(epsilon)
            assert not ball(rate) * ball(point[1]) > ball(delta)


def test_largest_losses_beside_the_moments_of_laplace_noise_say_nothing_more():
    noise = RenyiDP(LaplaceMoments(0.5))
    assert as_renyi(Part((PureDP(0.5), noise, PureDP(0.6)))) == noise
    lower = as_renyi(Part((PureDP(0.1), noise))).curve
    assert lower(2.0) == PureDP(0.1).to_renyi().curve(2.0)
