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
from scipy.stats import chi2, gamma, kstest

from sitr.noise import rounded
from sitr.noise.coins import Coins, TestCoins
from sitr.noise.rounded import rounded_gaussian, rounded_laplace, rounded_spherical, rounded_student

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


@each_law
@pytest.mark.parametrize("scale", [0.4, 5.0])
def test_draws_follow_the_law(law, scale, misfit, alarm):
    draw, tail = LAWS[law]
    coins = TestCoins(1)
    draws = [draw(scale=scale, coins=coins) for _ in range(DRAWS)]
    assert misfit(draws, cumulative(tail, scale), edges(scale)) > alarm


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
