from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sitr.noise.coins import TestCoins
from sitr.noise.laplace import discrete_laplace
from sitr.noise.staircase import _best_width, staircase, staircase_law

DRAWS = 300_000


def masses(epsilon, delta: int, r: int, reach: int) -> np.ndarray:
    """a(r)·b^k on the steps, a(r) = (1 − b)/(2r + 2b(Δ − r) − (1 − b)), for −reach … reach."""
    b = math.exp(-epsilon)
    a = (1 - b) / (2 * r + 2 * b * (delta - r) - (1 - b))
    sizes = np.abs(np.arange(-reach, reach + 1))
    return a * b ** (sizes // delta + (sizes % delta >= r))


def cumulative(epsilon, delta: int, r: int):
    reach = math.ceil((40 / epsilon + 1) * delta)
    sums = np.cumsum(masses(epsilon, delta, r, reach))
    assert abs(sums[-1] - 1) < 1e-9
    return lambda y: float(min(1.0, sums[y + reach]))


CASES = [(1, 10, 3), (1, 10, 10), (0.3, 5, 1), (3, 7, 2), (1, 1, 1), (0.05, 2, 1), (Fraction(1, 2), 1000, 300)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("epsilon", "delta", "r"), CASES)
def test_draws_follow_their_law(epsilon, delta, r, misfit, alarm):
    law, reach = cumulative(epsilon, delta, r), math.ceil(12 / epsilon * delta)
    edges = range(-reach, reach + 1, max(1, reach // 300))
    draws = staircase(epsilon=epsilon, sensitivity=delta, width=r, size=DRAWS, coins=TestCoins(1))
    assert misfit(draws, law, edges) > alarm
    coins = TestCoins(2)
    single = [staircase(epsilon=epsilon, sensitivity=delta, width=r, coins=coins) for _ in range(5000)]
    assert misfit(single, law, edges) > alarm


def test_short_words_follow_the_law(short, misfit, alarm):
    law = staircase_law(1, 10, 3, short)
    assert misfit(law.many(DRAWS // 10, TestCoins(3)), cumulative(1, 10, 3), range(-100, 101)) > alarm


@pytest.mark.parametrize("r", [2, 4, 10])
def test_another_width_is_rejected(r, misfit, alarm):
    draws = staircase(epsilon=1, sensitivity=10, width=r, size=DRAWS, coins=TestCoins(4))
    assert misfit(draws, cumulative(1, 10, 3), range(-100, 101)) < alarm


def test_a_double_zero_is_rejected(misfit, alarm):
    drawn, _ = staircase_law(1, 3, 1)._propose(DRAWS, TestCoins(5))
    assert misfit(drawn, cumulative(1, 3, 1), range(-40, 41)) < alarm


@pytest.mark.parametrize(("epsilon", "delta", "r"), CASES)
def test_a_shift_by_the_sensitivity_costs_epsilon(epsilon, delta, r):
    reach = 20 * delta
    weights = masses(epsilon, delta, r, reach)
    for shift in range(1, delta + 1):
        worst = np.max(weights[shift:] / weights[:-shift])
        assert worst <= math.exp(epsilon) * (1 + 1e-12)
    assert math.isclose(worst, math.exp(epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1, 3, 10])
@pytest.mark.parametrize("delta", [1, 2, 7, 50])
def test_the_width_chosen_is_the_best(epsilon, delta):
    reach = math.ceil(60 / epsilon + 2) * delta
    means = [
        float(masses(epsilon, delta, r, reach) @ np.abs(np.arange(-reach, reach + 1))) for r in range(1, delta + 1)
    ]
    chosen = _best_width(Fraction(str(epsilon)), delta)
    assert means[chosen - 1] <= min(means) * (1 + 1e-9)


def test_large_steps_are_nearer_to_zero_than_laplace():
    own = staircase(epsilon=5, sensitivity=100, size=DRAWS, coins=TestCoins(6))
    laplace = discrete_laplace(scale=20, size=DRAWS, coins=TestCoins(7))
    assert np.abs(own).mean() < 0.6 * np.abs(laplace).mean()


def test_types_and_huge_steps():
    assert type(staircase(epsilon=1, sensitivity=3)) is int
    assert staircase(epsilon=1, sensitivity=3, size=(2, 3)).dtype == np.int64
    wide = staircase(epsilon=1e-6, sensitivity=2**60, size=100, coins=TestCoins(8))
    assert wide.dtype == object
    assert max(abs(wide)) > 2**70
    assert all(type(draw) is int for draw in wide.tolist())


@pytest.mark.parametrize("size", [None, 3])
def test_what_cannot_be_is_refused(size):
    for epsilon in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="epsilon of noise"):
            staircase(epsilon=epsilon, sensitivity=1, size=size)
    with pytest.raises(ValueError, match=r"at least 1, got 0\. Choose"):
        staircase(epsilon=1, sensitivity=0, size=size)
    for width in (0, 6):
        with pytest.raises(ValueError, match=r"from 1 to 5, got .\. Choose"):
            staircase(epsilon=1, sensitivity=5, width=width, size=size)
    with pytest.raises(ValueError, match="whole number"):
        staircase(epsilon=1, sensitivity=1.5, size=size)  # type: ignore[call-overload]
