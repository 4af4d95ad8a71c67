"""The least μ of Gaussian privacy, against closed forms and against trade-off curves."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss

NORMAL = NormalDist()


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 6.0])
def test_randomized_response(epsilon):
    """μ = 2Φ⁻¹(e^ε/(1 + e^ε)).      [DRS22]"""
    true = -2 * NORMAL.inv_cdf(1 / (1 + math.exp(epsilon)))
    found = Loss.of(response(epsilon)).mu()
    assert found.lower <= true * (1 + 1e-9)
    assert true * (1 - 1e-9) <= found.upper
    assert found.width <= 1e-6 * found.upper


def test_corners_of_a_polygon_decide():
    """Of finitely many outputs the trade-off curve is a polygon: its corners are the best tests."""
    p, q = (0.7, 0.2, 0.1), (0.1, 0.3, 0.6)
    corners = [(q[0], p[0]), (q[0] + q[1], p[0] + p[1])]
    true = max(NORMAL.inv_cdf(tpr) - NORMAL.inv_cdf(fpr) for fpr, tpr in corners)
    found = Loss.of(pair(p, q)).mu()
    assert found.lower <= true + 1e-9
    assert true - 1e-9 <= found.upper <= true * 1.002


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "loss",
    [
        Loss.of(LaplaceLaw(1.0)),
        Loss.of(LaplaceLaw(0.5), 4),
        Loss.of(DiscreteLaplaceLaw(2.0, 3)),
        Loss.of(response(0.3), 9),
    ],
    ids=str,
)
def test_no_attack_is_better_than_between_the_gaussians(loss):
    found = loss.mu()
    assert found.width <= 2e-3 * found.upper
    beaten = []
    for fpr in (1e-4, 0.01, 0.1, 0.3, 0.5, 0.8):
        reached = loss.trade_off(fpr=fpr)
        assert reached.lower <= NORMAL.cdf(NORMAL.inv_cdf(fpr) + found.upper) + 1e-12
        beaten.append(reached.upper > NORMAL.cdf(NORMAL.inv_cdf(fpr) + found.lower * 0.9))
    assert any(beaten)  # the broken twin: with 10% less, some attack is better


def test_gaussians_and_samples_of_them():
    for law in (GaussianLaw(0.8), PoissonLaw(GaussianLaw(0.8), 0.1), SubsetLaw(GaussianLaw(0.8), 0.1)):
        found = Loss.of(law, 25).mu()
        assert found.lower <= 4.0 <= found.upper
        assert found.width < 1e-9
    mixed = (Loss.of(GaussianLaw(0.8)) + Loss.of(response(1.0))).mu()
    assert mixed.lower <= mixed.upper <= math.hypot(0.8, 1.2321)
    assert mixed.lower >= 1.23


def test_where_there_is_no_gaussian():
    assert Loss.of(response(1.0, infinite=1e-6)).mu().lower == math.inf
    assert Loss(()).mu().upper == 0.0


def test_a_huge_loss_is_bounded_without_a_search():
    found = Loss.of(response(1e4)).mu()
    assert found.upper == pytest.approx(math.sqrt(8e4))


@pytest.mark.parametrize("sigma", [12.0, 28.284, 1000.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_one_gaussian_bounds_a_sum_closely(sigma: float, delta: float) -> None:
    """Its ε is above every proved lower bound, and not above the upper bound of a search by more than its width."""
    whole = Loss.of(GaussianLaw(0.3)) + Loss.of(DiscreteGaussianLaw(sigma, 1))
    simple = whole.simplified()
    assert simple.bound
    assert [type(law) for law, _ in simple.laws] == [GaussianLaw]
    near = whole.epsilon(delta=delta, relative=1e-6)
    assert near.lower <= simple.epsilon(delta=delta).upper <= near.upper * 1.0005
    smaller = Loss.of(GaussianLaw(math.hypot(0.3, 1 / sigma) * (1 - 1e-4)))  # broken: less than the noise keeps
    assert smaller.epsilon(delta=delta).upper < near.lower


@pytest.mark.parametrize(
    "loss",
    [
        Loss.of(DiscreteGaussianLaw(25.0, 1)),  # alone, its own law is exact
        Loss.of(DiscreteGaussianLaw(1.0, 1), 2),  # one Gaussian would be 4% too large
        Loss.of(GaussianLaw(0.3)) + Loss.of(LaplaceLaw(2.0)),
        Loss.of(GaussianLaw(0.3)) + Loss.of(pair((0.5, 0.5, 0.0), (0.5, 0.4, 0.1))),
        Loss(()),
    ],
    ids=repr,
)
def test_other_losses_stay_as_they_are(loss: Loss) -> None:
    assert loss.simplified() is loss
