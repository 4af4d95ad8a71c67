"""Propose-test-release on tiny data: both output laws of every pair of neighbours, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import pytest
from flint import arb, ctx
from scipy.stats import chi2

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding, common_relation
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact
from sitr.sensitivity import interquartile_range, median, propose_test_release, trimmed_mean, variance
from sitr.sensitivity.statistic import Statistic
from tests.oracles.brute import Sample, neighbours

BITS = 200
Pair = list[tuple[arb, arb]]


# Exact laws


@cache
def mass(y: int, scale: Fraction) -> arb:
    q = (-ball(1 / scale)).exp()
    return (1 - q) / (1 + q) * q ** abs(y)


@cache
def at_least(k: int, scale: Fraction) -> arb:
    """P(Y ≥ k): the sum of a geometric series, or one minus it."""
    q = (-ball(1 / scale)).exp()
    return q**k / (1 + q) if k > 0 else 1 - q ** (1 - k) / (1 + q)


def law(distance: int, centre: int, mechanism: ProposeTestRelease, *, first: int, last: int) -> list[arb]:
    """Refused; below `first`; first, …, last; above. Beyond both centres the ratio of two laws is constant."""
    counted = exact(mechanism.noise.in_granules().scale)
    passed = at_least(mechanism.threshold - distance + 1, exact(mechanism.scale))
    answers = [at_least(centre - first + 1, counted)]
    answers += [mass(z - centre, counted) for z in range(first, last + 1)]
    answers.append(at_least(last + 1 - centre, counted))
    return [1 - passed, *(passed * one for one in answers)]


def hockey_stick(pair: Pair, epsilon: float) -> arb:
    odds = ball(epsilon).exp()
    return sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0))


def small(statistic: Statistic, *, size: int, high: int, proposal: float) -> Iterator[tuple[Sample, int, int]]:
    rule = propose_test_release(statistic, proposal=proposal, bounds=(0, high), granularity=1)
    for values in combinations_with_replacement(range(high + 1), size):
        yield values, rule.distance(values), rule.centre(values)


def worst(mechanism: ProposeTestRelease, *, size: int, epsilon: float, farther: int = 0) -> arb:
    """The largest divergence over all neighbours, in both directions; distances may be overstated."""
    rule = mechanism.sensitivity
    high, bound = rule.grid.high, rule.bound
    measured = {
        values: (distance + farther, centre)
        for values, distance, centre in small(rule.statistic, size=size, high=high, proposal=bound)
    }
    pairs = {
        (measured[values], measured[other])
        for values in measured
        for other in neighbours(values, low=0, high=high)
        if values != other
    }
    largest = arb(0)
    with ctx.workprec(BITS):
        for (d, c), (e, f) in pairs:
            ends: dict[str, Any] = {"first": min(c, f), "last": max(c, f)}
            both = list(zip(law(d, c, mechanism, **ends), law(e, f, mechanism, **ends), strict=True))
            largest = max(largest, hockey_stick(both, epsilon))
    return largest


def exceeds(loss: arb, delta: float) -> bool:
    with ctx.workprec(BITS):
        return bool(loss > ball(delta))


def fitted(statistic: Statistic, *, high: int, price: ApproximateDP, proposal: float = 1) -> ProposeTestRelease:
    rule = propose_test_release(statistic, proposal=proposal, bounds=(0, high), granularity=1)
    return ProposeTestRelease.fitting(price, sensitivity=rule)


CASES = [
    (median, 5, 5, 1, ApproximateDP(6.0, 0.01)),
    (median, 4, 8, 1, ApproximateDP(8.0, 1e-3)),
    (trimmed_mean(0.25), 4, 6, 1, ApproximateDP(4.0, 0.05)),
    (interquartile_range, 5, 4, 1, ApproximateDP(3.0, 1e-4)),
    (variance, 4, 6, 2, ApproximateDP(12.0, 1e-4)),
]
each_case = pytest.mark.parametrize(("statistic", "size", "high", "proposal", "price"), CASES)


@each_case
def test_the_promise_is_kept_by_all_neighbours(statistic, size, high, proposal, price):
    mechanism = fitted(statistic, high=high, price=price, proposal=proposal)
    promise = mechanism.promise()
    assert promise.covers(price)
    loss = worst(mechanism, size=size, epsilon=promise.epsilon)
    assert not exceeds(loss, promise.delta)
    assert exceeds(loss, promise.delta / 2), "these data tell a broken mechanism from a right one"


SHARP = ApproximateDP(8.0, 1e-3)


def sharp() -> ProposeTestRelease:
    """A wide range and little noise: nearly all of δ is lost."""
    rule = propose_test_release(median, proposal=1, bounds=(0, 12), granularity=1)
    return ProposeTestRelease.fitting(SHARP, sensitivity=rule, share=0.25)


def test_delta_is_needed_in_full_and_is_lost_far_beyond_epsilon():
    mechanism = sharp()
    delta = mechanism.promise().delta
    loss = worst(mechanism, size=4, epsilon=SHARP.epsilon)
    assert not exceeds(loss, delta)
    assert exceeds(loss, delta * 0.999)
    assert exceeds(worst(mechanism, size=4, epsilon=5 * SHARP.epsilon), delta * 0.9), "mass as good as at infinity"


def test_a_threshold_one_lower_breaks_the_promise():
    mechanism = sharp()
    lower = replace(mechanism, threshold=mechanism.threshold - 1)
    assert exceeds(worst(lower, size=4, epsilon=SHARP.epsilon), mechanism.promise().delta)
    assert lower.promise().delta > SHARP.delta, "fitting takes the lowest threshold"


def test_a_distance_that_is_one_too_long_breaks_the_promise():
    mechanism = sharp()
    assert exceeds(worst(mechanism, size=4, epsilon=SHARP.epsilon, farther=1), mechanism.promise().delta)


def test_epsilon_is_needed_in_full():
    mechanism = fitted(median, high=2, price=ApproximateDP(4.0, 1e-3))
    promise = mechanism.promise()
    assert exceeds(worst(mechanism, size=11, epsilon=0.98 * promise.epsilon), promise.delta)


def test_noise_for_less_than_the_proposal_breaks_the_promise():
    mechanism = fitted(median, high=6, price=ApproximateDP(4.0, 1e-4), proposal=2)
    with pytest.raises(ValueError, match="noise for a sensitivity of 2"):
        replace(mechanism, noise=Laplace(mechanism.noise.scale, 1))
    assert not exceeds(worst(mechanism, size=5, epsilon=4.0), mechanism.promise().delta)
    halved = replace(mechanism, noise=Laplace(mechanism.noise.scale / 2, mechanism.noise.sensitivity))
    assert exceeds(worst(halved, size=5, epsilon=4.0), mechanism.promise().delta)


# What is drawn


def misfit(mechanism: ProposeTestRelease, values: Sample, draws: list[Fraction | None]) -> float:
    """Chi-square against the law: refused, each answer near the centre, and the rest."""
    rule = mechanism.sensitivity
    centre, near = rule.centre(values), 4
    ends = {"first": centre - near, "last": centre + near}
    expected = [float(one) * len(draws) for one in law(rule.distance(values), centre, mechanism, **ends)]
    observed = [0] * len(expected)
    for drawn in draws:
        place = 0 if drawn is None else min(max(int(drawn) - centre + near + 2, 1), len(expected) - 1)
        observed[place] += 1
    assert min(expected) > 20
    return float(chi2.sf(sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True)), len(expected) - 1))


def test_draws_follow_the_law():
    mechanism, values = fitted(median, high=20, price=ApproximateDP(0.8, 0.2)), (9, 10, 10, 10, 11)
    coins = TestCoins(11)
    draws = [mechanism.release(values, coins=coins) for _ in range(3000)]
    assert misfit(mechanism, values, draws) > 1e-6
    lower = replace(mechanism, threshold=mechanism.threshold - 1)
    draws = [lower.release(values, coins=coins) for _ in range(3000)]
    assert misfit(mechanism, values, draws) < 1e-6, "as if d + Y ≥ T were enough"


def test_answers_are_multiples_of_the_granule_in_the_unit_of_the_data():
    rule = propose_test_release(variance, proposal=30, bounds=(0, 10), granularity=0.5)
    mechanism = ProposeTestRelease.fitting(ApproximateDP(1e6, 1e-9), sensitivity=rule)
    values = [2.0] * 20 + [7.5] * 20
    assert mechanism.release(values) == Fraction(15, 2), "the variance is 7.5625, rounded to quarters"


# What it tells


def test_what_is_public():
    rule = propose_test_release(median, proposal=1, bounds=(0, 100), granularity=0.5)
    mechanism = ProposeTestRelease.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule, share=0.25)
    assert mechanism.scale == 4
    assert mechanism.noise == Laplace(Fraction(4, 3), 1, 0.5)
    assert mechanism.promise().epsilon == 1.0
    assert mechanism.exposed() == mechanism.promise().delta <= 1e-6
    assert mechanism.error() == mechanism.noise.error()
    assert common_relation(mechanism) is Relation.REPLACE_ONE
    assert mechanism.loss() == bounding(mechanism.promise())


def test_the_error_holds_for_what_is_rounded():
    rule = propose_test_release(trimmed_mean(0.1), proposal=1, bounds=(0, 100), granularity=0.5)
    mechanism = ProposeTestRelease.fitting(ApproximateDP(1.0, 1e-6), sensitivity=rule)
    assert mechanism.error(confidence=0.9) == mechanism.noise.error(confidence=0.9) + Fraction(1, 4)


def test_how_likely_data_are_refused():
    """Data that are far from the bound hardly ever; data at it with all but δ; of no use where n is below T."""
    mechanism = fitted(median, high=100, price=ApproximateDP(1.0, 1e-6), proposal=5)
    assert mechanism.refusal([50] * 200) < 1e-10
    apart = [0] * 10 + [100] * 10
    assert mechanism.sensitivity.distance(apart) == 0
    assert 1 - mechanism.refusal(apart) == pytest.approx(mechanism.exposed(), rel=1e-9)
    assert mechanism.refusal([50] * 20) > 0.99


@pytest.mark.parametrize("distance", [0, 3, 26, 27, 28, 60])
def test_refusal_is_the_probability_of_its_law(distance):
    mechanism = fitted(median, high=100, price=ApproximateDP(1.0, 1e-6))
    values = [50] * (2 * distance + 1)
    assert mechanism.sensitivity.distance(values) == distance
    refused = 1 - at_least(mechanism.threshold - distance + 1, exact(mechanism.scale))
    assert mechanism.refusal(values) == pytest.approx(float(refused), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("price", [ApproximateDP(1.0, 0.0), ApproximateDP(1.0, 1.0), PureDP(1.0)])
def test_a_price_without_a_delta(price):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        fitted(median, high=4, price=price)


@pytest.mark.parametrize("share", [0, 1, -0.5, 2])
def test_shares(share):
    rule = propose_test_release(median, proposal=1, bounds=(0, 4), granularity=1)
    with pytest.raises(ValueError, match="share of ProposeTestRelease to be strictly between 0 and 1"):
        ProposeTestRelease.fitting(ApproximateDP(1.0, 0.1), sensitivity=rule, share=share)


@pytest.mark.parametrize(
    "changed", [{"threshold": -1}, {"threshold": 1.5}, {"scale": 0}, {"noise": Laplace(1, 1, 0.5)}]
)
def test_parameters_that_promise_nothing(changed):
    with pytest.raises(ValueError, match=r"of ProposeTestRelease to be|noise for a sensitivity of 1 in granules of 1,"):
        replace(sharp(), **changed)


def test_bad_data_are_refused_before_anything_is_drawn():
    with pytest.raises(DescriptionError, match="NaN among the values"):
        sharp().release([1.0, float("nan")])


@pytest.mark.parametrize("price", [SHARP, ApproximateDP(0.01, 1e-9), ApproximateDP(3.0, 0.7)])
def test_the_threshold_is_the_lowest(price):
    mechanism = fitted(median, high=4, price=price)
    assert mechanism.exposed() <= price.delta
    if mechanism.threshold:
        assert at_least(mechanism.threshold, exact(mechanism.scale)) > price.delta
