"""One-run audits: the bounds are above the truth no more often than allowed, and near it with many canaries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from sitr.audit.canaries.one_run import (
    Guesses,
    Inverse,
    approximate_inverse,
    exceeds,
    gaussian_inverse,
    one_run,
    p_value,
)
from sitr.errors import InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise import TestCoins

FAILURE = 0.05


def right(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


# Validity: randomized response of every canary is ε-private, and the number of correct guesses is binomial


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("m", [20, 200])
def test_randomized_response_is_accused_as_rarely_as_allowed_exactly(m: int, epsilon: float) -> None:
    law = binom(m, right(epsilon))
    accused = sum(law.pmf(v) for v in range(m + 1) if p_value(Guesses(m, m, v), epsilon=epsilon) <= FAILURE)
    assert accused <= FAILURE
    assert m == 20 or accused > FAILURE / 2  # the bound is the tightest


def test_a_smaller_epsilon_is_accused_much_more_often() -> None:
    law = binom(200, right(1.0))
    accused = sum(law.pmf(v) for v in range(201) if p_value(Guesses(200, 200, v), epsilon=0.5) <= FAILURE)
    assert accused > 0.8


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_bound_for_any_trade_off_is_valid_for_randomized_response(epsilon: float) -> None:
    """Slightly weaker than the binomial one, which is for pure promises only."""
    law, inverse = binom(200, right(epsilon)), approximate_inverse(epsilon, 0.0)
    accused = sum(law.pmf(v) for v in range(201) if exceeds(Guesses(200, 200, v), inverse, failure=FAILURE))
    assert FAILURE / 4 < accused <= FAILURE


def refuted_as_published(guesses: Guesses, inverse: Inverse, *, failure: float) -> bool:
    """The recursion of [MMC24] as programs for it write it, in shares of all canaries that are guessed right or wrong.

    Start from the shares of the event that has probability `failure`. Each further number of correct guesses must make
    wrong ones at least as likely as the trade-off demands. The guesses cannot be more than all guesses.
    """
    m, r, c = guesses.canaries, guesses.made, guesses.correct
    right, wrong = failure * c / m, failure * (r - c) / m
    for fewer in reversed(range(c)):
        more = max(0.0, inverse(right) - wrong)
        right, wrong = right + more * fewer / (r - fewer), wrong + more
    return right + wrong > r / m


def largest_mu(refuted: Any, guesses: Guesses) -> float:
    """The largest μ that is refuted with 95% confidence, by halving."""
    low, high = 0.0, 30.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(guesses, gaussian_inverse(middle), failure=FAILURE) else (low, middle)
    return low


@pytest.mark.parametrize(
    "guesses", [Guesses(1000, 100, 95), Guesses(1000, 300, 210), Guesses(200, 200, 150), Guesses(50, 20, 20)]
)
def test_the_recursion_is_the_published_one(guesses: Guesses) -> None:
    """Two ways to write it give the same bound, and one more guess that is right gives another."""
    found = largest_mu(exceeds, guesses)
    assert found == pytest.approx(largest_mu(refuted_as_published, guesses), rel=1e-6, abs=1e-6)
    assert found > 0.1
    fewer = Guesses(guesses.canaries, guesses.made, guesses.correct - 1)
    assert largest_mu(refuted_as_published, fewer) < found * (1 - 1e-3)


def guesses_of(bits: np.ndarray, scores: np.ndarray, share: float) -> Guesses:
    m, half = len(bits), int(share * len(bits)) // 2
    order = np.argsort(scores)
    correct = int(bits[order[-half:]].sum() + (~bits[order[:half]]).sum())
    return Guesses(m, 2 * half, correct)


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_gaussian_scores_are_accused_as_rarely_as_allowed(share: float) -> None:
    """Independent N(0, 1) and N(μ, 1): exactly μ-Gaussian."""
    generator, accused = np.random.default_rng(1), 0
    for _ in range(300):
        bits = generator.random(100) < 0.5
        found = guesses_of(bits, generator.normal(size=100) + bits, share)
        accused += exceeds(found, gaussian_inverse(1.0), failure=0.1)
    assert accused <= 30


def test_a_rare_leak_of_everything_is_within_delta() -> None:
    """All canaries are revealed with probability δ: this is (0, δ)-private for each of them, and δ must allow it."""
    m, delta = 50, 0.08
    surely = Guesses(m, m, m)  # happens with probability δ, or 2^{−50}
    assert p_value(surely, epsilon=0.0, delta=delta) >= delta
    assert not exceeds(surely, approximate_inverse(0.0, delta), failure=delta)
    assert p_value(surely, epsilon=0.0, delta=0.0) < 1e-12


def test_independent_leaks_are_accused_as_rarely_as_allowed() -> None:
    """Each canary is revealed with probability δ, and otherwise guessed with odds e^ε: (ε, δ)-private."""
    m, epsilon, delta = 100, 0.5, 0.02
    law = binom(m, delta + (1 - delta) * right(epsilon))
    for broken in (
        lambda v: p_value(Guesses(m, m, v), epsilon=epsilon, delta=delta) <= FAILURE,
        lambda v: exceeds(Guesses(m, m, v), approximate_inverse(epsilon, delta), failure=FAILURE),
    ):
        assert sum(law.pmf(v) for v in range(m + 1) if broken(v)) <= FAILURE


def test_no_larger_bound_for_a_trade_off_would_be_valid() -> None:
    """Why μ from one run is far below the μ of independent scores: this mechanism attains the bound.

    With probability q it answers for all canaries by randomized response, with a share a of correct answers, and says
    so; otherwise it says nothing. Its trade-off is a polygon through (q(1 − a), 1 − qa), so it is Gaussian with
    μ = Φ⁻¹(qa) − Φ⁻¹(q(1 − a)) exactly: the Gaussian curve is convex, and below a polygon if it is at the corners. Here
    that is a third of 2Φ⁻¹(a), the μ at which independent scores are guessed as well.
    """
    m, share, failure = 10_000, 0.7, 0.05
    c = int(binom.ppf(0.01, m, share))
    q = failure / binom.sf(c - 1, m, share)  # so as many are correct with probability `failure`
    mu = float(norm.ppf(q * share) - norm.ppf(q * (1 - share)))
    assert not exceeds(Guesses(m, m, c), gaussian_inverse(mu), failure=failure)
    assert exceeds(Guesses(m, m, c), gaussian_inverse(0.94 * mu), failure=failure)
    assert mu < 0.4 * 2 * norm.ppf(share)


# The audit of a list of scores


def scored(m: int, seed: int, *, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    bits = generator.random(m) < 0.5
    return bits ^ (generator.random(m) > right(epsilon)), bits


def test_bounds_are_below_the_truth_and_near_it() -> None:
    answers, bits = scored(20_000, 1, epsilon=1.0)
    found = one_run(answers, bits, coins=TestCoins(1))
    assert 0.9 < found.epsilon <= 1.0
    few = one_run(*scored(500, 1, epsilon=1.0), coins=TestCoins(1))
    assert 0.2 < few.epsilon <= 1.0


@pytest.mark.slow
@pytest.mark.sample
def test_scores_that_tell_nothing_are_accused_as_rarely_as_allowed() -> None:
    """Both bounds together, with all shares of guesses."""
    accused = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        found = one_run(generator.random(60), generator.random(60) < 0.5, confidence=0.8, coins=TestCoins(seed))
        accused += found.epsilon > 0 or found.mu > 0
    assert accused <= 40


def test_gaussian_scores_are_bounded_in_mu() -> None:
    generator = np.random.default_rng(2)
    bits = generator.random(4_000) < 0.5
    found = one_run(generator.normal(size=4_000) + 2 * bits, bits, delta=1e-5, coins=TestCoins(1))
    assert 0.8 < found.mu <= 2.0
    assert 2.0 < found.epsilon <= GaussianDP(2.0).to_approximate(delta=1e-5).epsilon


def test_ties_are_not_broken_by_the_order_of_the_canaries() -> None:
    """All scores are equal, and the included canaries are listed last: guessing by place would always be right."""
    included = [False] * 500 + [True] * 500
    found = one_run([0.5] * 1_000, included, coins=TestCoins(1))
    assert found.epsilon == 0.0
    ranked = np.argsort(np.full(1_000, 0.5), kind="stable")  # the broken twin
    assert np.asarray(included)[ranked[500:]].all()


def test_claims_are_judged_in_their_own_terms() -> None:
    found = one_run(*scored(5_000, 3, epsilon=2.0), delta=1e-5, coins=TestCoins(1))
    assert found.refutes(PureDP(1.5))
    assert not found.refutes(PureDP(2.0))
    assert found.refutes(ApproximateDP(1.5, 1e-5))
    assert not found.refutes(ApproximateDP(1.5, 1e-3))  # another δ than was audited
    assert found.refutes(GaussianDP(0.3))
    assert found.refutes(ZeroConcentratedDP(0.001))
    assert not found.refutes(ZeroConcentratedDP(2.0))
    assert found.verdict(PureDP(1.5))["verdict"] == "broken"
    assert found.to_dict()["guesses"][0] == {
        "canaries": 5_000,
        "guesses": 5_000,
        "correct": found.guesses[0].correct,
    }


@pytest.mark.parametrize(
    ("scores", "included"), [([], []), ([1.0], [True, False]), ([float("nan"), 1.0], [True, False])]
)
def test_columns_that_do_not_fit_are_refused(scores: list[float], included: list[bool]) -> None:
    with pytest.raises(InvalidParameter, match="each canary"):
        one_run(scores, included)


@pytest.mark.parametrize(
    ("guesses", "delta", "printed"),
    [(Guesses(1_000, 100, 75), 1e-4, 0.673), (Guesses(100_000, 1_510, 1_439), 1e-5, 2.675)],
)
def test_the_published_bounds_at_95_percent(guesses: Guesses, delta: float, printed: float) -> None:
    """[SNJ23, App. D and Sec. 7]: at the printed ε the guesses are improbable, and at a little more they are not."""
    assert (
        p_value(guesses, epsilon=printed - 1e-3, delta=delta)
        < 0.05
        < p_value(guesses, epsilon=printed + 2e-3, delta=delta)
    )
    without = p_value(guesses, epsilon=printed + 2e-3, delta=0.0)
    assert without < 0.05  # the twin that forgets δ claims more
