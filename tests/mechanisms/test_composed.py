from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Composed, Repeated, together
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.response import Response
from sitr.mechanisms.sparse_vector import SparseVector
from sitr.mechanisms.subsampled import Subsampled
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import downward, exact, upward
from tests.oracles.losses import loss_of

LAPLACE, GAUSSIAN = Laplace(scale=10, sensitivity=3), Gaussian(sigma=4, sensitivity=2, single=True)
THRESHOLD = Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30)


def test_pure_parts_stay_pure():
    assert Composed((LAPLACE, Laplace(scale=5))).promise() == PureDP(0.5)


def test_gaussian_and_pure_parts_meet_in_moments():
    assert Composed((GAUSSIAN, LAPLACE)).promise() == ZeroConcentratedDP(0.17)  # 0.125 + 0.3²/2


def test_a_threshold_makes_the_whole_approximate():
    whole = Composed((LAPLACE, THRESHOLD)).promise()
    assert whole == ApproximateDP(1.3, THRESHOLD.promise().delta)


def test_a_threshold_and_gaussian_noise_meet_in_moments_outside_an_event():
    whole = Composed((GAUSSIAN, THRESHOLD)).promise()
    assert whole == ApproximateZeroConcentratedDP(0.625, THRESHOLD.promise().delta)  # 0.125 + 1²/2
    keys = GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25)
    both = Composed((GAUSSIAN, Repeated(keys, 2))).promise()
    assert both == ApproximateZeroConcentratedDP(0.375, (keys.promise() * 2).delta)


def test_with_a_delta_events_use_a_part_of_it():
    keys = GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=22)
    used = keys.promise().delta
    whole = Composed((GAUSSIAN, keys, LAPLACE)).promise(delta=3e-6)
    rest = downward(exact(3e-6) - exact(used))
    moments = ZeroConcentratedDP(0.25).to_approximate(delta=rest).epsilon
    assert whole == ApproximateDP(
        min(upward(exact(0.3) + exact(moments)), ZeroConcentratedDP(0.295).to_approximate(delta=rest).epsilon), 3e-6
    )
    with pytest.raises(InvalidPromise, match="which the parts already use"):
        Composed((GAUSSIAN, keys)).promise(delta=used)


def test_what_has_no_common_flavor_says_why():
    with pytest.raises(IncompatiblePromises, match=r"promise\(delta=1e-6\)"):
        Composed((GAUSSIAN, Stated(RenyiDP.at({2: 0.1})))).promise()


def test_parts_are_not_used_up():
    """Of what can be walked through only once, nothing would be left to lose the second time."""
    whole = Composed(LAPLACE for _ in range(2))  # type: ignore[arg-type]
    for _ in range(2):
        assert whole.promise() == PureDP(0.6)
        assert loss_of(whole).laws[0][1] == 2


def test_composition_of_nothing():
    with pytest.raises(ValueError, match="at least one mechanism"):
        Composed(())


@given(st.lists(st.fractions(Fraction(1, 10), 100), min_size=1, max_size=8))
def test_the_sum_is_exact_up_to_one_rounding_each(scales):
    whole = exact(Composed(tuple(Laplace(scale=scale) for scale in scales)).promise().epsilon)  # type: ignore[union-attr]
    true = sum(1 / scale for scale in scales)
    assert true <= whole <= true * (1 + exact(1e-15))


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSSIAN, THRESHOLD, Composed((LAPLACE, GAUSSIAN))])
@pytest.mark.parametrize("times", [1, 2, 10, 1000])
def test_a_repetition_is_counted(mechanism, times):
    """An accountant that forgets the count on one of its branches fails here."""
    assert Repeated(mechanism, times).promise() == Composed((mechanism,) * times).promise()


def test_repetitions_nest():
    assert Repeated(Repeated(LAPLACE, 5), 4).promise() == PureDP(6.0)
    assert Composed((Repeated(LAPLACE, 5), LAPLACE)).promise() == PureDP(1.8)
    assert Repeated(Composed((LAPLACE, GAUSSIAN)), 2).promise() == ZeroConcentratedDP(0.34)


@pytest.mark.parametrize("times", [0, -1, 1.5, True, None])
def test_a_number_of_times_is_a_whole_number(times):
    with pytest.raises(InvalidPromise, match="number of releases"):
        Repeated(LAPLACE, times)


# Answers


def test_every_part_answers_its_own_value():
    parts = Composed((Laplace(scale=10), Gaussian(sigma=4), Response(epsilon=1, answers=5)))
    coins = TestCoins(1)
    apart = [part.release(value, coins=coins) for part, value in zip(parts.parts, (5, [7, 8], 3), strict=True)]
    assert parts.release((5, [7, 8], 3), coins=TestCoins(1)) == apart
    assert parts.release((5, [7, 8], 3)) != parts.release((5, [7, 8], 3))


def test_every_repetition_has_noise_of_its_own():
    answers = Repeated(Laplace(scale=1000), 50).release([0] * 50)
    assert len(set(answers)) > 25  # 50 times the same would be one draw
    assert Repeated(Laplace(scale=1000), 3).release([1, 2, 3], coins=TestCoins(2)) == [
        value + noise
        for value, noise in zip((1, 2, 3), Repeated(Laplace(1000), 3).release([0] * 3, coins=TestCoins(2)), strict=True)
    ]


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3]])
@pytest.mark.parametrize("mechanism", [Composed((LAPLACE, LAPLACE)), Repeated(LAPLACE, 2)])
def test_there_is_one_value_for_each_answer(mechanism, values):
    with pytest.raises(ValueError, match="2 in all"):
        mechanism.release(values)


def test_answers_nest():
    nested = Repeated(Composed((Laplace(0.001), Repeated(Laplace(0.001), 2))), 2)
    assert nested.release([(1, [2, 3]), (4, [5, 6])]) == [[1, [2, 3]], [4, [5, 6]]]
    assert nested.error(confidence=0.5) == [0, 0]


def test_what_else_a_mechanism_wants_to_know_is_handed_on():
    search = Repeated(SparseVector(epsilon=1000), 2)
    assert search.release([[3, 50], [70, 2]], threshold=40) == [[False, True], [True]]
    assert search.error(values=10) == SparseVector(epsilon=1000).error(values=10)


def test_each_part_is_told_what_it_wants_to_know():
    whole = Composed((Laplace(0.001), Subsampled(Laplace(0.001), rate=1), SparseVector(epsilon=1000)))
    more: list[dict[str, Any]] = [{}, {"answer": len}, {"threshold": 40}]
    assert whole.release([5, "abc", [3, 50]], more=more) == [5, 3, [False, True]]
    assert Repeated(whole, 2).release([[5, "abc", [3, 50]]] * 2, more=more) == [[5, 3, [False, True]]] * 2
    errors = whole.error(more=[{}, {}, {"values": 10}])
    assert errors == [0, 0, SparseVector(epsilon=1000).error(values=10)]
    with pytest.raises(ValueError, match="3 in all"):
        whole.release([5, "abc", [3, 50]], more=more[:2])


def test_errors_are_those_of_each_by_itself():
    assert Composed((LAPLACE, GAUSSIAN)).error(confidence=0.9) == [
        LAPLACE.error(confidence=0.9),
        GAUSSIAN.error(confidence=0.9),
    ]
    assert Repeated(LAPLACE, 1000).error(confidence=0.9) == LAPLACE.error(confidence=0.9)


def test_times_of_numpy_do_not_wrap_around():
    assert Repeated(Laplace(scale=1), np.int8(127)).promise() == PureDP(127.0)  # type: ignore[arg-type]
    assert type(Repeated(LAPLACE, np.int8(127)).times) is int  # type: ignore[arg-type]
    assert Repeated(Repeated(Laplace(1), np.int8(127)), np.int8(127)).promise() == PureDP(127.0**2)  # type: ignore[arg-type]


# Random parts


@dataclass(frozen=True)
class Stated:
    """A mechanism of which nothing is known but its promise."""

    stated: Promise
    relation: Relation | None = Relation.REPLACE_ONE

    def promise(self) -> Promise:
        return self.stated

    def loss(self) -> Loss:
        raise NotImplementedError

    def release(self, *values: Any, **more: Any) -> Any:
        raise NotImplementedError

    def error(self, *more: Any, **named: Any) -> Any:
        raise NotImplementedError


def test_random_parts_add_gamma_around_the_strongest_inner_flavor():
    first = Stated(RandomDP(PureDP(0.3), 0.01, parts=(("gate", 0.01),)))
    second = Stated(RandomDP(ApproximateDP(0.2, 1e-6), 0.02, Basis.ASYMPTOTIC, parts=(("gate", 0.005),)))
    assert Composed((first, LAPLACE)).promise() == RandomDP(PureDP(0.6), 0.01)
    assert Composed((first, GAUSSIAN)).promise() == RandomDP(ZeroConcentratedDP(0.17), 0.01)
    whole = Composed((first, LAPLACE, second)).promise()
    assert whole == RandomDP(ApproximateDP(0.8, 1e-6), 0.03, Basis.ASYMPTOTIC)
    assert isinstance(whole, RandomDP)
    assert whole.parts == (("gate", 0.015),)
    assert Repeated(second, 3).promise() == RandomDP(ApproximateDP(0.6, 3e-6), 0.06, Basis.ASYMPTOTIC)


def test_gamma_is_not_lost_where_it_is_0():
    assert Composed((Stated(RandomDP(PureDP(0.3), 0.0)), LAPLACE)).promise() == RandomDP(PureDP(0.6), 0.0)


def test_random_parts_are_about_those_who_are_replaced():
    random = Stated(RandomDP(PureDP(0.3), 0.01), relation=None)
    with pytest.raises(InvalidPromise, match="persons who are replaced"):
        Composed((random, Stated(PureDP(0.1), Relation.ADD_REMOVE))).promise()


def test_inner_promises_without_a_common_flavor_say_why():
    parts = (Stated(RandomDP(RenyiDP.at({2: 0.1}), 0.02)), GAUSSIAN)
    with pytest.raises(IncompatiblePromises, match=r"promise\(delta=1e-6\)"):
        Composed(parts).promise()


# With a δ for the whole

KEYS = Threshold(Laplace(scale=2, sensitivity=1), groups=1, least=20)
"""(½, 4.7e-5)."""


def exposed(epsilon: float, sigma: int) -> float:
    """The exact δ(ε) of KEYS, for somebody alone with his key, and of Gaussian noise on a number that he moves by 1.

    With his key shown, which has probability p, all is lost; the other answer is likelier without him, by 1/(1 − p).
    """
    p = KEYS.promise().delta
    weights = {y: math.exp(-(y**2) / (2 * sigma**2)) for y in range(-20 * sigma, 20 * sigma + 1)}
    whole = sum(weights.values())
    pairs = [(weights[y] / whole, weights.get(y - 1, 0.0) / whole) for y in weights]
    forward = p + sum(max(0.0, (1 - p) * first - math.exp(epsilon) * second) for first, second in pairs)
    backward = sum(max(0.0, first - math.exp(epsilon) * (1 - p) * second) for first, second in pairs)
    return max(forward, backward)


@pytest.mark.parametrize("sigma", [1, 2, 10])
@pytest.mark.parametrize("delta", [5e-5, 1e-4, 1e-2])
def test_keys_and_gaussian_noise_have_a_promise_at_a_delta(sigma, delta):
    promise = Composed((KEYS, Gaussian(sigma=sigma))).promise(delta=delta)
    assert isinstance(promise, ApproximateDP)
    assert promise.delta == delta
    assert exposed(promise.epsilon, sigma) <= delta
    assert exposed(promise.epsilon / 2, sigma) > delta or sigma == 10
    # The broken twin: a δ that forgets the keys.
    assert exposed(promise.epsilon, sigma) > delta - KEYS.promise().delta or delta > 5e-5


def test_the_sum_at_a_delta_is_the_better_of_two():
    noise, keys = ZeroConcentratedDP(0.5), ApproximateDP(0.1, 1e-7)
    few = together([(noise, 1), (keys, 1)], delta=1e-6)
    many = together([(noise, 1), (PureDP(0.1), 1000)], delta=1e-6)
    rest = noise.to_approximate(delta=9e-7).epsilon
    squares = ZeroConcentratedDP(0.5 + 0.005).to_approximate(delta=9e-7).epsilon
    assert few == ApproximateDP(squares, 1e-6)
    assert squares < rest + 0.1
    assert many == ApproximateDP(ZeroConcentratedDP(5.5).to_approximate(delta=1e-6).epsilon, 1e-6)
    large = together([(noise, 1), (PureDP(20.0), 1)], delta=1e-6)
    added = exact(20.0) + exact(noise.to_approximate(delta=1e-6).epsilon)
    assert large == ApproximateDP(upward(added), 1e-6)


def test_where_nothing_must_be_converted_no_more_delta_is_spent_than_there_is():
    assert together([(ApproximateDP(0.5, 1e-7), 2)], delta=1e-6) == ApproximateDP(1.0, 2e-7)
    assert together([(ApproximateDP(0.5, 1e-7), 10)], delta=1e-6).delta == 1e-6
    assert Composed((Laplace(scale=10), Laplace(scale=5))).promise(delta=1e-6) == ApproximateDP(0.3, 0.0)


@pytest.mark.parametrize("delta", [1e-7, 2e-7])
def test_a_delta_that_the_parts_use_up_is_refused(delta):
    with pytest.raises(InvalidPromise, match="which the parts already use"):
        together([(ApproximateDP(0.5, 1e-7), 2), (ZeroConcentratedDP(0.1), 1)], delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, math.nan, "1e-6", True])
def test_a_delta_is_a_number_between_0_and_1(delta):
    with pytest.raises(InvalidPromise, match="delta"):
        Composed((KEYS, Gaussian(sigma=10))).promise(delta=delta)


def test_nested_mechanisms_are_taken_apart():
    """The sum of all squares is smaller than the square of a sum."""
    nested = Repeated(Composed((KEYS, Repeated(Gaussian(sigma=10), 3), Laplace(scale=10))), 2)
    flat = Composed((*(KEYS,) * 2, *(Gaussian(sigma=10),) * 6, *(Laplace(scale=10),) * 2))
    assert nested.promise(delta=1e-3) == flat.promise(delta=1e-3)
    mixed = Composed((Repeated(Laplace(scale=10), 4), Gaussian(sigma=10)))
    assert mixed.promise() == ZeroConcentratedDP(4 * 0.005 + 0.005)


def test_a_delta_is_for_what_is_inside_of_a_random_promise():
    parts = (Stated(RandomDP(ApproximateDP(0.2, 1e-6), 0.02, parts=(("gate", 0.01),))), Gaussian(sigma=10))
    promise = Repeated(Composed(parts), 2).promise(delta=1e-5)
    inner = together([(ApproximateDP(0.2, 1e-6), 2), (ZeroConcentratedDP(0.005), 2)], delta=1e-5)
    assert promise == RandomDP(inner, 0.04)
    assert isinstance(promise, RandomDP)
    assert promise.parts == (("gate", 0.02),)


SHARES = ("0.06935", "0.06935", "0.0017479130217445636", *["0.0020015246188452886"] * 2, "0.0015490377405648586")
"""Parts of 0.146: twice the fourth, rounded up before the sum, would be more than is left of it."""


def test_the_same_noise_twice_costs_no_more_than_two_equal_ones():
    alike = [Laplace(scale=1 / Fraction(share)) for share in SHARES]
    same = [*alike[:3], alike[3], alike[3], alike[5]]
    assert Composed(tuple(same)).promise() == Composed(tuple(alike)).promise() == PureDP(0.146)
