"""Features see what the noise leaves: last bits, values that occur on one input only, sums and differences."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.empirical.features import Feature, features, last_bits, log_ratios, quantiles
from sitr.audit.empirical.sample import Sample


def named(first: Sample, second: Sample) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    for each in features(first, second):
        found.setdefault(each.name, each)
    return found


@given(st.integers(-(2**52), 2**52).filter(bool), st.integers(-60, 60))
def test_a_number_is_an_odd_multiple_of_its_last_bit(whole: int, power: int) -> None:
    number = whole * 2.0**power
    (found,) = last_bits(np.array([number])).tolist()
    assert (number / 2.0**found) % 2 in (1.0, -1.0)


def test_numbers_without_bits_have_places_of_their_own() -> None:
    assert last_bits(np.array([0.0, math.nan, math.inf])).tolist() == [2000.0] * 3


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
def test_quantiles_are_values_in_order(values: list[float]) -> None:
    found = quantiles(np.array(values), np.linspace(0, 1, 5)).tolist()
    assert set(found) <= set(values)
    assert found == sorted(found)
    assert (found[0], found[-1]) == (min(values), max(values))


def test_whole_numbers_have_no_last_bits_to_look_at() -> None:
    whole, fine = Sample.of([1, 2, 3]), Sample.of([1.0, 2.0, 3.25])
    assert "last bit" not in named(whole, whole)
    assert "last bit" in named(whole, fine)


def test_values_that_occur_on_one_input_only() -> None:
    column = named(Sample.of([1, 2, 2]), Sample.of([2, 3, 3]))["values that occur"].column
    assert column(Sample.of([1, 2, 3, 4])).tolist() == [1.0, 0.0, -1.0, 0.0]


def test_several_numbers_are_looked_at_together() -> None:
    first, second = Sample.of([(1, 4), (2, 6)]), Sample.of([(5, 1), (0, 3)])
    found = named(first, second)
    asked = Sample.of([(1.0, 4.0), (7.0, math.nan)])
    assert found["difference"].column(first).tolist() == [3.0, 4.0]
    assert found["sum"].column(asked).tolist() == [5.0, 7.0]
    assert found["largest"].column(asked).tolist() == [4.0, 7.0]
    assert found["place of the largest"].column(asked).tolist() == [1.0, 0.0]
    cells = found["two numbers"].column
    assert len({*cells(Sample.of([(1, 4), (2, 6), (5, 1), (0, 3)])).tolist()}) == 4


def test_labels_are_numbered_and_unknown_ones_are_one() -> None:
    column = named(Sample.of(["a", "a", None]), Sample.of(["b", "a", None]))["answer"].column
    a, b, none, other = column(Sample.of(["a", "b", None, "c"])).tolist()
    assert len({a, b, none}) == 3
    assert other == 0.0
    assert 0.0 not in {a, b, none}


def test_ratios_are_never_infinite_and_know_the_side() -> None:
    found = log_ratios(np.array([0, 0, 0, 1]), np.array([1, 1, 1, 2]), cells=3)
    assert np.isfinite(found).all()
    assert found[0] > 0 > found[1]
    assert log_ratios(np.array([0, 1]), np.array([0, 1]), cells=2).tolist() == [0.0, 0.0]


def test_infinite_numbers_are_compared_without_a_warning() -> None:
    """∞ − ∞ is a missing number, and so is ∞ + (−∞); pytest makes an error of every warning."""
    first, second = (Sample.of([(math.inf, far), (1.0, 2.0)]) for far in (math.inf, -math.inf))
    found = named(first, second)
    assert np.isnan(found["difference"].column(first)).tolist() == [True, False]
    assert np.isnan(found["sum"].column(second)).tolist() == [True, False]
