from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, exact
from sitr.mechanisms.gaussian import Gaussian
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins

BITS = 300


def divergence(shift: int, sigma: Fraction, order: Fraction) -> arb:
    """D_α between P(y) ∝ e^{−y²/(2σ²)} and the same moved by `shift`.

    The sum of P^α Q^{1−α} is centred at (1 − α)·shift; 30σ around it leave out less than e^{−450} of it.
    """
    reach = math.ceil(30 * sigma) + math.ceil(order * abs(shift))
    exponents = [
        -ball((order * y * y + (1 - order) * (y - shift) ** 2) / (2 * sigma**2)) for y in range(-reach, reach + 1)
    ]
    weights = [-ball(Fraction(y * y) / (2 * sigma**2)) for y in range(-reach, reach + 1)]
    moment = sum((x.exp() for x in exponents), arb(0)) / sum((x.exp() for x in weights), arb(0))
    return moment.log() / (ball(order) - 1)


@pytest.mark.parametrize("order", [2, 5])
@pytest.mark.parametrize(("squares", "length"), [(1, 1), (4, 1), (2, 2), (5, 2), (3, 3), (6, 3)])
@pytest.mark.parametrize("sigma", [1, 0.7, Fraction(22, 7)])
def test_the_promise_is_the_largest_moment_over_all_neighbours(sigma, squares, length, order):
    """Entries are independent: the moment of a vector is the sum of theirs; at a whole order the bound is attained."""
    mechanism = Gaussian(sigma=sigma, sensitivity=Distance(l1=0, l2_squared=squares, largest=0).l2)
    promised = mechanism.promise().rho
    reach = math.isqrt(squares)
    near = [v for v in product(range(reach + 1), repeat=length) if sum(x * x for x in v) <= squares]
    with ctx.workprec(BITS):
        single = [divergence(shift, exact(sigma), Fraction(order)) for shift in range(reach + 1)]
        moments = [sum((single[entry] for entry in vector), arb(0)) for vector in near]
        assert all(not moment > ball(promised) * order for moment in moments)
        assert any(moment > ball(promised) * order * (1 - ball(1e-15)) for moment in moments)


@given(st.fractions(Fraction(101, 100), 40), st.integers(1, 3))
def test_the_promise_holds_at_broken_orders(order, shift):
    promised = Gaussian(sigma=1.5, sensitivity=shift).promise().rho
    with ctx.workprec(BITS):
        assert not divergence(shift, Fraction(3, 2), order) > ball(promised) * ball(order)


@given(st.floats(1e-12, 1e12), st.one_of(st.integers(1, 10**18), st.fractions(Fraction(1, 10**6), 10**6)))
def test_the_fitted_noise_costs_its_price_and_hardly_less(rho, sensitivity):
    cost = Gaussian.fitting(ZeroConcentratedDP(rho), sensitivity=sensitivity).promise().rho
    assert rho * (1 - 1e-12) <= cost <= rho


@pytest.mark.parametrize(("sensitivity", "rho"), [(10**15, 1e-9), (1, 1e-300), (1e15, 1e9), (5e-324, 1e300)])
def test_extreme_parameters_work(sensitivity, rho):
    cost = Gaussian.fitting(ZeroConcentratedDP(rho), sensitivity=sensitivity).promise().rho
    assert rho * (1 - 1e-12) <= cost <= rho


def test_a_square_root_that_exists_is_exact():
    assert Gaussian.fitting(ZeroConcentratedDP(0.02), sensitivity=3).sigma == 15


def test_an_offset_in_the_price_buys_nothing():
    price = ZeroConcentratedDP(0.125, xi=1.0)
    assert Gaussian.fitting(price, sensitivity=2) == Gaussian(sigma=4, sensitivity=2)
    assert Gaussian.fitting(price, sensitivity=2).promise().covers(price)


@pytest.mark.parametrize("parameter", ["sigma", "sensitivity"])
@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True, 1j])
def test_bad_parameters_are_refused_by_name(parameter, number):
    with pytest.raises(ValueError, match=f"Gaussian wants {parameter} to be a finite number above 0"):
        Gaussian(**{"sigma": 1, "sensitivity": 1, parameter: number})


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, None, "ten", True])
def test_a_bad_sensitivity_is_refused_by_name_when_fitting(sensitivity):
    with pytest.raises(ValueError, match="Gaussian wants sensitivity to be a finite number above 0"):
        Gaussian.fitting(ZeroConcentratedDP(0.5), sensitivity=sensitivity)


def test_nothing_buys_no_noise():
    with pytest.raises(ValueError, match="Gaussian wants rho to be a finite number above 0"):
        Gaussian.fitting(ZeroConcentratedDP(0.0), sensitivity=1)


def test_the_release_is_the_values_plus_noise():
    values = [5, -7, 10**30]
    assert Gaussian(sigma=Fraction(1, 100)).release(values) == values  # P(Y ≠ 0) < 2e^{−5000}
    first = Gaussian(sigma=100).release([0] * 50, coins=TestCoins(1))
    second = Gaussian(sigma=100).release([1000] * 50, coins=TestCoins(1))
    assert [after - before for before, after in zip(first, second, strict=True)] == [1000] * 50
    assert len(set(first)) > 10


def test_the_error_holds_the_noise_as_often_as_it_says():
    weights = [math.exp(-y * y / 200) for y in range(-200, 201)]
    width = Gaussian(sigma=10).error(confidence=0.9)
    inside = [sum(weights[200 - w : 201 + w]) / sum(weights) for w in (width - 1, width)]
    assert inside[0] < 0.9 <= inside[1]
