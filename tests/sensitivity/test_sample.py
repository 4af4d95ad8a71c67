"""Values become granules one by one, exactly, and whoever else is there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import DescriptionError, InvalidParameter
from sitr.mechanisms.granularity import rounded
from sitr.sensitivity.sample import FARTHEST, Quantiser

GRANULES = [Fraction(1, 8), Fraction(1), Fraction(1024), Fraction(1, 10), Fraction(1, 100), Fraction(3), Fraction(3, 7)]


def slowly(grid: Quantiser, number: float | Fraction) -> int:
    if isinstance(number, float) and np.isinf(number):
        return grid.high if number > 0 else grid.low
    granules = rounded(number, granularity=grid.granularity) / grid.granularity
    assert granules.denominator == 1
    return min(max(granules.numerator, grid.low), grid.high)


@pytest.mark.parametrize("granule", GRANULES, ids=str)
def test_floats_are_rounded_as_fractions_are(granule):
    grid, size = Quantiser(-1000, 800, granule), float(granule)
    chance = np.random.default_rng(1)
    halves = (np.arange(-1100, 1100) + 0.5) * size
    values = np.concatenate(
        [
            chance.normal(size=2000) * 500 * size,
            halves,
            np.nextafter(halves, np.inf),
            np.nextafter(halves, -np.inf),
            np.round(chance.normal(size=500) * 5, 3),
            [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, np.inf, -np.inf, 0.49999999999999994, -0.5],
        ]
    )
    found = grid.in_order(values)
    assert found.dtype == np.int64
    assert found.tolist() == [slowly(grid, value) for value in values.tolist()]


def test_far_from_zero_floats_are_still_rounded_as_fractions_are():
    """There nearly every quotient is too near to a half for floats to tell."""
    grid = Quantiser(FARTHEST - 10**6, FARTHEST, Fraction(1, 10))
    values = (FARTHEST - np.random.default_rng(2).integers(0, 10**6, 500)) / 10 + 0.05
    assert grid.in_order(values).tolist() == [slowly(grid, value) for value in values.tolist()]


@given(
    st.lists(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.fractions(), min_size=1),
    st.sampled_from(GRANULES),
)
def test_every_kind_of_number_in_one_list(values, granule):
    grid = Quantiser(-(2**52), 2**51, granule)
    assert grid.in_order(values).tolist() == [slowly(grid, value) for value in values]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.sampled_from(GRANULES))
def test_integers(values, granule):
    expected = [slowly(Quantiser(-(10**6), 10**6, granule), value) for value in values]
    assert Quantiser(-(10**6), 10**6, granule).in_order(values).tolist() == expected
    assert Quantiser(-(10**6), 10**6, granule).in_order(np.array(values, dtype=np.int64)).tolist() == expected


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint64, np.float32, np.bool_])
def test_arrays_of_other_kinds(kind):
    values = np.array([0, 1, 1, 0, 1], dtype=kind)
    assert Quantiser(0, 10, Fraction(1, 4)).in_order(values).tolist() == [0, 4, 4, 0, 4]


def test_one_value_never_changes_what_another_becomes():
    """As one array, numpy would make floats of all: 2^54 + 3 would become 2^54 + 4 because somebody else is 0.5."""
    grid, large = Quantiser(2**50, 2**52, Fraction(8)), 2**54 + 3
    assert grid.in_order([large, 5])[0] == grid.in_order([large, 0.5])[0] == 2**51
    assert grid.in_order(np.array([large, 0.5]))[0] == 2**51 + 1, "the reason for this test"


def test_granules_are_sorted_and_in_order_they_are_not():
    grid = Quantiser.of((0, 10), granularity=1)
    assert grid.granules([3, 1, 2]).tolist() == [1, 2, 3]
    assert grid.in_order([3, 1, 2]).tolist() == [3, 1, 2]
    assert grid.width == 10


@given(st.integers(-100, 100), st.integers(1, 10**6))
def test_the_default_granule_is_the_largest_power_of_two_that_leaves_2_to_the_20(low, width):
    grid = Quantiser.of((low, low + width))
    assert 2**20 <= grid.width < 2**21
    assert grid.low * grid.granularity == low
    assert grid.high * grid.granularity == low + width
    part = grid.granularity if grid.granularity < 1 else 1 / grid.granularity
    assert part.numerator == 1
    assert part.denominator.bit_count() == 1


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, 0), (0, float("inf")), (float("nan"), 1), 5, (0, 1, 2), ("0", "1"), (False, True), None]
)
def test_bad_bounds(bounds):
    with pytest.raises(DescriptionError, match="two finite bounds"):
        Quantiser.of(bounds)


@pytest.mark.parametrize("granularity", [0, -1, float("nan"), "1", True])
def test_bad_granularities(granularity):
    with pytest.raises(InvalidParameter, match="granularity of a grid to be a finite number above 0"):
        Quantiser.of((0, 1), granularity=granularity)


def test_bounds_that_are_no_multiples():
    with pytest.raises(DescriptionError, match="multiples of the granularity"):
        Quantiser.of((0, 0.1))
    assert Quantiser.of((0, 0.1), granularity=0.01) == Quantiser(0, 10, Fraction(1, 100))
    assert Quantiser.of((0, 3 * 2.0**-40), granularity=2.0**-40) == Quantiser(0, 3, Fraction(1, 2**40))


def test_bounds_that_are_too_far_apart():
    with pytest.raises(DescriptionError, match=r"at most 2\^52 granules"):
        Quantiser.of((0, 1), granularity=Fraction(1, 2**53))


@pytest.mark.parametrize(
    "values",
    [
        [1.0, float("nan")],
        np.array([np.nan, 2.0]),
        [Fraction(1), float("nan")],
        [1, None],
        ["1"],
        "123",
        5,
        np.array([[1, 2]]),
        np.array([1j]),
        np.array(["1"]),
        np.ma.masked_array([1, 2], mask=[True, False]),
    ],
)
def test_what_is_no_row_of_numbers_is_refused_without_telling_where(values):
    with pytest.raises(DescriptionError, match="one number for each person") as refused:
        Quantiser.of((0, 10)).granules(values)
    assert not any(digit in str(refused.value) for digit in "0123456789")


@pytest.mark.parametrize("values", [[], np.array([]), ()])
def test_nobody(values):
    with pytest.raises(DescriptionError, match="at least one value"):
        Quantiser.of((0, 10)).granules(values)


def test_frames_are_read_as_arrays():
    pandas = pytest.importorskip("pandas")
    assert Quantiser.of((0, 10), granularity=1).in_order(pandas.Series([3.4, 1.0])).tolist() == [3, 1]
    with pytest.raises(DescriptionError, match="NaN among the values"):
        Quantiser.of((0, 10)).granules(pandas.Series([3.4, None]))
