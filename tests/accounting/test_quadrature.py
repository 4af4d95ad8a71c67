"""Moments at real orders: never below the truth, and hardly above it."""

from __future__ import annotations

import math

import pytest
from flint import acb, arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitr.accounting.curves import SampledGaussian
from sitr.accounting.quadrature import _log_kappa, _log_sum_on_grid, sampled_moment
from sitr.flavors.curve import PointCurve
from sitr.flavors.renyi import RenyiDP
from sitr.numbers import ball


def found(rate, mu, order):
    with ctx.workprec(128):
        log_rest, log_rate = float((1 - ball(rate)).log()), float(ball(rate).log())
    return sampled_moment(rate, mu, order, log_rest=log_rest, log_rate=log_rate)


def summed(rate, mu, order):
    """D_α at a whole order, term by term, in balls.      [MTZ19, Sec. 3.3]"""
    q, half = ball(rate), ball(mu) ** 2 / 2
    terms = (
        math.comb(order, k) * (1 - q) ** (order - k) * q**k * (half * (k * k - k)).expm1() for k in range(order + 1)
    )
    return sum(terms, arb(0)).log1p() / (order - 1)


def integrated(rate, mu, order):
    """D_α at any order, by an integral that Arb encloses; what is left out adds less than e^{−700}."""
    q, m, alpha = ball(rate), ball(mu), ball(order)

    def density(x, _analytic):
        r = 1 - q + q * (m * x - m * m / 2).exp()
        return (-x * x / 2).exp() * ((r.log() * alpha).exp() - 1 - alpha * (r - 1))

    whole = sum(
        (acb.integral(density, acb(place), acb(place + 2)).real for place in range(-40, math.ceil(order * mu) + 40, 2)),
        arb(0),
    )
    return (whole / (2 * arb.pi()).sqrt() + arb(0, 1e-290)).log1p() / (alpha - 1)


@settings(deadline=None)
@given(
    st.floats(-12.0, -0.001).map(lambda power: 10**power) | st.floats(0.5, 1 - 1e-15),
    st.floats(-6.0, 0.8).map(lambda power: 10**power),
    st.integers(2, 64) | st.integers(2, 400),
)
@example(0.01, math.sqrt(-2 * math.log(0.01) / 400), 400)  # large logarithms cancel
@example(1 - 1e-15, 1e-8, 300)
@example(1e-100, 0.5, 3)
@example(1e-12, 1e-6, 2)
def test_whole_orders_are_those_of_the_sum(rate, mu, order):
    """Logarithms of thousands that cancel lose four digits of the sixteen; the error counts some of them twice."""
    bound = found(rate, mu, float(order))
    with ctx.workprec(1500 if rate < 1e-50 else 500):
        true = summed(rate, mu, order)
        assert true <= ball(bound)
        assert ball(bound) < true * (1 + ball(1e-10))


@pytest.mark.parametrize("order", [1.00002, 1.3, 2.5, 9.8, 30.01])
@pytest.mark.parametrize(("rate", "mu"), [(0.01, 1.0), (1e-4, 0.1), (0.3, 2.0), (0.999, 0.5)])
def test_real_orders_are_those_of_the_integral(rate, mu, order):
    with ctx.workprec(160):
        true = integrated(rate, mu, order)
        assert true.rad() < abs(true.mid()) * 1e-12
        assert true.lower() <= ball(found(rate, mu, order))
        assert ball(found(rate, mu, order)) < true * (1 + ball(1e-11))


def test_a_grid_that_is_too_wide_would_be_noticed():
    """Without κ, steps of 4 are wrong by far, on both sides of the truth; with it they are never used."""
    logs = (math.log1p(-0.3), math.log(0.3))
    narrow = _log_sum_on_grid(0.3, 2.0, 1.5, 2.0**-6, *logs)
    wide = [_log_sum_on_grid(0.3, mu, 1.5, 4.0, *logs) for mu in (0.5, 2.0)]
    assert wide[0] < _log_sum_on_grid(0.3, 0.5, 1.5, 2.0**-6, *logs) - 0.1
    assert wide[1] > narrow + 0.1
    assert _log_kappa(2.0, 4.0) > 0.0
    assert _log_kappa(2.0, 0.0625) < -90.0


def test_where_the_grid_would_be_too_long_there_is_no_bound():
    assert found(0.5, 1e6, 2.5) == math.inf
    assert found(1e-200, 1.0, 2.5) == math.inf
    assert SampledGaussian(0.5, 300.0)(7.5) == pytest.approx(300.0**2 * 7.5 / 2, rel=0.01)  # by the chord
    assert SampledGaussian(1e-200, 1.0)(1.5) == SampledGaussian(1e-200, 1.0)(2.0)


def test_the_best_real_order_is_better_than_the_whole_ones_around_it():
    curve = SampledGaussian(0.01, 1 / 1.1)
    whole = [(float(order), curve(float(order))) for order in range(2, 33)]
    chords = (RenyiDP(PointCurve(tuple(whole))) * 1000).to_approximate(delta=1e-6).epsilon
    real = RenyiDP(curve) * 1000
    assert chords > 1.98
    assert 1.9767 < real.to_approximate(delta=1e-6).epsilon < 1.9768
    assert real.best_order(delta=1e-6) == pytest.approx(9.79, abs=0.01)


def test_a_moment_below_all_floats_is_not_lost_when_it_is_divided():
    """S = q²μ²α(α − 1)/2 is far below 10^{−324}, but D_α = S/(α − 1) is not."""
    rate, mu, order = 1e-18, 1e-140, 1 + 1e-12
    assert SampledGaussian(rate, mu)(order) > 4.9e-317
