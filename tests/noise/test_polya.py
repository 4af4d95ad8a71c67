"""Pólya shares: draws follow their law, whatever the scale and the number of digits, and add up to Laplace noise."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from sitr.errors import InvalidParameter
from sitr.loss.forms.shares import polya_table
from sitr.noise.coins import TestCoins
from sitr.noise.inversion import Bits
from sitr.noise.polya import negative_binomial, polya, polya_law

RUNS = 1500


def misfit(drawn: list[int], masses: list[float]) -> float:
    """The p-value of draws whose sizes have these masses; what is beyond is one cell."""
    counts = Counter(min(abs(one), len(masses)) for one in drawn)
    law = [masses[0], *(2 * mass for mass in masses[1:])]
    law.append(1 - sum(law))
    cells = [(counts[k], p * len(drawn)) for k, p in enumerate(law)]
    assert min(expected for _, expected in cells) > 5
    return float(chi2.sf(sum((seen - expected) ** 2 / expected for seen, expected in cells), len(cells) - 1))


def masses(scale: Fraction, shape: Fraction, last: int) -> list[float]:
    return [float(mass) for mass in polya_table(scale, shape).masses[:last]]


def test_draws_follow_the_law_and_not_that_of_another_share():
    coins, scale, shape = TestCoins(5), Fraction(2), Fraction(1, 3)
    drawn = [polya(scale=scale, shape=shape, coins=coins) for _ in range(RUNS)]
    assert misfit(drawn, masses(scale, shape, 5)) > 1e-7
    assert misfit(drawn, masses(scale, Fraction(1, 2), 5)) < 1e-7


def test_draws_of_all_parties_add_up_to_laplace_noise():
    coins, scale = TestCoins(6), Fraction(3, 2)
    drawn = [sum(polya(scale=scale, shape=Fraction(1, 4), coins=coins) for _ in range(4)) for _ in range(RUNS // 2)]
    fewer = [sum(polya(scale=scale, shape=Fraction(1, 4), coins=coins) for _ in range(2)) for _ in range(RUNS // 2)]
    assert misfit(drawn, masses(scale, Fraction(1), 5)) > 1e-7
    assert misfit(fewer, masses(scale, Fraction(1), 5)) < 1e-7


def test_few_digits_change_nothing():
    """With 5 digits at first, every third draw needs more."""
    law, coins = polya_law(Fraction(2), Fraction(1), Bits(guide=3, word=5)), TestCoins(7)
    drawn = [law.one(coins) - law.one(coins) for _ in range(RUNS)]
    assert misfit(drawn, masses(Fraction(2), Fraction(1), 6)) > 1e-7


def test_a_large_scale_needs_no_large_table():
    coins = TestCoins(8)
    drawn = sorted(negative_binomial(scale=10**9, shape=1, coins=coins) for _ in range(200))
    # The median of a geometric variable of scale t is t·ln 2; 200 draws are below 0.35t in the middle once in 1e6.
    assert 0.35e9 < drawn[100] < 1.3e9


@pytest.mark.parametrize("wrong", [{"scale": 0, "shape": 1}, {"scale": 1, "shape": 0}, {"scale": "1", "shape": 1}])
def test_parameters_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        polya(**wrong)
