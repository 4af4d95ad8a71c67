"""The best of many candidates with exponential noise: its law, exactly, whatever the number of digits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import chisquare

from sitr.noise.coins import TestCoins
from sitr.noise.race import best_run
from sitr.numbers import ball

SIZES, COSTS, RATE = np.array([1, 3, 2, 4]), np.array([0, 2, 1, 5]), Fraction(1, 2)


ALARM = 1e-6


def misfit(draws, chances):
    """The p-value of how often each run came up."""
    return chisquare(np.bincount(draws, minlength=len(chances)), np.array(chances) * len(draws)).pvalue


def law(sizes, costs, rate):
    """Permute and flip: coins of all candidates are tossed, and one of the heads is drawn."""
    heads = [ball(-rate * int(cost)).exp() for size, cost in zip(sizes, costs, strict=True) for _ in range(size)]
    run = [place for place, size in enumerate(sizes) for _ in range(size)]
    found = [arb(0)] * len(sizes)
    with ctx.workprec(128):
        for shown in product((False, True), repeat=len(heads)):
            chance = arb(1)
            for head, is_head in zip(heads, shown, strict=True):
                chance *= head if is_head else 1 - head
            for place, is_head in zip(run, shown, strict=True):
                found[place] += chance / sum(shown) if is_head else 0
    return [float(each) for each in found]


@pytest.mark.parametrize("digits", [64, 53, 8, 1])
def test_draws_follow_the_law(digits):
    coins = TestCoins(7)
    draws = [best_run(SIZES, COSTS, RATE, coins, digits=digits) for _ in range(4_000)]
    assert misfit(draws, law(SIZES, COSTS, RATE)) > ALARM
    assert misfit(draws, law(SIZES, COSTS, RATE * 2)) < ALARM
    weights = [size * np.exp(-float(RATE) * cost) for size, cost in zip(SIZES, COSTS, strict=True)]
    assert misfit(draws, [weight / sum(weights) for weight in weights]) < ALARM  # not the exponential mechanism


def test_large_runs_and_costs_are_no_trouble():
    coins = TestCoins(8)
    huge = np.array([1, 10**40, 5], object)
    assert best_run(huge, np.array([0, 10**9, 10**400], object), Fraction(1), coins) == 0
    counts = np.bincount([best_run(huge, np.array([0, 92, 0], object), Fraction(1), coins) for _ in range(600)])
    assert min(counts) > 20  # ln 10^40 is 92.1
    equal = np.array([2**61, 2**61])
    drawn = np.bincount([best_run(equal, np.array([0, 0]), Fraction(1), coins) for _ in range(2_000)])
    assert abs(drawn[0] - 1_000) < 200


def test_the_number_of_words_does_not_depend_on_costs():
    class Counting:
        def __init__(self):
            self.coins, self.asked = TestCoins(9), 0

        def words(self, count):
            self.asked += count
            return self.coins.words(count)

        def bits(self, count):
            return self.coins.bits(count)

    for costs in ([0, 1, 2], [9, 0, 9]):
        coins = Counting()
        best_run(np.array([1, 1, 1]), np.array(costs), Fraction(1), coins)  # type: ignore[arg-type]
        assert coins.asked == 3


def test_runs_too_large_for_floats_are_left_to_arb():
    coins = TestCoins(10)
    sizes, costs = np.array([1, 10**310], object), np.array([0, 713], object)
    counts = np.bincount([best_run(sizes, costs, Fraction(1), coins) for _ in range(300)], minlength=2)
    assert min(counts) > 20  # ln 10^310 is 713.8


def test_no_cost_is_so_large_that_floats_decide_alone():
    """Where all known digits of U are 1, its M has no limit yet, and the candidate may still be the best."""

    class Ones:
        asked = 0

        def words(self, count):
            return np.full(count, 2**64 - 1, np.uint64)

        def bits(self, count):
            self.asked += count
            return 0

    for costs in (np.array([0, 10**18]), np.array([0, 10**18], object)):
        coins = Ones()
        with np.errstate(over="raise", invalid="raise"):
            assert best_run(np.array([1, 1]), costs, Fraction(10**299), coins) == 0  # type: ignore[arg-type]
        assert coins.asked == 2 * 64
