from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from sitr.noise.bernoulli import bernoulli, bernoulli_exponential
from sitr.noise.coins import TestCoins

TRIALS = 40_000
DIGITS = (2**64 - 1) // 3  # the binary digits of one third: 0101…


class Script:
    """Coins that show the words they are told."""

    private = False

    def __init__(self, *words: int) -> None:
        self.rest: Iterator[int] = iter(words)

    def bits(self, count: int, /) -> int:
        assert count == 64
        return next(self.rest)

    def words(self, _count: int, /) -> NDArray[np.uint64]:
        raise AssertionError("bits are enough")

    def below(self, _bound: int, /) -> int:
        raise AssertionError("bits are enough")


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
def test_the_first_digits_that_differ_decide(words, outcome):
    coins = Script(*words)
    assert bernoulli(Fraction(1, 3), coins=coins) is outcome
    assert list(coins.rest) == []


def test_a_probability_smaller_than_a_word_is_kept():
    tiny = Fraction(3, 2**130)
    assert bernoulli(tiny, coins=Script(0, 0, 0)) is True
    assert bernoulli(tiny, coins=Script(0, 0, 3 * 2**62, 1)) is False
    assert bernoulli(tiny, coins=Script(0, 0, 3 * 2**62 + 1)) is False
    assert bernoulli(tiny, coins=Script(0, 0, 3 * 2**62 - 1)) is True
    assert bernoulli(tiny, coins=Script(0, 1)) is False


@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 3), Fraction(999, 1000), Fraction(1, 10**30 + 1)])
def test_bernoulli_follows_its_law(probability, alarm):
    coins = TestCoins(1)
    successes = sum(bernoulli(probability, coins=coins) for _ in range(TRIALS))
    assert binomtest(successes, TRIALS, float(probability)).pvalue > alarm


EXPONENTS = [Fraction(x) for x in ("0", "0.1", "0.5", "1", "7/3", "4")] + [Fraction(10**40 - 1, 10**40)]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_bernoulli_exponential_follows_its_law(exponent, alarm):
    coins = TestCoins(2)
    successes = sum(bernoulli_exponential(exponent, coins=coins) for _ in range(TRIALS))
    assert binomtest(successes, TRIALS, math.exp(-exponent)).pvalue > alarm


def test_a_truncated_series_is_rejected(alarm):
    coins, x = TestCoins(3), Fraction(1, 2)
    successes = sum(bernoulli(1 - x + x**2 / 2, coins=coins) for _ in range(TRIALS))
    assert binomtest(successes, TRIALS, math.exp(-x)).pvalue < alarm


def test_an_enormous_exponent_is_refused_quickly():
    assert not any(bernoulli_exponential(Fraction(10**100), coins=TestCoins(seed)) for seed in range(100))


@pytest.mark.parametrize("probability", [Fraction(-1, 10**9), Fraction(10**9 + 1, 10**9)])
def test_a_probability_lies_between_0_and_1(probability):
    with pytest.raises(ValueError, match="between 0 and 1"):
        bernoulli(probability, coins=TestCoins(0))


def test_an_exponent_is_not_negative():
    with pytest.raises(ValueError, match="at least 0"):
        bernoulli_exponential(Fraction(-1, 10**9), coins=TestCoins(0))
