"""Correlated normal numbers, rounded exactly."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, norm

from sitr.noise import prefixes as module
from sitr.noise.coins import TestCoins
from sitr.noise.prefixes import rounded_prefixes
from tests.sensitivity.test_prefixes import strategy

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@pytest.mark.parametrize("axes", [((5, 1),), ((3, 0), (2, 1)), ((0, 2), (2, 0))])
def test_the_covariance_is_that_of_the_factor(axes: tuple[tuple[int, int], ...]) -> None:
    """Two-sided: near LLᵀ, and far from independent noise and from prefix sums of independent noise."""
    coins, runs, sigma = TestCoins(5), 2000, 1000
    drawn = rounded_prefixes([(0, runs), *axes], Fraction(sigma), coins=coins).reshape(runs, -1) / sigma
    found, factor = drawn.T @ drawn / runs, strategy(axes)
    wanted = factor @ factor.T
    near = 5 * np.sqrt(2 / runs) * wanted.max()
    assert np.abs(found - wanted).max() < near
    assert np.abs(found - np.eye(len(wanted))).max() > near
    assert np.abs(found - wanted @ wanted.T).max() > near


@pytest.mark.parametrize("digits", [0, module.DIGITS])
def test_first_digits_do_not_change_the_law(digits: int) -> None:
    """The second coordinate is ⌊σ(Z₂ + Z₁/2) + ½⌋ with σ = 1: two-sided against its law."""
    coins, runs = TestCoins(6), 1500
    drawn = rounded_prefixes([(0, runs), (2, 0)], Fraction(1), coins=coins, digits=digits)[:, 1]

    def misfit(deviation: float) -> float:
        ends = np.array([-np.inf, -1.5, -0.5, 0.5, 1.5, np.inf])
        counts = np.histogram(drawn, ends)[0]
        return float(chisquare(counts, runs * np.diff(norm.cdf(ends / deviation))).pvalue)

    assert misfit(np.sqrt(1.25)) > 1e-6
    assert misfit(1.0) < 1e-6


def test_rounding_agrees_with_numbers_that_are_known_to_many_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same normal numbers, narrowed to hundreds of digits; no coordinate forgets what another one has drawn."""
    kept: list[Any] = []
    decide = module._decide

    def watched(*given: Any) -> int:
        kept.append((given[0], given[5], decide(*given)))
        return int(kept[-1][2])

    monkeypatch.setattr(module, "_decide", watched)
    coins, sigma, axes = TestCoins(3), Fraction(50, 3), ((3, 1), (2, 0))
    found = rounded_prefixes(axes, sigma, coins=coins, digits=0)
    assert len(kept) > found.size // 2
    for place, numbers, rounded in kept:
        terms = [[(i, comb(2 * (t - i), t - i)) for i in range(t + 1)] for t in place]
        terms = [[(t, 1)] if t >= line else each for t, each, (line, _) in zip(place, terms, axes, strict=True)]
        exactly = Fraction(0)
        for i, _ in terms[0]:
            for k, _ in terms[1]:
                numbers[i, k].narrow(coins)
                c = Fraction(comb(2 * (place[0] - i), place[0] - i), 4 ** (place[0] - i)) if place[0] < 3 else 1
                c *= Fraction(comb(2 * (place[1] - k), place[1] - k), 4 ** (place[1] - k))
                exactly += c * numbers[i, k].low
        assert abs(sigma * exactly - rounded) <= Fraction(1, 2)
        assert found[place] == rounded


def test_scaled_coefficients_are_close_from_below() -> None:
    for k, scaled in enumerate(module._scaled(60, 96)):
        exactly = Fraction(comb(2 * k, k), 4**k) * 2**96
        assert 0 <= exactly - scaled < 2


def test_sums_in_integers_are_within_their_bound() -> None:
    """Where Z is anywhere in its cell, and with the true coefficients."""
    chance = np.random.default_rng(2)
    drawn = np.array([int(y) for y in chance.integers(-(2**12), 2**12, 12)], np.object_).reshape(4, 3)
    axes = ((3, 1), (3, 0))
    sums, scale, blur = module._sums(drawn, axes, 10)
    exactly = strategy(axes)
    for side in (-0.5, 0.5):
        z = (drawn.astype(np.float64).ravel() + side) / 2**10
        off = exactly @ z - sums.astype(np.float64).ravel() / 2.0**scale
        assert np.abs(off).max() <= float(blur) / 2.0**scale * (1 + 1e-9)
        assert np.abs(off).max() > 0.9 * float(blur) / 2.0**scale  # and not much wider than it must be


def test_hardly_any_coordinate_needs_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_decide", None)
    assert rounded_prefixes([(1024, 1)], Fraction(2**17), coins=TestCoins(1)).shape == (1025,)


def test_enormous_noise_needs_more_than_64_bits() -> None:
    drawn = rounded_prefixes([(2, 0)], Fraction(10**40), coins=TestCoins(1))
    assert drawn.dtype == object
    assert 10**36 < abs(drawn[0]) < 10**42
