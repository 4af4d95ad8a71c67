from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact


def loss(shift: int, scale: Fraction) -> Fraction:
    """The largest of ln P(y)/Q(y) = (|y − shift| − |y|)/t over all integers; beyond the window it is constant."""
    reach = abs(shift) + 2
    return max(abs(y - shift) - abs(y) for y in range(-reach, reach + 1)) / scale


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("scale", [1, 0.7, Fraction(22, 7)])
def test_the_promise_is_the_largest_loss_over_all_neighbours(scale, sensitivity, length):
    """Entries are independent: the loss of a vector is the sum of theirs, and so is its maximum."""
    vectors = product(range(-sensitivity, sensitivity + 1), repeat=length)
    near = [vector for vector in vectors if sum(map(abs, vector)) <= sensitivity]
    largest = max(sum(loss(entry, exact(scale)) for entry in vector) for vector in near)
    promised = exact(Laplace(scale=scale, sensitivity=sensitivity).promise().epsilon)
    assert largest <= promised <= largest * (1 + exact(1e-15))


def profile(move: tuple[int, ...], scale: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) of a vector that moves so: Σ max(0, P − e^ε·Q), by the loss that each part may have.

    The loss of one number that moves by m is (|y − m| − |y|)/t, constant outside 0, …, m, so that nothing is cut off.
    """
    q = (-ball(1 / scale)).exp()
    law = {0: arb(1)}
    for m in move:
        tail = {m: 1 / (1 + q), -m: q**m / (1 + q)}  # y ≤ 0, y ≥ m
        part = tail | {m - 2 * y: (1 - q) / (1 + q) * q**y for y in range(1, m)}
        both: dict[int, arb] = {}
        for (one, p), (other, s) in product(law.items(), part.items()):
            both[one + other] = both.get(one + other, arb(0)) + p * s
        law = both
    parts = (mass * (1 - ball(epsilon - loss / scale).exp()) for loss, mass in law.items())
    return sum((part.nonnegative_part() for part in parts), arb(0))


EPSILONS = [Fraction(n, 12) for n in range(0, 97, 5)]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(22, 7)])
def test_no_vector_loses_more_than_one_number_that_moves_as_far(scale):
    """At all ε: the profile of (a, b, c) is nowhere above that of a + b + c, and somewhere below."""
    moves = [(1, 1), (1, 2), (2, 2), (1, 5), (3, 4), (1, 1, 1), (1, 2, 3), (1, 1, 1, 1, 1)]
    with ctx.workprec(300):
        for move in moves:
            both = [(profile(move, scale, e), profile((sum(move),), scale, e)) for e in EPSILONS]
            assert not any(several > one + ball(2) ** -200 for several, one in both)
            assert any(several < one for several, one in both)


def test_one_number_that_moves_less_far_would_not_do():
    with ctx.workprec(300):
        assert profile((2, 3), Fraction(3), Fraction(3, 2)) > profile((4,), Fraction(3), Fraction(3, 2))


@pytest.mark.parametrize("epsilon", [0, 0.5, 1, 2])
def test_the_loss_has_that_profile(epsilon):
    found = Laplace(scale=2, sensitivity=5).loss().delta(epsilon=epsilon)
    with ctx.workprec(300):
        truth = profile((5,), Fraction(2), exact(epsilon))
        assert ball(found.lower) <= truth <= ball(found.upper)


@given(st.floats(1e-12, 1e12), st.one_of(st.integers(1, 10**18), st.fractions(Fraction(1, 10**6), 10**6)))
def test_the_fitted_noise_costs_its_price_exactly(epsilon, sensitivity):
    fitted = Laplace.fitting(PureDP(epsilon), sensitivity=sensitivity)
    assert fitted.promise() == PureDP(epsilon)
    assert fitted.scale == exact(sensitivity) / exact(epsilon)


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(10**15, 1e-9), (1, 1e-300), (1e15, 1e9), (5e-324, 1e300)])
def test_extreme_parameters_work(sensitivity, epsilon):
    assert Laplace.fitting(PureDP(epsilon), sensitivity=sensitivity).promise() == PureDP(epsilon)


def test_huge_noise_can_be_drawn():
    noise = Laplace.fitting(PureDP(1e-9), sensitivity=10**15)
    drawn = noise.release([0, 2**70], coins=TestCoins(1))
    assert all(type(value) is int for value in drawn)
    assert noise.error(confidence=0.95) > 10**24


@pytest.mark.parametrize("parameter", ["scale", "sensitivity"])
@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True, 1j])
def test_bad_parameters_are_refused_by_name(parameter, number):
    with pytest.raises(ValueError, match=f"{parameter} of Laplace to be a finite number above 0"):
        Laplace(**{"scale": 1, "sensitivity": 1, parameter: number})


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, None, "ten", True])
def test_a_bad_sensitivity_is_refused_by_name_when_fitting(sensitivity):
    with pytest.raises(ValueError, match="sensitivity of Laplace to be a finite number above 0"):
        Laplace.fitting(PureDP(1.0), sensitivity=sensitivity)


def test_nothing_buys_no_noise():
    with pytest.raises(ValueError, match="epsilon of Laplace to be a finite number above 0"):
        Laplace.fitting(PureDP(0.0), sensitivity=1)


def test_the_release_is_the_values_plus_noise():
    values = [5, -7, 10**30]
    assert Laplace(scale=Fraction(1, 1000)).release(values) == values  # P(Y ≠ 0) < 2e^{−1000}
    first = Laplace(scale=100).release([0] * 50, coins=TestCoins(1))
    second = Laplace(scale=100).release([1000] * 50, coins=TestCoins(1))
    assert [after - before for before, after in zip(first, second, strict=True)] == [1000] * 50
    assert len(set(first)) > 10


def test_the_error_holds_the_noise_as_often_as_it_says():
    """P(|Y| ≤ w) = 1 − 2q^{w+1}/(1 + q): at least the confidence at w, less one below."""
    noise = Laplace(scale=10)
    q = math.exp(-0.1)
    width = noise.error(confidence=0.9)
    assert 1 - 2 * q ** (width + 1) / (1 + q) >= 0.9 > 1 - 2 * q**width / (1 + q)
