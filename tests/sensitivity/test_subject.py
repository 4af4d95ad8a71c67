"""What is released of a sample, in whole granules."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sitr.errors import DescriptionError
from sitr.sensitivity import mean, median, trimmed_mean, variance
from sitr.sensitivity.subject import Computed, OnGrid, subject

VALUES = [0.25, 1.0, 2.5, 9.0, 7.75]


@pytest.mark.parametrize(
    ("statistic", "granularity", "expected"),
    [
        (median, Fraction(1, 4), Fraction(5, 2)),
        (mean, Fraction(1, 20), Fraction(41, 10)),
        (trimmed_mean(0.2), Fraction(1, 12), Fraction(15, 4)),
        (variance, Fraction(1, 16), Fraction(206, 16)),
    ],
    ids=repr,
)
def test_a_mean_of_m_numbers_is_counted_in_mth_parts_and_is_exact(statistic, granularity, expected):
    """The variance, 12.865, is rounded to whole sixteenths, squares of granules: 206 of them."""
    about = subject(statistic, size=5, bounds=(0, 10), granularity=0.25)
    assert about.granularity == granularity
    assert about.centre(about.sample(VALUES)) * granularity == expected


def test_values_keep_their_order_and_have_no_bounds_unless_these_are_given():
    about = subject(mean, size=5, bounds=None, granularity=1)
    assert about.sample([3e9, -5, 2, 1, 0]).tolist() == [3_000_000_000, -5, 2, 1, 0]
    assert isinstance(about, OnGrid)
    assert about.sample([math.inf, -math.inf]).tolist() == [2**52, -(2**52)]


def test_rows_are_handed_on_as_they_are():
    rows = np.arange(10.0).reshape(5, 2)
    about = subject(np.sum, size=5, bounds=None, granularity=1)
    assert about.sample(rows) is rows
    assert about.centre(rows) == 45


@pytest.mark.parametrize("result", [math.nan, math.inf, None, "7", True, np.zeros(2), 1j])
def test_a_function_that_gives_no_number_is_refused(result):
    with pytest.raises(DescriptionError, match="finite number for every sample"):
        Computed(lambda _: result, Fraction(1)).centre(np.zeros(5))


@pytest.mark.parametrize(
    "result", [2.5, np.float32(2.5), Fraction(5, 2), np.array(2.5)], ids=["float", "numpy", "fraction", "array"]
)
def test_every_number_is_rounded_alike(result):
    assert Computed(lambda _: result, Fraction(1)).centre(np.zeros(5)) == 3
