from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import laplace, norm, t

from sitr.errors import IncompatiblePromises, InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.smooth import NoiseKind, SmoothNoise
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.sensitivity import interquartile_range, mean, median, quantile, smooth, trimmed_mean, variance
from sitr.sensitivity.smoothed import Smooth
from tests.oracles.brute import Sample, neighbours

LAWS = {NoiseKind.LAPLACE: laplace, NoiseKind.GAUSSIAN: norm, NoiseKind.STUDENT: t(3)}
PRICES: dict[NoiseKind, ApproximateDP | PureDP] = {
    NoiseKind.LAPLACE: ApproximateDP(1.0, 1e-4),
    NoiseKind.GAUSSIAN: ApproximateDP(1.0, 1e-4),
    NoiseKind.STUDENT: PureDP(1.0),
}
STATISTICS = [median, quantile(0.9), trimmed_mean(0.25), mean, interquartile_range, variance]
PEOPLE, TOP = 4, 6

each_kind = pytest.mark.parametrize("kind", NoiseKind, ids=lambda kind: kind.value)


def fitted(kind: NoiseKind, rule: Smooth | None = None) -> SmoothNoise:
    rule = smooth(median, bounds=(0, TOP), granularity=1) if rule is None else rule
    return SmoothNoise.fitting(PRICES[kind], sensitivity=rule, noise=kind)


def cells(mechanism: SmoothNoise, sample: Sample, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of what is released, between edges that are halves of granules, by the tails of the law."""
    law = LAWS[mechanism.noise]
    scale = mechanism.sensitivity.scale(sample, mechanism.dilation) / float(mechanism.shift)
    z = (edges - mechanism.sensitivity.centre(sample)) / scale
    upper, lower = law.sf(z), law.cdf(z)
    inner = np.where(z[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])
    return np.concatenate([lower[:1], inner, upper[-1:]])


def divergence(mechanism: SmoothNoise, epsilon: float) -> float:
    """The largest Σ (p − e^ε·q)₊ over all neighbours on the little grid, from both sides.

    Cells are single granules near the data and wider ones farther out, where the laws change slowly: to join
    cells can only hide something there.
    """
    widest = max(mechanism.sensitivity.scale(s, mechanism.dilation) for s in ((0,) * PEOPLE, (TOP,) * PEOPLE))
    far = np.unique(np.round(np.geomspace(60, 60 + 80 * widest / float(mechanism.shift), 600)))
    outer = np.concatenate([-far[::-1], np.arange(-59, 60), far]) + 0.5
    samples = list(combinations_with_replacement(range(TOP + 1), PEOPLE))
    laws = {sample: cells(mechanism, sample, outer) for sample in samples}
    worst = 0.0
    for sample in samples:
        for other in set(neighbours(sample, low=0, high=TOP)):
            worst = max(worst, float(np.maximum(laws[sample] - math.exp(epsilon) * laws[other], 0).sum()))
    return worst


@pytest.mark.sampled(9)
@each_kind
@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_no_two_neighbours_are_farther_apart_than_promised(kind, statistic):
    """What is released itself, its rounding included, for every pair of neighbours of a little world."""
    mechanism = fitted(kind, smooth(statistic, bounds=(0, TOP), granularity=1))
    promised = mechanism.promise()
    delta = promised.delta if isinstance(promised, ApproximateDP) else 0.0
    assert divergence(mechanism, promised.epsilon) <= delta + 1e-15


@each_kind
def test_half_of_the_noise_is_not_enough(kind):
    """The same test, on a twin that promises as much and has noise of half the size."""
    mechanism = fitted(kind)
    promised = mechanism.promise()
    delta = promised.delta if isinstance(promised, ApproximateDP) else 0.0
    broken = replace(mechanism)
    object.__setattr__(broken, "shift", 2 * Fraction(mechanism.shift))
    assert divergence(broken, promised.epsilon) > delta + 1e-6


@each_kind
def test_the_local_sensitivity_alone_is_not_enough(kind):
    """Broken: noise for LS_0, which may be nothing at all on one of two neighbours."""

    class Local:
        """A rule that forgets that scales must be alike."""

        granularity = Fraction(1)

        def centre(self, values: Sample) -> int:
            return rule.centre(values)

        def scale(self, values: Sample, _dilation: float) -> float:
            return max(1.0, float(rule.statistic.local(rule.grid.granules(values), 0, TOP)))

    rule = smooth(median, bounds=(0, TOP), granularity=1)
    mechanism = fitted(kind)
    promised = mechanism.promise()
    broken = replace(mechanism)
    object.__setattr__(broken, "sensitivity", Local())
    assert divergence(broken, promised.epsilon) > 1e-3


@pytest.mark.sampled(1)
@each_kind
def test_releases_follow_the_law(kind, misfit, alarm):
    rule = smooth(median, bounds=(0, 20), granularity=0.5)
    mechanism, sample, coins = fitted(kind, rule), (3, 4, 5, 5, 7, 9, 11), TestCoins(1)
    draws = [mechanism.release(sample, coins=coins) for _ in range(2500)]
    assert all(isinstance(draw, Fraction) and (draw * 2).denominator == 1 for draw in draws)
    scale = rule.scale(sample, mechanism.dilation) / float(mechanism.shift)
    edges = np.unique(np.round(np.linspace(-4, 4, 17) * scale)) + 0.5

    def fit(centre: float, factor: float) -> float:
        law = np.diff(LAWS[kind].cdf((np.array([-np.inf, *edges, np.inf]) - centre) / (scale * factor)))
        return float(misfit(np.searchsorted(edges, [float(draw * 2) for draw in draws]).tolist(), law.tolist()))

    assert fit(10, 1) > alarm
    assert fit(10, 1.25) < alarm
    assert fit(10 + scale / 5, 1) < alarm


@each_kind
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_the_error_is_the_quantile_of_the_noise(kind, confidence):
    rule = smooth(median, bounds=(0, 20), granularity=0.5)
    mechanism, sample = fitted(kind, rule), (3, 4, 5, 5, 7, 9, 11)
    width = mechanism.error(sample, confidence=confidence)
    assert (width * 2).denominator == 1
    scale = rule.scale(sample, mechanism.dilation) / float(mechanism.shift)

    def outside(steps: float) -> float:
        return 2 * float(LAWS[kind].sf((steps + 0.5) / scale))

    assert outside(float(width * 2)) <= (1 - confidence) * (1 + 1e-6)
    assert outside(float(width * 2) - 1) > (1 - confidence) * (1 - 1e-6)


def test_where_a_statistic_is_rounded_the_error_has_half_a_granule_more():
    mechanism = fitted(NoiseKind.LAPLACE, smooth(mean, bounds=(0, 20), granularity=1))
    assert mechanism.error((1, 2, 3)) % 1 == Fraction(1, 2)


@pytest.mark.parametrize("price", [ApproximateDP(0.1, 1e-9), ApproximateDP(1.0, 1e-6), ApproximateDP(5.0, 0.01)])
@pytest.mark.parametrize("kind", [NoiseKind.LAPLACE, NoiseKind.GAUSSIAN])
def test_a_fitted_mechanism_keeps_its_price_and_hardly_more(kind, price):
    mechanism = SmoothNoise.fitting(price, sensitivity=smooth(median, bounds=(0, 1)), noise=kind)
    kept = mechanism.promise()
    assert isinstance(kept, ApproximateDP)
    assert kept.epsilon == price.epsilon
    assert 0.999 * price.delta < kept.delta <= price.delta
    assert kept.covers(price)


@pytest.mark.parametrize("freedom", [1, 3, 10])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_a_pure_price_is_kept_by_students_noise(freedom, epsilon):
    mechanism = SmoothNoise.fitting(PureDP(epsilon), sensitivity=smooth(median, bounds=(0, 1)), freedom=freedom)
    assert mechanism.noise is NoiseKind.STUDENT
    assert mechanism.promise() == PureDP(epsilon)
    with pytest.raises(InvalidPromise, match="no more than epsilon"):
        replace(mechanism, dilation=mechanism.dilation * 1.01)


def test_a_pure_promise_is_more_than_an_approximate_one():
    price = ApproximateDP(1.0, 1e-6)
    mechanism = SmoothNoise.fitting(price, sensitivity=smooth(median, bounds=(0, 1)), noise=NoiseKind.STUDENT)
    assert mechanism.promise() == PureDP(1.0)


@each_kind
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_shift_and_dilation_are_shared_out_well(kind, epsilon):
    """No other shift makes the product of both more than four hundredths larger."""
    price = PureDP(epsilon) if kind is NoiseKind.STUDENT else ApproximateDP(epsilon, 1e-6)
    rule = smooth(median, bounds=(0, 1))
    chosen = SmoothNoise.fitting(price, sensitivity=rule, noise=kind)
    product = float(chosen.shift) * chosen.dilation
    for factor in np.linspace(0.5, 1.5, 21):
        try:
            other = SmoothNoise.fitting(price, sensitivity=rule, noise=kind, shift=float(chosen.shift) * factor)
        except InvalidPromise:
            continue
        assert float(other.shift) * other.dilation < 1.04 * product


def test_data_that_agree_get_little_noise():
    """The noise of the bounds alone would be 100/ε: a hundred times as large."""
    mechanism = SmoothNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=smooth(median, bounds=(0, 100)))
    sample = np.random.default_rng(1).normal(50, 3, 2001)
    assert mechanism.error(sample) < 1
    assert abs(mechanism.release(sample, coins=TestCoins(2)) - Fraction(float(np.median(sample)))) < 3


def test_it_says_who_is_protected_and_its_loss_is_the_pair_of_its_promise():
    mechanism = fitted(NoiseKind.LAPLACE)
    assert mechanism.relation is Relation.REPLACE_ONE
    assert Composed((mechanism, mechanism)).relation is Relation.REPLACE_ONE
    assert mechanism.loss() == bounding(mechanism.promise())


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"price": ZeroConcentratedDP(0.5)}, IncompatiblePromises, "approximate or a pure price"),
        ({"price": PureDP(1.0), "noise": NoiseKind.LAPLACE}, InvalidPromise, "has no bound"),
        ({"price": PureDP(1.0), "noise": NoiseKind.GAUSSIAN}, InvalidPromise, "has no bound"),
        ({"price": ApproximateDP(1.0, 0.0)}, InvalidPromise, "0 < delta < 1"),
        ({"price": ApproximateDP(0.0, 1e-6)}, ValueError, "epsilon of SmoothNoise to be a finite number above 0"),
        ({"shift": 2}, InvalidPromise, "leaves no room"),
        ({"shift": -1}, ValueError, "shift of SmoothNoise to be a finite number above 0"),
        ({"price": PureDP(1.0), "freedom": 0}, ValueError, "freedom"),
        ({"sensitivity": median}, QuestionError, "smooth sensitivity"),
        ({"noise": "laplace"}, QuestionError, "a NoiseKind, got"),
    ],
)
def test_prices_that_cannot_be_kept(more, error, words):
    given = {"price": ApproximateDP(1.0, 1e-6), "sensitivity": smooth(median, bounds=(0, 1)), **more}
    with pytest.raises(error, match=words):
        SmoothNoise.fitting(given.pop("price"), **given)


def test_parameters_without_a_promise_are_refused():
    """Nothing is claimed about them."""
    rule = smooth(median, bounds=(0, 1))
    with pytest.raises(InvalidPromise, match="an ε of at least"):
        SmoothNoise(rule, NoiseKind.LAPLACE, epsilon=0.5, shift=0.6, dilation=0.1)
    with pytest.raises(ValueError, match="dilation"):
        SmoothNoise(rule, NoiseKind.LAPLACE, epsilon=0.5, shift=0.3, dilation=0)
    with pytest.raises(InvalidPromise, match="dilation of at least 1e-09"):
        SmoothNoise(rule, NoiseKind.LAPLACE, epsilon=0.5, shift=0.3, dilation=1e-12)
    with pytest.raises(QuestionError, match="a NoiseKind, got"):
        SmoothNoise(rule, "laplace", epsilon=0.5, shift=0.3, dilation=0.01)  # type: ignore[arg-type]


def test_nothing_but_the_coins_decides():
    mechanism = fitted(NoiseKind.GAUSSIAN)
    first, second = (mechanism.release((1, 2, 3), coins=TestCoins(3)) for _ in range(2))
    assert first == second
    assert len({mechanism.release((1, 2, 3)) for _ in range(50)}) > 5
