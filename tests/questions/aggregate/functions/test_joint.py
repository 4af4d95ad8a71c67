"""Quantiles of weighted sums of noises: never below the exact ones, and hardly above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.signal import fftconvolve

from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.questions.aggregate.functions import joint
from sitr.questions.aggregate.functions.joint import Joint

REACH = 3_000


def masses(noise: Noise) -> np.ndarray:
    """P(Y = y) for |y| ≤ REACH, from the laws' own formulas."""
    y = np.arange(-REACH, REACH + 1)
    size = float(noise.granules)
    if isinstance(noise, Laplace):
        weights = np.exp(-np.abs(y) / size)
    elif isinstance(noise, Gaussian):
        weights = np.exp(-(y**2) / (2 * size**2))
    else:
        ends = np.vectorize(math.erf)((y[:, None] + np.array([-0.5, 0.5])) / (size * math.sqrt(2)))
        weights = ends[:, 1] - ends[:, 0]
    return np.asarray(weights / weights.sum())


def missed(noises: Sequence[Noise], weights: list[int], width: Fraction) -> float:
    """P(|Σ a_j·Y_j| > width) for whole weights, by convolution."""
    law = np.array([1.0])
    for noise, weight in zip(noises, weights, strict=True):
        spread = np.zeros(2 * REACH * weight + 1)
        spread[::weight] = masses(noise)
        law = fftconvolve(law, spread)
    places = np.arange(len(law)) - len(law) // 2
    return float(law[np.abs(places) > width].sum())


LAWS = [
    [Laplace(scale=2), Laplace(scale=3)],
    [Laplace(scale=Fraction(1, 2)), Laplace(scale=Fraction(1, 2))],
    [Gaussian(sigma=3), Gaussian(sigma=2)],
    [RoundedGaussian(sigma=2), RoundedGaussian(sigma=Fraction(5, 2))],
    [Laplace(scale=4), Laplace(scale=4), Laplace(scale=4)],
    [Laplace(scale=4), Gaussian(sigma=4)],
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("noises", LAWS, ids=repr)
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)])
def test_the_bound_holds_for_all_smaller_weights(noises: list[Noise], confidence: Fraction) -> None:
    alpha = 1 - confidence
    together = Joint(tuple((noise, Fraction(1)) for noise in noises), alpha)
    most = [3, 4, 2][: len(noises)]
    width = together.up_to([Fraction(weight) for weight in most])
    for weights in ([1] * len(most), most, [most[0], *[1] * (len(most) - 1)], [1, *most[1:]]):
        assert missed(noises, weights, width) <= alpha * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("noises", LAWS[:4], ids=repr)
def test_it_is_hardly_wider_than_the_exact_quantile(noises: list[Noise]) -> None:
    """The other side: what is added is a granule times its weight, and at most 3% for rounded scales."""
    large = [type(noise)(noise.size * 40) for noise in noises]  # type: ignore[call-arg]
    together = Joint(tuple((noise, Fraction(1)) for noise in large), Fraction(5, 100))
    width = together.up_to([Fraction(1), Fraction(1)])
    assert missed(large, [1, 1], (width - 2) * Fraction(96, 100)) > 0.05


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1, 2), 1, 3, 40])
def test_smoothed_laplace_noise_is_smaller_than_its_continuous_bound(scale: Fraction) -> None:
    """P(|Y + U| > x) ≤ e^{−x/t'} on a fine grid, with equality in the slope at 0; with t itself it fails."""
    wide = float(joint._exponent(Fraction(scale)))
    law = masses(Laplace(scale=scale))[REACH:]
    tails = np.append(2 * np.cumsum(law[::-1])[::-1][1:], 0.0)  # P(|Y| > k)

    def smoothed(x: float) -> float:
        k = math.floor(x + 0.5)
        return float(tails[k] + 2 * law[k] * (k + 0.5 - x)) if k else 1 - 2 * float(law[0]) * x

    grid = np.linspace(0, 20, 2_001)
    assert all(smoothed(x) <= math.exp(-x / wide) + 1e-12 for x in grid)
    narrow = float(scale) * 0.999
    assert any(smoothed(x) > math.exp(-x / narrow) + 1e-12 for x in grid)


def test_the_sum_of_two_laplace_noises_of_one_scale_has_its_known_tail() -> None:
    """P(|L + L'| > x) = e^{−x}·(1 + x/2); scales that are 1/64 apart are slightly wider."""
    found = float(joint._laplace_quantile((1.0, 1 + 2**-6), Fraction(1, 20)))
    assert math.exp(-found) * (1 + found / 2) < 0.05
    assert math.exp(-found / 1.02) * (1 + found / 2.04) > 0.05


def test_one_noise_alone_and_noise_that_is_nearly_always_0_are_exact() -> None:
    one = Joint(((Laplace(scale=10), Fraction(1, 4)), (Laplace(scale=10), Fraction(1))), Fraction(5, 100))
    assert one.up_to([Fraction(2), Fraction(0)]) == Laplace(scale=10).width(confidence=Fraction(95, 100)) * Fraction(
        1, 2
    )
    none = Joint(((Laplace(scale=Fraction(1, 50)), Fraction(1)),) * 2, Fraction(5, 100))
    assert none.up_to([Fraction(7), Fraction(3)]) == 0


def test_fixed_weights_on_a_common_lattice_have_the_least_width() -> None:
    noises = [Laplace(scale=5), Laplace(scale=5)]
    together = Joint(tuple((noise, Fraction(1)) for noise in noises), Fraction(5, 100))
    width = together.width([Fraction(1), Fraction(-1)])
    assert missed(noises, [1, 1], width) <= 0.05 < missed(noises, [1, 1], width - 1)


def test_no_size_is_too_large() -> None:
    together = Joint(((Gaussian(sigma=3), Fraction(10) ** 400), (Gaussian(sigma=3), Fraction(1))), Fraction(5, 100))
    assert together.up_to([Fraction(1), Fraction(10) ** 500]) > Fraction(10) ** 500
