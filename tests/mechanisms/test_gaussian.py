from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import gaussian
from sitr.mechanisms.gaussian import Gaussian, classical_sigma
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact

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
    with pytest.raises(ValueError, match=f"{parameter} of Gaussian to be a finite number above 0"):
        Gaussian(**{"sigma": 1, "sensitivity": 1, parameter: number})


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, None, "ten", True])
def test_a_bad_sensitivity_is_refused_by_name_when_fitting(sensitivity):
    with pytest.raises(ValueError, match="sensitivity of Gaussian to be a finite number above 0"):
        Gaussian.fitting(ZeroConcentratedDP(0.5), sensitivity=sensitivity)


def test_nothing_buys_no_noise():
    with pytest.raises(ValueError, match="rho of Gaussian to be a finite number above 0"):
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
    width = int(Gaussian(sigma=10).error(confidence=0.9))
    inside = [sum(weights[200 - w : 201 + w]) / sum(weights) for w in (width - 1, width)]
    assert inside[0] < 0.9 <= inside[1]


# Approximate promises


def hockey_stick(sigma: Fraction, shift: int, epsilon: Fraction) -> arb:
    """Term by term: Σ_y max(0, P(y) − e^ε·Q(y)); 40σ leave out less than e^{−800}."""
    reach = math.ceil(40 * sigma) + abs(shift)
    weights = {y: (-ball(Fraction(y * y) / (2 * sigma**2))).exp() for y in range(-reach - shift, reach + shift + 1)}
    whole, odds = sum(weights.values(), arb(0)), ball(epsilon).exp()
    parts = (weights[y - shift] - odds * weights[y] for y in range(-reach, reach + shift + 1))
    return sum((part.nonnegative_part() for part in parts), arb(0)) / whole


PRICES = [
    (1.0, 1e-6, 1),
    (0.1, 1e-4, 1),
    (3.0, 1e-9, 2),
    (0.0, 0.05, 1),
    (20.0, 1e-5, 3),
    (1.0, 0.5, 1),
    (0.5, 1e-100, 2),
]


@pytest.mark.parametrize(("epsilon", "delta", "shift"), PRICES)
def test_the_analytic_calibration_just_keeps_the_promise(epsilon, delta, shift):
    """Also for shorter ways; a millionth less noise is too little."""
    noise = Gaussian.fitting(ApproximateDP(epsilon, delta), sensitivity=shift, single=True)
    sigma = exact(noise.sigma)
    with ctx.workprec(BITS + 400):
        for way in range(1, shift + 1):
            assert hockey_stick(sigma, way, exact(epsilon)) <= ball(delta)
        assert hockey_stick(sigma * (1 - Fraction(1, 10**6)), shift, exact(epsilon)) > ball(delta)


@pytest.mark.parametrize(("epsilon", "delta", "shift"), PRICES)
def test_the_loss_agrees_with_the_calibration(epsilon, delta, shift):
    found = (
        Gaussian.fitting(ApproximateDP(epsilon, delta), sensitivity=shift, single=True).loss().delta(epsilon=epsilon)
    )
    assert found.lower <= delta <= found.upper * (1 + 1e-6)


def test_less_noise_than_by_moments_and_than_in_textbooks():
    for epsilon in (0.01, 0.1, 0.5, 0.99):
        price = ApproximateDP(epsilon, 1e-6)
        exactly = Gaussian.fitting(price, sensitivity=1, single=True).sigma
        moments = Gaussian.fitting(price, sensitivity=1).sigma
        assert exactly < moments < classical_sigma(epsilon, delta=1e-6)


def test_on_a_fine_grid_it_is_the_calibration_on_the_reals():
    """Balle and Wang: σ with Φ(1/2σ − εσ) − e^ε·Φ(−1/2σ − εσ) = δ, from scipy."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def profile(sigma: float) -> Any:
        return norm.cdf(0.5 / sigma - sigma) - math.e * norm.cdf(-0.5 / sigma - sigma) - 1e-5

    fine = Gaussian.fitting(ApproximateDP(1.0, 1e-5), sensitivity=1, granularity=2.0**-30, single=True)
    assert abs(float(fine.sigma) / brentq(profile, 1, 10, xtol=1e-12) - 1) < 1e-6


def test_the_calibration_on_the_reals_is_too_little_on_a_coarse_grid():
    """Broken: σ of the real Gaussian taken for integers."""
    fine = Gaussian.fitting(ApproximateDP(1.0, 1e-6), sensitivity=1, granularity=2.0**-30, single=True)
    with ctx.workprec(BITS):
        assert hockey_stick(exact(fine.sigma), 1, Fraction(1)) > ball(1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.2, 1e-3), (4.0, 1e-9)])
@pytest.mark.parametrize("squares", [1, 2, 5])
def test_a_vector_is_fitted_by_moments(epsilon, delta, squares):
    price = ApproximateDP(epsilon, delta)
    noise = Gaussian.fitting(price, sensitivity=Distance(l1=0, l2_squared=squares, largest=0).l2)
    assert noise.promise().to_approximate(delta=delta).covers(price)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"),
    [(1e-9, 1e-9, 1), (1e4, 1e-6, 1), (1e6, 1e-3, 10), (1.0, 1e-300, 1), (1.0, 1e-6, 10**18), (0.0, 1e-9, 1)],
)
def test_extreme_prices_can_be_fitted(epsilon, delta, sensitivity):
    """A loss of Δ²/2σ² at the centre, half of all, must not be above ε; Rényi's moments are never needed in full."""
    price = ApproximateDP(epsilon, delta)
    sigma = exact(Gaussian.fitting(price, sensitivity=sensitivity, single=True).sigma)
    assert 2 * exact(epsilon) * sigma**2 >= sensitivity**2 * (1 - Fraction(1, 10**6)) or epsilon < 1
    assert epsilon == 0 or sigma < Gaussian.fitting(price, sensitivity=sensitivity).sigma


@pytest.mark.parametrize("delta", [0.0, 1.0])
@pytest.mark.parametrize("single", [True, False])
def test_an_approximate_price_needs_a_delta(delta, single):
    with pytest.raises(ValueError, match="delta of Gaussian to be strictly between 0 and 1"):
        Gaussian.fitting(ApproximateDP(1.0, delta), sensitivity=1, single=single)


def test_a_number_moves_by_whole_granules():
    price = ApproximateDP(1.0, 1e-6)
    fitted = [Gaussian.fitting(price, sensitivity=moved, single=True).sigma for moved in (1, 1.5, 2)]
    assert fitted[0] == fitted[1] < fitted[2]
    with pytest.raises(InvalidPromise, match="at least one granule"):
        Gaussian.fitting(price, sensitivity=0.5, single=True)


# One number, and a vector of them


def vector_stick(sigma: Fraction, move: tuple[int, ...], epsilon: Fraction) -> arb:
    """δ(ε) of a vector that moves so, by all numbers that its parts can add up to.

    With P moved, the loss of outcomes z is Σ(2·z_i·m_i − m_i²)/(2σ²): only s = Σz_i·m_i counts, of which P has the law
    of Σ(m_i + Y_i)·m_i. 25σ leave out less than e^{−300} in each part.
    """
    reach = math.ceil(25 * sigma)
    weights = {y: (-ball(Fraction(y * y) / (2 * sigma**2))).exp() for y in range(-reach, reach + 1)}
    whole = sum(weights.values(), arb(0))
    law = {0: arb(1)}
    for m in move:
        wider: dict[int, arb] = {}
        for s, mass in law.items():
            for y, weight in weights.items():
                place = s + (m + y) * m
                wider[place] = wider.get(place, arb(0)) + mass * weight / whole
        law = wider
    square = sum(m * m for m in move)
    ratios = ((mass, ball(epsilon - Fraction(2 * s - square) / (2 * sigma**2)).exp()) for s, mass in law.items())
    return sum(((mass * (1 - ratio)).nonnegative_part() for mass, ratio in ratios), arb(0))


def known(mechanism: Gaussian, move: tuple[int, ...], epsilons: list[int]) -> bool:
    """Does the loss of this noise hold for a vector that moves so?"""
    with ctx.workprec(BITS):
        return not any(
            vector_stick(exact(mechanism.sigma), move, Fraction(epsilon))
            > ball(mechanism.loss().delta(epsilon=epsilon).upper)
            for epsilon in epsilons
        )


def test_four_numbers_lose_more_than_one_of_the_same_length():
    """Broken: the loss of one number, taken for that of a vector."""
    one = Gaussian(sigma=0.5, sensitivity=2, single=True)
    assert known(one, (2,), [0, 4, 8, 12])
    assert not known(one, (1, 1, 1, 1), [8])
    with ctx.workprec(BITS):
        assert abs(vector_stick(Fraction(1, 2), (1, 1, 1, 1), Fraction(8)) - 0.262) < 1e-3
    assert one.loss().delta(epsilon=8).upper < 0.108


@pytest.mark.sampled(7)
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("move", [(2,), (1, 1, 1, 1), (1, 1), (2, 1), (-2, 2, 1)])
def test_the_loss_of_a_vector_bounds_every_way_it_can_move(sigma, move):
    mechanism = Gaussian(sigma=sigma, sensitivity=Distance(l1=0, l2_squared=sum(m * m for m in move), largest=0).l2)
    assert mechanism.loss().bound
    assert known(mechanism, move, [0, 1, 2, 4, 8])


def test_real_noise_of_the_same_sigma_would_be_too_little():
    """Broken: real Gaussian noise with the same σ."""
    with ctx.workprec(BITS):
        true = vector_stick(Fraction(1, 2), (1, 1, 1, 1), Fraction(6))
        assert true > ball(gaussian(sigma=0.5, sensitivity=2).delta(epsilon=6).upper)


@pytest.mark.parametrize(("sigma", "lost"), [(10, 0.001), (40, 0.0005), (1000, 2e-6)])
def test_the_loss_of_a_vector_is_nearly_that_of_real_noise(sigma, lost):
    """Of one number on a fine grid, real noise is as good as exact."""
    found = Gaussian(sigma=sigma, sensitivity=sigma).loss().epsilon(delta=1e-6)
    real = gaussian(sigma=1).epsilon(delta=1e-6)
    assert real.lower < found.upper < real.upper * (1 + lost)
    assert found.upper < Gaussian(sigma=sigma, sensitivity=sigma).promise().to_approximate(delta=1e-6).epsilon


def test_even_little_noise_exposes_nobody_outright():
    found = Gaussian(sigma=Fraction(1, 10), sensitivity=2).loss()
    assert found.infinite_mass() == 0.0
    assert found.mu().upper == pytest.approx(2 * 19.35, rel=1e-3)  # 2·2Φ⁻¹(1 − P(Y ≥ 1))


def test_sums_that_are_out_of_reach_are_bounded_as_a_vector():
    assert Gaussian(sigma=10**12, sensitivity=10**12, single=True).loss().bound


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3, 2)])
def test_but_a_vector_that_moves_by_less_than_the_root_of_two_moves_one_number(sigma):
    noise = Gaussian(sigma=sigma, sensitivity=Fraction(7, 5))
    assert noise.loss() == Gaussian(sigma=sigma, sensitivity=1, single=True).loss()
    assert known(noise, (1, 0, 0), [0, 1, 2, 4])
    assert not known(noise, (1, 1), [0, 1, 2, 4])  # which is longer


def test_a_single_number_comes_alone():
    one = Gaussian(sigma=0.01, sensitivity=3, single=True)
    assert one.release(5) == 5
    assert one.release([5]) == [5]
    assert one.release(np.array([5])).tolist() == [5]
    for several in ([5, 6], (number for number in (5, 6)), np.array([5, 6]), np.ones((2, 2), dtype=np.int8)):
        with pytest.raises(ValueError, match="one number for Gaussian with single=True"):
            one.release(several)  # type: ignore[arg-type]


def test_what_is_single_stays_single():
    fitted = Gaussian.fitting(ZeroConcentratedDP(0.5), sensitivity=3, granularity=Fraction(1, 2), single=True)
    assert fitted.single
    assert fitted.in_granules().single
    assert Gaussian.fitting(ApproximateDP(1.0, 1e-6), sensitivity=3, single=True).single
    assert not Gaussian.fitting(ApproximateDP(1.0, 1e-6), sensitivity=3).single
    with pytest.raises(ValueError, match="single of Gaussian to be True or False"):
        Gaussian(1, single=1)  # type: ignore[arg-type]


def test_the_classical_calibration():
    for epsilon, delta, moved in [(0.5, 1e-6, 1), (0.99, 1e-9, 7)]:
        known = math.sqrt(2 * math.log(1.25 / delta)) * moved / epsilon
        assert known * (1 - 1e-15) <= classical_sigma(epsilon, delta=delta, sensitivity=moved) <= known * (1 + 1e-14)


@pytest.mark.parametrize("epsilon", [1, 1.0, 2, 1e300])
def test_the_classical_calibration_ends_at_one(epsilon):
    with pytest.raises(InvalidPromise, match="0 < ε < 1 for the classical"):
        classical_sigma(epsilon, delta=1e-6)


def test_beyond_that_it_would_be_wrong():
    """Broken: the formula at ε = 20 and δ = 1e-6, on a fine grid."""
    with ctx.workprec(BITS):
        formula = (2 * (ball(1.25) / ball(1e-6)).log()).sqrt() / 20
        sigma = Fraction(str(float(formula)))
        assert hockey_stick(sigma * 64, 64, Fraction(20)) > ball(1e-6)


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, True])
def test_the_classical_calibration_refuses_what_is_no_parameter(number):
    for given_, name in [({"epsilon": number}, "epsilon"), ({"sensitivity": number}, "sensitivity")]:
        with pytest.raises(ValueError, match=rf"{name} of .* to be a finite number above 0"):
            classical_sigma(**{"epsilon": 0.5, "delta": 1e-6, **given_})
    with pytest.raises(ValueError, match="delta of Gaussian to be strictly between 0 and 1"):
        classical_sigma(0.5, delta=number if number is not True else 1)
