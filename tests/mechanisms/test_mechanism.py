"""Losses of single mechanisms, and the floats that stand in for exact numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import float_above, float_below, whole_shift
from sitr.mechanisms.threshold import Threshold


def test_the_laws_are_those_of_integer_noise():
    assert Laplace(scale=2, sensitivity=3).loss() == Loss.of(DiscreteLaplaceLaw(2.0, 3))
    assert Gaussian(sigma=4, sensitivity=2).loss() == Loss.of(DiscreteGaussianLaw(4.0, 2))


def test_the_loss_of_laplace_noise_reaches_its_promise():
    laplace = Laplace(scale=10, sensitivity=3)
    assert 0.3 <= laplace.loss().max() < 0.3 + 1e-12


def test_wide_integer_noise_is_like_real_noise():
    found = Gaussian(sigma=400, sensitivity=200).loss().epsilon(delta=1e-6)
    assert found.lower * 0.995 < GaussianDP(0.5).to_approximate(delta=1e-6).epsilon < found.upper * 1.005


def test_more_movement_is_easier_to_tell():
    losses = [Gaussian(sigma=3, sensitivity=moved).loss().delta(epsilon=0.5) for moved in (1, 2, 3)]
    assert all(less.upper < more.lower for less, more in pairwise(losses))


@pytest.mark.parametrize(
    "mechanism", [Laplace(scale=2, sensitivity=1.5), Gaussian(sigma=2, sensitivity=Fraction(1, 3))]
)
def test_a_sensitivity_that_is_not_whole_is_that_of_a_vector(mechanism):
    with pytest.raises(InvalidPromise, match=r"Use promise\(\)"):
        mechanism.loss()
    assert mechanism.promise()


def test_a_threshold_has_only_a_promise():
    with pytest.raises(InvalidPromise, match=r"Use promise\(\)"):
        Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).loss()


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_floats_around_a_fraction(number):
    below, above = float_below(number), float_above(number)
    assert Fraction(below) <= number <= Fraction(above)
    assert above - below <= 2.0**-52 * above


def test_whole_numbers_may_be_written_as_floats():
    assert whole_shift(3.0, mechanism="Laplace") == 3
