"""Every way keeps what it promises, and none could do with much less noise."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy.stats import laplace as laplace_distribution
from scipy.stats import norm

from sitr.accounting.noises import Calibration, NoiseLevel, noise_levels
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian, laplace

PRICES = [ApproximateDP(0.5, 1e-6), ApproximateDP(2.0, 1e-5)]
QUESTIONS = [1, 30]


def loss(level: NoiseLevel, *, less: float = 1.0) -> Loss:
    """The loss of all counts, with their noise or with less."""
    if level.calibration in (Calibration.LAPLACE, Calibration.LAPLACE_PURE):
        return laplace(scale=level.deviation / math.sqrt(2) * less) * level.questions
    return gaussian(sigma=level.deviation * less) * level.questions


@pytest.fixture(scope="module", params=[(p, k) for p in PRICES for k in QUESTIONS], ids=str)
def levels(request: pytest.FixtureRequest) -> list[NoiseLevel]:
    price, questions = request.param
    return list(noise_levels(price, questions=questions))


def test_every_way_keeps_its_promise(levels: list[NoiseLevel]) -> None:
    for level in levels:
        promise = level.promise
        if isinstance(promise, PureDP):  # 1e-9: the scale is a float again
            assert loss(level).max() <= promise.epsilon * (1 + 1e-9)
        elif isinstance(promise, ApproximateDP):
            assert loss(level, less=1 + 1e-9).delta(epsilon=promise.epsilon).upper <= promise.delta
        else:
            assert isinstance(promise, ConcentratedDP)  # no loss speaks about groups
            assert replace(promise, scales_to_groups=False).kept_by(loss(level, less=1.01))


def test_the_exact_ways_could_not_do_with_less(levels: list[NoiseLevel]) -> None:
    for level in levels:
        promise, less = level.promise, loss(level, less=0.99)
        if level.calibration is Calibration.LAPLACE_PURE:
            assert less.max() > level.promise.epsilon  # type: ignore[attr-defined]
        elif level.calibration in (Calibration.LAPLACE, Calibration.GAUSSIAN):
            assert isinstance(promise, ApproximateDP)
            assert less.delta(epsilon=promise.epsilon).lower > promise.delta
        elif level.calibration is Calibration.CONCENTRATED:
            assert not promise.kept_by(less)


def test_order(levels: list[NoiseLevel]) -> None:
    """Better accounting needs less noise, and Gaussian noise wins where there are many counts."""
    by = {level.calibration: level.deviation for level in levels}
    assert by[Calibration.GAUSSIAN] < by[Calibration.MOMENTS] < by.get(Calibration.TEXTBOOK, math.inf)
    assert by[Calibration.LAPLACE] <= by[Calibration.LAPLACE_PURE]
    assert (by[Calibration.GAUSSIAN] < by[Calibration.LAPLACE_PURE]) == (levels[0].questions > 1)
    assert by[Calibration.CONCENTRATED] < by[Calibration.GAUSSIAN]


def test_errors_are_quantiles(levels: list[NoiseLevel]) -> None:
    for level in levels:
        if "Laplace" in level.calibration.value:
            exactly = laplace_distribution(scale=level.deviation / math.sqrt(2)).ppf(0.975)
        else:
            exactly = norm(scale=level.deviation).ppf(0.975)
        assert exactly <= level.error * (1 + 1e-9)
        assert level.error <= exactly * (1 + 1e-5)


def test_the_textbook_formula_is_for_small_epsilon() -> None:
    ways = [level.calibration for level in noise_levels(ApproximateDP(1.0, 1e-6), questions=1)]
    assert Calibration.TEXTBOOK not in ways


def test_the_concentrated_promise_is_weaker_for_one_count() -> None:
    *_, last = noise_levels(ApproximateDP(1.0, 1e-6), questions=1)
    assert isinstance(last.promise, ConcentratedDP)
    assert not last.promise.covers(ApproximateDP(1.0, 1e-6))


@pytest.mark.parametrize("price", [ApproximateDP(0.0, 1e-6), ApproximateDP(1.0, 0.0)])
def test_a_price_without_room(price: ApproximateDP) -> None:
    with pytest.raises(InvalidPromise, match="between 0 and 1 to compare noise"):
        next(noise_levels(price, questions=1))
