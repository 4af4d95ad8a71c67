"""The interquartile range and the variance, where other ways to know them exist."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import QuestionError
from sitr.sensitivity.spread import interquartile_range, variance

samples = st.lists(st.integers(0, 30), min_size=1, max_size=15).map(lambda values: np.sort(np.array(values)))


@given(samples)
def test_values(sample):
    assert float(variance.value(sample)) == pytest.approx(float(np.var(sample)), abs=1e-9)
    upper = np.quantile(sample, 0.75, method="inverted_cdf")
    assert interquartile_range.value(sample) == upper - np.quantile(sample, 0.25, method="inverted_cdf")


@given(samples)
def test_the_local_sensitivity_of_the_variance_by_trying_everybody(sample):
    """LS_0 alone needs no enumeration of samples, so that more people and points can be tried."""
    here = variance.value(sample)
    moved = (
        abs(variance.value(np.sort(np.concatenate([np.delete(sample, i), [value]]))) - here)
        for i in range(len(sample))
        for value in range(31)
    )
    assert variance.local(sample, 0, 30) == max(moved)


def test_the_variance_of_a_whole_range():
    """All at one end, and one more at the other: the largest LS of all, (n − 1)/n²·(high − low)²."""
    for n in (2, 3, 10):
        assert variance.local(np.zeros(n, dtype=np.int64), 0, 100) == Fraction((n - 1) * 100**2, n**2)
        assert variance.local(np.full(n, 50), 0, 100, distance=n) == Fraction((n - 1) * 100**2, n**2)


def test_one_person_has_no_spread():
    one = np.array([7])
    for statistic in (interquartile_range, variance):
        assert statistic.value(one) == statistic.local(one, 0, 10, distance=1) == 0
        assert statistic.distance(one, 0, 10, bound=0) == 2


def test_large_numbers_are_exact():
    """Squares far beyond 64 bits."""
    sample = np.array([-(2**50), 0, 3, 2**50])
    integers = sample.tolist()
    wanted = Fraction(4 * sum(x * x for x in integers) - sum(integers) ** 2, 16)
    assert variance.value(sample) == wanted
    assert variance.local(sample, -(2**50), 2**50) > 2**90


def test_too_many_granules():
    with pytest.raises(QuestionError, match="Choose a larger granularity"):
        variance.local(np.zeros(1 << 10, dtype=np.int64), -(2**52), 2**52)
