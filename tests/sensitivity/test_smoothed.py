"""The rule: what it rounds, what it adds for that, and both conditions on every small pair of neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from sitr.errors import DescriptionError, QuestionError
from sitr.sensitivity import interquartile_range, mean, median, quantile, smooth, trimmed_mean, variance
from sitr.sensitivity.smoothed import Smooth, rounded
from tests.oracles.brute import Sample, neighbours

STATISTICS = [median, quantile(0.9), mean, trimmed_mean(0.25), interquartile_range, variance]


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
@pytest.mark.parametrize("beta", [0.01, 0.2, 2.0])
def test_both_conditions_hold_for_all_neighbours(statistic, beta):
    """|centre − centre'| ≤ min(s, s') and |ln s/s'| ≤ β, of the rounded centre: every pair of neighbours of 4."""
    rule = smooth(statistic, bounds=(0, 4), granularity=1)
    everything: list[Sample] = list(combinations_with_replacement(range(5), 4))
    measured = {values: (rule.centre(values), rule.scale(values, beta)) for values in everything}
    attained = 0.0
    for values in everything:
        centre, scale = measured[values]
        assert scale >= 1
        for other in neighbours(values, low=0, high=4):
            there, width = measured[other]
            assert abs(centre - there) <= min(scale, width)
            assert abs(math.log(scale / width)) <= beta
            attained = max(attained, abs(centre - there) / scale)
    assert attained > 0.4, "the scale is not larger than it must be"


def test_units():
    rule = smooth(variance, bounds=(0, 10), granularity=0.5)
    assert rule.granularity == Fraction(1, 4)
    assert rule.centre([0, 10]) * rule.granularity == 25
    assert smooth(median, bounds=(0, 10), granularity=0.5).granularity == Fraction(1, 2)


def test_a_statistic_that_is_rounded_gets_one_granule_more():
    values = [1, 2, 5, 7]
    sample = np.array(values)
    whole, parted = (smooth(statistic, bounds=(0, 10), granularity=1) for statistic in (median, mean))
    assert whole.scale(values, 0.3) == median.smooth(sample, 0, 10, dilation=0.3)
    assert parted.scale(values, 0.3) == pytest.approx(mean.smooth(sample, 0, 10, dilation=0.3) + 1, rel=1e-15)
    assert parted.centre(values) == 4 == rounded(Fraction(15, 4))


def test_values_are_clamped_and_need_no_order():
    rule = smooth(median, bounds=(0, 10), granularity=1)
    assert rule.centre([99, -99, 4.4]) == 4
    assert rule.scale([99, -99, 4.4], 0.1) == rule.scale([4, 0, 10], 0.1)


def test_what_has_no_sensitivities_is_refused():
    with pytest.raises(QuestionError, match="whose sensitivities are known"):
        smooth(np.median, bounds=(0, 1))  # type: ignore[arg-type]
    with pytest.raises(DescriptionError):
        smooth(median, bounds=(1, 0))
    assert isinstance(smooth(median, bounds=(0, 1)), Smooth)


def test_bad_data_tell_nothing():
    with pytest.raises(DescriptionError, match="NaN among the values"):
        smooth(median, bounds=(0, 1)).scale([0.5, math.nan], 0.1)
