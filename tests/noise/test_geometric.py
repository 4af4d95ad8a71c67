from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from sitr.noise.coins import TestCoins
from sitr.noise.geometric import geometric, geometric_law, low_digits

DRAWS = 500_000


def cumulative(scale):
    """P(Y ≤ y) = 1 − e^{−(y+1)/t}."""
    return lambda y: -math.expm1(-(y + 1) / scale)


def edges(scale) -> list[int]:
    reach = math.ceil(12 * scale)
    return list(range(0, reach + 1, max(1, reach // 300)))


@pytest.mark.parametrize("scale", [0.2, Fraction(1, 3), 1, 10, 16.5, Fraction(10000, 7)])
def test_draws_follow_their_law(scale, misfit, alarm):
    draws = geometric(scale=scale, size=DRAWS, coins=TestCoins(1))
    assert draws.min() == 0
    assert misfit(draws, cumulative(scale), edges(scale)) > alarm
    coins = TestCoins(2)
    assert misfit([geometric(scale=scale, coins=coins) for _ in range(10_000)], cumulative(scale), edges(scale)) > alarm


@pytest.mark.parametrize("scale", [10**6, 2**40, 2**60, 10**30])
def test_draws_at_large_scales_follow_their_law(scale, misfit, alarm):
    draws = geometric(scale=scale, size=DRAWS // 10, coins=TestCoins(3))
    assert misfit(draws, cumulative(scale), edges(scale)) > alarm
    for place in range(0, int(math.log2(scale)) - 16, 6):
        assert misfit((draws >> place & 63).astype(int), lambda y: (y + 1) / 64, range(63)) > alarm


def test_digits_are_independent(alarm):
    """The last binary digit of the highest part says nothing about the highest one of the lower part."""
    draws = geometric(scale=300, size=DRAWS, coins=TestCoins(4))
    upper, lower = draws >> 8 & 1, draws >> 7 & 1
    together = int(np.sum(upper & lower))
    odd = 1 / (1 + math.exp(256 / 300))
    second = 1 / (1 + math.exp(128 / 300))
    assert binomtest(int(np.sum(upper)), DRAWS, odd).pvalue > alarm
    assert binomtest(int(np.sum(lower)), DRAWS, second).pvalue > alarm
    assert binomtest(together, DRAWS, odd * second).pvalue > alarm


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", [Fraction(1, 2), 10, 300])
def test_short_words_follow_the_law(scale, short, misfit, alarm):
    law, coins = geometric_law(scale, short), TestCoins(5)
    size = DRAWS // (400 if short.word == 8 else 10)
    assert misfit(law.many(size, coins), cumulative(scale), edges(scale)) > alarm
    assert misfit([law.one(coins) for _ in range(2500)], cumulative(scale), edges(scale)) > alarm


def test_a_law_that_begins_at_one_is_rejected(misfit, alarm):
    assert misfit(geometric(scale=10, size=DRAWS, coins=TestCoins(6)) + 1, cumulative(10), edges(10)) < alarm


@pytest.mark.parametrize(("scale", "digits"), [(16, 0), (17, 1), (16 * 256, 1), (16 * 256 + 1, 2), (10**-300, 0)])
def test_as_many_digits_as_are_needed(scale, digits):
    assert low_digits(Fraction(scale)) == digits


def test_types_and_shapes():
    assert type(geometric(scale=5)) is int
    assert geometric(scale=5, size=(2, 3)).dtype == np.int64
    assert geometric(scale=2**60, size=(2, 3)).dtype == object
    assert not geometric(scale=1e-6, size=1000).any()


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf])
@pytest.mark.parametrize("size", [None, 3])
def test_bad_scales_are_refused(scale, size):
    with pytest.raises(ValueError, match="scale of noise"):
        geometric(scale=scale, size=size)
