"""The law of what is chosen, exactly, on all small tables of scores and all their neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.pure import PureDP
from sitr.mechanisms.composed import Repeated
from sitr.mechanisms.exponential import Exponential
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact
from tests.oracles.losses import loss_of

BITS = 300


def law(scores, rate):
    """P(i) ∝ e^{rate·s_i}, written down once more."""
    with ctx.workprec(BITS):
        weights = [ball(exact(rate) * exact(score)).exp() for score in scores]
        whole = sum(weights, arb(0))
        return [weight / whole for weight in weights]


def neighbours(size, moves):
    for scores in product(range(-3, 4), repeat=size - 1):
        for moved in product(moves, repeat=size):
            yield (0, *scores), tuple(a + b for a, b in zip((0, *scores), moved, strict=True))


def largest(apart, rate, *, size, moves):
    return max(apart(law(one, rate), law(other, rate)) for one, other in neighbours(size, moves))


BOTH, ONE = (-1, 0, 1), (0, 1)


@pytest.mark.parametrize(("size", "moves", "monotone"), [(2, BOTH, False), (3, BOTH, False), (3, ONE, True)])
def test_the_promise_is_kept(apart, size, moves, monotone):
    mechanism = Exponential(epsilon=1, monotone=monotone)
    assert largest(apart, mechanism.rate, size=size, moves=moves) <= ball(1)


@pytest.mark.parametrize("gap", [20, 50])
@pytest.mark.parametrize(("moved", "monotone"), [((1, -1), False), ((1, 0), True)])
def test_epsilon_is_reached_by_a_bad_candidate(apart, gap, moved, monotone):
    rate = Exponential(epsilon=1, monotone=monotone).rate
    loss = apart(law((0, gap), rate), law((moved[0], gap + moved[1]), rate))
    assert 1 - 2 * math.exp(-gap / 2 + 1) < loss <= ball(1)


def test_half_the_noise_is_told_apart(apart):
    """The monotone variant where scores move both ways."""
    assert largest(apart, Exponential(epsilon=1, monotone=True).rate, size=3, moves=(-1, 0, 1)) > ball(1.5)


@given(st.integers(1, 5), st.fractions(Fraction(1, 5), 5), st.integers(0, 30))
def test_the_loss_dominates_every_pair(width, epsilon, gap):
    """Two candidates are chosen as the worst pair of bounded range: all candidates are one of two kinds."""
    mechanism = Exponential(epsilon=epsilon, sensitivity=width)
    one, other = law((0, gap), mechanism.rate), law((width, gap - width), mechanism.rate)
    for size in (0, float(epsilon) / 3, float(epsilon) * 0.9):
        for p, q in ((one, other), (other, one)):
            delta = sum(max(0.0, float(a) - math.exp(size) * float(b)) for a, b in zip(p, q, strict=True))
            assert delta <= mechanism.loss().delta(epsilon=size).upper + 1e-15


def test_the_loss_is_that_of_some_pair():
    """With many equal candidates on one side every odds can be had; then δ(ε) is reached, up to the search."""
    mechanism, size = Exponential(epsilon=1), 0.3
    deltas = []
    for many in range(1, 400):
        with ctx.workprec(BITS):
            odds = [ball(x).exp() for x in (-mechanism.rate, mechanism.rate)]
            p, q = (odd / (odd + ball(Fraction(many, 100))) for odd in odds[::-1])
        deltas += [float(p) - math.exp(size) * float(q), (1 - float(q)) - math.exp(size) * (1 - float(p))]
    assert max(deltas) == pytest.approx(mechanism.loss().delta(epsilon=size).upper, rel=1e-4)


def test_losses_compose_better_than_promises():
    many = Repeated(Exponential(epsilon=0.1), 50)
    assert many.promise() == PureDP(5.0)
    assert loss_of(many).epsilon(delta=1e-6).upper < 2.2


# The release


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mechanism", [Exponential(1), Exponential(0.5, 3), Exponential(1, monotone=True)])
def test_draws_follow_the_law(mechanism, misfit, alarm):
    scores, coins = [0, 3, Fraction(5, 2), -1, 4], TestCoins(1)
    draws = [mechanism.release(scores, coins=coins) for _ in range(4_000)]
    monotone = 1 if mechanism.monotone else 2
    rate = exact(mechanism.epsilon) / exact(mechanism.sensitivity) / monotone
    assert misfit(draws, [float(p) for p in law(scores, rate)]) > alarm
    assert misfit(draws, [float(p) for p in law(scores, 2 * rate)]) < alarm  # the factor 2 forgotten


def test_enormous_scores_and_many_candidates():
    assert Exponential(1).release([10**400, 10**400 + 10**6, -(10**400)]) == 1
    assert Exponential(1).release(np.arange(-20_000, 1)) > 19_000


def test_the_answer_is_an_index():
    assert type(Exponential(1).release([7])) is int
    assert Exponential(1).release([7]) == 0


# The error


@pytest.mark.parametrize("candidates", [2, 3, 10, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_exact_at_worst(candidates, confidence):
    mechanism = Exponential(epsilon=0.7, sensitivity=3)
    error = mechanism.error(candidates=candidates, confidence=confidence)
    for wider, kept in ((1.0001, True), (0.9999, False)):
        if error > 0:
            best = law([0] + [Fraction(-error * wider)] * (candidates - 1), mechanism.rate)[0]
            assert (best >= ball(confidence)) is kept


def test_errors_of_a_few_candidates():
    assert Exponential(1).error(candidates=1) == 0
    assert Exponential(1).error(candidates=2, confidence=0.5) == 0
    assert Exponential(1, monotone=True).error(candidates=9) == pytest.approx(Exponential(1).error(candidates=9) / 2)
    assert Exponential(1).error(candidates=50) < 2 * math.log(50 / 0.05)  # the textbook's


# Refusals


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(number):
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(ValueError, match=f"{name} of Exponential to be a finite number above 0"):
            Exponential(**{"epsilon": 1, "sensitivity": 1, name: number})


def test_other_bad_things_are_refused():
    with pytest.raises(ValueError, match="monotone"):
        Exponential(1, monotone=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="integers or fractions"):
        Exponential(1).release([0.5, 1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="candidates"):
        Exponential(1).error(candidates=0)
    with pytest.raises(ValueError, match="confidence"):
        Exponential(1).error(candidates=3, confidence=1)


def test_a_float_is_the_decimal_it_prints_as():
    assert Exponential(0.1).promise() == PureDP(0.1)
    assert Exponential(1, sensitivity=Fraction(1, 10)).sensitivity == Fraction(1, 10)
