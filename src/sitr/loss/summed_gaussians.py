"""The loss of several discrete Gaussians together: by their exact law, or dominated by real Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sitr.loss.discrete_mu import discrete_mu
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.shares import MOST_PRODUCT, gaussian_table, reach_of
from sitr.numbers import ball, upper
from sitr.precision import precision

SMOOTH = 3
"""From this σ of each share on, a sum of discrete Gaussians differs from one of them by less than e^{−80}."""


def summed_gaussian_law(sigma: Fraction, number: int, shift: int) -> FiniteLaw | GaussianLaw:
    """The loss of n discrete Gaussians of this σ each, on an integer that moves by Δ.

    Where the table would be too long and σ ≥ 3, real Gaussian noise that dominates it, see `smoothed_mu`.
    """
    if sigma >= SMOOTH and reach_of(sigma, number) * number > MOST_PRODUCT:
        return GaussianLaw(smoothed_mu(sigma, number, shift))
    return gaussian_table(sigma, number, shift).law(shift, merged=False)


def smoothed_mu(sigma: Fraction, number: int, shift: int) -> float:
    """A μ such that real Gaussian noise of that μ dominates n discrete Gaussians with σ ≥ 3 each.

    The sum of k of them and of one more is e^{−y²/2(k+1)σ²}·Σ_j e^{−(j−x)²/2τ²} up to a constant, with τ² = kσ²/(k + 1)
    and x = y·k/(k + 1). By Poisson's formula the sum over j is the same for all x up to a factor 1 ± η, η =
    2Σ_j e^{−2π²j²τ²} ≤ 3e^{−π²σ²}. So the sum of n has the tails of one discrete Gaussian of variance nσ², up to a
    factor e^{±E} with E ≤ 3nη. Their normal quantiles differ by at most 3.5E each, as in `sitr.loss.discrete_mu`. The
    sum is log-concave, so the best tests compare with a threshold, and quantiles decide.

    >>> smoothed_mu(Fraction(10), 4, 1)
    0.0500...
    """
    with precision(128):
        factor = 9 * number * (-((arb.pi() * ball(sigma)) ** 2)).exp()
        total = (ball(number) * ball(sigma) ** 2).sqrt()
        apart = upper(7 * factor)
        rounded = math.nextafter(float(total.mid()), 0.0)
    return (discrete_mu(rounded, shift).upper + apart) * (1 + 1e-14)
