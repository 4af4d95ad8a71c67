from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import binomtest

from sitr.noise.coins import TestCoins
from sitr.noise.geometric import GeometricLaw
from sitr.noise.inversion import Inversions
from sitr.noise.laplace import (
    SignedGeometric,
    discrete_laplace,
    discrete_laplace_tail,
    discrete_laplace_width,
    laplace_law,
)
from sitr.numbers import Number
from sitr.precision import precision

DRAWS = 500_000
SCALES = [0.2, Fraction(1, 3), 1, 7.5]


def cumulative(scale):
    """P(Y ≤ y) = 1 − q^{y+1}/(1 + q) for y ≥ 0, by symmetry below."""
    q = math.exp(-1 / scale)

    def at(y: int) -> float:
        return 1 - math.exp(-(y + 1) / scale) / (1 + q) if y >= 0 else math.exp(y / scale) / (1 + q)

    return at


def edges(scale) -> list[int]:
    """Every integer where there are few, otherwise 400 cells."""
    reach = math.ceil(12 * scale)
    return list(range(-reach, reach + 1, max(1, reach // 200)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scale", [*SCALES, 10, 15.99, 16.01, 100, 1000, 4095.5, 4097])
def test_draws_follow_their_law(scale, misfit, alarm):
    draws = discrete_laplace(scale=scale, size=DRAWS, coins=TestCoins(1))
    assert misfit(draws, cumulative(scale), edges(scale)) > alarm
    coins = TestCoins(2)
    single = [discrete_laplace(scale=scale, coins=coins) for _ in range(10_000)]
    assert misfit(single, cumulative(scale), edges(scale)) > alarm


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", [10**6, 1234567.890123, 2**40, 2**52, 2**60, 10**30])
def test_draws_at_large_scales_follow_their_law(scale, misfit, alarm):
    draws = discrete_laplace(scale=scale, size=DRAWS // 10, coins=TestCoins(2))
    assert misfit(draws, cumulative(scale), edges(scale)) > alarm
    digits_are_uniform(draws, scale, misfit, alarm)
    coins = TestCoins(3)
    single = [discrete_laplace(scale=scale, coins=coins) for _ in range(5000)]
    assert misfit(single, cumulative(scale), edges(scale)) > alarm
    digits_are_uniform(np.array(single, dtype=object), scale, misfit, alarm)


def digits_are_uniform(draws, scale, misfit, alarm) -> None:
    """Six binary digits at a time, as far up as they are uniform to a part in 1000."""
    for place in range(0, int(math.log2(scale)) - 16, 6):
        assert misfit((draws >> place & 63).astype(int), lambda y: (y + 1) / 64, range(63)) > alarm


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scale", [Fraction(1, 2), 10, Fraction(1000, 3), 10**6])
def test_short_words_follow_the_law(scale, short, misfit, alarm):
    """Ties in the highest digits, in all others, and with the sign."""
    law, coins = laplace_law(scale, short), TestCoins(4)
    size = DRAWS // (400 if short.word == 8 else 10)  # with eight digits nearly every draw is left to Arb
    assert misfit(law.many(size, coins), cumulative(scale), edges(scale)) > alarm
    assert misfit([law.one(coins) for _ in range(2500)], cumulative(scale), edges(scale)) > alarm


@pytest.mark.parametrize("scale", [0.05, Fraction(1, 3), 1, 10, 1000])
def test_the_tails_have_their_weight(scale, alarm):
    """Exact tails, as far out as a handful of draws come."""
    draws = discrete_laplace(scale=scale, size=10 * DRAWS, coins=TestCoins(6))
    found = 0
    for k in sorted({math.ceil(scale * x) for x in (0.1, 1, 3, 6, 9, 12, 15)}):
        tail = float(discrete_laplace_tail(k, scale=scale))
        for beyond in (draws >= k, draws <= -k):
            assert binomtest(int(np.sum(beyond)), 10 * DRAWS, tail).pvalue > alarm
            found += 1
    assert found >= 2


def test_a_slow_sampler_agrees(canonne, misfit, alarm):
    twin = canonne(TestCoins(7))
    scale = Fraction(22, 7)
    assert misfit([twin.laplace(scale) for _ in range(5000)], cumulative(scale), edges(scale)) > alarm


def test_the_secret_coins_follow_the_law_too(misfit, alarm):
    assert misfit(discrete_laplace(scale=7.5, size=DRAWS), cumulative(7.5), edges(7.5)) > alarm
    assert misfit([discrete_laplace(scale=7.5) for _ in range(10_000)], cumulative(7.5), edges(7.5)) > alarm


@pytest.mark.parametrize("scale", [1e-3, 1e-6, 5e-324, Fraction(1, 10**400)])
def test_a_tiny_scale_gives_zeros(scale):
    assert not discrete_laplace(scale=scale, size=DRAWS).any()  # P(Y ≠ 0) < 2e^{−1000}
    assert not any(discrete_laplace(scale=scale) for _ in range(100))


def test_tiny_probabilities_are_right_where_they_can_be_seen(alarm):
    """P(Y ≠ 0) = 2q/(1 + q): one in 11,000 at t = 0.1."""
    draws = discrete_laplace(scale=0.1, size=10 * DRAWS, coins=TestCoins(8))
    assert binomtest(int(np.count_nonzero(draws)), 10 * DRAWS, 2 / (math.exp(10) + 1)).pvalue > alarm


def test_a_double_zero_is_rejected(misfit, alarm):
    generator = np.random.default_rng(3)
    sizes = np.floor(generator.exponential(7.5, DRAWS)).astype(int)
    assert misfit(sizes * generator.choice([-1, 1], DRAWS), cumulative(7.5), edges(7.5)) < alarm


def test_a_fair_sign_is_rejected(misfit, alarm):
    """Broken: the sign is fair, so that −1 comes as often as 0."""
    sizes = laplace_law(7.5).size
    drawn = sizes.many_below(sizes.top.many(DRAWS, TestCoins(9)) >> 1, TestCoins(10))
    fair = -(TestCoins(11).words(DRAWS) & np.uint64(1)).astype(np.int64)
    assert misfit(drawn ^ fair, cumulative(7.5), edges(7.5)) < alarm


def test_a_dropped_digit_is_rejected(misfit, alarm):
    """Broken: the lowest digit is left out, that is always zero."""
    law = laplace_law(10**6)
    broken = SignedGeometric(GeometricLaw(law.size.top, Inversions(law.size.low.laws[:1]), fits=True))
    with pytest.raises(AssertionError):
        digits_are_uniform(broken.many(DRAWS // 10, TestCoins(12)) << 8, 10**6, misfit, alarm)


def test_a_scale_off_by_two_percent_is_rejected(misfit, alarm):
    draws = discrete_laplace(scale=7.5 * 1.02, size=DRAWS, coins=TestCoins(4))
    assert misfit(draws, cumulative(7.5), edges(7.5)) < alarm


def test_a_coarse_twin_is_rejected_by_its_last_digits(misfit, alarm):
    draws = 2 * discrete_laplace(scale=500_000, size=DRAWS // 10, coins=TestCoins(5))
    with pytest.raises(AssertionError):
        digits_are_uniform(draws, 10**6, misfit, alarm)


def test_digits_are_as_many_as_are_needed():
    assert [len(laplace_law(t).size.low.laws) for t in (1e-6, 16, 17, 4096, 4097, 2**60)] == [0, 0, 1, 1, 2, 7]


def test_equal_numbers_that_mean_different_scales_are_kept_apart():
    """0.1 stands for one tenth, Fraction(0.1) for the binary number; the two are equal and have one hash."""
    assert laplace_law(0.1) is not laplace_law(Fraction(0.1))
    assert laplace_law(0.1) is laplace_law(0.1)


def test_draws_are_64_bit_integers_exactly_where_these_are_wide_enough():
    """P(|Y| > 2^62) against 2^{−1000} on both sides of the border."""
    for scale, dtype in [(2**52, np.int64), (2**62 // 694, np.int64), (2**62 // 693, np.object_), (2**60, np.object_)]:
        with precision(128):
            never = 2 * discrete_laplace_tail(2**62 + 1, scale=scale) < arb(2) ** -1000
        assert discrete_laplace(scale=scale, size=1).dtype == dtype
        assert never is (dtype is np.int64)
    assert all(type(draw) is int for draw in discrete_laplace(scale=2**60, size=3))


def test_draws_have_their_shape():
    assert discrete_laplace(scale=3, size=(2, 3)).shape == (2, 3)
    assert discrete_laplace(scale=2**60, size=(2, 3)).shape == (2, 3)
    assert discrete_laplace(scale=3, size=0).shape == (0,)
    assert discrete_laplace(scale=2**60, size=0).dtype == object


def test_one_draw_is_a_python_integer():
    assert type(discrete_laplace(scale=1.5)) is int
    assert type(discrete_laplace(scale=10**40)) is int


def test_equal_seeds_give_equal_draws_and_secret_coins_do_not():
    one, two = (discrete_laplace(scale=1e9, size=20, coins=TestCoins(6)).tolist() for _ in range(2))
    assert one == two
    one, two = (discrete_laplace(scale=1e9, coins=TestCoins(6)) for _ in range(2))
    assert one == two
    assert discrete_laplace(scale=1e9, size=20).tolist() != discrete_laplace(scale=1e9, size=20).tolist()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("k", [1, 2, 10])
def test_the_tail_is_the_sum_of_its_terms(scale, k):
    with localcontext() as context:
        context.prec = 60
        exact = Fraction(str(scale))
        rate = Decimal(exact.denominator) / Decimal(exact.numerator)
        terms = [(-rate * y).exp() for y in range(k + 1500)]
        direct = sum(terms[k:]) / (2 * sum(terms) - 1)
    tail = discrete_laplace_tail(k, scale=scale)
    numerator, denominator = direct.as_integer_ratio()
    assert tail.overlaps(arb(fmpq(numerator, denominator), 1e-50))
    assert tail.rel_accuracy_bits() > 40


def test_the_tails_and_the_middle_make_one():
    q = (-arb(1) / 5).exp()
    assert (2 * discrete_laplace_tail(1, scale=5) + (1 - q) / (1 + q)).overlaps(arb(1))


@pytest.mark.parametrize("k", [0, -3])
def test_a_tail_begins_above_zero(k):
    with pytest.raises(ValueError, match="at least 1"):
        discrete_laplace_tail(k, scale=1)


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


@pytest.mark.parametrize("scale", [1e-6, *SCALES, 100, 1e6, 1e18, 2**60])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_width_is_the_least(scale, confidence):
    """P(|Y| ≤ w) ≥ c > P(|Y| ≤ w − 1), through the tail."""
    width = discrete_laplace_width(scale=scale, confidence=confidence)
    rest = 1 - Fraction(str(confidence))
    with precision(300):
        allowed = arb(fmpq(rest.numerator, rest.denominator)) / 2
        assert discrete_laplace_tail(width + 1, scale=scale) <= allowed
        assert width == 0 or discrete_laplace_tail(width, scale=scale) > allowed


def test_a_width_against_a_plain_sum():
    weights = {y: math.exp(-abs(y) / 10) for y in range(-1000, 1001)}
    width = discrete_laplace_width(scale=10, confidence=0.95)

    def within(w: int) -> float:
        return sum(weight for y, weight in weights.items() if abs(y) <= w) / sum(weights.values())

    assert within(width) > 0.95 > within(width - 1)


@pytest.mark.parametrize("scale", [0, -1, -0.0, math.nan, math.inf, -math.inf, Fraction(-1, 10**400)])
def test_bad_scales_are_refused_everywhere(scale):
    for call in (
        lambda: discrete_laplace(scale=scale),
        lambda: discrete_laplace(scale=scale, size=0),
        lambda: discrete_laplace_tail(1, scale=scale),
        lambda: discrete_laplace_width(scale=scale, confidence=0.5),
    ):
        with pytest.raises(ValueError, match="scale of noise"):
            call()
