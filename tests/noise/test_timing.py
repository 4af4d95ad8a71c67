"""Time must not tell the noise. The gate is wide; `python -m benchmarks.noise` measures a hundred thousand draws."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.noise import time_follows_noise
from sitr.noise import discrete_gaussian, discrete_laplace
from sitr.noise.coins import Keystream, system_coins
from sitr.noise.rounded import rounded_law

GATE = 0.1
DRAWS = 5_000
"""Of chance alone a correlation is beyond 0.1 once in 10^11: seven deviations of 1/√5000."""


@pytest.mark.parametrize("scale", [1, 10, 1000])
def test_time_does_not_follow_laplace_noise(scale):
    assert least(lambda: discrete_laplace(scale=scale)) < GATE


@pytest.mark.parametrize("sigma", [1, 10, 1000])
def test_time_does_not_follow_gaussian_noise(sigma):
    assert least(lambda: discrete_gaussian(sigma=sigma)) < GATE


@pytest.mark.parametrize("sigma", [1, 10, 1000])
def test_time_does_not_follow_rounded_gaussian_noise(sigma):
    law = rounded_law(sigma)
    assert least(lambda: law.one(system_coins())) < GATE


def test_the_same_measurement_rejects_a_sampler_that_counts(canonne):
    twin = canonne(Keystream())
    assert least(lambda: twin.laplace(Fraction(10))) > GATE


def least(draw) -> float:
    """Of three: what else the machine does may look like anything once."""
    return min(abs(time_follows_noise(draw, DRAWS)) for _ in range(3))
