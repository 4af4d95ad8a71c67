from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import comb

from sitr.accounting.curves import LARGEST_ORDER, LaplaceMoments, Least, SampledGaussian, _sampled_moment
from sitr.flavors.curve import PointCurve
from sitr.flavors.gaussian import GaussianDP
from sitr.numbers import ball


def laplace_moment(epsilon, order):
    """D_α of Laplace laws at distance ε, by integration of (p/q)^α q in three smooth pieces."""

    def density(x):
        return 0.5 * math.exp(-order * abs(x - epsilon) - (1 - order) * abs(x))

    pieces = [(-60 / order - 60, 0.0), (0.0, epsilon), (epsilon, epsilon + 60.0)]
    return math.log(sum(quad(density, *piece, epsabs=0, epsrel=1e-12)[0] for piece in pieces)) / (order - 1)


def sampled_moments(rate, mu, order):
    """D_α of the sampled Gaussian against the Gaussian, both ways, by the trapezoidal rule on a fine grid.

    E[r^α] − 1 = E[r^α − 1 − α(r − 1)] for a ratio r with mean 1: what is integrated is small where the moment is.
    """
    x = np.linspace(-12, 12 + order * mu, 20_001)
    log_q = -x * x / 2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))

    def divergence(log_weights, log_ratio):
        power = np.minimum(order * log_ratio, 600.0)
        excess = np.exp(log_weights) * (np.expm1(power) - order * np.expm1(log_ratio))
        far = order * log_ratio > 600.0  # there the other terms are nothing
        excess[far] = np.exp(log_weights + order * log_ratio)[far]
        return math.log1p(float(excess.sum())) / (order - 1)

    return divergence(log_q, loss), divergence(log_q + loss, -loss)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("order", [1.1, 2.0, 3.7, 20.0])
def test_laplace_moments_are_those_of_the_integral(epsilon, order):
    curve = LaplaceMoments(epsilon)
    assert curve(order) == pytest.approx(laplace_moment(epsilon, order), rel=1e-9, abs=1e-12)


def test_laplace_moments_grow_from_the_mean_to_the_largest_loss():
    curve = LaplaceMoments(1.0)
    values = [curve(order) for order in (1.0001, 1.5, 2.0, 8.0, 1e3, 1e6)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(math.exp(-1.0), rel=1e-3)  # E[L] = ε − 1 + e^{−ε}
    assert 0.999 < values[-1] <= 1.0
    assert LaplaceMoments(0.0)(5.0) == 0.0
    assert LaplaceMoments(1e5)(1e6) <= 1e5


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_the_tail_of_laplace_noise_is_that_of_the_integral(epsilon, share):
    at = share * epsilon

    def excess(x):
        return max(0.0, math.exp(-abs(x - epsilon)) - math.exp(at - abs(x))) / 2

    # The ratio passes e^at at (ε + at)/2; beyond ε both fall as e^{−x}.
    cut = (epsilon + at) / 2
    stick = quad(excess, cut, epsilon, epsrel=1e-12)[0] + (1 - math.exp(at - epsilon)) / 2
    law = LaplaceMoments(epsilon)
    assert law.delta(epsilon=at) == pytest.approx(stick, rel=1e-9)
    assert law.to_approximate(delta=law.delta(epsilon=at)).epsilon == pytest.approx(at, abs=1e-12)
    assert law.delta(epsilon=epsilon) == 0.0


@pytest.mark.parametrize("rate", [1e-3, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("order", [2, 3, 8, 32])
def test_sampled_gaussian_moments_are_those_of_the_integral(rate, mu, order):
    forth, back = sampled_moments(rate, mu, order)
    bound = SampledGaussian(rate, mu)(float(order))
    assert bound == pytest.approx(forth, rel=1e-6, abs=1e-12)
    assert back <= bound * (1 + 1e-6) + 1e-12


def summed(rate, mu, order):
    """D_α term by term, in balls.      [MTZ19, Sec. 3.3]"""
    q, half = ball(rate), ball(mu) ** 2 / 2
    terms = (
        math.comb(order, k) * (1 - q) ** (order - k) * q**k * (half * (k * k - k)).expm1() for k in range(order + 1)
    )
    return sum(terms, arb(0)).log1p() / (order - 1)


rates = st.floats(1e-12, 1.0, exclude_max=True) | st.floats(-12, -0.01).map(lambda power: 10**power)


@given(rates, st.floats(-6, 2).map(lambda power: 10**power), st.integers(2, 64) | st.integers(2, LARGEST_ORDER))
@example(1e-300, 1.0, 2)  # 1e-600 is no float
@example(1e-160, 1e-3, 7)
@example(0.5, 1e-120, 30)
@example(1 - 1e-15, 1e-8, 1000)
@example(0.01, math.sqrt(-2 * math.log(0.01) / 1024), 1024)  # logarithms of 4,700 cancel
@example(1e-9, math.sqrt(-2 * math.log(1e-9) / 900), 901)
def test_sampled_moments_are_rounded_up_and_hardly(rate, mu, order):
    found = _sampled_moment(rate, mu, order)
    with ctx.workprec(4096 if rate < 1e-100 or mu < 1e-100 else 400):
        true = summed(rate, mu, order)
        assert true <= ball(found)
        assert ball(found) < true * (1 + ball(1e-12)) + ball(1e-322)


def test_moments_that_are_not_rounded_up_would_be_noticed():
    """The twin that adds the same terms in floats, one by one, is below the truth as often as not."""

    def twin(rate, mu, order):
        k = np.arange(2, order + 1)
        terms = comb(order, k) * (1 - rate) ** (order - k) * rate**k * np.expm1(mu * mu / 2 * (k * k - k))
        return math.log1p(float(terms.sum())) / (order - 1)

    chosen = [(0.01 + i / 1000, 0.5 + i / 100, 20) for i in range(50)]
    with ctx.workprec(400):
        flattered = [case for case in chosen if ball(twin(*case)) < summed(*case)]
    assert 5 < len(flattered) < 45


def test_a_tiny_or_huge_shift_is_bounded_too():
    assert 0.0 < SampledGaussian(0.5, 1e-200)(7.0) < 1e-270
    assert SampledGaussian(0.5, 1e10)(7.0) == pytest.approx(3.5e20, rel=1e-12)
    assert SampledGaussian(0.5, 1e10)(7.5) == pytest.approx(3.75e20, rel=1e-12)


@pytest.mark.parametrize("order", [1.3, 2.5, 7.9, 30.01])
def test_between_whole_orders_the_bound_holds_and_is_near(order):
    forth, _ = sampled_moments(0.05, 0.8, order)
    assert forth <= SampledGaussian(0.05, 0.8)(order) * (1 + 1e-9)
    assert SampledGaussian(0.05, 0.8)(order) <= SampledGaussian(0.05, 0.8)(float(math.ceil(order)))


@given(st.floats(0.0, 1.0), st.floats(0.0, 3.0), st.floats(1.001, 40.0))
def test_a_sample_tells_no_more_than_everybody(rate, mu, order):
    assert SampledGaussian(rate, mu)(order) <= SampledGaussian(1.0, mu)(order)


def test_at_the_ends_of_the_rate():
    assert SampledGaussian(0.0, 1.0)(5.0) == 0.0
    assert SampledGaussian(1.0, 0.5)(4.0) == 0.5
    assert SampledGaussian(0.5, 1.0)(LARGEST_ORDER + 1.0) == (LARGEST_ORDER + 1) / 2


def sampled_delta(rate, mu, epsilon):
    """The hockey-stick of the sampled Gaussian both ways, by its thresholds."""

    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    # Removing: (1 − q)N(0) + qN(μ) against N(0).
    cut = (math.log((math.exp(epsilon) - 1 + rate) / rate) + mu * mu / 2) / mu
    p = (1 - rate) * phi(-cut) + rate * phi(mu - cut)
    removing = p - math.exp(epsilon) * phi(-cut)
    share = (math.exp(-epsilon) - 1 + rate) / rate
    adding = 0.0
    if share > 0:
        cut = (math.log(share) + mu * mu / 2) / mu
        adding = phi(cut) - math.exp(epsilon) * ((1 - rate) * phi(cut) + rate * phi(cut - mu))
    return max(removing, adding)


@pytest.mark.parametrize(("rate", "mu", "delta"), [(0.01, 1.0, 1e-5), (0.3, 0.5, 1e-4), (0.9, 1.25, 1e-3)])
def test_the_tail_of_the_sampled_gaussian_is_exact(rate, mu, delta):
    epsilon = SampledGaussian(rate, mu).to_approximate(delta=delta).epsilon
    assert sampled_delta(rate, mu, epsilon) == pytest.approx(delta, rel=1e-6)


def test_a_sample_rarer_than_delta_needs_no_epsilon():
    assert SampledGaussian(1e-7, 3.0).to_approximate(delta=1e-6).epsilon == 0.0
    assert SampledGaussian(1.0, 1.0).to_approximate(delta=1e-6) == GaussianDP(1.0).to_approximate(delta=1e-6)


def test_the_least_of_curves_is_the_least_at_each_order():
    curve = Least((PointCurve(((2.0, 0.1), (4.0, 9.0))), PointCurve(((2.0, 0.5), (4.0, 0.75)))))
    assert curve(4.0) == 0.75
    assert curve(2.0) <= 0.1
