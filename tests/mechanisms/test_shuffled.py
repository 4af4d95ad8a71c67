"""Shuffled answers: real randomizers, all neighbouring inputs written out, never lose more than the bound."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.shuffled import ShuffledLaw
from sitr.loss.loss import Loss
from sitr.loss.sampling import Sampling
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.response import Response
from sitr.mechanisms.shuffled import Shuffled, local, shuffled
from sitr.mechanisms.subsampled import Subsampled
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball
from tests.oracles.losses import loss_of

LAPLACE = Laplace(scale=1, sensitivity=2)

Randomizer = list[list[Fraction]]
"""The law of the answer for each datum."""
Seen = dict[tuple[int, ...], Fraction]
"""The law of how often each answer was given: all that is left of shuffled answers."""


def told(e: Fraction, answers: int) -> Randomizer:
    """The truth e times as likely as each other answer."""
    whole = e + answers - 1
    return [[(e if y == x else Fraction(1)) / whole for y in range(answers)] for x in range(answers)]


def subsets(e: Fraction) -> Randomizer:
    """Two of four answers, e times as likely if the truth is among them; six answers in all."""
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    return [[(e if x in pair else Fraction(1)) / (3 * e + 3) for pair in pairs] for x in range(4)]


def staircase(e: Fraction) -> Randomizer:
    """Data 0, 1 and 2, where the answers to 0 and 2 are not told apart by all answers alike."""
    rows = [[e, e, Fraction(1), Fraction(1)], [Fraction(1), e, e, Fraction(1)], [Fraction(1), e, Fraction(1), e]]
    return [[mass / sum(row) for mass in row] for row in rows]


def seen(randomizer: Randomizer, data: tuple[int, ...]) -> Seen:
    found: Seen = {(0,) * len(randomizer[0]): Fraction(1)}
    for datum in data:
        more: Seen = {}
        for counts, mass in found.items():
            for answer, share in enumerate(randomizer[datum]):
                key = (*counts[:answer], counts[answer] + 1, *counts[answer + 1 :])
                more[key] = more.get(key, Fraction(0)) + mass * share
        found = more
    return found


def stick(p: Seen, q: Seen, t: Fraction) -> Fraction:
    """Of P beyond t = e^ε times Q."""
    return sum((max(Fraction(0), mass - t * q.get(key, Fraction(0))) for key, mass in p.items()), Fraction(0))


def clones(e: Fraction, people: int, clone: Fraction) -> tuple[Seen, Seen]:
    """The bound: C ~ Bin(n − 1, clone), each on either side by a coin; the one in question with e/(e + 1)."""
    others = seen([[clone / 2, clone / 2, 1 - clone]], (0,) * (people - 1))
    pair: list[Seen] = []
    for alpha in (e / (e + 1), 1 / (e + 1)):
        found: Seen = {}
        for (a, b, _), mass in others.items():
            for key, share in (((a + 1, b), alpha), ((a, b + 1), 1 - alpha)):
                found[key] = found.get(key, Fraction(0)) + mass * share
        pair.append(found)
    return pair[0], pair[1]


def worst(randomizer: Randomizer, people: int, t: Fraction) -> Fraction:
    """The largest hockey-stick of all neighbouring inputs: one person has x or y, the others anything."""
    data = range(len(randomizer))
    return max(
        stick(seen(randomizer, (x, *others)), seen(randomizer, (y, *others)), t)
        for x, y in permutations(data, 2)
        for others in combinations_with_replacement(data, people - 1)
    )


def places(e: Fraction) -> list[Fraction]:
    return [Fraction(1), (3 + e) / 4, (1 + e) / 2, (1 + 4 * e) / 5]


def above(number: Fraction) -> float:
    """A float above ln of it."""
    return math.nextafter(float(ball(number).log().mid()), math.inf)


REAL = [
    *((told(e, 2), e, people) for e in (Fraction(3, 2), Fraction(3), Fraction(20)) for people in (1, 2, 3, 6)),
    *((told(e, 3), e, people) for e in (Fraction(3, 2), Fraction(3), Fraction(20)) for people in (1, 2, 4)),
    *((subsets(e), e, people) for e in (Fraction(2), Fraction(8)) for people in (2, 3)),
    *((staircase(e), e, people) for e in (Fraction(2), Fraction(8)) for people in (2, 4)),
]


def ratio(randomizer: Randomizer) -> Fraction:
    return max(a / b for row in randomizer for other in randomizer for a, b in zip(row, other, strict=True))


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("randomizer", "e", "people"), REAL)
def test_no_real_randomizer_loses_more(randomizer, e, people):
    assert ratio(randomizer) <= e
    loss = shuffled(PureDP(above(e)), people=people).delta
    for t in places(e):
        true, bound = worst(randomizer, people, t), stick(*clones(e, people, 1 / e), t)
        assert true <= bound
        assert bound <= Fraction(
            loss(epsilon=math.nextafter(float(ball(t).log().mid()), -math.inf) if t > 1 else 0.0).upper
        )


def test_twice_as_many_clones_would_be_too_many():
    """The broken twin: with 2e^{−ε} instead of e^{−ε}, real randomizers lose more than is claimed."""
    broken = [
        (e, people)
        for randomizer, e, people in REAL
        if any(worst(randomizer, people, t) > stick(*clones(e, people, min(Fraction(1), 2 / e)), t) for t in places(e))
    ]
    assert len(broken) >= 5


@pytest.mark.parametrize("people", [2, 3, 5, 8])
@pytest.mark.parametrize("e", [Fraction(3, 2), Fraction(3), Fraction(20)])
def test_the_loss_is_that_of_the_clones(e, people):
    epsilon = above(e)
    for t in places(e):
        true, found = stick(*clones(e, people, 1 / e), t), shuffled(PureDP(epsilon), people=people).delta
        at = float(ball(t).log().mid())
        assert found(epsilon=at).lower - 1e-13 <= float(true) <= found(epsilon=at).upper + 1e-13


def test_a_published_figure():
    """100,000 answers with ε = 4, at δ = 10⁻⁶: computed by the authors of [FMT21] to be between these two."""
    found = shuffled(PureDP(4.0), people=100_000).epsilon(delta=1e-6)
    assert 0.1675385583317841 <= found.lower <= found.upper <= 0.172790550755978
    assert found.width < 1e-6


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("epsilon", "people"), [(0.5, 10**4), (1.0, 10**4), (2.0, 10**5), (4.0, 10**6), (0.1, 10**6)])
@pytest.mark.parametrize("delta", [1e-5, 1e-6, 1e-10])
def test_the_closed_form_is_larger(epsilon, people, delta):
    """ln(1 + tanh(ε/2)·(8√(e^ε·ln(4/δ)/n) + 8e^ε/n)), for ε ≤ ln(n/(16·ln(4/δ))).      [FMT21, Thm 3.1]"""
    assert epsilon <= math.log(people / (16 * math.log(4 / delta)))
    e = math.exp(epsilon)
    closed = math.log1p(math.tanh(epsilon / 2) * (8 * math.sqrt(e * math.log(4 / delta) / people) + 8 * e / people))
    found = shuffled(PureDP(epsilon), people=people).epsilon(delta=delta)
    assert closed / 20 < found.upper < closed


def test_alone_it_is_randomized_response():
    found, true = shuffled(PureDP(1.0), people=1), Loss.of(response(1.0))
    assert found.delta(epsilon=0.4).upper == pytest.approx(true.delta(epsilon=0.4).upper, rel=1e-9)
    assert found.max() == pytest.approx(1.0)


def test_the_promise_stays_and_the_loss_is_smaller():
    survey = Shuffled(LAPLACE, people=10_000)
    assert survey.promise() == LAPLACE.promise() == PureDP(2.0)
    assert survey.loss() == Loss.of(ShuffledLaw(2.0, 10_000), bound=True)
    assert survey.loss().epsilon(delta=1e-6).upper < 0.3
    assert Repeated(survey, 3).loss() == Loss.of(ShuffledLaw(2.0, 10_000), 3, bound=True)
    assert Shuffled(Repeated(LAPLACE, 2), people=10).promise() == PureDP(4.0)  # two answers of each, shuffled as pairs


def test_a_promise_without_a_float_is_rounded_up():
    ((law, _),) = Shuffled(Laplace(scale=3, sensitivity=1), people=5).loss().laws
    assert isinstance(law, ShuffledLaw)
    assert Fraction(1, 3) <= Fraction(law.epsilon) < Fraction(1, 3) + Fraction(1, 10**15)


@pytest.mark.parametrize("promise", [ApproximateDP(1.0, 1e-6), Gaussian(sigma=1).promise()])
def test_only_pure_promises_make_clones(promise):
    with pytest.raises(IncompatiblePromises, match="pure promise"):
        local(promise)


def test_what_is_not_pure_is_refused_at_once():
    with pytest.raises(IncompatiblePromises, match="pure promise"):
        Shuffled(Gaussian(sigma=1), people=10)


@pytest.mark.parametrize(
    "inner",
    [
        Subsampled(LAPLACE, 0.1),
        Subsampled(LAPLACE, 0.1, Sampling.SUBSET),
        Shuffled(LAPLACE, people=3),
        Repeated(Shuffled(LAPLACE, people=3), 2),
        Composed((LAPLACE, Subsampled(LAPLACE, 0.1))),
    ],
)
def test_nobody_at_home_sees_others(inner):
    with pytest.raises(InvalidPromise, match="each person runs alone"):
        Shuffled(inner, people=10)


def test_neighbours_are_not_mixed():
    survey = Shuffled(LAPLACE, people=100)
    assert survey.relation is Relation.REPLACE_ONE
    with pytest.raises(InvalidPromise, match="same neighbours"):
        Composed((survey, Subsampled(LAPLACE, 0.1)))
    with pytest.raises(InvalidPromise, match="same neighbours"):
        Subsampled(survey, 0.5)
    sample = Subsampled(survey, 0.5, Sampling.SUBSET)  # a hundred are drawn, and answer
    assert loss_of(sample).epsilon(delta=1e-6).upper < loss_of(survey).epsilon(delta=1e-6).lower
    assert len(loss_of(Composed((survey, LAPLACE))).laws) == 2


@pytest.mark.parametrize("people", [0, -1, 1.5, math.nan, True, None, 10**8 + 1])
def test_people_are_counted(people):
    with pytest.raises(InvalidPromise):
        Shuffled(LAPLACE, people=people)


def test_a_million_people():
    found = shuffled(PureDP(1.0), people=10**6).epsilon(delta=1e-6)
    assert found.width < 1e-6 * found.upper
    assert 0.004 < found.lower < 0.005


# Answers


def test_answers_come_in_any_order(misfit, alarm):
    """Of four people who all tell the truth, each order is equally likely."""
    still, coins = Shuffled(Laplace(scale=0.001, sensitivity=1), people=4), TestCoins(1)
    orders = {order: place for place, order in enumerate(permutations((3, 1, 4, 5)))}
    drawn = [orders[tuple(still.release([3, 1, 4, 5], coins=coins))] for _ in range(3000)]
    assert misfit(drawn, [1 / 24] * 24) > alarm
    swapped = [place if place % 2 else 0 for place in drawn]
    assert misfit(swapped, [1 / 24] * 24) < alarm


def test_the_number_of_each_answer_has_the_law_of_many_responses(misfit, alarm):
    """Three people, of whom one has a 1: how many say 1, from two binomial laws."""
    poll, coins = Shuffled(Response(epsilon=1), people=3), TestCoins(2)
    drawn = [sum(poll.release([0, 1, 0], coins=coins)) for _ in range(3000)]
    p, q = math.e / (1 + math.e), 1 / (1 + math.e)
    others = [p * p, 2 * p * q, q * q]
    law = [(p * one + q * other) for one, other in zip([0.0, *others], [*others, 0.0], strict=True)]
    assert misfit(drawn, law) > alarm
    assert misfit(drawn, law[::-1]) < alarm


def test_fewer_people_than_were_counted_are_refused_and_more_are_not():
    poll = Shuffled(Response(epsilon=1), people=3)
    with pytest.raises(ValueError, match="at least 3 people"):
        poll.release([0, 1])
    assert len(poll.release([0, 1, 1, 1])) == 4


def test_the_error_is_that_of_an_answer():
    assert Shuffled(Laplace(scale=5, sensitivity=20), people=10).error() == Laplace(scale=5).error()
    assert Shuffled(Response(epsilon=1), people=10).error(people=10) == Response(epsilon=1).error(people=10)


def test_people_of_numpy_do_not_wrap_around():
    assert type(Shuffled(Response(epsilon=1), people=np.int8(127)).people) is int  # type: ignore[arg-type]
