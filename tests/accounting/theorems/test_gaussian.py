from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.gaussian import GAUSSIAN, gaussian
from sitr.accounting.theorems.theorem import YES
from sitr.accounting.views import Inapplicable
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


@given(
    st.lists(st.tuples(st.floats(0.01, 2.0), st.integers(1, 100)), min_size=1, max_size=6),
    st.sampled_from([1e-12, 1e-6, 0.01]),
)
def test_many_gaussians_are_one_to_twelve_digits(parts, delta):
    schedule = Schedule(tuple(Part((GaussianDP(mu),), times=times) for mu, times in parts))
    one = GaussianDP(math.sqrt(math.fsum(mu * mu * times for mu, times in parts))).to_approximate(delta=delta).epsilon
    bounds = gaussian(schedule, delta)
    assert bounds.two_sided
    assert bounds.upper == pytest.approx(one, rel=1e-12, abs=1e-12)
    assert bounds.lower == pytest.approx(one, rel=1e-12, abs=1e-12)
    assert bounds.lower <= bounds.upper


@pytest.mark.parametrize("sensitivity", [1, 0.3, 0.7])
def test_noise_from_a_file_is_exact_on_both_sides(sensitivity):
    schedule = read_schedule([{"gaussian": {"sigma": 3, "sensitivity": sensitivity}, "times": 7}])
    bounds = gaussian(schedule, 1e-6)
    assert bounds.two_sided
    assert bounds.width <= 1e-12


@pytest.mark.parametrize(
    "promises",
    [
        (GaussianDP(0.5), PureDP(0.1)),
        (GaussianDP(0.5), ZeroConcentratedDP(0.1)),
        (GaussianDP(0.5), ConcentratedDP(0.1, 0.5)),
        (PureDP(0.5),),
    ],
)
def test_where_more_is_known_the_bound_is_one_sided(promises):
    assert not gaussian(Schedule((Part(promises),)), 1e-6).two_sided


def test_no_difference_costs_nothing():
    bounds = gaussian(Schedule((Part((GaussianDP(0.0),), times=5),)), 1e-6)
    assert (bounds.lower, bounds.upper) == (0.0, 0.0)


def test_a_delta_above_the_total_variation_needs_no_epsilon():
    bounds = gaussian(Schedule((Part((GaussianDP(0.1),)),)), 0.5)
    assert (bounds.lower, bounds.upper) == (0.0, 0.0)


def test_it_needs_a_trade_off_curve_and_delta():
    with pytest.raises(Inapplicable, match="one between Gaussians"):
        gaussian(Schedule((Part((ZeroConcentratedDP(0.1),)),)), 1e-6)
    with pytest.raises(Inapplicable, match="δ above 0"):
        gaussian(Schedule((Part((GaussianDP(0.1),)),)), 0.0)


def test_it_may_be_used_to_decide_when_to_stop():
    assert GAUSSIAN.adaptive(Schedule((Part((GaussianDP(0.1),)), Part((PureDP(0.1),)))), 1e-6) == YES
