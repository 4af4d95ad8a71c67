from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.stats import binomtest, chi2, gamma, kstest

from sitr.noise import rounded
from sitr.noise.coins import Coins, TestCoins
from sitr.noise.draws import random_bits
from sitr.noise.gaussian import LargeGaussian, SmallGaussian
from sitr.noise.inversion import Bits
from sitr.noise.rounded import (
    RoundedHalves,
    rounded_gaussian,
    rounded_gaussian_width,
    rounded_laplace,
    rounded_law,
    rounded_spherical,
    rounded_student,
)
from sitr.numbers import ball, exact

DRAWS = 8_000

Law = tuple[Callable[..., int], Callable[[arb], arb]]
"""How to draw, and P(Z > z)."""


def laplace_tail(z: arb) -> arb:
    """P(Z > z) for z ≥ 0."""
    return (-z).exp() / 2


def gaussian_tail(z: arb) -> arb:
    return (z / arb(2).sqrt()).erfc() / 2


def student_tail(freedom: int, z: arb) -> arb:
    """The regularised incomplete beta function of ν/(ν + z²)."""
    half = arb(freedom) / 2
    return (freedom / (freedom + z * z)).beta_lower(half, arb(0.5), regularized=True) / 2


def spherical_tail(z: arb) -> arb:
    """One coordinate of three: the density (1 + |z|)e^{−|z|}/4 is what is left of e^{−‖z‖} when two are summed up."""
    return (2 + z) * (-z).exp() / 4


def any_of_three(*, scale: float, coins: Coins) -> int:
    return rounded_spherical(scale=scale, size=3, coins=coins)[coins.below(3)]


def only_one(*, scale: float, coins: Coins) -> int:
    return rounded_spherical(scale=scale, size=1, coins=coins)[0]


def gaussian(*, scale: float, coins: Coins) -> int:
    return rounded_gaussian(sigma=scale, coins=coins)


LAWS: dict[str, Law] = {
    "laplace": (rounded_laplace, laplace_tail),
    "gaussian": (gaussian, gaussian_tail),
    **{f"student {v}": (partial(rounded_student, freedom=v), partial(student_tail, v)) for v in (1, 3, 10)},
    "spherical 1": (only_one, laplace_tail),
    "spherical 3": (any_of_three, spherical_tail),
}

each_law = pytest.mark.parametrize("law", LAWS)


def cumulative(tail: Callable[[arb], arb], scale: float) -> Callable[[int], float]:
    """P(⌊b·Z + ½⌋ ≤ y) = P(Z < (y + ½)/b), by Arb."""

    def up_to(y: int) -> float:
        with ctx.workprec(128):
            z = (arb(y) + arb(0.5)) / arb(scale)
            return float(1 - tail(z) if z > 0 else tail(-z))

    return up_to


def edges(scale: float) -> list[int]:
    """Every integer near zero, and then farther apart."""
    near = range(int(6 * scale) + 2)
    far = [int(scale * 6 * 1.3**i) + i + 2 for i in range(1, 40)]
    return [*(-y - 1 for y in reversed([*near, *far])), *near, *far]


@pytest.fixture(params=[3, 8])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So few digits at first that many roundings are undecided."""
    monkeypatch.setattr(rounded, "_DIGITS", request.param)
    digits: int = request.param
    return digits


@pytest.mark.sampled(4)
@each_law
@pytest.mark.parametrize("scale", [0.4, 5.0])
def test_draws_follow_the_law(law, scale, misfit, alarm):
    draw, tail = LAWS[law]
    coins = TestCoins(1)
    draws = [draw(scale=scale, coins=coins) for _ in range(DRAWS)]
    assert misfit(draws, cumulative(tail, scale), edges(scale)) > alarm


@pytest.mark.sampled(4)
@each_law
def test_undecided_draws_follow_the_law(law, few, misfit, alarm):
    del few
    draw, tail = LAWS[law]
    coins = TestCoins(2)
    draws = [draw(scale=5, coins=coins) for _ in range(DRAWS)]
    assert misfit(draws, cumulative(tail, 5), edges(5)) > alarm


def redrawn(noise, *, numbers, coins):
    """Broken: an undecided draw is made anew."""
    known = rounded._DIGITS
    while (found := rounded._round(noise, [coins.bits(known) for _ in range(numbers)], known)) is None:
        pass
    return found


def stopped(noise, *, numbers, coins):
    """Broken: three digits must do."""
    with ctx.workprec(64):
        drawn = noise([(arb(coins.bits(3)) + arb(0.5)) / 8 for _ in range(numbers)])
        return [int((x + 0.5).floor().unique_fmpz()) for x in drawn]


@pytest.mark.sampled(4)
@each_law
@pytest.mark.parametrize("broken", [redrawn, stopped])
def test_broken_twins_are_rejected(law, broken, monkeypatch, misfit, alarm):
    # The more numbers a draw takes, the more often it is undecided: of nine, eight digits are few.
    monkeypatch.setattr(rounded, "_DIGITS", 8 if law == "spherical 3" else 6)
    monkeypatch.setattr(rounded, "_draw", broken)
    draw, tail = LAWS[law]
    coins = TestCoins(3)
    draws = [draw(scale=3, coins=coins) for _ in range(DRAWS)]
    assert misfit(draws, cumulative(tail, 3), edges(3)) < alarm


@pytest.mark.sampled(2)
@each_law
def test_a_law_of_another_scale_is_rejected(law, misfit, alarm):
    draw, tail = LAWS[law]
    coins = TestCoins(4)
    draws = [draw(scale=5, coins=coins) for _ in range(DRAWS)]
    assert misfit(draws, cumulative(tail, 6), edges(5)) < alarm


def test_it_does_not_matter_how_many_digits_are_read_at_first(monkeypatch):
    """Deterministic: the same endless digits, begun with 4 or with 256, are rounded alike."""

    class Row:
        """Two numbers whose digits are known beforehand; they are read by turns."""

        private = False

        def __init__(self, seed: int) -> None:
            coins = TestCoins(seed)
            self.numbers = [format(coins.bits(4096), "04096b") for _ in range(2)]
            self.read = [0, 0]
            self.turn = 0

        def bits(self, count: int, /) -> int:
            number, start = self.numbers[self.turn], self.read[self.turn]
            self.read[self.turn] += count
            self.turn = 1 - self.turn
            return int(number[start : start + count], 2)

        def words(self, _count: int, /) -> np.ndarray:
            raise AssertionError

        def below(self, _bound: int, /) -> int:
            raise AssertionError

    laws = [partial(rounded_laplace, scale=100), partial(rounded_gaussian, sigma=7.5)]
    laws.append(partial(rounded_student, scale=3, freedom=3))
    further = 0
    for law in laws:
        for seed in range(200):
            found = []
            for digits in (4, 256):
                monkeypatch.setattr(rounded, "_DIGITS", digits)
                row = Row(seed)
                found.append(law(coins=row))
                further += row.read[0] > 4 and digits == 4
            assert found[0] == found[1]
    assert further > 300


@pytest.mark.parametrize("scale", [Fraction(10) ** 200, 2**70, 1e300])
def test_scales_of_any_size(scale):
    """|Z| < 1000, and the last digits are as random as the first."""
    coins = TestCoins(5)
    exactly = Fraction(scale)
    for law in ("laplace", "gaussian", "spherical 3", "student 10"):
        draws = [LAWS[law][0](scale=scale, coins=coins) for _ in range(200)]
        assert all(abs(draw) < 1000 * exactly for draw in draws)
        assert sum(abs(draw) > exactly / 10 for draw in draws) > 100
        assert 40 < sum(draw % 2 for draw in draws) < 160
        assert max(abs(draw) for draw in draws) > exactly


def test_a_tiny_scale_leaves_nothing():
    assert [rounded_laplace(scale=1e-300) for _ in range(20)] == [0] * 20
    assert rounded_spherical(scale=Fraction(1, 10**50), size=4) == [0] * 4


def test_directions_are_all_alike_and_norms_have_a_gamma_law(alarm):
    """At a large scale rounding is not seen."""
    coins, scale = TestCoins(6), 2**40
    for size in (1, 2, 5, 20):
        draws = np.array([rounded_spherical(scale=scale, size=size, coins=coins) for _ in range(2000)]) / scale
        norms = np.linalg.norm(draws, axis=1)
        assert kstest(norms, gamma(size).cdf).pvalue > alarm
        assert kstest(norms, gamma(size * 1.1 + 0.1).cdf).pvalue < alarm
        if size == 2:
            angles = np.arctan2(draws[:, 1], draws[:, 0]) / math.tau % 1
            assert kstest(angles, "uniform").pvalue > alarm
            # Four directions and two sizes, all combinations of which are alike.
            table = np.histogram2d(angles, gamma(2).cdf(norms), bins=(8, 4))[0].ravel()
            assert chi2.sf(((table - 2000 / 32) ** 2 / (2000 / 32)).sum(), 31) > alarm


@cache
def plane(i: int, j: int, scale: float) -> float:
    """The probability of a cell of the plane: the inner integral by quadrature, as the outer one."""

    def inner(x: float) -> float:
        return float(quad(lambda y: math.exp(-math.hypot(x, y) / scale), j - 0.5, j + 0.5, epsabs=1e-12)[0])

    return float(quad(inner, i - 0.5, i + 0.5, epsabs=1e-12)[0]) / (2 * math.pi * scale**2)


@pytest.mark.sampled(1)
def test_two_coordinates_together(few, alarm):
    """They are not independent: cell by cell."""
    del few
    coins, scale, reach, draws = TestCoins(7), 1.2, 4, 2 * DRAWS
    seen: dict[tuple[int, int], int] = {}
    for _ in range(draws):
        x, y = (max(-reach, min(reach, c)) for c in rounded_spherical(scale=scale, size=2, coins=coins))
        seen[x, y] = seen.get((x, y), 0) + 1
    inner = [(i, j) for i in range(1 - reach, reach) for j in range(1 - reach, reach)]
    awaited = {(i, j): draws * plane(*sorted((abs(i), abs(j))), scale) for i, j in inner}

    def fit(expected: dict[tuple[int, int], float]) -> float:
        rest = draws - sum(expected.values())
        others = draws - sum(seen.get(cell, 0) for cell in expected)
        total = sum((seen.get(cell, 0) - e) ** 2 / e for cell, e in expected.items()) + (others - rest) ** 2 / rest
        return float(chi2.sf(total, len(expected)))

    assert fit(awaited) > alarm
    # Broken: independent coordinates with the same laws one by one.
    rows = {i: sum(awaited[i, j] for j in range(1 - reach, reach)) / draws for i in range(1 - reach, reach)}
    whole = sum(awaited.values()) / draws
    assert fit({(i, j): draws * rows[i] * rows[j] / whole for i, j in inner}) < alarm


def test_another_thread_that_lowers_the_precision_costs_time_and_not_the_law(misfit, alarm):
    """Arb's precision belongs to all threads."""
    done = threading.Event()

    def disturb() -> None:
        while not done.is_set():
            with ctx.workprec(8):
                time.sleep(0)

    other = threading.Thread(target=disturb)
    before = ctx.prec
    other.start()
    try:
        coins = TestCoins(8)
        draws = [rounded_laplace(scale=5, coins=coins) for _ in range(5000)]
    finally:
        done.set()
        other.join()
        ctx.prec = before
    assert misfit(draws, cumulative(laplace_tail, 5), edges(5)) > alarm


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf])
def test_scales_that_cannot_be(scale):
    for law in (rounded_laplace, partial(rounded_student, freedom=3), partial(rounded_spherical, size=2)):
        with pytest.raises(ValueError, match="above 0"):
            law(scale=scale)
    with pytest.raises(ValueError, match="above 0"):
        rounded_gaussian(sigma=scale)


def test_degrees_and_sizes_that_cannot_be():
    with pytest.raises(ValueError, match="freedom of noise to be a whole number of at least 1"):
        rounded_student(scale=1, freedom=0)
    with pytest.raises(ValueError, match="whole number"):
        rounded_student(scale=1, freedom=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size of a vector to be a whole number of at least 1"):
        rounded_spherical(scale=1, size=0)


# Many draws of the Gaussian law

MANY = 500_000


def coarse_edges(sigma) -> list[int]:
    reach = math.ceil(6 * sigma)
    return list(range(-reach, reach + 1, max(1, reach // 200)))


def normal(sigma) -> Callable[[int], float]:
    return cumulative(gaussian_tail, float(sigma))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "sigma", [0.2, 0.4, Fraction(1, 3), 1, Fraction(22, 7), 10, 63.9, 64.1, 128, 1000, 10**6, 2**40]
)
def test_many_draws_follow_the_law(sigma, misfit, alarm):
    draws = rounded_gaussian(sigma=sigma, size=MANY, coins=TestCoins(1))
    assert draws.dtype == np.int64
    assert misfit(draws, normal(sigma), coarse_edges(sigma)) > alarm
    law, coins = rounded_law(sigma), TestCoins(2)
    assert misfit([law.one(coins) for _ in range(10_000)], normal(sigma), coarse_edges(sigma)) > alarm


@pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (1.01, False)])
@pytest.mark.parametrize("sigma", [7.5, 700])
def test_many_draws_follow_the_law_and_not_one_a_percent_wider(sigma, factor, fits, misfit, alarm):
    draws = rounded_gaussian(sigma=sigma * factor, size=MANY, coins=TestCoins(2))
    assert (misfit(draws, normal(sigma), coarse_edges(sigma)) > alarm) is fits


def test_the_discrete_gaussian_is_rejected_at_small_sigma(misfit, alarm):
    """P(0) is 0.3829 for the rounded law and 0.3989 for the discrete one."""
    from sitr.noise.gaussian import discrete_gaussian

    draws = discrete_gaussian(sigma=1, size=MANY, coins=TestCoins(3))
    assert misfit(draws, normal(1), coarse_edges(1)) < alarm


@pytest.mark.parametrize("sigma", [10**6, 1234567.890123, 2**40, 2**56, 2**60, 10**30])
def test_the_last_digits_of_many_draws_are_uniform(sigma, misfit, alarm):
    draws = rounded_gaussian(sigma=sigma, size=MANY // 10, coins=TestCoins(4))
    assert misfit(draws, normal(sigma), coarse_edges(sigma)) > alarm
    for place in range(0, int(math.log2(sigma)) - 16, 6):
        assert misfit((draws >> place & 63).astype(int), lambda y: (y + 1) / 64, range(63)) > alarm


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sigma", [Fraction(2, 5), 10, 65, 10**6])
def test_short_words_of_many_draws_follow_the_law(sigma, short, misfit, alarm):
    """Ties between cells are frequent, and often floats do not decide what is above a rectangle."""
    law, coins = rounded_law(sigma, short), TestCoins(6)
    size = MANY // (50 if short.word == 8 else 10)
    assert misfit(law.many(size, coins), normal(sigma), coarse_edges(sigma)) > alarm
    assert misfit([law.one(coins) for _ in range(2500)], normal(sigma), coarse_edges(sigma)) > alarm


def test_the_tables_hold_the_law():
    """Each border of the table encloses a difference of Φ, computed with more digits and another function of Arb."""
    for sigma in (Fraction(1, 3), Fraction(5), Fraction(639, 10)):
        law = rounded_law(sigma)
        assert isinstance(law, SmallGaussian)
        lows, highs = law.order._bands
        with ctx.workprec(256):
            beyond = arb(1)  # P(not among the outcomes so far)
            for i, (low, high) in enumerate(zip(lows[::-1].tolist(), highs[::-1].tolist(), strict=True)):
                y = (i + 1) // 2
                ends = [ball((y + half) / sigma) / arb(2).sqrt() for half in (Fraction(1, 2), Fraction(-1, 2))]
                beyond -= (ends[0].erf() - ends[1].erf()) / 2
                assert arb(low) <= beyond * 2**64 <= arb(high + 1)
        assert max(high - low for low, high in zip(lows.tolist(), highs.tolist(), strict=True)) <= 1


def kept_above(law: LargeGaussian, cell: int, coins: TestCoins) -> np.ndarray:
    """The place within this cell, in steps, of the draws that were kept from above its rectangle."""
    size = MANY // {4: 25, 5: 5, 12: 10}.get(law.halves.digits.word, 1)
    bits = random_bits(law.shift + 1, size=size, coins=coins)
    refused = law._refused(np.full(size, cell), bits, coins)
    return np.asarray((bits >> 1)[~refused])


def wedge(law: LargeGaussian, cell: int) -> np.ndarray:
    """What these should be: the integral of the bell above the rectangle over each step, by Simpson's rule."""
    sigma, width = float(law.cells), 1 << law.shift

    def height(rho: float) -> float:
        return math.exp(-((cell + rho) ** 2) / (2 * sigma**2)) - math.exp(-((cell + 1) ** 2) / (2 * sigma**2))

    steps = range(width)
    weights = [height(r / width) + 4 * height((r + 0.5) / width) + height((r + 1) / width) for r in steps]
    return np.cumsum(weights) / math.fsum(weights)


def halves(sigma: int, digits: Bits) -> LargeGaussian:
    law = rounded_law(sigma, digits)
    assert isinstance(law, RoundedHalves)
    return law.halves


@pytest.mark.sampled(6)
@pytest.mark.parametrize("digits", [Bits(2, 4), Bits(2, 5), Bits(4, 12), Bits()])
@pytest.mark.parametrize("cell", [0, 40, 150])
@pytest.mark.parametrize("sigma", [65, 1000])
def test_what_is_above_a_rectangle_has_the_shape_of_the_bell(sigma, cell, digits, misfit, alarm):
    law = halves(sigma, digits)
    shape = wedge(law, cell)
    assert misfit(kept_above(law, cell, TestCoins(8)), lambda y: shape[y], range(len(shape) - 1)) > alarm


@pytest.mark.parametrize("broken", ["redrawn", "guessed"])
def test_broken_acceptance_is_rejected(broken, misfit, alarm, monkeypatch):
    """Undecided draws that are refused and made anew, or kept without a decision."""
    monkeypatch.setattr(LargeGaussian, "_settle", lambda *_: broken == "guessed")
    law = halves(1000, Bits(2, 5))
    shape = wedge(law, 40)
    assert misfit(kept_above(law, 40, TestCoins(8)), lambda y: shape[y], range(len(shape) - 1)) < alarm


def test_a_remainder_without_its_fraction_is_rejected(misfit, alarm):
    """Broken: ρ = r/2^m of the discrete law. At σ = 65 a cell has four halves, and the wedge moves by half of one."""
    law = halves(65, Bits())
    twin = LargeGaussian(law.halves, law.cells, law.shift, law.kappa, law.fits, real=False)
    shape = wedge(law, 40)
    assert misfit(kept_above(law, 40, TestCoins(9)), lambda y: shape[y], range(len(shape) - 1)) > alarm
    coins = TestCoins(9)
    bits = random_bits(law.shift, size=MANY, coins=coins) << 1  # the sign is 0
    broken = (bits >> 1)[~twin._refused(np.full(MANY, 40), bits, coins)]
    assert misfit(broken, lambda y: shape[y], range(len(shape) - 1)) < alarm


def test_floats_decide_as_arb_does_wherever_they_decide():
    """V near p: a decision of the floats holds for every U with the known digits."""
    law, decided = halves(10**9, Bits()), 0
    generator = np.random.default_rng(10)
    for _ in range(300):
        c, steps = int(generator.integers(0, 300)), int(generator.integers(0, 1 << 62)) << law.shift + 2
        unit = 1 << law.shift + 64
        with ctx.workprec(200):
            kappa = ball(1 / (2 * law.cells**2))
            low = (-kappa * (2 * c + 1)).exp()
            ends = [ball(Fraction(steps + more, unit)) for more in (0, 1)]
            chances = [((-kappa * rho * (2 * c + rho)).exp() - low) / (1 - low) * 2**53 for rho in ends]
            scale = float(1 - low)
            near = int(chances[0].floor().unique_fmpz() or 0)
        for off in (-(2**12), -300, -20, -3, 0, 3, 20, 300, 2**12):
            v = near + round(off / scale)
            if not 0 <= v < 2**53:
                continue
            kept, refused = law._decide(float(c), steps / unit, float(v), 53)
            assert not (kept and refused)
            if kept or refused:
                decided += 1
                with ctx.workprec(200):
                    assert all(arb(v + 1) <= p if kept else arb(v) >= p for p in chances)
    assert decided > 500


@pytest.mark.parametrize("sigma", [0.3, 1, 10, 1000])
def test_the_tails_of_many_draws_have_their_weight(sigma, alarm):
    draws, at = rounded_gaussian(sigma=sigma, size=10 * MANY, coins=TestCoins(11)), normal(sigma)
    for x in (0, 1, 2, 3, 4, 4.8):
        k = math.ceil(x * sigma)
        for beyond in (draws > k, draws < -k):
            assert binomtest(int(np.sum(beyond)), 10 * MANY, at(-k - 1)).pvalue > alarm


@pytest.mark.parametrize("sigma", [1e-3, 1e-6, 5e-324, Fraction(1, 10**400)])
def test_a_tiny_sigma_gives_zeros(sigma):
    assert not rounded_gaussian(sigma=sigma, size=MANY).any()
    assert rounded_gaussian_width(sigma=sigma, confidence=0.999) == 0


def test_many_draws_are_64_bit_integers_where_these_are_wide_enough():
    for sigma, dtype in [(2**56, np.int64), (2**57, np.object_), (2**60, np.object_)]:
        bound = 2 * (-((arb(2) ** 62 - 1) ** 2) / (2 * arb(sigma) ** 2)).exp()
        assert (bound < arb(2) ** -1000) is (dtype is np.int64)
        assert rounded_gaussian(sigma=sigma, size=1).dtype == dtype
    assert all(type(draw) is int for draw in rounded_gaussian(sigma=2**60, size=3))
    assert np.abs(rounded_gaussian(sigma=2**56, size=10_000, coins=TestCoins(1))).max() < 2**59


def test_many_draws_have_their_shape_and_follow_the_seed():
    for sigma in (3, 1000, 2**60):
        assert rounded_gaussian(sigma=sigma, size=(2, 3)).shape == (2, 3)
        assert rounded_gaussian(sigma=sigma, size=0).shape == (0,)
    one, two = (rounded_gaussian(sigma=1e9, size=20, coins=TestCoins(6)).tolist() for _ in range(2))
    assert one == two
    assert rounded_gaussian(sigma=1e9, size=20).tolist() != rounded_gaussian(sigma=1e9, size=20).tolist()


@pytest.mark.parametrize("sigma", [1e-6, 0.3, Fraction(1, 3), 1, 7.5, 200, 1e6, 1e18])
@pytest.mark.parametrize("confidence", [1e-9, 0.5, 0.95, 0.999999, 1 - Fraction(1, 10**40)])
def test_the_width_is_the_least(sigma, confidence):
    """By erf rather than erfc, and with more digits."""
    width = rounded_gaussian_width(sigma=sigma, confidence=confidence)
    with ctx.workprec(600):
        held = [(ball((w + Fraction(1, 2)) / exact(sigma)) / arb(2).sqrt()).erf() for w in (width, width - 1)]
        assert held[0] >= ball(confidence)
        assert width == 0 or held[1] < ball(confidence)


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf])
def test_bad_sigmas_of_many_draws_are_refused(sigma):
    for call in (
        lambda: rounded_gaussian(sigma=sigma, size=3),
        lambda: rounded_gaussian_width(sigma=sigma, confidence=0.5),
    ):
        with pytest.raises(ValueError, match="sigma of noise"):
            call()
