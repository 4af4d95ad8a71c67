from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binomtest

from sitr.noise import selection
from sitr.noise.coins import TestCoins
from sitr.noise.inversion import Bits
from sitr.noise.selection import SelectionLaw, select

DRAWS = 300_000


def cumulative(scores):
    top = max(scores)
    sums = np.cumsum([math.exp(score - top) for score in scores])
    return lambda i: float(sums[i] / sums[-1])


SCORES = [
    [0, 1, 2, 3],
    [0.5],
    [0.1, 0.2, 0.3, -4.5, 0.0],
    [Fraction(1, 3), Fraction(-2, 7), 1],
    [Fraction(10**400), Fraction(10**400) - 1, Fraction(10**400) + 1],
    [10**12 + 0.5, 10**12, 10**12 - 1.5],
    list(range(-20, 20)),
]


@pytest.mark.parametrize("scores", SCORES, ids=range(len(SCORES)))
@pytest.mark.parametrize("digits", [Bits(), Bits(4, 14), Bits(4, 8)])
def test_draws_follow_their_law(scores, digits, misfit, alarm):
    law, coins = SelectionLaw(scores, digits), TestCoins(1)
    size = DRAWS // (10 if digits.word == 8 else 1)
    if len(scores) == 1:
        assert not law.many(size, coins).any()
        return
    exact = [Fraction(str(score)) if isinstance(score, float) else Fraction(score) for score in scores]
    assert misfit(law.many(size, coins), cumulative(exact), range(len(scores) - 1)) > alarm


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, np.float32, np.float64, object])
def test_arrays_of_every_kind(kind, misfit, alarm):
    scores = np.array([1, 0, 3, 2, 2], dtype=kind)
    draws = select(log_weights=scores, size=DRAWS, coins=TestCoins(2))
    assert draws.dtype == np.int64
    assert misfit(draws, cumulative(scores.tolist()), range(4)) > alarm


def test_differences_of_64_bit_integers_do_not_overflow():
    scores = np.array([2**63 - 1, -(2**63), 2**63 - 1])
    draws = select(log_weights=scores, size=1000)
    assert set(draws.tolist()) == {0, 2}


def test_floats_stand_for_the_decimals_they_print_as():
    """Gaps of 0.1 and 0.3 − 0.2 are one number; in binary they are not."""
    law = SelectionLaw([0.3, 0.2])
    assert law._exact_gaps == [0, Fraction(1, 10)]


def test_many_scores_and_draws(misfit, alarm):
    scores = np.random.default_rng(3).integers(-10, 10, 20_000)
    draws = select(log_weights=scores, size=DRAWS, coins=TestCoins(4))
    assert misfit(draws, cumulative(scores.tolist()), range(19_999)) > alarm
    by_score = np.bincount(scores[draws] + 10, minlength=20)
    weights = np.exp(np.arange(-10.0, 10)) * np.bincount(scores + 10, minlength=20)
    assert (
        misfit(np.repeat(np.arange(20), by_score), lambda k: float(weights[: k + 1].sum() / weights.sum()), range(19))
        > alarm
    )


def test_tiny_weights_are_chosen_as_often_as_they_should(alarm):
    draws = select(log_weights=[0, -11], size=DRAWS, coins=TestCoins(5))
    assert binomtest(int(draws.sum()), DRAWS, 1 / (1 + math.exp(11))).pvalue > alarm
    assert not select(log_weights=[0, -1000, Fraction(-(10**400))], size=DRAWS).any()


@pytest.mark.parametrize("scores", [[0.5, 0.25, 700.0, 3.5], list(range(-30, 5)), [Fraction(1, 3), 0, 7]])
def test_sums_are_as_near_as_is_proved(scores):
    law = SelectionLaw(scores)
    sums, margin = law._sums
    with ctx.workprec(200):
        exact = law._suffixes(200)
        reference = exact[0] / arb(float(sums[-1]))  # the two count from different scores, perhaps
        for own, true in zip(sums[::-1], exact, strict=False):
            assert abs(arb(float(own)) * reference - true) <= reference * arb(margin)
    assert margin < 2.0**-38 * sums[-1]


def test_a_wrong_answer_to_a_tie_is_rejected(misfit, alarm, monkeypatch):
    monkeypatch.setattr(selection, "settle", lambda *_, **__: 0)
    draws = SelectionLaw([0, 1, 2, 3], Bits(4, 8)).many(DRAWS, TestCoins(1))
    assert misfit(draws, cumulative([0, 1, 2, 3]), range(3)) < alarm


def test_a_permuted_twin_is_rejected(misfit, alarm):
    draws = select(log_weights=[3, 2, 1, 0], size=DRAWS, coins=TestCoins(6))
    assert misfit(draws, cumulative([0, 1, 2, 3]), range(3)) < alarm


def test_one_and_many():
    assert type(select(log_weights=[1, 2])) is int
    assert select(log_weights=[1, 2], size=(2, 3)).shape == (2, 3)


@pytest.mark.parametrize("scores", [[], [[1, 2]], 3])
def test_scores_are_a_row(scores):
    with pytest.raises(ValueError, match=r"a row of at least one score, got an array of shape .*\. Pass"):
        select(log_weights=scores)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, None, "7654321"])
def test_scores_are_finite_and_not_repeated_in_a_message(score):
    with pytest.raises(ValueError, match=r"finite numbers, got something else\. Leave out") as caught:
        select(log_weights=[123456, score])
    assert "123456" not in str(caught.value)
    assert "7654321" not in str(caught.value)


def test_nothing_is_kept_of_the_scores():
    import gc

    class Marked(float):
        """A score that can be found again."""

    select(log_weights=[Marked(1.0), Marked(2.0)], size=10)
    gc.collect()
    assert not [thing for thing in gc.get_objects() if type(thing) is Marked]
