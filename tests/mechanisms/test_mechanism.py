"""Losses of single mechanisms, and the floats that stand in for exact numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import count
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding, whole_shift
from sitr.mechanisms.threshold import Threshold
from sitr.numbers import exact, natural


def test_the_laws_are_those_of_integer_noise():
    assert Laplace(scale=2, sensitivity=3).loss() == Loss.of(DiscreteLaplaceLaw(2.0, 3))
    assert Gaussian(sigma=4, sensitivity=2, single=True).loss() == Loss.of(DiscreteGaussianLaw(4.0, 2))


def test_the_loss_of_laplace_noise_reaches_its_promise():
    laplace = Laplace(scale=10, sensitivity=3)
    assert 0.3 <= laplace.loss().max() < 0.3 + 1e-12


def test_wide_integer_noise_is_like_real_noise():
    found = Gaussian(sigma=400, sensitivity=200, single=True).loss().epsilon(delta=1e-6)
    assert found.lower * 0.995 < GaussianDP(0.5).to_approximate(delta=1e-6).epsilon < found.upper * 1.005


def test_more_movement_is_easier_to_tell():
    losses = [Gaussian(sigma=3, sensitivity=moved, single=True).loss().delta(epsilon=0.5) for moved in (1, 2, 3)]
    assert all(less.upper < more.lower for less, more in pairwise(losses))


@pytest.mark.parametrize(("moved", "whole"), [(1, 1), (Fraction(4, 3), 1), (2.5, 2), (3, 3)])
def test_what_is_on_the_grid_moves_by_whole_granules(moved, whole):
    fine = {"granularity": Fraction(1, 4), "sensitivity": exact(moved) / 4}
    assert Laplace(scale=2, sensitivity=moved).loss() == Laplace(scale=2, sensitivity=whole).loss()
    assert Laplace(scale=0.5, **fine).loss() == Laplace(scale=2, sensitivity=whole).loss()
    assert Gaussian(0.5, single=True, **fine).loss() == Gaussian(2, whole, single=True).loss()


@pytest.mark.parametrize(
    "mechanism",
    [Laplace(scale=2, sensitivity=0.9), Gaussian(sigma=2, sensitivity=Fraction(1, 3)), Laplace(2, 1, granularity=1.5)],
)
def test_a_move_of_less_than_a_granule_is_bounded_by_the_promise(mechanism):
    """Whole granules do not move at all, but the promise is for what is released."""
    loss = mechanism.loss()
    assert loss.bound
    kept = mechanism.promise().to_approximate(delta=1e-6)
    assert 0.0 < loss.epsilon(delta=1e-6).upper <= kept.epsilon * (1.35 if isinstance(mechanism, Gaussian) else 1.0001)


def test_the_loss_of_a_threshold_is_the_pair_of_its_promise():
    mechanism = Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30)
    assert mechanism.loss() == bounding(mechanism.promise())


def test_shifts_are_whole():
    assert whole_shift(3.0, mechanism="Laplace") == 3
    assert whole_shift(Fraction(39, 10), mechanism="Laplace") == 3


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, np.uint8, np.uint64])
def test_integers_of_numpy_become_those_of_python(kind):
    """At the ends of their types, where one more is far less."""
    largest = kind(np.iinfo(kind).max)
    assert type(natural(largest, name="n", of="M")) is int
    assert natural(largest, name="n", of="M") + 1 == int(largest) + 1
    assert count(largest, what="The number") + 1 == int(largest) + 1
