"""Correlated noise, rounded exactly: two-sided against the laws of sums of normal numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from sitr.noise import contrasts as module
from sitr.noise.coins import TestCoins
from sitr.noise.contrasts import contrasts, rounded_contrasts

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

SUB = {m: np.hstack([np.ones((m - 1, 1)), -np.eye(m - 1)]) for m in (2, 3, 4)}


def misfit(seen: list[int], *, deviation: float, reach: int) -> float:
    """The p-value of rounded numbers under a normal law, all beyond the window in its last cells."""
    edges = np.arange(-reach + 0.5, reach)
    masses = np.diff(np.concatenate([[0.0], norm.cdf(edges / deviation), [1.0]]))
    counts = Counter(min(reach, max(-reach, number)) for number in seen)
    found = np.array([counts[y] for y in range(-reach, reach + 1)])
    expected = masses * len(seen)
    assert expected.min() > 5
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def test_contrasts_are_the_product_of_the_small_matrices() -> None:
    numbers = np.random.default_rng(1).integers(-50, 50, (2, 3, 4))
    dense = np.kron(np.kron(SUB[2], SUB[3]), SUB[4]) @ numbers.ravel()
    assert contrasts(numbers, [(2,), (3,), (4,)]).ravel().tolist() == dense.tolist()


def test_families_are_apart() -> None:
    assert contrasts(np.array([9, 5, 1, 4, 7, 2]), [(3, 1, 2)]).tolist() == [4, 8, 5]


@pytest.mark.parametrize("digits", [0, 2, 45])
def test_rounded_contrasts_follow_their_law_however_few_digits_are_drawn_first(digits: int) -> None:
    """With no digit at first, nearly every coordinate needs more, and the law is the same."""
    coins, sigma = TestCoins(5), Fraction(7, 10)
    drawn = [rounded_contrasts([([(2,), (2,)], sigma)], coins=coins, digits=digits)[0] for _ in range(1500)]
    numbers = [int(each[0, 0]) for each in drawn]
    assert misfit(numbers, deviation=2 * float(sigma), reach=2) > 1e-7
    assert misfit(numbers, deviation=2.6 * float(sigma), reach=2) < 1e-7


@pytest.mark.parametrize("digits", [1, 45])
def test_coordinates_are_correlated_as_the_numbers_that_they_share(digits: int) -> None:
    """Cov = σ²·SubSubᵀ = σ²(I + 11ᵀ): also where the shared numbers were narrowed."""
    coins = TestCoins(9)
    drawn = [rounded_contrasts([([(3,)], Fraction(4))], coins=coins, digits=digits)[0] for _ in range(2000)]
    found = np.cov(np.array(drawn, np.float64).T)
    wanted = 16 * SUB[3] @ SUB[3].T + np.eye(2) / 12
    assert np.abs(found - wanted).max() < 5 * 32 * np.sqrt(2 / 2000)
    independent = np.diag(np.diag(wanted))
    assert np.abs(found - independent).max() > 5 * 32 * np.sqrt(2 / 2000)


def test_rounding_agrees_with_numbers_that_are_known_to_many_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same normal numbers, narrowed to hundreds of digits and rounded with fractions."""
    kept: list[Any] = []
    decide = module._decide

    def watched(*given):
        kept.append((given[0], given[6], decide(*given)))
        return kept[-1][2]

    monkeypatch.setattr(module, "_decide", watched)
    coins, sigma, axes = TestCoins(3), Fraction(5, 3), ((3,), (2,))
    found = rounded_contrasts([(axes, sigma)], coins=coins, digits=0)[0]
    assert len(kept) == found.size
    for place, numbers, rounded in kept:
        for number in numbers.values():
            number.narrow(coins)
        exactly = sigma * sum(
            sign * (numbers[at].low + numbers[at].high) / 2 for at, sign in module._terms(place, axes)
        )
        assert abs(exactly - rounded) <= Fraction(1, 2)


def test_a_draw_that_was_not_given_up_differs_from_one_that_was() -> None:
    """The broken twin: whoever draws again until the first digits decide never sees some outcomes often enough."""
    coins, sigma = TestCoins(4), Fraction(1, 2)
    nearest = np.rint(np.random.default_rng(2).standard_normal(20000))
    low, high = (np.floor(float(sigma) * (nearest + side) + 0.5) for side in (-0.5, 0.5))
    assert misfit(low[low == high].astype(int).tolist(), deviation=0.5, reach=1) < 1e-7
    right = [int(rounded_contrasts([((), sigma)], coins=coins, digits=0)[0]) for _ in range(2000)]
    assert misfit(right, deviation=0.5, reach=1) > 1e-7


def test_enormous_noise_needs_more_than_64_bits() -> None:
    (drawn,) = rounded_contrasts([([(2,)], Fraction(10**40))], coins=TestCoins(1))
    assert drawn.dtype == object
    assert 10**37 < abs(drawn[0]) < 10**42


def test_normal_numbers_given_their_first_digits_fill_the_cell() -> None:
    """Z given that it is nearest to 1: two-sided against the truncated normal law."""
    coins = TestCoins(8)
    found = [float(module.Normal(1, 0, coins).low) for _ in range(2000)]
    assert min(found) > 0.5
    assert max(found) < 1.5
    inside = norm.cdf(1.5) - norm.cdf(0.5)
    below = (norm.cdf(0.9) - norm.cdf(0.5)) / inside
    share = np.mean(np.array(found) < 0.9)
    assert abs(share - below) < 5 * np.sqrt(below * (1 - below) / 2000)
    assert abs(share - 0.4) > 5 * np.sqrt(0.24 / 2000)  # uniform


@pytest.mark.parametrize("axes", [((30,),), ((9, 3), (8,))])
def test_large_noise_is_rounded_in_64_bits_and_hardly_any_coordinate_by_itself(
    axes: tuple[tuple[int, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between 2^28 and 2^43, fewer digits come first; each coordinate still agrees with exact arithmetic."""
    alone: list[tuple[int, ...]] = []
    seen: list[tuple[Any, int]] = []
    decide, rounded = module._decide, module._rounded

    def counted(place: tuple[int, ...], *rest: Any) -> int:
        alone.append(place)
        return decide(place, *rest)

    def kept(known: Any, axes: Any, sigma: Fraction, bits: int, coins: Any) -> Any:
        seen.append((known, bits))
        return rounded(known, axes, sigma, bits, coins)

    monkeypatch.setattr(module, "_decide", counted)
    monkeypatch.setattr(module, "_rounded", kept)
    sigma = Fraction(2**36) + Fraction(1, 3)
    (found,) = rounded_contrasts([(axes, sigma)], coins=TestCoins(5))
    (known, bits), half = seen[0], Fraction(2 ** len(axes), 2)
    assert known.dtype == np.int64
    assert found.dtype == np.int64
    assert len(alone) <= 2
    for whole, total in zip(found.ravel().tolist(), contrasts(known, axes).ravel().tolist(), strict=True):
        ends = [module._nearest(sigma * (total + side) / 2**bits) for side in (-half, half)]
        assert ends[0] <= whole <= ends[1]
