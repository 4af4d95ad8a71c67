from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.shares import Point, fixed, shared
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

PROFILE = PrivacyProfile(((0.1, 1e-3), (0.5, 1e-5), (2.0, 1e-9)))
promises: st.SearchStrategy[Promise] = st.sampled_from(
    [
        PureDP(0.3),
        ApproximateDP(0.2, 1e-7),
        PROFILE,
        GaussianDP(0.4),
        ZeroConcentratedDP(0.1),
        PrivacyProfile(((1, 1e-8),)),
    ]
)
plans: st.SearchStrategy[Schedule] = st.lists(st.tuples(promises, st.integers(1, 5)), min_size=1, max_size=5).map(
    lambda steps: Schedule(tuple(Part((promise,), times=times) for promise, times in steps))
)


@given(plans, st.sampled_from([1e-6, 1e-4, 0.01, 0.5]), st.sampled_from([Fraction(1, 2), Fraction(1)]))
def test_points_and_slack_make_up_delta_and_every_point_is_kept(schedule, delta, part):
    try:
        shares = shared(schedule, delta=delta, part=part)
    except Inapplicable:
        return
    spent = sum(exact(point.delta) * point.times for point in shares.points)
    assert spent + shares.slack == exact(delta)
    for step, point in zip(schedule.parts, shares.points, strict=True):
        assert step.promises[0].covers(ApproximateDP(point.epsilon, point.delta))
        assert point.times == step.times


@given(plans)
def test_half_of_what_is_left_stays_as_slack(schedule):
    least = {PROFILE: 1e-9, ApproximateDP(0.2, 1e-7): 1e-7, PrivacyProfile(((1, 1e-8),)): 1e-8}
    rest = Fraction(1, 2) - sum(exact(least.get(step.promises[0], 0.0)) * step.times for step in schedule.parts)
    assert rest / 2 <= shared(schedule, delta=0.5).slack <= rest


@pytest.mark.parametrize(
    ("promises", "one"),
    [
        ((PureDP(0.3),), True),
        ((ApproximateDP(0.2, 1e-7),), True),
        ((PureDP(0.3), PureDP(0.3).to_renyi()), True),
        ((PureDP(0.3), ApproximateDP(0.3, 1e-7)), True),
        ((PureDP(0.3), ApproximateDP(0.2, 1e-7)), False),
        ((PROFILE,), False),
        ((GaussianDP(0.4),), False),
    ],
)
def test_shares_are_fixed_where_every_step_has_one_stated_point(promises, one):
    assert fixed(Schedule((Part((PureDP(0.1),)), Part(promises)))) == one


def test_stated_points_are_used_as_they_stand():
    schedule = Schedule((Part((PureDP(0.3),)), Part((ApproximateDP(0.2, 1e-7),), times=2)))
    assert shared(schedule, delta=1e-6).points == (Point(0.3, 0.0, 1, True), Point(0.2, 1e-7, 2, True))
    assert shared(schedule, delta=1e-6).slack == Fraction(8, 10**7)


@pytest.mark.parametrize(("delta", "epsilon"), [(1.0, 0.1), (1e-3, 0.5), (1e-5, 2.0), (1e-9, 2.0)])
def test_a_profile_is_seen_at_the_least_epsilon_within_its_share(delta, epsilon):
    (point,) = shared(Schedule((Part((PROFILE,)),)), delta=delta).points
    assert point.epsilon == epsilon
    assert not point.whole


def test_steps_without_stated_points_share_equally():
    schedule = Schedule(
        (Part((GaussianDP(0.4),), times=3), Part((RenyiDP.at({8.0: 0.1}),)), Part((ApproximateDP(1, 2e-7),)))
    )
    first, second, _ = shared(schedule, delta=1e-6).points
    assert first.delta == second.delta == 1e-7


def test_a_plan_that_needs_more_has_a_slack_below_0():
    assert shared(Schedule((Part((ApproximateDP(1.0, 1e-3),), times=2),)), delta=1e-3).slack == Fraction(-1, 1000)


@pytest.mark.parametrize("second", [GaussianDP(1.0), RandomDP(PureDP(1.0), 0.1)])
def test_a_step_without_a_point_is_named(second):
    schedule = Schedule((Part((ApproximateDP(1.0, 1e-3),)), Part((second,))))
    with pytest.raises(Inapplicable, match=r"^step 2: "):
        shared(schedule, delta=1e-3)


@pytest.mark.parametrize(
    ("promises", "whole"),
    [
        ((PureDP(1.0),), True),
        ((PureDP(1.0), PureDP(1.0).to_renyi(), PureDP(1.0).to_concentrated()), True),
        ((PureDP(1.0), PureDP(0.9).to_renyi()), False),
        ((PureDP(1.0), GaussianDP(0.1)), False),
        ((ApproximateDP(1.0, 1e-9),), True),
        ((ApproximateDP(1.0, 1e-9), ApproximateDP(2.0, 1e-9)), True),
        ((ApproximateDP(1.0, 0.0),), True),
        ((PrivacyProfile(((1.0, 1e-9),)),), True),
        ((PrivacyProfile(((0.5, 1e-3), (1.0, 1e-9))),), False),
    ],
)
def test_a_point_is_the_whole_truth_if_it_implies_all_promises(promises, whole):
    assert shared(Schedule((Part(promises),)), delta=1e-8).whole is whole
