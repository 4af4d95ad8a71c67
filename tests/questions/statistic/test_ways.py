"""Every way to know a sensitivity, on one sample: promises as asked for, and errors that are true of the releases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.smooth import SmoothNoise
from sitr.noise.coins import TestCoins
from sitr.questions.statistic.ways import Impossible, Outcome, Setting, outcomes
from sitr.sensitivity import interquartile_range, mean, median, quantile, smooth, trimmed_mean, variance

PRICE = ApproximateDP(1.0, 1e-6)
BELL = np.random.default_rng(5).normal(50, 10, 2001)
STATISTICS = (median, quantile(0.9), trimmed_mean(0.1), mean, interquartile_range, variance)


def by_way(setting: Setting, values) -> dict[str, Outcome | Impossible]:
    return {outcome.way: outcome for outcome in outcomes(setting, values, coins=TestCoins(1))}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_every_way_promises_what_was_asked_for_or_says_why_not(statistic):
    found = by_way(Setting(statistic, (0, 100), None, PRICE, 0.05), BELL)
    assert len(found) == 8
    for way, outcome in found.items():
        if isinstance(outcome, Impossible):
            assert (way.startswith("random"), statistic) == (True, variance)
            continue
        promise = outcome.promise
        assert isinstance(promise, RandomDP) == way.startswith("random")
        inner = promise.inner if isinstance(promise, RandomDP) else promise
        assert inner.covers(PureDP(1.0) if isinstance(inner, PureDP) else PRICE)
        assert not isinstance(promise, RandomDP) or promise.gamma <= 0.05
        assert outcome.error > 0


def test_the_global_error_is_that_of_the_whole_range():
    found = by_way(Setting(median, (0, 100), 1, PRICE, 0.05), BELL)["global"]
    assert isinstance(found, Outcome)
    assert found.error == Laplace(scale=100, sensitivity=100).error()
    mean_of = by_way(Setting(mean, (0, 100), Fraction(1, 100), PRICE, 0.05), BELL)["global"]
    assert isinstance(mean_of, Outcome)
    moved = Fraction(5, 100)  # 100/2001 in whole granules
    noise = Laplace(scale=moved, sensitivity=moved, granularity=Fraction(1, 100))
    assert mean_of.error == noise.error() + Fraction(1, 200)


def test_the_error_of_a_release_is_as_told():
    """Of 2,000 releases 95 in 100 are within it, and not many more."""
    found = by_way(Setting(median, (0, 100), None, PRICE, 0.05), BELL)["smooth, Laplace"]
    assert isinstance(found, Outcome)
    mechanism = SmoothNoise.fitting(PRICE, sensitivity=smooth(median, bounds=(0, 100)))
    coins, truth = TestCoins(2), Fraction(float(np.sort(BELL)[1000]))
    inside = sum(abs(mechanism.release(BELL, coins=coins) - truth) <= found.error for _ in range(2000))
    assert 1850 <= inside <= 1948  # five deviations of a binomial law, and a rounding


def test_what_a_weaker_promise_buys():
    """A median of many people hardly moves, but could; a mean without bounds needs no clamping."""
    found = by_way(Setting(median, (0, 10**6), None, PRICE, 0.05), BELL)
    errors = {way: outcome.error for way, outcome in found.items() if isinstance(outcome, Outcome)}
    assert errors["smooth, Laplace"] < errors["global"] / 10_000
    means = by_way(Setting(mean, (0, 10**6), None, PRICE, 0.05), BELL)
    errors = {way: outcome.error for way, outcome in means.items() if isinstance(outcome, Outcome)}
    assert errors["random, disjoint pairs"] < errors["global"] / 1000


def test_a_proposal_that_is_too_small_is_refused_an_answer():
    found = by_way(Setting(median, (0, 100), None, PRICE, 0.05, proposal=0.001), BELL)["propose-test-release"]
    assert isinstance(found, Outcome)
    assert found.refused > 0.999
    wide = by_way(Setting(median, (0, 100), None, PRICE, 0.05, proposal=20), BELL)["propose-test-release"]
    assert isinstance(wide, Outcome)
    assert wide.refused < 1e-9


def test_with_too_few_people_a_way_says_so():
    found = by_way(Setting(mean, (0, 100), None, PRICE, 0.001), BELL[:50])
    pairs = found["random, disjoint pairs"]
    assert isinstance(pairs, Impossible)
    assert "people" in pairs.reason or "least" in pairs.reason
