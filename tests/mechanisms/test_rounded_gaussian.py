from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact

BITS = 200


def masses(sigma: Fraction, centre: int, reach: int) -> list[arb]:
    """P(⌊centre + σZ + ½⌋ = y) for |y| ≤ reach."""
    edges = [ball((Fraction(2 * y - 1, 2) - centre) / sigma) / arb(2).sqrt() for y in range(-reach, reach + 2)]
    tails = [edge.erfc() / 2 for edge in edges]
    return [high - low for high, low in pairwise(tails)]


def stick(sigma: Fraction, move: tuple[int, ...], epsilon: Fraction) -> arb:
    """A lower bound on δ(ε) of a vector that moves so: outcomes within 8σ of both tables."""
    reach = math.ceil(8 * sigma) + max(move)
    with ctx.workprec(BITS):
        laws = [(masses(sigma, 0, reach), masses(sigma, m, reach)) for m in move]
        odds, total = ball(epsilon).exp(), arb(0)
        for places in product(range(2 * reach + 1), repeat=len(move)):
            p, q = arb(1), arb(1)
            for place, (still, moved) in zip(places, laws, strict=True):
                p, q = p * moved[place], q * still[place]
            total += (p - odds * q).nonnegative_part()
        return total


@pytest.mark.parametrize("move", [(1,), (2,), (1, 1), (1, 2)])
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(3, 2)])
def test_the_promise_holds_for_vectors_in_every_direction(sigma, move):
    """On the discrete law four numbers that move by 1 lose more than one that moves by 2: here no direction does."""
    noise = RoundedGaussian(sigma, Distance(l1=0, l2_squared=sum(m * m for m in move), largest=0).l2)
    for epsilon in (0, 1, 3):
        assert not stick(sigma, move, Fraction(epsilon)) > ball(noise.promise().delta(epsilon=epsilon))
        assert noise.loss().delta(epsilon=epsilon).upper >= float(stick(sigma, move, Fraction(epsilon)))


def test_the_promise_is_tight_on_a_fine_grid():
    """Two-sided: with σ = 200 granules rounding hides about 10^{−6} of δ, and a promise smaller by 10^{−4} fails."""
    noise = RoundedGaussian(200, 100)
    for epsilon in (0, 1, 2):
        found = stick(Fraction(200), (100,), Fraction(epsilon))
        assert not found > ball(noise.promise().delta(epsilon=epsilon))
        assert found > ball(GaussianDP(0.5 * (1 - 1e-4)).delta(epsilon=epsilon))


def test_less_noise_than_the_promise_needs_is_seen():
    """Broken: σ one percent too small, on a fine grid."""
    price = ApproximateDP(1.0, 1e-3)
    fitted = RoundedGaussian.fitting(price, sensitivity=50)
    assert not stick(exact(fitted.sigma), (50,), Fraction(1)) > ball(1e-3)
    assert stick(exact(fitted.sigma) * Fraction(99, 100), (50,), Fraction(1)) > ball(1e-3)


PRICES = [(1.0, 1e-6), (0.1, 1e-4), (3.0, 1e-9), (0.0, 0.05), (20.0, 1e-5), (1.0, 0.5), (0.5, 1e-100)]


@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
@pytest.mark.parametrize("sensitivity", [1, 10, Fraction(1, 3)])
def test_the_fitted_noise_keeps_its_price_and_a_little_less_does_not(epsilon, delta, sensitivity):
    price = ApproximateDP(epsilon, delta)
    fitted = RoundedGaussian.fitting(price, sensitivity=sensitivity)
    assert fitted.promise().covers(price)
    less = RoundedGaussian(exact(fitted.sigma) * (1 - Fraction(1, 10**14)), sensitivity)
    assert not less.promise().covers(price)


@pytest.mark.parametrize("sensitivity", [1, 10, 1000])
def test_it_takes_less_noise_than_moments(sensitivity):
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9), (4.0, 1e-5)):
        price = ApproximateDP(epsilon, delta)
        rounded, moments = (kind.fitting(price, sensitivity=sensitivity).sigma for kind in (RoundedGaussian, Gaussian))
        assert exact(moments) * Fraction(80, 100) < exact(rounded) < exact(moments) * Fraction(96, 100)


@given(st.floats(1e-12, 1e12), st.one_of(st.integers(1, 10**18), st.fractions(Fraction(1, 10**6), 10**6)))
def test_a_gaussian_price_is_used_up_exactly(mu, sensitivity):
    assert RoundedGaussian.fitting(GaussianDP(mu), sensitivity=sensitivity).promise() == GaussianDP(mu)


def test_compositions_stay_gaussian():
    three, four = RoundedGaussian(1, 3), RoundedGaussian(1, 4)
    assert Composed((three, four)).promise() == GaussianDP(5.0)
    assert Repeated(RoundedGaussian(2), 4).promise() == GaussianDP(1.0)
    at = Composed((three, four)).promise(delta=1e-6)
    assert at == GaussianDP(5.0).to_approximate(delta=1e-6)
    mixed = Composed((RoundedGaussian(2), Laplace(10))).promise()
    assert mixed.covers(Composed((Gaussian(2), Laplace(10))).promise())


def test_the_loss_is_the_loss_of_the_real_mechanism():
    noise = RoundedGaussian(4, 2)
    for epsilon in (0.0, 0.5, 2.0):
        delta = noise.promise().delta(epsilon=epsilon)
        found = noise.loss().delta(epsilon=epsilon)
        assert found.lower <= delta <= found.upper * (1 + 1e-9)


@pytest.mark.parametrize("parameter", ["sigma", "sensitivity", "granularity"])
@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(parameter, number):
    with pytest.raises(ValueError, match=f"{parameter} of RoundedGaussian to be a finite number above 0"):
        RoundedGaussian(**{"sigma": 1, "sensitivity": 1, "granularity": 1, parameter: number})


@pytest.mark.parametrize("price", [GaussianDP(0.0), ApproximateDP(1.0, 0.0)])
def test_nothing_buys_no_noise(price):
    with pytest.raises(ValueError, match="mu of RoundedGaussian to be a finite number above 0"):
        RoundedGaussian.fitting(price, sensitivity=1)


def test_the_release_is_the_values_plus_noise():
    values = [5, -7, 10**30]
    assert RoundedGaussian(sigma=Fraction(1, 100)).release(values) == values
    first = RoundedGaussian(sigma=100).release([0] * 50, coins=TestCoins(1))
    second = RoundedGaussian(sigma=100).release([1000] * 50, coins=TestCoins(1))
    assert [after - before for before, after in zip(first, second, strict=True)] == [1000] * 50
    assert len(set(first)) > 10
    assert RoundedGaussian(sigma=100).release(np.zeros((2, 3), np.int8)).dtype == np.int64
    assert RoundedGaussian(sigma=0.01).release(7) == 7


def test_granules_are_drawn_and_nothing_else():
    fine = RoundedGaussian(sigma=3, granularity=Fraction(1, 8))
    drawn = [fine.release(Fraction(0), coins=TestCoins(seed)) for seed in range(50)]
    assert all((8 * number).denominator == 1 for number in drawn)
    assert any(number.denominator > 1 for number in drawn)
    with pytest.raises(ValueError, match="multiples of 1/8"):
        fine.release(0.5)  # type: ignore[call-overload]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_the_error_holds_the_noise_as_often_as_it_says(confidence):
    noise = RoundedGaussian(sigma=10)
    width = int(noise.error(confidence=confidence))
    held = [math.erf((w + 0.5) / 10 / math.sqrt(2)) for w in (width - 1, width)]
    assert held[0] < confidence <= held[1]
    drawn = np.abs(noise.release(np.zeros(20_000, np.int64), coins=TestCoins(3)))
    assert abs(float((drawn <= width).mean()) - held[1]) < 6 * math.sqrt(held[1] * (1 - held[1]) / 20_000)
