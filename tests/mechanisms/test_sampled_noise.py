"""Noise for what was seen in draws from a public population."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.sampled_noise import SampledNoise
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.sensitivity import mean, sampled
from sitr.sensitivity.sampler import published

VALUES = np.random.default_rng(4).random(50)


def rule(**options):
    draw = np.random.default_rng(5).random
    return sampled(mean, **{"population": draw, "size": 50, "gamma": 0.05, "granularity": 0.01, **options})


def test_the_noise_is_laplace_noise_for_that_movement():
    mechanism = SampledNoise.fitting(PureDP(0.5), sensitivity=rule())
    granule = Fraction(1, 5000)
    moved = mechanism.sensitivity.moved
    assert mechanism.noise == Laplace(scale=2 * moved * granule, sensitivity=moved * granule, granularity=granule)
    exactly = Fraction(int(np.floor(VALUES * 100 + 0.5).sum()), 5000)
    assert mechanism.release(VALUES, coins=TestCoins(1)) == mechanism.noise.release(exactly, coins=TestCoins(1))
    assert mechanism.error() == mechanism.noise.error()
    assert 0.015 < moved * granule < 0.02  # of 20 numbers |x − x'| ≤ 1, divided by n, the largest but one


@pytest.mark.parametrize(("choice", "parts"), [({}, 1), ({"choice": published, "gamma": 0.33}, 2)])
def test_the_promise_holds_but_for_gamma(choice, parts):
    promise = SampledNoise.fitting(PureDP(0.5), sensitivity=rule(**choice)).promise()
    assert promise == RandomDP(PureDP(0.5), choice.get("gamma", 0.05))
    assert len(promise.parts) == parts


@pytest.mark.parametrize("epsilon", [0.0])
def test_epsilon_is_positive(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        SampledNoise.fitting(PureDP(epsilon), sensitivity=rule())


def test_a_random_promise_has_no_loss():
    noise: Mechanism = SampledNoise.fitting(PureDP(0.5), sensitivity=rule())
    assert noise.loss() is None
    assert SampledNoise.relation is Relation.REPLACE_ONE
