from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import binomtest

from sitr.noise.bernoulli import bernoulli, bernoulli_exponential, trials
from sitr.noise.coins import TestCoins

TRIALS = 400_000
DIGITS = (2**64 - 1) // 3  # the binary digits of one third: 0101…


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ([DIGITS - 1], True),
        ([DIGITS + 1], False),
        ([DIGITS, DIGITS - 1], True),
        ([DIGITS, DIGITS + 1], False),
        ([DIGITS, DIGITS, DIGITS, 0], True),
        ([DIGITS, DIGITS, DIGITS, 2**64 - 1], False),
    ],
)
def test_the_first_digits_that_differ_decide(words, outcome, script):
    coins = script(*words)
    assert bernoulli(probability=Fraction(1, 3), coins=coins) is outcome
    assert list(coins.rest) == []


def test_a_probability_smaller_than_a_word_is_kept(script):
    tiny = Fraction(3, 2**130)
    assert bernoulli(probability=tiny, coins=script(0, 0, 0)) is True
    assert bernoulli(probability=tiny, coins=script(0, 0, 3 * 2**62)) is False
    assert bernoulli(probability=tiny, coins=script(0, 0, 3 * 2**62 + 1)) is False
    assert bernoulli(probability=tiny, coins=script(0, 0, 3 * 2**62 - 1)) is True
    assert bernoulli(probability=tiny, coins=script(0, 1)) is False


PROBABILITIES = [0, Fraction(1, 2), Fraction(1, 3), 0.999, Fraction(1, 10**30 + 1), Fraction(3, 2**20), 1]


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_bernoulli_follows_its_law(probability, alarm):
    coins = TestCoins(1)
    successes = int(np.sum(bernoulli(probability=probability, size=TRIALS, coins=coins)))
    assert binomtest(successes, TRIALS, float(probability)).pvalue > alarm
    single = sum(bernoulli(probability=probability, coins=coins) for _ in range(TRIALS // 400))
    assert binomtest(single, TRIALS // 400, float(probability)).pvalue > alarm


EXPONENTS = [Fraction(x) for x in ("0", "1e-9", "0.1", "0.5", "1", "7/3", "4", "40")] + [Fraction(10**40 - 1, 10**40)]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_bernoulli_exponential_follows_its_law(exponent, alarm):
    coins = TestCoins(2)
    successes = int(np.sum(bernoulli_exponential(exponent=exponent, size=TRIALS, coins=coins)))
    assert binomtest(successes, TRIALS, math.exp(-exponent)).pvalue > alarm
    single = sum(bernoulli_exponential(exponent=exponent, coins=coins) for _ in range(TRIALS // 400))
    assert binomtest(single, TRIALS // 400, math.exp(-exponent)).pvalue > alarm


def test_short_words_follow_the_law(short, alarm):
    for p in (fmpq(1, 3), fmpq(1, 1000), fmpq(1, 2**10 + 1)):
        successes = int(np.sum(trials(partial(arb, p), size=TRIALS // 4, coins=TestCoins(3), digits=short)))
        assert binomtest(successes, TRIALS // 4, float(p)).pvalue > alarm


def test_a_slow_sampler_agrees(canonne, alarm):
    x, twin = Fraction(7, 3), canonne(TestCoins(4))
    successes = sum(twin.exponential(x) for _ in range(TRIALS // 20))
    assert binomtest(successes, TRIALS // 20, math.exp(-x)).pvalue > alarm


def test_a_truncated_series_is_rejected(alarm):
    x = Fraction(1, 2)
    successes = int(np.sum(bernoulli(probability=1 - x + x**2 / 2, size=TRIALS, coins=TestCoins(3))))
    assert binomtest(successes, TRIALS, math.exp(-x)).pvalue < alarm


def test_an_enormous_exponent_is_refused_quickly():
    assert not bernoulli_exponential(exponent=Fraction(10**100), size=1000).any()
    assert not any(bernoulli_exponential(exponent=Fraction(10**100), coins=TestCoins(seed)) for seed in range(100))


def test_one_is_a_bool_and_many_have_their_shape():
    assert type(bernoulli(probability=0.5)) is bool
    drawn = bernoulli(probability=0.5, size=(2, 3, 4))
    assert drawn.dtype == np.bool_
    assert drawn.shape == (2, 3, 4)
    assert bernoulli_exponential(exponent=0.5, size=0).shape == (0,)


@pytest.mark.parametrize(
    "probability", [Fraction(-1, 10**9), Fraction(10**9 + 1, 10**9), math.nan, math.inf, -math.inf]
)
def test_a_probability_lies_between_0_and_1(probability):
    for size in (None, 3):
        with pytest.raises(ValueError, match=r"between 0 and 1\. .* was given\. Choose"):
            bernoulli(probability=probability, size=size)


@pytest.mark.parametrize("exponent", [Fraction(-1, 10**9), math.nan, math.inf])
def test_an_exponent_is_finite_and_not_negative(exponent):
    for size in (None, 3):
        with pytest.raises(ValueError, match=r"at least 0\. .* was given\. Give"):
            bernoulli_exponential(exponent=exponent, size=size)


def test_a_negative_zero_is_zero():
    assert bernoulli(probability=-0.0) is False
    assert bernoulli_exponential(exponent=-0.0) is True
