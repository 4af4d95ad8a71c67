from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise, ceiling, count, incompatible, parameter, total
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact


@pytest.mark.parametrize("promise", [PureDP(1), ApproximateDP(1, 1e-6), ZeroConcentratedDP(0.5)])
def test_every_flavor_is_a_promise(promise):
    assert isinstance(promise, Promise)


def test_a_number_is_no_promise():
    assert not isinstance(1.0, Promise)


# Parameters


@pytest.mark.parametrize("number", [1, 1.0, Fraction(1), np.float64(1), np.float32(1), np.int64(1)])
def test_a_parameter_becomes_a_float(number):
    value = parameter(number, name="epsilon", flavor="PureDP")
    assert type(value) is float
    assert value == 1.0


@given(st.fractions(0, 10**9))
def test_a_fraction_is_rounded_up(number):
    assert exact(parameter(number, name="epsilon", flavor="PureDP")) >= number


def test_minus_zero_is_zero():
    assert repr(parameter(-0.0, name="epsilon", flavor="PureDP")) == "0.0"


@pytest.mark.parametrize(
    "number", [math.nan, math.inf, -1, -1e-300, Fraction(-1, 10**400), 10**400, "1", None, True, 1j, Decimal(1), [1]]
)
def test_a_parameter_that_cannot_be(number):
    with pytest.raises(InvalidPromise) as refusal:
        parameter(number, name="rho", flavor="ZeroConcentratedDP")
    assert refusal.value.wanted == "rho of ZeroConcentratedDP to be a number of at least 0"
    assert str(number) in refusal.value.given


def test_a_parameter_with_a_limit():
    assert parameter(1, name="delta", flavor="ApproximateDP", at_most=1.0) == 1.0
    with pytest.raises(InvalidPromise, match="at most 1"):
        parameter(1 + 1e-15, name="delta", flavor="ApproximateDP", at_most=1.0)


# Sums and counts


@given(st.lists(st.floats(0, 1e300), max_size=20))
def test_a_total_is_rounded_up_once(numbers):
    whole = sum(map(exact, numbers), Fraction(0))
    assert exact(total(numbers)) >= whole
    assert total(numbers) == 0.0 or exact(math.nextafter(total(numbers), 0.0)) < whole


def test_a_total_of_decimals_is_what_paper_says():
    assert total([0.1] * 10) == 1.0
    assert total([0.1, 0.2]) == 0.3
    assert total([]) == 0.0


def test_a_count_is_returned():
    assert count(3, what="The number of releases") == 3


@pytest.mark.parametrize("times", [0, -1, 1.0, True, "2", None, Fraction(2), math.nan])
def test_a_count_that_counts_nothing(times):
    with pytest.raises(InvalidPromise, match=r"the size of a group to be a whole number of at least 1, got"):
        count(times, what="The size of a group")


@given(st.fractions(0, 10**9))
def test_a_ceiling_is_rounded_up(number):
    assert exact(ceiling(number)) >= number


def test_a_ceiling_beyond_all_floats_is_infinite():
    assert ceiling(Fraction(10) ** 309) == math.inf
    assert ceiling(exact(1.7976931348623157e308)) == 1.7976931348623157e308


# What follows from a promise whatever its flavor


def test_several_things_follow_if_each_does():
    profile = PrivacyProfile(((0.5, 0.4), (1.0, 0.0)))
    assert PureDP(1.0).covers(profile)
    assert not PureDP(1.1).covers(profile)
    assert PureDP(1.0).covers(RandomDP(profile, 0.5))
    assert PureDP(9.0).covers(RandomDP(profile, 1.0))
    assert PureDP(1.0).covers(ZeroConcentratedDP(9.0))  # by a conversion
    assert not ZeroConcentratedDP(9.0).covers(PureDP(1.0))


def test_incompatible_promises_name_both():
    error = incompatible(PureDP(1), ApproximateDP(1, 1e-6))
    assert "PureDP" in error.wanted
    assert error.given == "ApproximateDP(epsilon=1.0, delta=1e-06)"
    assert "to_" in error.do
