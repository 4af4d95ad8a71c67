"""Training runs: their rate, their steps, their loss, and runs that cannot be."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from sitr.accounting.training import Training
from sitr.errors import InvalidPromise
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw

RUN = Training(examples=60_000, batch=256, epochs=60, sigma=1.1)


def test_rate_and_steps():
    assert RUN.rate == Fraction(256, 60_000)
    assert RUN.steps == 14_063  # 14062.5 rounded up
    assert replace(RUN, epochs=0.1).steps == 24
    assert Training(100, 100, 7, 1).steps == 7


def test_its_loss_is_that_of_the_sampled_gaussian():
    ((law, times),) = Training(examples=1000, batch=10, epochs=2, sigma=0.5).loss().laws
    assert isinstance(law, PoissonLaw)
    assert law.inner == GaussianLaw(2.0)
    assert law.rate == pytest.approx(0.01, rel=1e-15)
    assert times == 200


def test_everybody_in_every_batch_is_gaussian_noise():
    run = Training(examples=100, batch=100, epochs=9, sigma=6)
    found = run.loss().epsilon(delta=1e-6)
    assert found.lower <= GaussianDP(0.5).to_approximate(delta=1e-6).epsilon * (1 + 1e-12)
    assert found.upper >= GaussianDP(0.5).to_approximate(delta=1e-6).epsilon * (1 - 1e-12)


def test_more_noise_loses_less_and_more_epochs_lose_more():
    epsilon = RUN.loss().epsilon(delta=1e-5)
    assert replace(RUN, sigma=1.2).loss().epsilon(delta=1e-5).upper < epsilon.lower
    assert replace(RUN, epochs=80).loss().epsilon(delta=1e-5).lower > epsilon.upper


@pytest.mark.parametrize(
    "wrong",
    [
        {"examples": 0},
        {"examples": 1.5},
        {"batch": 0},
        {"batch": 60_001},
        {"epochs": 0},
        {"epochs": math.nan},
        {"epochs": 10**9},
        {"sigma": 0},
        {"sigma": -1},
        {"sigma": math.inf},
        {"sigma": True},
    ],
)
def test_runs_that_cannot_be(wrong):
    with pytest.raises(InvalidPromise):
        replace(RUN, **wrong)


def test_a_number_of_steps_that_fits_no_line():
    with pytest.raises(InvalidPromise, match=r"got about 10\^302") as refused:
        replace(RUN, epochs=1e300)
    assert len(str(refused.value)) < 200


def test_runs_are_values():
    assert hash(RUN) == hash(replace(RUN))
    with pytest.raises(AttributeError):
        RUN.sigma = 2  # type: ignore[misc]


def test_epsilon_is_the_upper_end_of_the_loss() -> None:
    training = Training(examples=1000, batch=50, epochs=2, sigma=1.5)
    found = training.loss().epsilon(delta=1e-5)
    assert training.epsilon(1e-5) == found.upper
    assert training.epsilon(1e-3) < found.lower
