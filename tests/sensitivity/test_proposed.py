"""A proposal in the unit of the data, and the distance to data that break it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from sitr.errors import InvalidParameter
from sitr.sensitivity import interquartile_range, mean, median, propose_test_release, trimmed_mean, variance
from sitr.sensitivity.proposed import Proposed
from sitr.sensitivity.sample import Quantiser
from tests.oracles.brute import Sample, local_sensitivities, neighbours

STATISTICS = [median, mean, trimmed_mean(0.25), interquartile_range, variance]


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
@pytest.mark.parametrize("proposal", [0.5, 1, 2])
def test_the_distance_is_one_and_the_bound_holds_where_it_is_not_zero(statistic, proposal):
    """What the mechanism's proof needs, of the rounded centre, for all neighbours among 4 people on 5 points."""
    rule = propose_test_release(statistic, proposal=proposal, bounds=(0, 4), granularity=1)
    everything: list[Sample] = list(combinations_with_replacement(range(5), 4))
    known = {values: (rule.distance(values), rule.centre(values)) for values in everything}
    for values in everything:
        distance, centre = known[values]
        for other in neighbours(values, low=0, high=4):
            there, moved = known[other]
            assert abs(distance - there) <= 1
            assert distance == 0 or abs(centre - moved) <= rule.bound


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_distance_zero_means_that_somebody_can_break_the_bound(statistic):
    rule = propose_test_release(statistic, proposal=1, bounds=(0, 4), granularity=1)
    local = local_sensitivities(lambda sample: statistic.value(rule.grid.granules(sample)), size=4, low=0, high=4)
    assert {values for values in local if rule.distance(values) == 0} == {
        values for values, steps in local.items() if steps[0] > 1
    }


def test_the_proposal_is_in_the_unit_of_the_data_and_rounded_up():
    assert propose_test_release(median, proposal=0.25, bounds=(0, 8), granularity=0.1).bound == 3
    assert propose_test_release(median, proposal=0.3, bounds=(0, 8), granularity=0.1).bound == 3
    assert propose_test_release(variance, proposal=1, bounds=(0, 8), granularity=0.5).bound == 4
    assert propose_test_release(median, proposal=1e-9, bounds=(0, 8), granularity=1).bound == 1
    assert propose_test_release(variance, proposal=1, bounds=(0, 8), granularity=0.5).granularity == Fraction(1, 4)


@pytest.mark.parametrize("proposal", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_bad_proposals(proposal):
    with pytest.raises(InvalidParameter, match="proposal of a statistic to be a finite number above 0"):
        propose_test_release(median, proposal=proposal, bounds=(0, 8))


@pytest.mark.parametrize("bound", [Fraction(3, 2), 0, -1, True, 1.0])
def test_a_bound_is_a_whole_number_of_granules(bound):
    """A mean that moves by 3/2 granules moves by 2 once it is rounded: noise for 3/2 would not do."""
    with pytest.raises(InvalidParameter, match="bound of a proposal to be a whole number of at least 1"):
        Proposed(mean, Quantiser.of((0, 8), granularity=1), bound)


def test_a_bound_that_nobody_can_break():
    assert propose_test_release(median, proposal=8, bounds=(0, 8)).distance([1.0, 5.0, 3.0]) == 4
