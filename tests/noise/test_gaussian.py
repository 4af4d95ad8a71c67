from __future__ import annotations

import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from sitr.loss.bounds import Number
from sitr.noise.coins import TestCoins
from sitr.noise.gaussian import _direct_sums, _first, _smooth_sums, discrete_gaussian, discrete_gaussian_width

DRAWS = 50_000
CONFIDENCES: list[Number] = [
    1e-9,
    0.1,
    0.5,
    0.9,
    0.95,
    0.99,
    0.999999,
    1 - Fraction(1, 10**12),
    1 - Fraction(1, 10**40),
]


def cumulative(sigma):
    """P(Y ≤ y): a plain sum where it is short, otherwise Φ((y + ½)/σ), right to a relative 1/σ²."""
    if sigma > 1000:
        return lambda y: math.erfc(-(y + 0.5) / sigma / math.sqrt(2)) / 2
    reach = math.ceil(40 * sigma)
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(sigma) ** 2))
    sums = np.cumsum(weights) / math.fsum(weights)
    return lambda y: float(sums[y + reach])


def edges(sigma) -> list[int]:
    reach = math.ceil(6 * sigma)
    return list(range(-reach, reach + 1, max(1, reach // 200)))


@pytest.mark.parametrize("sigma", [0.3, Fraction(1, 3), 1, Fraction(22, 7)])
def test_draws_follow_their_law(sigma, misfit, alarm):
    draws = discrete_gaussian(sigma=sigma, size=DRAWS, coins=TestCoins(1))
    assert misfit(draws, cumulative(sigma), edges(sigma)) > alarm


@pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (1.02, False)])
def test_draws_follow_their_law_and_not_one_two_percent_wider(factor, fits, misfit, alarm):
    draws = discrete_gaussian(sigma=7.5 * factor, size=4 * DRAWS, coins=TestCoins(2))
    assert (misfit(draws, cumulative(7.5), edges(7.5)) > alarm) is fits


def test_a_rounded_normal_is_rejected_at_small_sigma(misfit, alarm):
    rounded = np.rint(np.random.default_rng(3).normal(0, 1, DRAWS)).astype(int)
    assert misfit(rounded, cumulative(1), edges(1)) < alarm


@pytest.mark.parametrize("sigma", [10**6, 1234567.890123, 2**60])
def test_draws_at_large_sigma_follow_their_law(sigma, misfit, alarm):
    draws = discrete_gaussian(sigma=sigma, size=DRAWS, coins=TestCoins(4))
    assert misfit(draws, cumulative(sigma), edges(sigma)) > alarm
    assert misfit([int(draw) % 64 for draw in draws], lambda y: (y + 1) / 64, range(63)) > alarm


@pytest.mark.parametrize("sigma", [1e-3, 1e-6, 1e-300])
def test_a_tiny_sigma_gives_zeros(sigma):
    assert not discrete_gaussian(sigma=sigma, size=500).any()


def test_draws_are_64_bit_integers_where_these_are_wide_enough():
    for sigma, dtype in [(2**56, np.int64), (2**57, np.object_), (2**60, np.object_)]:
        bound = 2 * (-(arb(2) ** 124) / (2 * arb(sigma) ** 2)).exp()
        assert (bound < arb(2) ** -1000) is (dtype is np.int64)
        assert discrete_gaussian(sigma=sigma, size=1).dtype == dtype
    assert all(type(draw) is int for draw in discrete_gaussian(sigma=2**60, size=3))


def test_one_draw_is_a_python_integer():
    assert type(discrete_gaussian(sigma=1.5)) is int
    assert type(discrete_gaussian(sigma=10**40)) is int


def test_equal_seeds_give_equal_draws_and_secret_coins_do_not():
    one, two = (discrete_gaussian(sigma=1e9, size=20, coins=TestCoins(6)).tolist() for _ in range(2))
    assert one == two
    assert discrete_gaussian(sigma=1e9, size=20).tolist() != discrete_gaussian(sigma=1e9, size=20).tolist()


@pytest.mark.parametrize("sigma", [1e-6, 0.3, Fraction(1, 3), 1, 1.9, 2.1, 7.5, 30, 200])
def test_the_width_is_the_least_by_plain_sums(sigma):
    """Sixty decimal digits of every term, without Arb."""
    with localcontext() as context:
        context.prec = 60
        exact = Fraction(str(sigma))
        rate = Decimal(exact.denominator**2) / Decimal(2 * exact.numerator**2)
        weights = [(-rate * y * y).exp() for y in range(math.ceil(15 * sigma) + 2)]
        whole = 2 * sum(weights) - 1
        within = [Decimal(0)]
        for y, weight in enumerate(weights):
            within.append(within[-1] + (2 if y else 1) * weight / whole)
        for confidence in CONFIDENCES:
            width = discrete_gaussian_width(sigma=sigma, confidence=confidence)
            wanted = Fraction(str(confidence))
            assert within[width + 1] >= Decimal(wanted.numerator) / wanted.denominator > within[width] or width == 0


@pytest.mark.parametrize("sigma", [10**4, 1e6, 1234567.890123, 1e12, 1e18])
@pytest.mark.parametrize("confidence", [c for c in CONFIDENCES if c > 0.8])
def test_the_width_is_the_least_at_large_sigma(sigma, confidence):
    """Beyond σ the bell is convex: a sum lies below the integral from w + ½ and above the trapezoids from w."""
    width = discrete_gaussian_width(sigma=sigma, confidence=confidence)
    rest = 1 - Fraction(str(confidence))
    with ctx.workprec(400):
        s = arb(fmpq(*Fraction(str(sigma)).as_integer_ratio()))

        def integral(start: arb) -> arb:
            return s * (arb.pi() / 2).sqrt() * (start / s / arb(2).sqrt()).erfc()

        whole = s * (2 * arb.pi()).sqrt()  # θ to a relative 3e^{−2π²σ²}: nothing at σ = 10^4
        allowed = arb(fmpq(rest.numerator, rest.denominator)) * whole / 2
        assert integral(arb(width) + arb(0.5)) <= allowed
        first = (-((arb(width) / s) ** 2) / 2).exp()
        assert integral(arb(width)) + first / 2 > allowed


@pytest.mark.parametrize("sigma", [Fraction(5, 2), Fraction(4), Fraction(10), Fraction(123, 4)])
@pytest.mark.parametrize("bits", [64, 100])
def test_both_ways_to_sum_agree(sigma, bits):
    with ctx.workprec(400):
        direct_whole, direct = _direct_sums(sigma, bits=300)
        whole, tail = _smooth_sums(sigma, bits=bits)
        assert whole.overlaps(direct_whole)
        for w in (0, 1, 2, 5, 10, math.floor(4 * sigma), math.floor(8 * sigma)):
            assert tail(w).overlaps(direct(w))
            assert direct(w).rad() < 1e-80  # so that the overlap says something
            assert 0 < tail(w).rad() < arb(2) ** (8 - bits) * arb(fmpq(sigma.numerator, sigma.denominator))


@pytest.mark.parametrize("near", [0, 4, 5, 6, 40])
def test_the_search_ends_at_the_same_place_wherever_it_begins(near):
    assert _first(lambda w: arb(100 - w), arb(95), near=near) == 5


@pytest.mark.parametrize("sigma", [1e-6, 0.5, 2.5, 10, 14.5, 1e6, 1e18])
@pytest.mark.parametrize("confidence", [0.01, 0.95, 1 - 1e-9])
def test_a_width_is_quick(sigma, confidence):
    spent = []
    for _ in range(5):
        start = time.perf_counter()
        discrete_gaussian_width(sigma=sigma, confidence=confidence)
        spent.append(time.perf_counter() - start)
    assert min(spent) < 0.01


def test_a_confidence_of_thousands_of_digits_is_decided_and_beyond_that_bounded():
    with ctx.workprec(40_000):
        whole, tail = _direct_sums(Fraction(1), bits=33_000)
        mantissa, exponent = (1 - 2 * tail(2) / whole).mid().man_exp()
    edge = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)  # P(|Y| ≤ 2) to a part in 2^{33000}
    step = Fraction(1, 10**3000)
    assert discrete_gaussian_width(sigma=1, confidence=edge - step) == 2
    assert discrete_gaussian_width(sigma=1, confidence=edge + step) == 3
    assert discrete_gaussian_width(sigma=1, confidence=edge) == 3  # nobody can say whether 2 is enough; 3 is


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf])
def test_bad_sigmas_are_refused_everywhere(sigma):
    for call in (
        lambda: discrete_gaussian(sigma=sigma),
        lambda: discrete_gaussian(sigma=sigma, size=0),
        lambda: discrete_gaussian_width(sigma=sigma, confidence=0.5),
    ):
        with pytest.raises(ValueError, match="The sigma of noise"):
            call()
