"""Real noise: exact values in closed form, and how far integer noise is from it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from sitr.accounting.training import Training
from sitr.errors import InvalidPromise
from sitr.loss.real import gaussian, laplace
from sitr.loss.sampling import sampled
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.subsampled import Subsampled
from tests.oracles.losses import loss_of


@pytest.mark.parametrize(("sigma", "sensitivity"), [(0.8, 1), (2, 3), (Fraction(1, 3), 0.1)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_the_profile_of_gaussian_noise(sigma, sensitivity, epsilon):
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with μ = Δ/σ.      [BW18, Thm 8]"""
    mu = float(sensitivity) / float(sigma)
    true = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    found = gaussian(sigma=sigma, sensitivity=sensitivity).delta(epsilon=epsilon)
    assert found.lower - 1e-12 <= true <= found.upper + 1e-12
    assert found.width < 1e-9


@pytest.mark.parametrize(("scale", "sensitivity"), [(1, 1), (2, 1), (Fraction(1, 3), 0.5)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.45])
def test_the_profile_of_laplace_noise(scale, sensitivity, epsilon):
    """δ(ε) = 1 − e^{(ε − Δ/b)/2} up to ε = Δ/b."""
    true = -math.expm1((epsilon - float(sensitivity) / float(scale)) / 2)
    found = laplace(scale=scale, sensitivity=sensitivity).delta(epsilon=epsilon)
    assert found.lower - 1e-12 <= true <= found.upper + 1e-12
    assert found.width < 1e-9


def test_a_step_of_training_is_not_integer_noise():
    """By quadrature: the worse of P = (1 − q)·N(0, σ²) + q·N(1, σ²) against N(0, σ²), and the reverse."""
    sigma, q, delta = 0.8, 0.01, 1e-5

    def odds(x):
        return 1 - q + q * math.exp((2 * x - 1) / (2 * sigma**2))

    def exposed(epsilon):
        density = norm(scale=sigma).pdf
        first = quad(lambda x: max(0.0, odds(x) - math.exp(epsilon)) * density(x), 0.5, 12, limit=500)[0]
        second = quad(lambda x: max(0.0, 1 - math.exp(epsilon) * odds(x)) * density(x), -12, 0.5, limit=500)[0]
        return max(first, second)

    real = sampled(gaussian(sigma=sigma), rate=q).epsilon(delta=delta)
    assert exposed(real.lower * 0.999) > delta > exposed(real.upper * 1.001)
    assert 0.482 < real.lower < real.upper < 0.484
    assert Training(examples=100, batch=1, epochs=0.01, sigma=sigma).loss().epsilon(delta=delta) == real
    whole = loss_of(Subsampled(Gaussian(sigma=sigma), rate=q)).epsilon(delta=delta)
    assert 0.386 < whole.lower < whole.upper < 0.387


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, True, "1", None])
@pytest.mark.parametrize("name", ["size", "sensitivity"])
def test_parameters_are_numbers_above_0(name, wrong):
    size, sensitivity = (wrong, 1) if name == "size" else (1, wrong)
    with pytest.raises(InvalidPromise, match="above 0 and finite"):
        gaussian(sigma=size, sensitivity=sensitivity)
    with pytest.raises(InvalidPromise, match="above 0 and finite"):
        laplace(scale=size, sensitivity=sensitivity)


def test_less_noise_than_written_is_never_assumed():
    ((law, _),) = gaussian(sigma=3).laws
    assert Fraction(1, 3) <= Fraction(law.mu) < Fraction(1, 3) + Fraction(1, 10**16)  # type: ignore[attr-defined]
