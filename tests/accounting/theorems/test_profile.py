from __future__ import annotations

import pytest

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.gaussian import gaussian
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.accounting.theorems.optimal_mixed import optimal_mixed
from sitr.accounting.theorems.profile import PROFILE, profile
from sitr.accounting.theorems.theorem import NO
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP


@pytest.mark.parametrize("times", [20, 10_001])
def test_one_point_each_is_the_optimal_theorem(times):
    schedule = Schedule((Part((ApproximateDP(0.1, 1e-12),), times=times),))
    exact = optimal_equal(schedule, 1e-6)
    assert exact.lower <= profile(schedule, 1e-6).upper <= exact.upper * 1.01


def test_several_points_at_once_say_more_than_any_one_of_them():
    points = ((0.1, 1e-4), (1.0, 1e-9))
    both = profile(Schedule((Part((PrivacyProfile(points),), times=5),)), 1e-3).upper
    for point in points:
        assert both < optimal_mixed(Schedule((Part((ApproximateDP(*point),), times=5),)), 1e-3).upper


def test_gaussian_noise_comes_close_to_its_exact_total():
    schedule = Schedule((Part((GaussianDP(0.5),), times=4),))
    exact = gaussian(schedule, 1e-6).lower
    assert exact <= profile(schedule, 1e-6).upper <= exact * 1.05


def test_the_tail_of_laplace_noise_counts():
    schedule = read_schedule([{"laplace": {"scale": 1, "sensitivity": 1}, "times": 10}])
    pure = Schedule((Part((PureDP(1.0),), times=10),))
    assert profile(schedule, 1e-6).upper < optimal_equal(pure, 1e-6).lower


def test_many_kinds_of_steps_get_fewer_places_each():
    kinds = read_schedule([{"gaussian": {"sigma": 10 + i, "sensitivity": 1}} for i in range(60)])
    exact = gaussian(kinds, 1e-6).lower
    assert exact <= profile(kinds, 1e-6).upper <= exact * 1.2


def test_an_infinite_loss_above_delta_is_told():
    with pytest.raises(Inapplicable, match=r"infinite with probability 0\.0019"):
        profile(Schedule((Part((ApproximateDP(1.0, 1e-3),), times=2),)), 1e-3)


def test_a_random_promise_has_no_profile():
    with pytest.raises(Inapplicable, match="fraction γ of data"):
        profile(Schedule((Part((RandomDP(PureDP(1.0), 0.1),)),)), 1e-3)


def test_it_is_no_stopping_rule():
    assert PROFILE.adaptive(Schedule((Part((PureDP(0.1),)),)), 1e-6) == NO
