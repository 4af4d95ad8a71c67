"""Exact counts give everybody away; counts that keep a promise do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sitr.audit.reconstruction import attacks, most_found, reconstruct
from sitr.loss import gaussian
from sitr.noise.coins import TestCoins


def test_exact_counts_are_enough() -> None:
    (trial,) = attacks([0], people=40, questions=160, coins=TestCoins(5))
    assert (trial.found, trial.most, trial.promise) == (1.0, 1.0, None)


def test_noise_below_the_square_root_of_the_people_is_not_enough() -> None:
    """The fundamental law: with enough counts, noise of a fifth of √n still gives away nearly everybody."""
    (trial,) = attacks([2], people=100, questions=400, coins=TestCoins(7))
    assert trial.found > 0.95
    assert trial.promise is not None
    assert trial.promise.epsilon > 50


def test_no_attack_finds_more_than_the_promise_allows() -> None:
    """On average over fresh bits: a single trial may be luckier by its own spread."""
    people, rounds = 32, 6
    found = [next(attacks([16], people=people, questions=128, coins=TestCoins(seed))) for seed in range(rounds)]
    mean, most = np.mean([trial.found for trial in found]), found[0].most
    assert 0.5 < most < 0.8
    assert mean < most + 4 * 0.5 / np.sqrt(people * rounds)


def test_the_attack_learns_what_the_noise_leaves() -> None:
    """Its twin without answers, which guesses, is worse: the test above is not about a blind attack."""
    people, rounds = 32, 6
    found = [next(attacks([4], people=people, questions=128, coins=TestCoins(seed))).found for seed in range(rounds)]
    assert np.mean(found) > 0.5 + 4 * 0.5 / np.sqrt(people * rounds)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_the_most_that_can_be_found(sigma: float) -> None:
    """Between N(0, σ²) and N(1, σ²) the best guess is right with probability Φ(1/2σ)."""
    exactly = norm.cdf(1 / (2 * sigma))
    assert exactly <= most_found(gaussian(sigma=sigma)) <= exactly * (1 + 1e-3)


def test_bits_that_explain_wrong_counts() -> None:
    groups = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [1, 1]])
    assert reconstruct(groups, np.array([1, 0, 1, 1, 7])).tolist() == [1, 0]  # one answer is far off
