"""Confidence bounds hold as often as they say: exactly for a fixed number of draws, and at all numbers at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from sitr.audit.empirical.intervals import Bounds, ClopperPearson, Mixture


class Wald:
    """The broken twin: the normal approximation, which fails for rare events."""

    def lower(self, hits: int, draws: int, *, failure: float) -> float:
        p = hits / draws
        return float(p - norm.isf(failure) * math.sqrt(p * (1 - p) / draws))

    def upper(self, hits: int, draws: int, *, failure: float) -> float:
        return 1 - self.lower(draws - hits, draws, failure=failure)


def misses(bounds: Bounds, p: float, *, draws: int, failure: float) -> tuple[float, float]:
    """How probable it is that a bound is on the wrong side of p, exactly."""
    law = binom(draws, p)
    low = sum(law.pmf(k) for k in range(draws + 1) if bounds.lower(k, draws, failure=failure) > p)
    high = sum(law.pmf(k) for k in range(draws + 1) if bounds.upper(k, draws, failure=failure) < p)
    return low, high


@pytest.mark.parametrize("p", [0.003, 0.1, 0.5, 0.97])
def test_clopper_and_pearson_fail_at_most_as_often_as_allowed(p: float) -> None:
    assert max(misses(ClopperPearson(), p, draws=200, failure=0.05)) <= 0.05


def test_the_normal_approximation_fails_more_often() -> None:
    assert max(misses(Wald(), 0.003, draws=200, failure=0.05)) > 0.05


@pytest.mark.parametrize("k", [0, 1, 37, 199, 200])
def test_the_bounds_are_the_tightest(k: int) -> None:
    """P(Bin(n, low) ≥ k) is the failure probability itself; with a bound 1% nearer it would be larger."""
    low, high = (end(k, 200, failure=0.01) for end in (ClopperPearson().lower, ClopperPearson().upper))
    if k > 0:
        assert binom.sf(k - 1, 200, low) <= 0.01 < binom.sf(k - 1, 200, low + 0.01 * (1 - low))
    if k < 200:
        assert binom.cdf(k, 200, high) <= 0.01 < binom.cdf(k, 200, high * 0.99)


def alarms(bounds: Bounds, *, runs: int, failure: float, p: float = 0.3) -> int:
    """In how many runs a bound is wrong at any of many numbers of draws."""
    generator, found = np.random.default_rng(7), 0
    looks = [2**k for k in range(3, 13)] + [3 * 2**k for k in range(2, 11)]
    for _ in range(runs):
        hits = np.cumsum(generator.random(max(looks)) < p)
        found += any(
            bounds.lower(int(hits[n - 1]), n, failure=failure) > p
            or bounds.upper(int(hits[n - 1]), n, failure=failure) < p
            for n in looks
        )
    return found


@pytest.mark.parametrize("bounds", [Mixture(), Mixture(30, 70), Mixture(300, 100)], ids=["flat", "good", "bad"])
def test_mixtures_hold_at_all_numbers_of_draws_whatever_their_prior(bounds: Mixture) -> None:
    assert alarms(bounds, runs=200, failure=0.1) <= 20


def test_looking_again_and_again_breaks_bounds_for_a_fixed_number() -> None:
    assert alarms(ClopperPearson(), runs=200, failure=0.1) > 40


LOOKS = sorted({round(8 * 1.15**k) for k in range(46)})
"""The numbers of draws, up to 4,310, after which somebody looks who will stop at the first alarm."""


def stopped(bounds: Bounds, *, seeds: int, failure: float, p: float = 0.3) -> int:
    """In how many audits of two equal inputs an event seems more probable on the first one, at any of these looks."""
    found = 0
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        first, second = (np.cumsum(generator.random(LOOKS[-1]) < p) for _ in range(2))
        found += any(
            bounds.lower(int(first[n - 1]), n, failure=failure / 2)
            > bounds.upper(int(second[n - 1]), n, failure=failure / 2)
            for n in LOOKS
        )
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("failure", [0.3, 0.5])
@pytest.mark.parametrize("prior", [Mixture(), Mixture(30, 70)], ids=["flat", "good"])
def test_stopping_at_the_first_alarm_of_a_thousand_audits(prior: Mixture, failure: float) -> None:
    """The adversary looks 46 times and stops when it suits: the rate of false alarms stays within the confidence."""
    assert stopped(prior, seeds=1_000, failure=failure) <= 1_000 * failure


@pytest.mark.parametrize("failure", [0.3, 0.5])
def test_stopping_at_the_first_alarm_breaks_bounds_for_a_fixed_number(failure: float) -> None:
    """The broken twin: exact bounds, each of which holds by itself, looked at without a correction."""
    assert stopped(ClopperPearson(), seeds=1_000, failure=failure) > 1_100 * failure


def test_a_good_prior_makes_narrow_bounds() -> None:
    flat, good = (bounds.lower(3_000, 10_000, failure=1e-3) for bounds in (Mixture(), Mixture(3_000, 7_000)))
    assert flat < good < ClopperPearson().lower(3_000, 10_000, failure=1e-3) < 0.3
    assert good > 0.3 - 1.6 * (0.3 - ClopperPearson().lower(3_000, 10_000, failure=1e-3))


def test_mixtures_know_nothing_without_draws_and_little_without_hits() -> None:
    assert Mixture().lower(0, 0, failure=0.1) == 0.0
    assert Mixture().upper(0, 0, failure=0.1) == 1.0
    assert Mixture().lower(0, 50, failure=0.1) == 0.0
    assert 0.01 < Mixture().upper(0, 50, failure=0.1) < 0.2
    assert 0.8 < Mixture().lower(50, 50, failure=0.1) < 1.0
