"""Which ranks are meant, and what is known of their sensitivity by other ways."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.errors import InvalidParameter, QuestionError
from sitr.sensitivity.ranks import mean, median, quantile, trimmed_mean


def test_the_median_is_the_lower_one_of_two():
    assert median.value(np.array([1, 2, 30, 40])) == 2
    assert median.value(np.array([1, 2, 30])) == 2
    assert median.value(np.array([7])) == 7
    assert median == quantile(0.5)


@pytest.mark.parametrize(("level", "rank"), [(0, 1), (0.05, 1), (0.1, 1), (0.11, 2), (0.3, 3), (0.95, 10), (1, 10)])
def test_the_rank_of_a_quantile_is_exact(level, rank):
    """Of the decimals: a tenth of ten people is one, though the float 0.1 is a little more than a tenth."""
    assert quantile(level).ranks(10) == (rank, rank)


@pytest.mark.parametrize(
    ("share", "people", "ranks"), [(0, 5, (1, 5)), (0.1, 30, (4, 27)), (0.3, 9, (3, 7)), (0.5, 7, (4, 4))]
)
def test_what_a_trimmed_mean_leaves(share, people, ranks):
    assert trimmed_mean(share).ranks(people) == ranks


def test_a_trimmed_mean_must_leave_somebody():
    with pytest.raises(QuestionError, match="leaves at least one value"):
        trimmed_mean(0.5).value(np.array([1, 2]))


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), "0.5", True, None])
def test_levels_and_shares(bad):
    with pytest.raises(InvalidParameter, match="from 0 to 1,"):
        quantile(bad)
    with pytest.raises(InvalidParameter, match=r"from 0 to 0\.5,"):
        trimmed_mean(bad)


def test_sums_that_need_more_than_64_bits():
    assert mean.value(np.full(5000, 2**52)) == 2**52
    assert mean.value(np.concatenate([np.full(5000, -(2**52)), np.full(5001, 2**52)])) == Fraction(2**52, 10001)


def test_nobody_is_between_the_middle_and_the_bounds_of_a_constant_sample():
    """Half of all people must move before the median of n equal values can: NRS's example."""
    sample = np.full(101, 50)
    local = [int(median.local(sample, 0, 100, distance=k)) for k in range(102)]
    assert local[:50] == [0] * 50
    assert local[50:101] == [50] * 51
    assert local[101] == 100
    assert median.distance(sample, 0, 100, bound=10) == 50


def test_of_the_mean_bounds_tell_nearly_as_much():
    sample = np.array([2, 5, 6])
    assert mean.local(sample, 0, 10) == Fraction(8, 3)
    assert mean.local(sample, 0, 10, distance=1) == Fraction(10, 3)
    assert mean.distance(sample, 0, 10, bound=Fraction(10, 3)) == 4
