"""The curve that a claim allows: no test of a mechanism that keeps the claim lies above it, and some reach it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from sitr.audit.empirical.curves import allowed
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


def at(curve: list[tuple[float, float]], x: float) -> float:
    xs, ys = np.transpose(curve)
    return float(np.interp(x, xs, ys))


@pytest.mark.parametrize("x", [0.01, 0.2, 0.5, 0.9])
def test_a_pure_claim_allows_the_test_of_randomized_response(x: float) -> None:
    """min(e^ε·x, 1 − e^{−ε}(1 − x))."""
    assert at(allowed(PureDP(1.0)), x) == pytest.approx(min(math.e * x, 1 - (1 - x) / math.e), rel=1e-9)


@pytest.mark.parametrize("x", [0.01, 0.2, 0.5, 0.9])
def test_a_gaussian_claim_allows_the_curve_of_two_gaussians(x: float) -> None:
    assert at(allowed(GaussianDP(1.5)), x) == pytest.approx(ndtr(ndtri(x) + 1.5), abs=1e-3)


@pytest.mark.parametrize("claim", [ZeroConcentratedDP(0.5), RenyiDP.at({2: 1.0, 8: 4.0})])
def test_other_claims_allow_at_least_the_gaussian_that_keeps_them(claim: ZeroConcentratedDP | RenyiDP) -> None:
    """Gaussian noise of μ = 1 has ρ = 1/2; the twin of μ = 2 breaks the claim, and somewhere the curve."""
    curve = allowed(claim)
    places = np.linspace(0.001, 0.999, 50)
    assert all(at(curve, x) >= ndtr(ndtri(x) + 1.0) - 1e-9 for x in places)
    assert any(at(curve, x) < ndtr(ndtri(x) + 3.5) for x in places)
