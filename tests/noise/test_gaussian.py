from __future__ import annotations

import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import binomtest

from sitr.noise.bell import direct_sums
from sitr.noise.coins import TestCoins
from sitr.noise.draws import random_bits
from sitr.noise.gaussian import LargeGaussian, _first, discrete_gaussian, discrete_gaussian_width, gaussian_law
from sitr.noise.inversion import Bits
from sitr.numbers import Number, ball

DRAWS = 500_000
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


SIGMAS = [0.4, Fraction(1, 3), 1, Fraction(22, 7), 10, 63.9, 64.1, 128, Fraction(1000, 3), 1000]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sigma", SIGMAS)
def test_draws_follow_their_law(sigma, misfit, alarm):
    draws = discrete_gaussian(sigma=sigma, size=DRAWS, coins=TestCoins(1))
    assert misfit(draws, cumulative(sigma), edges(sigma)) > alarm
    coins = TestCoins(2)
    single = [discrete_gaussian(sigma=sigma, coins=coins) for _ in range(10_000)]
    assert misfit(single, cumulative(sigma), edges(sigma)) > alarm


@pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (1.01, False)])
@pytest.mark.parametrize("sigma", [7.5, 700])
def test_draws_follow_their_law_and_not_one_a_percent_wider(sigma, factor, fits, misfit, alarm):
    draws = discrete_gaussian(sigma=sigma * factor, size=DRAWS, coins=TestCoins(2))
    assert (misfit(draws, cumulative(sigma), edges(sigma)) > alarm) is fits


def test_a_rounded_normal_is_rejected_at_small_sigma(misfit, alarm):
    rounded = np.rint(np.random.default_rng(3).normal(0, 1, DRAWS)).astype(int)
    assert misfit(rounded, cumulative(1), edges(1)) < alarm


@pytest.mark.parametrize("sigma", [10**6, 1234567.890123, 2**40, 2**56, 2**60, 10**30])
def test_draws_at_large_sigma_follow_their_law(sigma, misfit, alarm):
    draws = discrete_gaussian(sigma=sigma, size=DRAWS // 10, coins=TestCoins(4))
    coins = TestCoins(5)
    single = np.array([discrete_gaussian(sigma=sigma, coins=coins) for _ in range(5000)], dtype=object)
    for found in (draws, single):
        assert misfit(found, cumulative(sigma), edges(sigma)) > alarm
        for place in range(0, int(math.log2(sigma)) - 16, 6):
            assert misfit((found >> place & 63).astype(int), lambda y: (y + 1) / 64, range(63)) > alarm


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sigma", [Fraction(2, 5), 10, 10**6])
def test_short_words_follow_the_law(sigma, short, misfit, alarm):
    """Ties between cells, and often no float decides what is above a rectangle."""
    law, coins = gaussian_law(sigma, short), TestCoins(6)
    size = DRAWS // (50 if short.word == 8 else 10)
    assert misfit(law.many(size, coins), cumulative(sigma), edges(sigma)) > alarm
    assert misfit([law.one(coins) for _ in range(2500)], cumulative(sigma), edges(sigma)) > alarm


def above(law: LargeGaussian, cell: int, coins: TestCoins) -> np.ndarray:
    """How many steps into this cell the draws are that were kept from above its rectangle."""
    size = DRAWS if law.halves.digits.word > 8 else DRAWS // 5
    bits = random_bits(law.shift + 1, size=size, coins=coins)
    refused = law._refused(np.full(size, cell), bits, coins)
    return ((bits >> 1) + (bits & 1))[~refused]


def wedge(law: LargeGaussian, cell: int) -> np.ndarray:
    """What these should be: steps 0 and 2^m come from one sign only, all between from both."""
    sigma, width = float(law.cells), 1 << law.shift
    bell = [math.exp(-((cell + step / width) ** 2) / (2 * sigma**2)) for step in range(width + 1)]
    weights = [(1 if step in (0, width) else 2) * (height - bell[-1]) for step, height in enumerate(bell)]
    return np.cumsum(weights) / math.fsum(weights)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("digits", [Bits(2, 4), Bits(4, 12), Bits()])
@pytest.mark.parametrize("cell", [0, 1, 40, 150])
def test_what_is_above_a_rectangle_has_the_shape_of_the_bell(cell, digits, misfit, alarm):
    law = gaussian_law(1000, digits)
    assert isinstance(law, LargeGaussian)
    shape = wedge(law, cell)
    kept = above(law, cell, TestCoins(8))
    assert misfit(kept, lambda y: shape[y], range(len(shape) - 1)) > alarm


@pytest.mark.parametrize("broken", ["redrawn", "guessed"])
def test_broken_acceptance_is_rejected(broken, misfit, alarm, monkeypatch):
    """Undecided draws that are refused and made anew, or kept without asking."""
    monkeypatch.setattr(LargeGaussian, "_settle", lambda *_: broken == "guessed")
    law = gaussian_law(1000, Bits(2, 4))
    assert isinstance(law, LargeGaussian)
    shape = wedge(law, 0)
    assert misfit(above(law, 0, TestCoins(8)), lambda y: shape[y], range(len(shape) - 1)) < alarm


def test_rectangles_alone_are_rejected(misfit, alarm, monkeypatch):
    monkeypatch.setattr(LargeGaussian, "_refused", lambda _, cells, *__: np.full(len(cells), False))
    draws = gaussian_law(700).many(4 * DRAWS, TestCoins(9))
    assert misfit(draws, cumulative(700), edges(700)) < alarm


def test_floats_decide_as_arb_does_wherever_they_decide():
    """The margin, by trial: V within a few parts in 2^{46} of p, where both answers are near."""
    law = gaussian_law(1e9)
    assert isinstance(law, LargeGaussian)
    width, decided = 1 << law.shift, 0
    generator = np.random.default_rng(10)
    for _ in range(300):
        c, steps = int(generator.integers(0, 300)), int(generator.integers(0, width + 1))
        kappa, rho = 1 / (2 * law.cells**2), Fraction(steps, width)
        with ctx.workprec(150):
            low = (-ball(kappa * (2 * c + 1))).exp()
            p = ((-ball(kappa * rho * (2 * c + rho))).exp() - low) / (1 - low)
            scale = float(1 - low)
            near = int((p * 2**53).floor().unique_fmpz() or 0)
        for off in (-(2**12), -300, -20, -3, 0, 3, 20, 300, 2**12):
            v = near + round(off / scale)
            if not 0 <= v < 2**53:
                continue
            kept, refused = law._decide(float(c), steps / width, float(v), 53)
            assert not (kept and refused)
            if kept or refused:
                decided += 1
                with ctx.workprec(150):
                    assert arb(v + 1) <= p * 2**53 if kept else arb(v) >= p * 2**53
    assert decided > 500


def test_beyond_eleven_sigma_floats_are_not_asked():
    law = gaussian_law(1e9)
    assert isinstance(law, LargeGaussian)
    assert law._decide(math.floor(25 * law.cells), 0.5, 2.0**52, 53) == (False, False)
    assert law._settle(math.floor(25 * law.cells), 0, 0, TestCoins(1))
    assert not law._settle(math.floor(25 * law.cells), 1 << law.shift, 2**63, TestCoins(1))


@pytest.mark.parametrize("sigma", [0.3, 1, 10, 1000])
def test_the_tails_have_their_weight(sigma, alarm):
    """Exact tails from sums, as far out as a handful of draws come."""
    draws, at = discrete_gaussian(sigma=sigma, size=10 * DRAWS, coins=TestCoins(11)), cumulative(sigma)
    for x in (0, 1, 2, 3, 4, 4.8):
        k = math.ceil(x * sigma)
        for beyond in (draws > k, draws < -k):
            assert binomtest(int(np.sum(beyond)), 10 * DRAWS, at(-k - 1)).pvalue > alarm


def test_the_tail_beyond_the_last_word_has_its_weight(alarm):
    """With words of eight digits everything beyond 2.7σ comes from the digits that follow."""
    draws, at = gaussian_law(10, Bits(4, 8)).many(DRAWS // 10, TestCoins(12)), cumulative(10)
    for k in (28, 32, 36):
        assert 2 * at(-k - 1) < 2**-7
        assert binomtest(int(np.sum(np.abs(draws) > k)), DRAWS // 10, 2 * at(-k - 1)).pvalue > alarm
    assert np.abs(draws).max() > 34


def test_a_slow_sampler_agrees(canonne, misfit, alarm):
    twin, sigma = canonne(TestCoins(13)), Fraction(22, 7)
    assert misfit([twin.gaussian(sigma) for _ in range(3000)], cumulative(sigma), edges(sigma)) > alarm


@pytest.mark.parametrize("sigma", [1e-3, 1e-6, 5e-324, Fraction(1, 10**400)])
def test_a_tiny_sigma_gives_zeros(sigma):
    assert not discrete_gaussian(sigma=sigma, size=DRAWS).any()
    assert not any(discrete_gaussian(sigma=sigma) for _ in range(100))


def test_draws_are_64_bit_integers_where_these_are_wide_enough():
    for sigma, dtype in [(2**56, np.int64), (2**57, np.object_), (2**60, np.object_)]:
        bound = 2 * (-(arb(2) ** 124) / (2 * arb(sigma) ** 2)).exp()
        assert (bound < arb(2) ** -1000) is (dtype is np.int64)
        assert discrete_gaussian(sigma=sigma, size=1).dtype == dtype
    assert all(type(draw) is int for draw in discrete_gaussian(sigma=2**60, size=3))


def test_draws_have_their_shape():
    for sigma in (3, 1000, 2**60):
        assert discrete_gaussian(sigma=sigma, size=(2, 3)).shape == (2, 3)
        assert discrete_gaussian(sigma=sigma, size=0).shape == (0,)


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


@pytest.mark.parametrize("near", [0, 4, 5, 6, 40])
def test_the_search_ends_at_the_same_place_wherever_it_begins(near):
    assert _first(lambda w: arb(100 - w), arb(95), near=near) == 5


@pytest.mark.parametrize("sigma", [1e-6, 0.5, 2.5, 10, 14.5, 1e6, 1e18])
@pytest.mark.parametrize("confidence", [0.01, 0.95, 1 - 1e-9])
def test_a_width_is_quick(sigma, confidence):
    spent = []
    for _ in range(5):
        start = time.thread_time()  # not the time of others on a busy machine
        discrete_gaussian_width(sigma=sigma, confidence=confidence)
        spent.append(time.thread_time() - start)
    assert min(spent) < 0.01


def test_a_confidence_of_thousands_of_digits_is_decided_and_beyond_that_bounded():
    with ctx.workprec(40_000):
        whole, tail = direct_sums(Fraction(1), bits=33_000)
        mantissa, exponent = (1 - 2 * tail(2) / whole).mid().man_exp()
    edge = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)  # P(|Y| ≤ 2) to a part in 2^{33000}
    step = Fraction(1, 10**3000)
    assert discrete_gaussian_width(sigma=1, confidence=edge - step) == 2
    assert discrete_gaussian_width(sigma=1, confidence=edge + step) == 3
    assert discrete_gaussian_width(sigma=1, confidence=edge) == 3  # nobody can say whether 2 is enough; 3 is


@pytest.mark.parametrize("sigma", [0, -1, -0.0, math.nan, math.inf, -math.inf])
def test_bad_sigmas_are_refused_everywhere(sigma):
    for call in (
        lambda: discrete_gaussian(sigma=sigma),
        lambda: discrete_gaussian(sigma=sigma, size=0),
        lambda: discrete_gaussian_width(sigma=sigma, confidence=0.5),
    ):
        with pytest.raises(ValueError, match="sigma of noise"):
            call()
