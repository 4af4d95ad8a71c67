"""Laws of all statistics: equal to the slow reference on every small sample, and smooth as floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.sensitivity.ranks import TrimmedMean, mean, median, quantile, trimmed_mean
from sitr.sensitivity.spread import interquartile_range, variance
from sitr.sensitivity.statistic import Statistic
from tests.oracles.brute import distance_to, local_sensitivities, smooth_sensitivity

STATISTICS: dict[str, Statistic] = {
    "median": median,
    "smallest": quantile(0),
    "quartile": quantile(0.25),
    "upper": quantile(0.8),
    "largest": quantile(1),
    "mean": mean,
    "trimmed a little": trimmed_mean(0.2),
    "trimmed more": trimmed_mean(0.34),
    "trimmed to the middle": trimmed_mean(0.49),
    "interquartile range": interquartile_range,
    "variance": variance,
}
every_statistic = pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
DILATIONS = (0.02, 0.3, 1.0, 4.0)


def least_difference(statistic: Statistic, people: int) -> float:
    """The floor below which no smooth sensitivity goes: f is always a multiple of this."""
    if statistic.power == 2:
        return 1 / people**2
    if not isinstance(statistic, TrimmedMean):
        return 1.0
    left, right = statistic.ranks(people)
    return 1 / (right - left + 1)


def check_all(statistic: Statistic, *, size: int, low: int, high: int) -> None:
    """Every sample at once: LS_k at every k, S at several β, distance at several bounds."""
    found = local_sensitivities(lambda sample: statistic.value(np.array(sample)), size=size, low=low, high=high)
    largest = found[(low,) * size][-1]
    bounds = [Fraction(0), largest / 7, largest / 3, largest / 2, largest - Fraction(1, 1000), largest]
    for values, local in found.items():
        sample = np.array(values)
        assert [statistic.local(sample, low, high, distance=k) for k in range(size + 1)] == local
        assert statistic.local(sample, low, high, distance=size + 9) == local[-1]
        for bound in {*bounds, *local}:
            if bound >= 0:
                assert statistic.distance(sample, low, high, bound=bound) == distance_to(local, bound=bound)
        for beta in DILATIONS:
            slow = max(smooth_sensitivity(local, dilation=beta), least_difference(statistic, size))
            assert slow <= statistic.smooth(sample, low, high, dilation=beta) <= slow * (1 + 1e-9)


@pytest.mark.sampled(15)
@every_statistic
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_all_samples_of_few_people(statistic, size):
    check_all(statistic, size=size, low=-2, high=2)


@every_statistic
@pytest.mark.parametrize("size", [5, 6])
def test_all_samples_of_more_people_on_fewer_points(statistic, size):
    check_all(statistic, size=size, low=3, high=5)


@pytest.mark.slow
@every_statistic
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 2), (-2, 2), (10, 14)])
def test_all_samples_on_small_grids(statistic, size, low, high):
    check_all(statistic, size=size, low=low, high=high)


SHAPES = {
    "uniform": lambda chance, n: chance.integers(0, 1001, n),
    "bell": lambda chance, n: np.clip(np.round(chance.normal(400, 60, n)), 0, 1000),
    "heavy": lambda chance, n: np.clip(np.round(500 + 3 * chance.standard_cauchy(n)), 0, 1000),
    "two heaps": lambda chance, n: chance.choice([100, 101, 900], n),
    "even": lambda _, n: np.linspace(0, 1000, n).round(),
    "constant": lambda _, n: np.full(n, 17),
    "at the ends": lambda chance, n: chance.choice([0, 1000], n),
}


def drawn(shape: str, people: int, seed: int) -> np.ndarray:
    return np.sort(SHAPES[shape](np.random.default_rng(seed), people).astype(np.int64))


@every_statistic
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("people", [23, 150])
def test_the_fast_search_finds_the_largest_discounted_sensitivity(statistic, shape, people):
    sample = drawn(shape, people, people)
    local = [statistic.local(sample, 0, 1000, distance=k) for k in range(people + 1)]
    for beta in (1e-4, 0.01, 0.05, 0.5):
        slow = max(smooth_sensitivity(local, dilation=beta), least_difference(statistic, people))
        assert slow <= statistic.smooth(sample, 0, 1000, dilation=beta) <= slow * (1 + 1e-9 * people)
    for bound in (0, 1, Fraction(local[people // 2]), 999):
        assert statistic.distance(sample, 0, 1000, bound=bound) == distance_to(local, bound=bound)


def neighbour(sample: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """One value at an end, near the middle or anywhere is replaced by a bound, another value or anything."""
    changed = sample.copy()
    places = [0, len(sample) // 2, len(sample) - 1, int(chance.integers(len(sample)))]
    changed[chance.choice(places)] = chance.choice([0, 1000, int(chance.choice(sample)), int(chance.integers(1001))])
    return np.sort(changed)


@pytest.mark.sampled(20)
@every_statistic
@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_have_similar_scales_as_floats_and_cover_their_difference(statistic, shape):
    chance = np.random.default_rng(5)
    for beta in (1e-9, 1e-6, 1e-3, 0.2, 3.0):
        sample = drawn(shape, int(chance.integers(1, 600)), 6)
        scale = statistic.smooth(sample, 0, 1000, dilation=beta)
        for _ in range(20):
            other = neighbour(sample, chance)
            there = statistic.smooth(other, 0, 1000, dilation=beta)
            assert abs(math.log(scale / there)) <= beta
            assert abs(statistic.value(sample) - statistic.value(other)) <= min(scale, there)
            assert abs(statistic.distance(sample, 0, 1000, bound=3) - statistic.distance(other, 0, 1000, bound=3)) <= 1
            sample, scale = other, there


@every_statistic
@given(values=st.lists(st.integers(-50, 50), min_size=1, max_size=12), shift=st.integers(-(2**40), 2**40))
def test_moving_everything_or_turning_it_around_changes_no_sensitivity(statistic, values, shift):
    sample = np.sort(np.array(values))
    moved, low, high = sample + shift, -50 + shift, 50 + shift
    for k in (0, 1, 5):
        assert statistic.local(moved, low, high, distance=k) == statistic.local(sample, -50, 50, distance=k)
    assert statistic.smooth(moved, low, high, dilation=0.3) == statistic.smooth(sample, -50, 50, dilation=0.3)
    if statistic in (mean, variance) or (statistic == median and len(values) % 2):
        assert statistic.local(-sample[::-1], -50, 50) == statistic.local(sample, -50, 50)


def test_what_a_statistic_is():
    assert all(isinstance(statistic, Statistic) for statistic in STATISTICS.values())
    assert not isinstance(np.median, Statistic)
