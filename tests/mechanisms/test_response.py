from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.pure import PureDP
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Repeated
from sitr.mechanisms.response import Response, UnaryResponse
from sitr.noise.coins import TestCoins
from sitr.numbers import ball
from tests.oracles.losses import loss_of

BITS = 300
PEOPLE = 200_000


def law(truth, epsilon, answers):
    with ctx.workprec(BITS):
        e = ball(epsilon).exp()
        return [(e if said == truth else arb(1)) / (e + answers - 1) for said in range(answers)]


def chances(epsilon, *, symmetric):
    """p and q, as the papers have them."""
    with ctx.workprec(BITS):
        e, root = ball(epsilon).exp(), (ball(epsilon) / 2).exp()
        return (root / (root + 1), 1 / (root + 1)) if symmetric else (arb(1) / 2, 1 / (e + 1))


def unary_law(truth, epsilon, answers, *, symmetric):
    """Of all 2^k rows of answers, the first question in the lowest bit."""
    p, q = chances(epsilon, symmetric=symmetric)
    with ctx.workprec(BITS):
        found = []
        for row in range(2**answers):
            mass = arb(1)
            for j in range(answers):
                yes = p if j == truth else q
                mass *= yes if row >> j & 1 else 1 - yes
            found.append(mass)
        return found


# The promise and the loss


@pytest.mark.parametrize("answers", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1, Fraction(7, 2)])
def test_one_answer_loses_epsilon_exactly(apart, over, epsilon, answers):
    assert abs(over(apart(law(0, epsilon, answers), law(1, epsilon, answers)), epsilon)) < 1e-50
    assert Response(epsilon, answers).promise() == PureDP(float(epsilon))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("answers", [2, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1, Fraction(7, 2)])
def test_one_row_of_answers_loses_epsilon_exactly(apart, over, epsilon, answers, symmetric):
    one, other = (unary_law(truth, epsilon, answers, symmetric=symmetric) for truth in (0, 1))
    assert abs(over(apart(one, other), epsilon)) < 1e-50
    assert UnaryResponse(epsilon, answers, symmetric).promise() == PureDP(float(epsilon))


def hockey_stick(one, other, size):
    with ctx.workprec(BITS):
        return float(
            sum(((p - ball(size).exp() * q).nonnegative_part() for p, q in zip(one, other, strict=True)), arb(0))
        )


@pytest.mark.parametrize("size", [0, 0.3, 0.9])
@pytest.mark.parametrize("answers", [2, 5])
def test_the_loss_is_exact(size, answers):
    found = Response(1, answers).loss().delta(epsilon=size)
    exactly = hockey_stick(law(0, 1, answers), law(1, 1, answers), size)
    assert found.lower <= exactly * (1 + 1e-12)
    assert found.upper >= exactly * (1 - 1e-12)
    assert found.width < 1e-9
    for symmetric in (True, False):
        found = UnaryResponse(1, answers, symmetric).loss().delta(epsilon=size)
        one, other = (unary_law(truth, 1, answers, symmetric=symmetric) for truth in (0, 1))
        exactly = hockey_stick(one, other, size)
        assert found.lower <= exactly * (1 + 1e-12)
        assert found.upper >= exactly * (1 - 1e-12)
        assert found.width < 1e-9


def test_symmetric_answers_are_two_coins():
    """The two questions that matter are two binary responses with ε/2 each."""
    one, two = UnaryResponse(1, 7, symmetric=True).loss(), Loss.of(response(0.5), 2)
    for size in (0, 0.2, 0.6):
        assert one.delta(epsilon=size).upper == pytest.approx(two.delta(epsilon=size).upper, rel=2e-3)


def test_losses_compose():
    many = Repeated(Response(0.1), 100)
    assert many.promise() == PureDP(10.0)
    assert loss_of(many).epsilon(delta=1e-6).upper < 4.8
    assert loss_of(Repeated(UnaryResponse(0.1, 50), 100)).epsilon(delta=1e-6).upper < 4.8


# The release


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), 1, 3])
@pytest.mark.parametrize("answers", [2, 3, 7])
def test_answers_follow_their_law(epsilon, answers, misfit, alarm):
    mechanism = Response(epsilon, answers)
    for truth in (0, answers - 1):
        said = mechanism.release([truth] * PEOPLE, coins=TestCoins(truth))
        assert misfit(said, [float(p) for p in law(truth, epsilon, answers)]) > alarm
    if epsilon == 1:
        assert misfit(said, [float(p) for p in law(truth, 1.05, answers)]) < alarm


def test_single_answers_follow_their_law(misfit, alarm):
    coins = TestCoins(1)
    said = [Response(1, 3).release(1, coins=coins) for _ in range(3_000)]
    assert misfit(said, [float(p) for p in law(1, 1, 3)]) > alarm
    assert misfit(said, [float(p) for p in law(1, 1.5, 3)]) < alarm
    rows = [UnaryResponse(1, 3).release(1, coins=coins) for _ in range(1_000)]
    numbers = [sum(bit << j for j, bit in enumerate(row)) for row in rows]
    assert misfit(numbers, [float(p) for p in unary_law(1, 1, 3, symmetric=False)]) > alarm


@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_follow_their_law(symmetric, misfit, alarm):
    rows = np.array(UnaryResponse(1, 3, symmetric).release([2] * PEOPLE, coins=TestCoins(1)))
    numbers = rows @ np.array([1, 2, 4])
    assert misfit(numbers, [float(p) for p in unary_law(2, 1, 3, symmetric=symmetric)]) > alarm
    assert misfit(numbers, [float(p) for p in unary_law(2, 1, 3, symmetric=not symmetric)]) < alarm


def test_everybody_gets_an_answer_of_his_own():
    truth = [0, 1, 2, 3] * 5
    assert Response(1000, 4).release(truth) == truth
    assert Response(1000, 4).release(np.array(truth)) == truth
    assert UnaryResponse(10**6, 3, symmetric=True).release([2, 0]) == [[0, 0, 1], [1, 0, 0]]
    assert Response(1).release([]) == []
    assert type(Response(1).release(1)) is int
    assert all(type(bit) is int for bit in UnaryResponse(1, 3).release(1))


# A twin: a response that is honest too often is told apart by what is seen


def test_a_response_made_of_two_fair_coins_is_more_than_it_says(leaked):
    """Truth with 1/2, otherwise a fair coin: p/q = 3, which is ε = ln 3, and not the 1 that it was once said to be."""
    draws, rng = 100_000, np.random.default_rng(1)
    hits = []
    for truth in (1, 0):
        said = np.where(rng.random(draws) < 0.5, truth, rng.integers(0, 2, draws))
        hits.append(int(said.sum()))
    assert leaked(*hits, draws) > 1
    ours = [sum(Response(1).release([truth] * draws, coins=TestCoins(truth))) for truth in (1, 0)]
    assert leaked(*ours, draws) <= 1


# Estimates


@given(st.integers(2, 6), st.fractions(Fraction(1, 10), 4), st.integers(1, 50))
def test_estimates_are_unbiased(answers, epsilon, people):
    """By linearity it is enough that the estimate from expected counts is the truth."""
    for mechanism in (
        Response(epsilon, answers),
        UnaryResponse(epsilon, answers),
        UnaryResponse(epsilon, answers, True),
    ):
        p, q = (float(chance) for chance in mechanism._chances())
        contrast = float(mechanism._contrast())
        assert contrast == pytest.approx(p - q, rel=1e-9)
        for true in (0, 1, people):
            expected = true * p + (people - true) * q
            assert (expected - people * q) / contrast == pytest.approx(true, abs=1e-6)


def test_estimates_of_many_people_are_near_as_often_as_they_say():
    truth = [0] * 50_000 + [1] * 30_000 + [2] * 20_000
    for mechanism in (Response(1, 3), UnaryResponse(1, 3), UnaryResponse(1, 3, symmetric=True)):
        estimate = mechanism.estimate(mechanism.release(truth, coins=TestCoins(9)))  # type: ignore[arg-type]
        error = mechanism.error(people=len(truth), confidence=1 - 1e-7)
        assert all(abs(found - true) < error for found, true in zip(estimate, (50_000, 30_000, 20_000), strict=True))
        assert error < 4 * mechanism.error(people=len(truth))


def test_estimates_add_up_and_know_the_small_print():
    estimate = Response(0.5, 3).estimate([0, 1, 1, 2, 2, 2])
    assert sum(estimate) == pytest.approx(6)
    assert Response(1, 3).estimate([]) == [0, 0, 0]
    assert UnaryResponse(1, 3).estimate([]) == [0, 0, 0]
    tiny = Response(1e-12).error(people=10)
    assert tiny == pytest.approx(math.sqrt(10 * math.log(40) / 2) / 5e-13, rel=1e-9)


def test_the_error_is_hoeffdings():
    assert Response(1).error(people=1000) == pytest.approx(math.sqrt(1000 * math.log(40) / 2) / math.tanh(0.5))


def test_optimised_rows_vary_less_than_response_for_many_answers():
    """The variance of an estimate of a rare answer: nq(1 − q)/(p − q)²."""

    def variance(mechanism):
        q = float(mechanism._chances()[1])
        return q * (1 - q) / float(mechanism._contrast()) ** 2

    few, many = math.floor(3 * math.e + 2), math.ceil(3 * math.e + 2)
    assert (
        variance(Response(1, few)) < variance(UnaryResponse(1, few)) < variance(UnaryResponse(1, few, symmetric=True))
    )
    assert variance(Response(1, many + 1)) > variance(UnaryResponse(1, many + 1))


# Refusals


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(number):
    with pytest.raises(ValueError, match="epsilon of Response to be a finite number above 0"):
        Response(number)
    with pytest.raises(ValueError, match="epsilon of UnaryResponse to be a finite number above 0"):
        UnaryResponse(number, 3)


@pytest.mark.parametrize("answers", [1, 0, -1, 2.5, None, True])
def test_fewer_than_two_answers_are_refused(answers):
    for kind in (Response, UnaryResponse):
        with pytest.raises(ValueError, match="answers"):
            kind(1, answers)


@pytest.mark.parametrize("value", [7654321, -1, 1.0, None, [0, 7654321], [0.5]])
def test_answers_that_do_not_exist_are_refused_and_not_repeated(value):
    for mechanism in (Response(1, 3), UnaryResponse(1, 3)):
        with pytest.raises(ValueError, match="answers from 0 to 2") as caught:
            mechanism.release(value)
        assert "7654321" not in str(caught.value)


@pytest.mark.parametrize("rows", [[[1, 0]], [[1, 0, 2]], [[1, 0, 0, 0]], [[1, 0, -1]]])
def test_rows_of_another_shape_are_refused(rows):
    with pytest.raises(ValueError, match="rows of 3 numbers 0 or 1"):
        UnaryResponse(1, 3).estimate(rows)


def test_a_flag_is_a_boolean():
    with pytest.raises(ValueError, match="symmetric"):
        UnaryResponse(1, 3, symmetric=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Response, UnaryResponse])
def test_answers_of_numpy_do_not_wrap_around(kind):
    given, plain = kind(1, np.int8(127)), kind(1, 127)
    assert given == plain
    assert type(given.answers) is int
    assert given.release([np.int8(126)] * 3, coins=TestCoins(1)) == plain.release([126] * 3, coins=TestCoins(1))
    assert given.error(people=np.int8(127)) == plain.error(people=127)


def test_answers_beyond_64_bits_are_answers():
    mechanism = Response(epsilon=1000, answers=2**70)
    assert mechanism.release([2**69, 0, 2**70 - 1]) == [2**69, 0, 2**70 - 1]
    assert mechanism.release(2**69) == 2**69
    assert all(0 <= said < 2**70 for said in Response(epsilon=0.1, answers=2**70).release([2**70 - 1] * 100))
