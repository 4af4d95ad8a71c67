from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import binomtest

from sitr.noise.bernoulli import _MARGIN, _exponents, bernoulli, bernoulli_exponential, one_for_each, trials
from sitr.noise.coins import TestCoins
from sitr.noise.exponential import exponential
from sitr.noise.inversion import Bits
from sitr.numbers import ball

TRIALS = 400_000
MODULE = import_module("sitr.noise.bernoulli")  # the package gives its name to the function
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
        with pytest.raises(ValueError, match=r"from 0 to 1, got .*\. Choose"):
            bernoulli(probability=probability, size=size)


@pytest.mark.parametrize("exponent", [Fraction(-1, 10**9), math.nan, math.inf])
def test_an_exponent_is_finite_and_not_negative(exponent):
    for size in (None, 3):
        with pytest.raises(ValueError, match=r"at least 0, got .*\. Choose"):
            bernoulli_exponential(exponent=exponent, size=size)


def test_a_negative_zero_is_zero():
    assert bernoulli(probability=-0.0) is False
    assert bernoulli_exponential(exponent=-0.0) is True


# One coin for each gap

RATE = Fraction(1, 20)
GAPS: list[int | Fraction] = [0, 1, 7, Fraction(1, 3), Fraction(10**30 + 1, 10**29), 100, 400, 13_999, 14_001, 10**400]
NEAR = [sign * 2**power for power in range(24) for sign in (-1, 1)]
"""Words as near to a probability as floats can and cannot tell."""


def expansion(exponent, bits):
    """⌊2^bits·e^{−x}⌋ for a rational x > 0."""
    with ctx.workprec(bits + 64):
        return int(((-ball(exponent)).exp() * arb(2) ** bits).floor().unique_fmpz())


def wrong_near(exponents, script):
    """How many words near a probability, one after another, show the wrong side of the coin."""
    wrong = 0
    for x in exponents:
        digits = expansion(x, 64)
        words = [digits + offset for offset in NEAR if 0 <= digits + offset < 2**64]
        heads = one_for_each([x] * len(words), rate=Fraction(1), coins=script(*words))
        wrong += sum(head != (word < digits) for head, word in zip(heads.tolist(), words, strict=True))
    return wrong


TRICKY = [Fraction(x) for x in ("1/3", "1", "7/3", "0.1", "1e-3", "0.6931471805599453", "5", "11.1", "30")]


def test_words_near_a_probability_fall_on_the_right_side(script):
    assert wrong_near(TRICKY, script) == 0


def test_a_twin_that_trusts_floats_falls_on_the_wrong_side(script, monkeypatch):
    monkeypatch.setattr(MODULE, "_MARGIN", 0.0)
    assert wrong_near(TRICKY, script) > 0


def test_digits_are_added_where_a_word_is_not_enough(script):
    x = Fraction(7, 3)
    first, second = divmod(expansion(x, 128), 2**64)
    for more, head in ((second - 1, True), (second + 1, False)):
        coins = script(first - 2**40, first, first + 2**40, more)
        assert one_for_each([x, x, x], rate=Fraction(1), coins=coins).tolist() == [True, head, False]
        assert list(coins.rest) == []


def test_chances_are_as_near_as_is_proved():
    gaps = [*GAPS, *(Fraction(k, 7) for k in range(0, 100_000, 501)), Fraction(1, 10**400), 2 * 10**6]
    floats = exponential(_exponents(gaps, RATE)).tolist()
    with ctx.workprec(200):
        for found, gap in zip(floats, gaps, strict=True):
            assert abs(arb(found) - (-ball(RATE * gap)).exp()) <= arb(17 * 2.0**-53 + 2.0**-1000)
    assert _MARGIN >= 19 * 2.0**-53


@pytest.mark.sampled(2)
@pytest.mark.parametrize("digits", [Bits(), Bits(4, 8), Bits(8, 20), Bits(4, 60)])
def test_each_coin_follows_its_own_law(digits, alarm):
    coins, rounds = TestCoins(5), 4_000
    tossed = np.array([one_for_each(GAPS, rate=RATE, coins=coins, digits=digits) for _ in range(rounds)])
    for heads, gap in zip(tossed.sum(axis=0).tolist(), GAPS, strict=True):
        chance = float((-ball(RATE * gap)).exp())
        assert binomtest(heads, rounds, chance).pvalue > alarm


def test_coins_of_one_toss_are_independent(alarm):
    """Neighbours with the same gap: both show heads with probability p²."""
    heads = one_for_each([20] * TRIALS, rate=RATE, coins=TestCoins(6))
    both = int(np.sum(heads[::2] & heads[1::2]))
    assert binomtest(both, TRIALS // 2, math.exp(-2)).pvalue > alarm


def test_a_wrong_answer_to_a_tie_is_rejected(alarm, monkeypatch):
    monkeypatch.setattr(MODULE, "settle", lambda *_, **__: 0)
    heads = one_for_each([1] * TRIALS, rate=RATE, coins=TestCoins(7), digits=Bits(4, 8))
    assert binomtest(int(heads.sum()), TRIALS, math.exp(-RATE)).pvalue < alarm


def test_a_gap_of_zero_always_shows_a_head(script):
    assert one_for_each([0, 0, 0], rate=RATE, coins=script(0, 2**63, 2**64 - 1)).all()


def test_scales_beyond_all_floats(alarm):
    huge = 10**400
    heads = one_for_each([huge] * TRIALS, rate=Fraction(1, huge), coins=TestCoins(8))
    assert binomtest(int(heads.sum()), TRIALS, math.exp(-1)).pvalue > alarm
    assert one_for_each([1] * 1000, rate=Fraction(1, huge), coins=TestCoins(9)).all()
    assert not one_for_each([Fraction(1, 3)] * 1000, rate=Fraction(huge), coins=TestCoins(9)).any()


def test_no_gaps_need_no_coins(script):
    assert one_for_each([], rate=RATE, coins=script()).shape == (0,)
