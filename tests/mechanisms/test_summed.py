"""Widths of sums of noise: the least ones, by convolution in Arb, by other closed laws, and by simulation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import nbinom

from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.summed import Summand, _Sum, least_width, sum_error
from sitr.noise.coins import TestCoins
from sitr.noise.gaussian import discrete_gaussian_width
from sitr.numbers import ball, exact

SURE = 1 - Fraction(5, 10**8)
"""One cell of a million, all of which are to be held with 95%."""

SMALL: list[Noise] = [
    Laplace(scale=Fraction(1, 5)),
    Laplace(scale=Fraction(1, 2)),
    Laplace(scale=Fraction(3, 2)),
    Gaussian(sigma=Fraction(1, 4)),
    Gaussian(sigma=Fraction(3, 5)),
    Gaussian(sigma=1),
    Gaussian(sigma=Fraction(5, 2)),
    RoundedGaussian(sigma=Fraction(1, 6)),
    RoundedGaussian(sigma=Fraction(3, 5)),
    RoundedGaussian(sigma=1),
    RoundedGaussian(sigma=Fraction(5, 2)),
]


def masses(noise: Noise, weight: int = 1) -> dict[int, arb]:
    """P(weight·Y = s), but for 2^{−80}."""
    if isinstance(noise, Laplace):
        reach = math.ceil(60 * exact(noise.scale)) + 2
        heights = [(-ball(abs(y) / exact(noise.scale))).exp() for y in range(-reach, reach + 1)]
    elif isinstance(noise, RoundedGaussian):
        reach = math.ceil(12 * noise.size) + 2
        edges = [ball((abs(y) - Fraction(1, 2)) / noise.size) / arb(2).sqrt() for y in range(reach + 2)]
        half = [edges[y].erfc() - edges[y + 1].erfc() for y in range(reach + 1)]
        heights = [half[abs(y)] for y in range(-reach, reach + 1)]
    else:
        reach = math.ceil(12 * noise.size) + 2
        heights = [(-ball(Fraction(y * y) / (2 * noise.size**2))).exp() for y in range(-reach, reach + 1)]
    whole = sum(heights, arb(0))
    return {weight * y: height / whole for y, height in zip(range(-reach, reach + 1), heights, strict=True)}


def least_by_convolution(terms: list[tuple[Noise, int]], confidence: float | Fraction) -> int:
    """The least w with P(|S| ≤ w) ≥ c: that w − 1 is not enough is part of what Arb decides."""
    with ctx.workprec(160):
        law = {0: arb(1)}
        for noise, weight in terms:
            found: dict[int, arb] = {}
            for (s, p), (y, q) in product(law.items(), masses(noise, weight).items()):
                found[s + y] = found.get(s + y, arb(0)) + p * q
            law = {s: p for s, p in found.items() if not p < arb(2) ** -90}
        held, w = law.get(0, arb(0)), 0
        while not held >= ball(confidence):
            w += 1
            held += law.get(w, arb(0)) + law.get(-w, arb(0))
    return w


@pytest.mark.sampled(11)
@pytest.mark.parametrize("noise", SMALL, ids=str)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_width_of_equal_noises_is_the_least(noise: Noise, count: int) -> None:
    for confidence in (0.01, 0.5, 0.95, 0.9999, SURE):
        known = least_by_convolution([(noise, 1)] * count, confidence)
        assert least_width((Summand(noise, count),), confidence=confidence) == known
        signed = np.append(np.ones(count - 1), [-1.0, 0.0])
        assert sum_error(noise, signed, confidence=confidence) == known


@pytest.mark.parametrize(
    "terms",
    [
        [(Laplace(scale=2), 1), (Laplace(scale=3), 1)],
        [(Laplace(scale=1), 3), (Laplace(scale=1), 2), (Gaussian(sigma=2), 2)],
        [(Gaussian(sigma=1), 1), (Gaussian(sigma=1), 4), (Gaussian(sigma=Fraction(1, 3)), 6)],
        [(Gaussian(sigma=2), 6), (Laplace(scale=Fraction(1, 2)), 4)],
        [(RoundedGaussian(sigma=2), 1), (RoundedGaussian(sigma=Fraction(1, 2)), 3), (Laplace(scale=1), 2)],
    ],
    ids=str,
)
def test_scales_kinds_and_whole_weights_may_be_mixed(terms: list[tuple[Noise, int]]) -> None:
    for confidence in (0.5, 0.95, SURE):
        given = tuple(Summand(noise, 1, Fraction(weight)) for noise, weight in terms)
        known = least_by_convolution(terms, confidence)
        found = least_width(given, confidence=confidence)
        step = math.gcd(*(weight for _, weight in terms))
        assert known <= found < known + step


@pytest.mark.parametrize("count", [10, 1000, 10**5, 10**6])
@pytest.mark.parametrize("confidence", [0.95, SURE], ids=str)
def test_many_gaussian_terms_are_as_wide_as_one_of_the_sum_of_variances(
    count: int, confidence: float | Fraction
) -> None:
    """The two laws differ by a factor of 1 ± 10^{−16} for σ = 3."""
    root = Fraction(math.isqrt(9 * count * 10**40), 10**20)
    known = discrete_gaussian_width(sigma=root, confidence=confidence)
    assert least_width((Summand(Gaussian(sigma=3), count),), confidence=confidence) == known


@pytest.mark.parametrize("count", [10, 1000, 20_000])
@pytest.mark.parametrize("confidence", [0.95, 1 - 1e-6])
def test_many_laplace_terms_are_the_difference_of_two_negative_binomials(count: int, confidence: float) -> None:
    scale = 3.0
    law = nbinom(count, -math.expm1(-1 / scale))
    places = np.arange(int(law.mean() + 14 * law.std() + 200))

    def outside(w: float) -> float:
        """2·P(N₁ > N₂ + w)."""
        return float(2 * (law.pmf(places) * law.sf(places + w)).sum())

    found = least_width((Summand(Laplace(scale=3), count),), confidence=confidence)
    assert outside(found) <= (1 - confidence) * (1 + 1e-8)
    assert outside(found - 1) > 1 - confidence


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "noise",
    [Laplace(scale=1), Gaussian(sigma=2), Gaussian(sigma=Fraction(1, 2)), RoundedGaussian(sigma=Fraction(3, 2))],
    ids=str,
)
@pytest.mark.parametrize("weights", [[0.5123, 0.2877, 0.7071], [1.0, 1 / 3, 1 / 3], [3.0, 0.001, 0.5]], ids=str)
def test_weights_without_a_lattice_cost_less_than_a_thousandth(noise: Noise, weights: list[float]) -> None:
    with ctx.workprec(128):
        law = {y: float(p) for y, p in masses(noise).items() if p > arb(1e-10)}
    values, heights = np.array(list(law)), np.array(list(law.values()))
    sums = np.abs(sum(np.meshgrid(*(weight * values for weight in weights), indexing="ij"))).ravel()
    chances = np.prod(np.meshgrid(heights, heights, heights, indexing="ij"), axis=0).ravel()
    order = np.argsort(sums)
    held, sums = np.cumsum(chances[order]), sums[order]
    for confidence in (0.9, 0.95, 0.9999):
        least = sums[np.searchsorted(held, confidence)]
        found = sum_error(noise, np.array(weights), confidence=confidence)
        assert held[np.searchsorted(sums, found, side="right") - 1] >= confidence - 1e-8  # 10^{−10} a mass is left out
        assert least * (1 - 1e-12) <= found <= 1.001 * least


def step_share(noise: Noise, count: int, width: float) -> float:
    """About P(|S| = w): what a lattice makes the coverage larger."""
    one = float(noise.size) * (math.sqrt(2) if isinstance(noise, Laplace) else 1.0)
    spread = one * math.sqrt(count)
    return 2 * math.exp(-((width / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))


@pytest.mark.parametrize(
    "noise", [Laplace(scale=3), Gaussian(sigma=4), RoundedGaussian(sigma=4), Laplace(scale=40)], ids=str
)
@pytest.mark.parametrize("count", [7, 100])
def test_ten_thousand_sums_are_held_as_often_as_stated(noise: Noise, count: int) -> None:
    """Within five standard deviations of 95%; Chernoff's bound, 38% wider for a bell, fails the same test."""
    runs = 10_000
    drawn = noise.release(np.zeros(runs * count, np.int64), coins=TestCoins(11)).reshape(runs, count).sum(axis=1)
    five = 5 * math.sqrt(0.95 * 0.05 / runs)

    def as_stated(width: float) -> bool:
        held = float((np.abs(drawn) <= width).mean())
        return 0.95 - five <= held <= 0.95 + five + step_share(noise, count, width)

    assert as_stated(least_width((Summand(noise, count),)))
    assert not as_stated(_Sum.of((Summand(noise, count),)).chernoff(math.log(0.05))[0])
    assert not as_stated(0.8 * least_width((Summand(noise, count),)))


@pytest.mark.parametrize("noise", [Laplace(scale=2), Gaussian(sigma=2), RoundedGaussian(sigma=2)], ids=str)
def test_a_bound_without_its_roundings_and_leftovers_is_no_bound(noise: Noise) -> None:
    """A broken twin: with a period that is too short the sum still bounds the tail, from above only."""
    one = _Sum.of((Summand(noise, 4),))
    enough, tilt = one.chernoff(math.log(0.05))
    long, short = one._on_lattice(tilt, 40 * enough), one._on_lattice(tilt, enough / 2)
    assert long is not None
    assert short is not None
    for n in range(1, math.ceil(enough)):
        assert short(n) >= long(n) - 1e-9
    assert short(3) > long(3) + 0.01


def test_one_number_has_its_exact_quantile_and_nothing_has_none() -> None:
    noise = Laplace(scale=4)
    assert sum_error(noise, np.array([0.0, 1.0])) == noise.error()
    assert sum_error(noise, np.array([0.0, 0.5])) == noise.error() / 2
    assert sum_error(noise, np.zeros(3)) == 0.0
    assert sum_error(noise, np.zeros(0)) == 0.0


def test_granules_are_the_unit() -> None:
    fine = least_width((Summand(Gaussian(sigma=2, granularity=Fraction(1, 4)), 5),))
    assert fine == least_width((Summand(Gaussian(sigma=8), 5),)) / 4


@pytest.mark.parametrize("count", [2, 40, 10**6])
def test_scales_and_confidences_of_any_size(count: int) -> None:
    for noise, larger in (
        (Laplace(scale=10**5), Laplace(scale=10**90)),
        (Gaussian(sigma=10**5), Gaussian(sigma=10**90)),
        (RoundedGaussian(sigma=10**5), RoundedGaussian(sigma=10**90)),
    ):
        near, far = (least_width((Summand(one, count),)) for one in (noise, larger))
        assert far == pytest.approx(near * 1e85, rel=1e-3)
        widths = [least_width((Summand(noise, count),), confidence=1 - Fraction(1, 10**d)) for d in (2, 20, 100, 300)]
        assert widths == sorted(widths)
        bounds = [_Sum.of((Summand(noise, count),)).chernoff(-d * math.log(10))[0] for d in (2, 20, 100, 300)]
        assert all(0.6 * bound < width < bound for width, bound in zip(widths, bounds, strict=True))
    still_ones: list[Noise] = [Laplace(scale=Fraction(1, 1000)), Gaussian(sigma=Fraction(1, 100))]
    for still in [*still_ones, RoundedGaussian(sigma=Fraction(1, 100))]:
        assert least_width((Summand(still, count),)) == 0.0


@pytest.mark.parametrize("still", [Laplace(scale=Fraction(1, 100)), Gaussian(sigma=Fraction(1, 10))], ids=str)
def test_noise_that_hardly_ever_moves_has_no_width_whatever_its_weights(still: Noise) -> None:
    assert sum_error(still, np.array([1.0, 0.3, 0.2])) == 0.0


@pytest.mark.parametrize(
    ("noise", "digits", "known"),
    [
        (Laplace(scale=Fraction(1, 100)), 60, 1),  # 3·2e^{−100} = 2·10^{−43} moves by 1, about e^{−200} by 2
        (Laplace(scale=Fraction(1, 100)), 95, 2),
        (Gaussian(sigma=Fraction(1, 10)), 60, 2),  # 6e^{−50} by 1, 12e^{−100} by 2, 8e^{−150} = 6·10^{−65} by 3
        (Gaussian(sigma=Fraction(1, 10)), 40, 1),
        (RoundedGaussian(sigma=Fraction(1, 20)), 20, 0),  # 3·erfc(10/√2) = 5·10^{−23} moves by 1, 3·10^{−46} by 2
        (RoundedGaussian(sigma=Fraction(1, 20)), 25, 1),
        (RoundedGaussian(sigma=Fraction(1, 20)), 40, 1),
        (RoundedGaussian(sigma=Fraction(1, 20)), 60, 2),
    ],
    ids=str,
)
def test_rare_moves_of_small_noise_are_counted(noise: Noise, digits: int, known: int) -> None:
    assert least_width((Summand(noise, 3),), confidence=1 - Fraction(1, 10**digits)) == known


def test_a_width_stands_for_at_least_the_multiple_of_the_unit_that_it_is() -> None:
    """The nearest float to a multiple may be smaller, and then would not hold it."""
    for tenths in (1, 3, 7, 11):
        noise = Laplace(scale=3, granularity=Fraction(tenths, 30))
        for count in (1, 2, 5):
            found = least_width((Summand(noise, count),))
            counted = least_width((Summand(noise.in_granules(), count),))
            assert exact(found) >= int(counted) * Fraction(tenths, 30)
            assert found == pytest.approx(counted * tenths / 30, rel=1e-15)
