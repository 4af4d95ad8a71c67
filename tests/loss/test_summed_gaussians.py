"""Sums of large discrete Gaussians: real Gaussian noise that dominates them."""

from __future__ import annotations

from fractions import Fraction

from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.loss.summed_gaussians import smoothed_mu, summed_gaussian_law


def test_large_gaussian_shares_are_dominated_by_real_gaussian_noise():
    """Where both laws can be found, the bound is above the exact one, and close to it."""
    exact = Loss.of(summed_gaussian_law(Fraction(4), 5, 2))
    bound = Loss.of(GaussianLaw(smoothed_mu(Fraction(4), 5, 2)))
    for epsilon in (0.0, 0.1, 0.5, 1.5):
        truth, most = exact.delta(epsilon=epsilon), bound.delta(epsilon=epsilon)
        assert truth.upper <= most.upper
    less = Loss.of(GaussianLaw(smoothed_mu(Fraction(4), 5, 2) * 0.998))
    assert exact.delta(epsilon=0.0).lower > less.delta(epsilon=0.0).upper
    assert isinstance(summed_gaussian_law(Fraction(1000), 50, 1), GaussianLaw)
