from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb

from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.loss.moments import log_g, log_moment, mean


def mixed(order: int, mu: arb, rate: arb) -> arb:
    """ln Σ C(α, k)(1 − q)^{α−k} q^k e^{(k²−k)μ²/2}/(α − 1), for whole α.      [MTZ19, Sec. 3.3]"""
    terms = (
        math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * (arb(k * k - k) * mu**2 / 2).exp()
        for k in range(order + 1)
    )
    return sum(terms, arb(0)).log() / (order - 1)


def integral(order: arb, mu: arb, rate: arb, added: bool) -> arb:
    """The same for any α, and with P and Q exchanged, by quadrature with a proved error."""

    def density(x, _):
        base = (-x * x / 2).exp() / (2 * acb.pi()).sqrt()
        ratio = (1 - rate) + rate * (mu * x - mu**2 / 2).exp()
        return base * (ratio ** (1 - order) if added else ratio**order)

    return acb.integral(density, -18, 18 + float(mu * order)).real.log() / (order - 1)


@pytest.mark.parametrize("order", [2, 4, 32])
@pytest.mark.parametrize(("sigma", "rate"), [(0.8, 0.01), (2.0, 0.3), (1.1, 1e-6)])
def test_whole_orders_by_the_published_sum(order, sigma, rate, truth):
    relative = 1e-5 if rate > 1e-5 else 1e-3  # masses near 0 are known to 1e-15 or so, and K is 1e-12
    found = log_moment(PoissonLaw(GaussianLaw(1 / sigma), rate), order - 1.0, relative=relative)
    true = mixed(order, truth.real(1 / sigma), truth.real(rate)) * (order - 1)
    assert truth.real(found.lower) <= true <= truth.real(found.upper)
    assert found.width <= relative * found.upper


@pytest.mark.parametrize("order", [1.0625, 1.5, 7.25])
@pytest.mark.parametrize("added", [False, True])
def test_orders_between_by_quadrature(order, added, truth):
    law = PoissonLaw(GaussianLaw(1.25), 0.1, added)
    found = log_moment(law, order - 1.0, relative=1e-4)
    true = integral(truth.real(order), truth.real(1.25), truth.real(0.1), added) * (truth.real(order) - 1)
    assert truth.real(found.lower) <= true <= truth.real(found.upper)
    assert found.width <= 1e-4 * found.upper


DISCRETE = [
    DiscreteLaplaceLaw(3.0, 5),
    DiscreteGaussianLaw(0.8, 1),
    response(1.0),
    response(40.0),
    response(1e-7),
    response(0.5, answers=4),
    *(PoissonLaw(DiscreteGaussianLaw(2.0, 1), 0.05, added) for added in (False, True)),
]


@pytest.mark.parametrize("law", DISCRETE, ids=str)
def test_moments_and_means_of_discrete_laws(law, truth):
    atoms = truth.outputs(law)
    for tilt in (0.01, 1.0, 2.5, *((30.0,) if math.isfinite(law.greatest) else ())):
        true = sum((p * (truth.real(tilt) * loss).exp() for loss, p, _ in atoms), arb(0)).log()
        found = log_moment(law, tilt, relative=1e-3)
        nearly = arb("1e-15")  # the masses of finite laws are floats, which add up to 1 only nearly
        assert truth.real(found.lower) - nearly <= true <= truth.real(found.upper) + nearly
    true = sum((p * loss for loss, p, _ in atoms), arb(0))
    found = mean(law, relative=1e-3)
    assert truth.real(found.lower) - arb("1e-15") <= true <= truth.real(found.upper) + arb("1e-15")
    assert found.width <= 1e-3 * found.upper


def test_means_in_closed_form(truth):
    e = truth.real(0.7)
    laplace = e - 1 + (-e).exp()
    found = mean(LaplaceLaw(0.7), relative=1e-6)
    assert truth.real(found.lower) <= laplace <= truth.real(found.upper)
    found = Loss.of(GaussianLaw(0.3), 100).mean()
    assert found.lower <= 4.5 <= found.upper


def test_small_losses_keep_their_relative_accuracy():
    for law in (PoissonLaw(GaussianLaw(1.0), 1e-6), LaplaceLaw(1e-6), SubsetLaw(GaussianLaw(0.01), 1e-3)):
        assert mean(law, relative=1e-3).width <= 1e-3 * mean(law, relative=1e-3).upper
        assert log_moment(law, 3.0, relative=1e-3).width <= 1e-3 * log_moment(law, 3.0, relative=1e-3).upper


def test_what_may_be_infinite_has_no_moments():
    assert log_moment(response(1.0, infinite=1e-9), 1.0, relative=1e-3).lower == math.inf
    assert Loss.of(response(1.0, infinite=1e-9)).mean().lower == math.inf
    beyond = PoissonLaw(response(1.0, infinite=0.125), 0.5)  # infinite when removing, not when adding
    assert Loss.of(beyond).renyi(order=2.0).lower == math.inf
    assert log_moment(beyond.reversed(), 1.0, relative=1e-3).upper < math.inf


def test_renyi_is_the_worse_direction_and_grows_with_the_order():
    run = Loss.of(PoissonLaw(GaussianLaw(1.25), 0.01), 10_000)
    orders = [run.renyi(order=order) for order in (1.5, 2.0, 8.0)]
    assert orders[0].upper < orders[1].lower < orders[1].upper < orders[2].lower
    assert run.mean().upper < orders[0].lower


@pytest.mark.parametrize("tilt", [0.0, 1e-3, 0.7, 1.0, 50.0])
def test_the_function_that_is_never_negative(tilt, truth):
    losses = np.concatenate((-np.geomspace(1e-12, 650.0, 60), np.geomspace(1e-12, 650.0, 60)))
    t = truth.real(tilt)
    for loss, found in zip(losses.tolist(), log_g(losses, tilt).tolist(), strict=True):
        x = truth.real(loss)
        true = (x - 1 + (-x).exp()) if tilt == 0.0 else (t * x).expm1() + t * (-x).expm1()
        assert abs(truth.real(found) - true.log()) < arb("1e-13") * (1 + abs(true.log()))


def test_a_bounded_range_is_bounded():
    found = Loss.of(BoundedRangeLaw(0.5)).renyi(order=1e6)
    assert 0.4999 < found.lower <= 0.5
    assert found.upper <= 0.5 * (1 + 1e-4)


@pytest.mark.parametrize("law", [LaplaceLaw(0.7), PoissonLaw(LaplaceLaw(1.0), 0.1), response(3.0)], ids=str)
def test_orders_without_end(law):
    """D grows with the order up to the greatest loss, and never beyond."""
    loss = Loss.of(law, 100)
    found = [loss.renyi(order=order) for order in (1e3, 1e6, 1e15, 1e30, 1e31, 1e100, 1e300)]
    for one, other in pairwise(found):
        assert one.lower <= other.upper
    assert all(one.upper <= loss.max() * (1 + 1e-13) for one in found)
    assert found[-1].lower >= loss.max() * (1 - 1e-6)


def test_an_order_for_which_moments_are_no_floats():
    assert Loss.of(GaussianLaw(1.0)).renyi(order=1e300).lower <= 5e299
    assert Loss.of(GaussianLaw(1e200)).mean().lower < math.inf
    found = Loss.of(PoissonLaw(GaussianLaw(1.0), 0.5)).renyi(order=1e300)
    assert found.lower <= 5e299 <= found.upper


@pytest.mark.parametrize("added", [False, True])
def test_losses_far_below_0_that_are_common_under_q(added, truth):
    law = PoissonLaw(GaussianLaw(12.0), 0.01, added)
    mu, rate = truth.real(12.0), truth.real(0.01)

    def density(x, _):
        base = (-x * x / 2).exp() / (2 * acb.pi()).sqrt()
        ratio = (1 - rate) + rate * (mu * x - mu**2 / 2).exp()
        return -base * ratio.log() if added else base * ratio * ratio.log()

    true = acb.integral(density, -18, 36).real
    found = mean(law, relative=1e-3)
    assert truth.real(found.lower) <= true <= truth.real(found.upper)
    assert found.width <= 1e-3 * found.upper


def test_a_mean_whose_exponential_is_no_float(truth):
    found = mean(PoissonLaw(GaussianLaw(900.0), 0.5), relative=1e-3)
    true = truth.real(900.0) ** 2 / 4 - truth.real(2.0).log()  # μ²/2 − ln 2 half of the time, otherwise −ln 2
    assert found.width < 1e-3 * found.upper
    assert truth.real(found.lower) - arb("1e-9") <= true <= truth.real(found.upper) + arb("1e-9")
