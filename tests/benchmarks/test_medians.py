"""The errors that the benchmark computes are those of the mechanism, and the costs that it compares may be compared."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, sqrt

import numpy as np
import pytest

from benchmarks.medians import (
    PLACES,
    between,
    by_group,
    error,
    errors,
    law,
    middle,
    random_errors,
    ranks,
    rates,
    redrawn,
)
from benchmarks.query_cases import HIGH, LOW, ROWS, even, few, tail
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.noise.coins import TestCoins

COSTS = {"ranks": ranks, "middle": middle, "between": between(1.25)}
LEVELS = (0.5, 0.25, 0.9)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(("cost", "same"), [("ranks", True), ("middle", False)])
def test_the_errors_are_those_of_the_mechanism(cost, same, flip):
    x, rate = tail().x, Fraction(1, 2 * ROWS)
    choice = GroupedQuantile(rate=rate, level=0.5, low=LOW, high=HIGH, each=ROWS, flip=flip)
    coins, exact = TestCoins(4), float(np.quantile(x, 0.5))
    drawn = np.array([abs(one - exact) for one in choice.release([Counter(x.tolist())] * 600, coins=coins)])
    gap = abs(drawn.mean() - error(x, 0.5, float(rate), COSTS[cost], flip=flip))
    assert (gap < 4 * drawn.std() / sqrt(len(drawn))) == same


def test_permute_and_flip_by_all_its_coins():
    costs = np.array([0.0, 0.4, 2.0, 2.0])
    heads, found = np.exp(-costs), np.zeros(4)
    for shown in product((0, 1), repeat=4):
        if sum(shown):
            found += np.prod(np.where(shown, heads, 1 - heads)) * np.array(shown) / sum(shown)
    assert law(costs, 1.0, flip=True) == pytest.approx(found, rel=1e-12)
    assert law(costs + 7, 1.0, flip=True).sum() == pytest.approx(1, rel=1e-12)
    assert law(costs, 1.0, flip=False) != pytest.approx(found, rel=1e-2)


def test_the_rates_are_those_that_sitr_fits():
    for level, grouped in product(LEVELS, (False, True)):
        (_, pure, flip), (_, moments, flat) = rates(level, grouped=grouped)
        each, groups = (ROWS // 2, 2) if grouped else (ROWS, 1)
        one = GroupedQuantile(rate=pure, level=level, low=LOW, high=HIGH, each=each, groups=groups, flip=flip)
        other = GroupedQuantile(rate=moments, level=level, low=LOW, high=HIGH, each=each, groups=groups, flip=flat)
        assert one.promise().epsilon == pytest.approx(1)
        assert other.zero_concentrated().rho == pytest.approx(0.1)


def tables(most):
    """All tables of a few values: neighbours among the places, equal ones, and both bounds."""
    values = (LOW, 40, 41, 42, HIGH)
    return [t for size in range(most + 1) for t in combinations_with_replacement(values, size)]


def moved(cost, level):
    """How far one value that is added moves the cost of any place, and how far apart it moves two of them."""
    farthest = apart = 0.0
    several = [*tables(5), (LOW,) * 20 + (40,) * 2 + (41,), (20,) * 20 + (HIGH,) * 20]
    for values, more in product(several, (LOW, 20, 40, 41, 42, HIGH)):
        one, two = (cost(np.array(some, int), level) for some in (values, (*values, more)))
        farthest, apart = max(farthest, abs(one - two).max()), max(apart, np.ptp(one - two))
    return farthest, apart


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cost", COSTS)
def test_one_value_moves_every_cost_by_no_more_than_the_larger_share(cost, level):
    farthest, apart = moved(COSTS[cost], level)
    assert farthest == pytest.approx(max(level, 1 - level))  # it is reached, and never exceeded
    assert apart == pytest.approx(2 * max(level, 1 - level))


def test_a_cost_that_adds_equal_values_to_more_of_the_cost_is_a_broken_twin():
    """Equal values may count for OpenDP's cost or against it, but not twice."""
    assert moved(lambda x, level: 2 * ranks(x, level) - middle(x, level), 0.5)[0] > 0.9


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cost", COSTS)
def test_the_probabilities_keep_the_promise(cost, level, flip):
    rate, largest = 0.7, 1.0
    eta = 2 * rate * max(level, 1 - level)
    for values, more in product(tables(4), (LOW, 41, HIGH)):
        one, two = (law(COSTS[cost](np.array(some, int), level), rate, flip=flip) for some in (values, (*values, more)))
        ratio = one / two
        assert max(ratio.max(), 1 / ratio.min()) <= exp(eta) * (1 + 1e-9)
        assert flip or ratio.max() / ratio.min() <= exp(eta) * (1 + 1e-9)
        largest = max(largest, ratio.max(), 1 / ratio.min())
    assert largest > exp(eta / 2)  # half of the promise would be a broken twin


@pytest.mark.parametrize("level", LEVELS)
def test_some_place_costs_no_more_than_the_limit(level):
    for values in tables(6):
        x = np.array(values, int)
        assert ranks(x, level).min() <= 1e-12
        assert between(1.25)(x, level).min() <= 1.25 + 1e-12
        assert (ranks(x, level) <= between(1.25)(x, level) + 1e-12).all()


def test_only_the_cost_of_opendp_has_no_error_in_ranks_that_always_holds():
    """Half of the rows are 50, and the target is in the middle of the lower half of them."""
    rate = 1 / 6
    bound = GroupedQuantile(rate=Fraction(1, 6), level=0.5, low=LOW, high=HIGH, flip=True).error(confidence=0.95)
    for many in (20, 100, 1_000):
        x = np.repeat([10, 50, 90], [many // 2, 2 * many, many + many // 2])
        off = np.maximum(ranks(x, 0.5), 0)
        wrong = {
            name: law(cost(x, 0.5), rate, flip=True)[off > bound + more].sum()
            for name, cost, more in (("ranks", ranks, 0), ("between", between(6), 6), ("middle", middle, 6))
        }
        assert wrong["ranks"] <= 0.05
        assert wrong["between"] <= 0.05
        assert (wrong["middle"] > 0.9) == (many // 2 > bound + 6)


def test_equal_values_tell_more_than_they_hide():
    """Over tables that are drawn as *even* is, and over random ones, but not in *even* itself."""
    for _, rate, flip in rates(0.5, grouped=True):
        here = errors(by_group(even()), 0.5, rate, flip=flip)
        there = redrawn(rate, flip=flip, seeds=range(30)).mean(axis=0)
        assert here[0] > 1.05 * here[1]
        assert there[0] < there[1]
    for level in (0.5, 0.9):
        found = random_errors(level, 7, many=150).mean(axis=0)
        assert found[0] < found[2] < found[1]
    (_, rate, flip), _ = rates(0.5, grouped=False)
    assert error(few().x, 0.5, rate, ranks, flip=flip) < error(few().x, 0.5, rate, middle, flip=flip)
    assert len(PLACES) == HIGH - LOW + 1
