"""Broken noise: how far it is beyond its claim, by exact laws."""

from __future__ import annotations

import pytest

from sitr.audit.corpus.broken_noise import NOISE, UNIT, cells, laplace
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise import TestCoins

BY_NAME = {each.name: each for each in NOISE}


@pytest.mark.parametrize(("percent", "epsilon"), [(3, 100 / 97), (10, 100 / 90), (50, 2.0)])
def test_short_noise_breaks_its_claim_by_what_it_says(percent: int, epsilon: float) -> None:
    claim = BY_NAME[f"Laplace noise {percent}% short"].claim
    assert claim == PureDP(1.0)
    loss = Laplace(scale=10 * (100 - percent), sensitivity=UNIT).loss()
    assert loss.max() == pytest.approx(epsilon, rel=1e-6)
    assert not claim.kept_by(loss)


def test_half_of_rho_is_not_enough() -> None:
    loss = Gaussian(UNIT, UNIT, single=True).loss()
    assert not BY_NAME["half of ρ"].claim.kept_by(loss)
    assert ZeroConcentratedDP(0.501).kept_by(loss)


def test_discrete_gaussian_noise_of_small_sigma_is_not_gaussian_of_delta_over_sigma() -> None:
    claim = BY_NAME["discrete Gaussian noise claimed to be Δ/σ-Gaussian"].claim
    loss = Gaussian(1, 1, single=True).loss()
    assert not claim.kept_by(loss)
    assert GaussianDP(1.3).kept_by(loss)


@pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")
def test_the_parts_that_correct_mechanisms_share() -> None:
    assert laplace(5, 3, TestCoins(1)).shape == (3,)
    drawn = cells((5, 7), 4_000, TestCoins(1), scale=1)
    assert drawn.shape == (4_000, 2)
    assert abs((drawn[:, 0] - drawn[:, 1]).mean() + 2) < 0.2
    assert len({*(drawn[:, 0] - drawn[:, 1]).tolist()}) > 5  # the noise of two counts is not the same
