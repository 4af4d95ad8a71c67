"""Noise on prefix sums: widths against dense linear algebra, and what is released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.errors import InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.mechanisms import prefix_gaussian as module
from sitr.mechanisms.prefix_gaussian import PrefixGaussian, coefficients, inverse_coefficients
from sitr.mechanisms.residual_gaussian import normal_width
from sitr.noise.coins import TestCoins
from tests.sensitivity.test_prefixes import factor, strategy

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

AXES: list[tuple[tuple[int, int], ...]] = [((6, 2),), ((3, 1), (4, 0)), ((0, 2), (3, 1)), ((0, 3),)]


def test_the_factor_squared_sums_up() -> None:
    assert np.allclose(factor(7, 0) @ factor(7, 0), np.tril(np.ones((7, 7))))
    assert np.allclose(factor(7, 0)[:, 0], coefficients(7))
    assert np.allclose(np.linalg.inv(factor(7, 0))[:, 0], inverse_coefficients(7))


@pytest.mark.parametrize("axes", AXES)
def test_widths_are_those_of_dense_algebra(axes: tuple[tuple[int, int], ...]) -> None:
    noise, chance = PrefixGaussian(axes, sigma=3), np.random.default_rng(1)
    covariance = 9 * np.linalg.inv(strategy(axes).T @ strategy(axes))
    grid = 2.0 ** -(noise.places + 1)
    for wanted in [*np.eye(len(covariance)), *chance.integers(0, 2, (10, len(covariance)))]:
        exactly = normal_width(0.95) * np.sqrt(wanted @ covariance @ wanted)
        found = noise.width(wanted)
        assert exactly <= found <= exactly * (1 + 1e-8) + 4 ** len(axes) * wanted.sum() * grid * (1 + 1e-8)
    cells = normal_width(0.95) * np.sqrt(np.diag(covariance))
    assert (noise.cell_widths() >= cells).all()
    assert np.allclose(noise.cell_widths(), cells, atol=2 ** len(axes) * grid * (1 + 1e-8), rtol=1e-8)
    assert np.allclose([noise.width(each) for each in np.eye(len(cells))], noise.cell_widths(), rtol=1e-12)


def test_long_lines_have_the_same_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, wanted = PrefixGaussian(((300, 1),), sigma=3), np.zeros(301)
    wanted[40:220] = 1
    short = noise.width(wanted)
    monkeypatch.setattr(module, "_SHORT", 10)
    assert noise.width(wanted) == pytest.approx(short, rel=1e-12)


@pytest.mark.parametrize("axes", AXES)
def test_cells_without_noise_come_back(axes: tuple[tuple[int, int], ...]) -> None:
    """With hardly any noise, cells are what they were: no prefix sum is lost, also between several columns."""
    noise = PrefixGaussian(axes, sigma=Fraction(1, 10**6))
    counts = np.random.default_rng(2).integers(0, 1000, noise.shape)
    found = noise.cells(noise.release(counts, coins=TestCoins(1)))
    assert np.abs(found - counts.ravel()).max() < 1e-4


@pytest.mark.parametrize("axes", [((6, 1),), ((3, 0), (2, 1))])
def test_the_noise_of_sums_has_the_stated_size(axes: tuple[tuple[int, int], ...]) -> None:
    """Two-sided, for a sum of some cells: 95% of releases lie within the width, and fewer within 0.8 of it."""
    noise, runs = PrefixGaussian(((0, 2000), *axes), sigma=4), 2000
    one = PrefixGaussian(axes, sigma=4)
    wanted = np.zeros(one.shape)
    wanted.ravel()[1:5] = 1
    far = one.width(wanted.ravel())
    released = noise.cells(noise.release(np.zeros(noise.shape, np.int64), coins=TestCoins(3))).reshape(runs, -1)
    off = np.abs(released @ wanted.ravel())
    assert abs((off <= far).mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs)
    assert (off <= 0.8 * far).mean() < 0.92


def test_what_is_released_is_on_the_grid() -> None:
    noise = PrefixGaussian(((4, 1),), sigma=100)
    assert noise.places == 10
    released = noise.release(np.array([2**40, 0, 3, 1, 5]), coins=TestCoins(1))
    assert released.dtype == np.int64
    assert PrefixGaussian(((4, 1),), sigma=2**20).places == 0
    large = noise.release(np.array([2**60, 0, 3, 1, 5], np.object_), coins=TestCoins(1))
    assert large.dtype == object
    assert (noise.cells(large)[1:] == noise.cells(released)[1:]).all()


@pytest.mark.parametrize("price", [GaussianDP(0.3), GaussianDP(7.0), ApproximateDP(1.0, 1e-6)])
def test_fitted_noise_keeps_its_price_and_hardly_more(price: Any) -> None:
    noise = PrefixGaussian.fitting(price, axes=[(10, 1)], sensitivity=Fraction(17, 9))
    mu = GaussianDP.fitting(price).mu if isinstance(price, ApproximateDP) else price.mu
    assert mu * (1 - 1e-12) <= noise.promise().mu <= mu
    assert noise.loss().bound
    assert noise.alone().promise().mu == pytest.approx(mu * 9 / 17, rel=1e-12)


def test_the_error_is_that_of_the_longest_sum() -> None:
    noise = PrefixGaussian(((6, 1),), sigma=3)
    longest = np.zeros(7)
    longest[:6] = 1
    assert float(noise.error()) == pytest.approx(noise.width(longest), rel=1e-8)


@pytest.mark.parametrize("axes", [(), ((0, 0),), ((2, -1),), ((2,),)])
def test_columns_have_cells(axes: Any) -> None:
    with pytest.raises(InvalidParameter):
        PrefixGaussian(axes, sigma=1)


@pytest.mark.parametrize("values", [np.zeros(4, np.int64), np.zeros(5), np.zeros((5, 1), np.int64)])
def test_only_whole_numbers_of_all_cells_get_noise(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        PrefixGaussian(((4, 1),), sigma=1).release(values)
