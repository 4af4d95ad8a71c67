"""Both output laws of a threshold with Gaussian noise on neighbouring tables, for every small pair of tables.

The judge is the definition of approximate zero-concentrated privacy itself, decided exactly for finite laws.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact, square_root_upward
from tests.mechanisms.test_threshold import Counts, Pair, hockey_stick, neighbours
from tests.oracles.outside_an_event import outside_an_event

BITS = 300
ORDERS = (1.01, 2, 3, 10)


# Exact laws


def above(noise: Any, k: int) -> arb:
    """P(Y ≥ k), term by term for the discrete law and in closed form for the rounded one."""
    sigma = exact(noise.sigma)
    if isinstance(noise, RoundedGaussian):
        return (ball((k - Fraction(1, 2)) / sigma) / arb(2).sqrt()).erfc() / 2
    weights = masses(sigma)
    return sum((weight for y, weight in weights.items() if y >= k), arb(0)) / sum(weights.values(), arb(0))


@cache
def masses(sigma: Fraction) -> dict[int, arb]:
    """e^{−y²/2σ²} as far as it is above 2^{−500}."""
    reach = int(27 * sigma) + 2
    return {y: (-ball(y * y / (2 * sigma**2))).exp() for y in range(-reach, reach + 1)}


@cache
def key(counts: Counts, noise: Any, least: int) -> Pair:
    """What is shown of one key: nothing, least, …, or a number so large that its probability is below 2^{−250}."""
    top = max(least, *counts) + int(19 * exact(noise.sigma)) + 1

    def law(people: int) -> list[arb]:
        if people == 0:
            return [arb(1)] + [arb(0)] * (top - least + 1)
        tails = [above(noise, n - people) for n in range(least, top + 1)]
        return [1 - tails[0], *(more - less for more, less in pairwise(tails)), tails[-1]]

    return [(p, q) for p, q in zip(*map(law, counts), strict=True) if not p == q == 0]


def laws(threshold: GaussianThreshold, relation: Relation, *, each: int | None = None) -> Iterator[Pair]:
    """The pair of laws for all neighbours, keys in few classes; large products are left out."""
    for tables in neighbours(threshold.groups, threshold.least, relation, each or threshold.each):
        pairs = [key(counts, threshold.noise, threshold.least) for counts in tables]
        if np.prod([len(pair) for pair in pairs]) < 2500:
            yield reduce(lambda a, b: [(p * s, q * t) for (p, q), (s, t) in product(a, b)], pairs, [(arb(1), arb(1))])


def broken(
    threshold: GaussianThreshold, relation: Relation, promise: ApproximateZeroConcentratedDP, *, each: int | None = None
) -> bool:
    """Whether a pair of neighbours is proved to break the promise."""
    with ctx.workprec(BITS):
        rho, delta = ball(promise.rho), ball(promise.delta)
        return any(
            over > ball(2) ** -150
            for pair in laws(threshold, relation, each=each)
            for way in (pair, [(q, p) for p, q in pair])
            for over in outside_an_event(way, rho, delta, orders=ORDERS)
        )


def fitted(kind: Any, sigma: float, delta: float, groups: int, relation: Relation, each: int = 1) -> GaussianThreshold:
    squares = groups * each**2 * (1 if relation is Relation.ADD_REMOVE else 2)
    noise = kind(sigma, square_root_upward(Fraction(squares)))
    return GaussianThreshold.lowest(noise, delta=delta, groups=groups, each=each)


CASES = [
    (Gaussian, 1.5, 1e-6, 1, Relation.ADD_REMOVE, 1),
    (Gaussian, 1.0, 1e-3, 2, Relation.ADD_REMOVE, 1),
    (RoundedGaussian, 1.0, 1e-3, 2, Relation.ADD_REMOVE, 1),
    (Gaussian, 0.5, 0.3, 2, Relation.ADD_REMOVE, 1),
    (Gaussian, 1.5, 1e-3, 1, Relation.ADD_REMOVE, 3),
    (Gaussian, 1.5, 1e-4, 1, Relation.REPLACE_ONE, 1),
    (RoundedGaussian, 1.5, 1e-4, 1, Relation.REPLACE_ONE, 2),
]
every_case = pytest.mark.parametrize(("kind", "sigma", "delta", "groups", "relation", "each"), CASES)


# The promise


@pytest.mark.sampled(3)
@every_case
def test_the_promise_is_kept_and_no_smaller_delta_would_be(kind, sigma, delta, groups, relation, each):
    threshold = fitted(kind, sigma, delta, groups, relation, each)
    promise = threshold.promise()
    assert promise.delta <= delta
    assert not broken(threshold, relation, promise)
    assert broken(threshold, relation, ApproximateZeroConcentratedDP(promise.rho, promise.delta * (1 - 1e-12)))


@pytest.mark.parametrize("relation", Relation)
def test_rho_is_needed_nearly_in_full(relation):
    """At δ = 10⁻⁶ the event can hide little of the noise on keys that others have too."""
    threshold = fitted(Gaussian, 1.5, 1e-6, 1, relation)
    promise = threshold.promise()
    assert broken(threshold, relation, ApproximateZeroConcentratedDP(promise.rho * 0.95, promise.delta))


@pytest.mark.sampled(3)
@every_case
def test_the_loss_bounds_every_tail(kind, sigma, delta, groups, relation, each):
    threshold = fitted(kind, sigma, delta, groups, relation, each)
    loss = threshold.loss()
    assert loss.bound
    for epsilon in (0.0, 0.5, 2.0, 8.0):
        most = loss.delta(epsilon=epsilon).upper
        with ctx.workprec(BITS):
            for pair in laws(threshold, relation):
                for way in (pair, [(q, p) for p, q in pair]):
                    assert not hockey_stick(way, epsilon) > arb(most)


# Broken twins, which the same check must reject


@every_case
def test_an_off_by_one_is_caught(kind, sigma, delta, groups, relation, each):
    """Shown at `least` but accounted for as if only above it: P(c + Y > least) instead of P(c + Y ≥ least)."""
    threshold = fitted(kind, sigma, delta, groups, relation, each)
    twin = GaussianThreshold(threshold.noise, groups, threshold.least + 1, each)
    assert twin.promise().rho == threshold.promise().rho
    assert broken(threshold, relation, twin.promise())


def test_a_forgotten_number_of_groups_is_caught():
    threshold = fitted(Gaussian, 1.0, 1e-3, 2, Relation.ADD_REMOVE)
    assert broken(threshold, Relation.ADD_REMOVE, GaussianThreshold(threshold.noise, 1, threshold.least).promise())


def test_a_replaced_unit_moves_twice_as_much():
    threshold = fitted(Gaussian, 1.5, 1e-4, 1, Relation.ADD_REMOVE)
    assert broken(threshold, Relation.REPLACE_ONE, threshold.promise())


def test_units_with_several_rows_are_caught():
    threshold = fitted(Gaussian, 1.5, 1e-3, 1, Relation.ADD_REMOVE)
    assert broken(threshold, Relation.ADD_REMOVE, threshold.promise(), each=2)


def test_without_the_event_no_rho_is_enough():
    threshold = fitted(Gaussian, 1.5, 1e-6, 1, Relation.ADD_REMOVE)
    assert broken(threshold, Relation.ADD_REMOVE, ApproximateZeroConcentratedDP(1e6, 0.0))


# δ and the lowest threshold


@settings(max_examples=40)
@given(
    st.sampled_from([Gaussian, RoundedGaussian]),
    st.fractions(Fraction(1, 4), 60, max_denominator=50),
    st.integers(1, 50),
    st.integers(1, 60),
)
def test_delta_is_the_chance_of_being_exposed(kind, sigma, groups, missing):
    """1 − (1 − P(1 + Y ≥ least))^g from sums of masses in 1,000 bits; beyond 27σ the sums have no terms."""
    missing = min(missing, int(20 * sigma) + 1)
    threshold = GaussianThreshold(kind(sigma, square_root_upward(Fraction(groups))), groups, 1 + missing)
    delta = threshold.promise().delta
    with ctx.workprec(1000):
        exposed = 1 - (1 - above(threshold.noise, missing)) ** groups
        assert ball(delta) >= exposed * (1 - ball(1e-60))
        assert ball(delta) <= exposed * (1 + ball(1e-13))


@settings(max_examples=40)
@given(st.floats(1e-4, 20), st.floats(1e-15, 0.5), st.integers(1, 100), st.integers(1, 3))
def test_no_lower_threshold_would_do(rho, delta, groups, each):
    price = ApproximateZeroConcentratedDP(rho, delta)
    moved = square_root_upward(Fraction(groups * each**2))
    threshold = GaussianThreshold.fitting(price, sensitivity=moved, groups=groups, each=each)
    assert threshold.promise().covers(price)
    if threshold.least > each + 1:
        lower = GaussianThreshold(threshold.noise, groups, threshold.least - 1, each)
        assert lower.promise().delta > delta


@pytest.mark.parametrize(("rho", "delta"), [(1e-60, 1e-6), (1e6, 1e-6), (0.5, 1e-300), (1e-100, 1e-100)])
@pytest.mark.parametrize("groups", [1, 10**6])
def test_extreme_parameters_work(rho, delta, groups):
    price = ApproximateZeroConcentratedDP(rho, delta)
    threshold = GaussianThreshold.fitting(price, sensitivity=square_root_upward(Fraction(groups)), groups=groups)
    assert threshold.promise().covers(price)


def test_many_groups_need_a_lower_threshold_than_with_laplace_noise():
    """At (1, 10⁻⁶), with a μ of 0.2296 for half of δ: Laplace is better for one group, Gaussian for eight."""
    leasts = {}
    for groups in (1, 8):
        laplace = Threshold.fitting(ApproximateDP(1.0, 1e-6), sensitivity=groups, groups=groups)
        moved = square_root_upward(Fraction(groups))
        noise = RoundedGaussian(moved / exact(0.2296), moved)
        bell = GaussianThreshold.lowest(noise, delta=5e-7, groups=groups)
        assert ApproximateDP(1.0, 1e-6).kept_by(bell.loss())
        leasts[groups] = (laplace.least, bell.least)
    assert leasts[1][0] < leasts[1][1]
    assert leasts[8][0] > leasts[8][1]


# Refusals and the release


def test_what_does_not_fit_is_refused():
    for made in (
        lambda: GaussianThreshold(Gaussian(2, 1), 2, 30),
        lambda: GaussianThreshold(Gaussian(2, 1), 1, 30, 2),
        lambda: GaussianThreshold(Gaussian(2, 1, Fraction(1, 2)), 1, 30),
        lambda: GaussianThreshold(Gaussian(2, 1, 1, single=True), 1, 30),
        lambda: GaussianThreshold(Gaussian(2, 3), 1, 3, 3),
        lambda: GaussianThreshold(Gaussian(2, 1), 1, 30.5),  # type: ignore[arg-type]
        lambda: GaussianThreshold(Gaussian(2, 1), 0, 30),
        lambda: GaussianThreshold.fitting(ApproximateZeroConcentratedDP(1.0, 0.0), sensitivity=1, groups=1),
        lambda: GaussianThreshold.fitting(ApproximateZeroConcentratedDP(0.0, 1e-6), sensitivity=1, groups=1),
    ):
        with pytest.raises(ValueError, match="Expected"):
            made()


def test_integers_of_numpy_do_not_wrap_around():
    numbers: dict[str, Any] = {"groups": np.int8(127), "least": np.int16(2**15 - 1), "each": np.int8(1)}
    made = GaussianThreshold(Gaussian(3000, 12), **numbers)
    assert {type(number) for number in (made.groups, made.least, made.each)} == {int}


def test_a_key_is_shown_from_the_threshold_on():
    still = GaussianThreshold(Gaussian(Fraction(1, 100)), groups=1, least=10)  # P(Y ≠ 0) < 2e^{−5000}
    assert still.release([1, 9, 10, 11, 10**20]) == [None, None, 10, 11, 10**20]


@pytest.mark.parametrize("kind", [Gaussian, RoundedGaussian])
def test_the_chance_to_be_shown_is_the_one_that_delta_says(kind):
    """People alone with their key, 20,000 times: the share that is shown is p, within five deviations."""
    threshold = GaussianThreshold(kind(3, 1), groups=1, least=5)
    p, n = threshold.promise().delta, 20_000
    seen = sum(each is not None for each in threshold.release([1] * n, coins=TestCoins(11)))
    assert abs(seen - n * p) < 5 * (n * p * (1 - p)) ** 0.5


@pytest.mark.parametrize("confidence", [0.51, 0.75, 0.95, 0.999999])
@pytest.mark.parametrize("noise", [Gaussian(2), RoundedGaussian(Fraction(7, 3)), Gaussian(Fraction(1, 3))], ids=str)
def test_so_many_people_are_shown_with_this_confidence_and_no_fewer(noise, confidence):
    n = GaussianThreshold(noise, groups=1, least=60).error(confidence=confidence)
    with ctx.workprec(BITS):
        shown = [1 - above(noise, m - 60 + 1) for m in (n - 1, n)]  # P(m + Y ≥ 60) = 1 − P(Y > m − 60)
        assert shown[0] < ball(confidence) <= shown[1]
