"""The law of what is chosen, exactly: from the heads that may come up, and once more from exponential noise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from sitr.flavors.pure import PureDP
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.permute_and_flip import PermuteAndFlip
from sitr.noise.bernoulli import bernoulli_exponential
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact

BITS = 300
BOTH, ONE = (-1, 0, 1), (0, 1)


@cache
def law(scores, rate):
    """As it is told: every order, each with probability 1/k!, and the first whose coin shows a head."""
    with ctx.workprec(BITS):
        heads = [ball(rate * (score - max(scores))).exp() for score in scores]
        chances = [arb(0)] * len(scores)
        orders = list(permutations(range(len(scores))))
        for order in orders:
            left = arb(1)
            for i in order:
                chances[i] += left * heads[i] / len(orders)
                left *= 1 - heads[i]
        return chances


def noisy(scores, rate):
    """P(s_i + X_i is the largest), X_i exponential with this rate: ∫ Π_{j≠i} (1 − u·e^{rate(s_j − s_i)}) du from 0 to
    e^{−rate(max s − s_i)}, u = e^{−rate·x}, one power of u for every set of others."""
    with ctx.workprec(BITS):
        chances = []
        for i, score in enumerate(scores):
            top, found = ball(rate * (score - max(scores))).exp(), arb(0)
            others = [j for j in range(len(scores)) if j != i]
            for size in range(len(others) + 1):
                for chosen in combinations(others, size):
                    power = ball(rate * sum(scores[j] - score for j in chosen)).exp() * top ** (size + 1) / (size + 1)
                    found += (-1) ** size * power
            chances.append(found)
        return chances


def tables(size):
    return [(0, *scores) for scores in product(range(-3, 4), repeat=size - 1)]


def largest(apart, rate, *, size, moves):
    moved = [
        (s, tuple(a + b for a, b in zip(s, d, strict=True))) for s in tables(size) for d in product(moves, repeat=size)
    ]
    return max(apart(law(one, rate), law(other, rate)) for one, other in moved)


@pytest.mark.parametrize("scores", [(0, 0), (0, 1, 3), (5, 5, 2, 0), (0, Fraction(1, 3), -2, 4)])
def test_it_is_noisy_max_with_exponential_noise(scores):
    for one, other in zip(law(scores, Fraction(1, 2)), noisy(scores, Fraction(1, 2)), strict=True):
        assert abs(one - other) < 1e-60


@pytest.mark.parametrize(("size", "moves", "monotone"), [(2, BOTH, False), (3, BOTH, False), (3, ONE, True)])
def test_the_promise_is_kept_and_used_in_full(apart, size, moves, monotone):
    loss = largest(apart, PermuteAndFlip(epsilon=1, monotone=monotone).rate, size=size, moves=moves)
    assert abs(loss - 1) < 1e-60


def test_half_the_noise_is_told_apart(apart):
    """The monotone variant where scores move both ways."""
    assert largest(apart, PermuteAndFlip(epsilon=1, monotone=True).rate, size=2, moves=BOTH) > ball(1.9)


# Never worse than the exponential mechanism


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(3)])
def test_the_expected_score_is_never_smaller(rate):
    with ctx.workprec(BITS):
        for scores in [*tables(2), *tables(3), (0, -1, -2, -3), (0, -5, -5, -5), (0, 0, 0, -1)]:
            weights = [ball(rate * score).exp() for score in scores]
            exponential = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights, arb(0))
            ours = sum((p * s for p, s in zip(law(scores, rate), scores, strict=True)), arb(0))
            assert ours >= exponential - 1e-60
            if len(set(scores)) > 1:
                assert ours > exponential


@pytest.mark.parametrize("candidates", [1, 2, 3, 10, 10**6, 10**30])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_never_larger(candidates, confidence):
    ours, other = (
        kind(0.7, 3).error(candidates=candidates, confidence=confidence) for kind in (PermuteAndFlip, Exponential)
    )
    assert ours <= other
    if candidates > 10:
        assert ours > other - 2 * 6 / 0.7  # by at most a factor of e² in the odds


@pytest.mark.parametrize("candidates", [2, 3, 6])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_the_error_is_exact_at_worst(candidates, confidence):
    mechanism = PermuteAndFlip(epsilon=0.7, sensitivity=3)
    error = mechanism.error(candidates=candidates, confidence=confidence)
    assert error > 0
    for wider, kept in ((1.0001, True), (0.9999, False)):
        best = law((Fraction(0), *[Fraction(-error * wider)] * (candidates - 1)), mechanism.rate)[0]
        assert (best >= ball(confidence)) is kept


# The release, and twins


class Sides:
    """Coins that show heads (0) or tails (1) as they are told, and then take this head."""

    private = False

    def __init__(self, sides, chosen):
        self.sides, self.chosen, self.heads = sides, chosen, 0

    def words(self, count):
        assert count == len(self.sides)
        return np.array(self.sides, dtype=np.uint64) * np.uint64(2**64 - 1)

    def bits(self, count):
        raise AssertionError(f"{count} more digits decide nothing here")

    def below(self, bound):
        self.heads = bound
        return self.chosen


@pytest.mark.parametrize("scores", [(7,), (0, 0), (0, 1, 3), (5, 5, 2, 0), (0, Fraction(1, 3), -2, 4), (3, 1, 4, 1, 5)])
def test_all_coins_at_once_have_the_very_law_of_one_after_another(scores):
    """All sides of all coins, and all heads that may be drawn, each with its probability."""
    mechanism, found = PermuteAndFlip(epsilon=1), [arb(0)] * len(scores)
    with ctx.workprec(BITS):
        chances = [ball(mechanism.rate * (score - max(scores))).exp() for score in scores]
        for sides in product((0, 1), repeat=len(scores)):
            weight = math.prod((1 - p if side else p for p, side in zip(chances, sides, strict=True)), start=arb(1))
            chosen, heads = 0, 1
            while chosen < heads:
                coins = Sides(sides, chosen)
                index, heads = mechanism.release(scores, coins=coins), coins.heads
                found[index] += weight / heads
                chosen += 1
        for own, other in zip(found, law(scores, mechanism.rate), strict=True):
            assert abs(own - other) < 1e-60


def test_many_candidates_are_chosen_as_often_as_they_should(misfit, alarm):
    """300 candidates of three kinds, P(kind) = E[heads of the kind / all heads]; the first kind always shows heads."""
    gaps, counts, coins = (0, 1, 4), (2, 100, 198), TestCoins(4)
    scores = [-gap for gap, count in zip(gaps, counts, strict=True) for _ in range(count)]
    drawn = [PermuteAndFlip(2).release(scores, coins=coins) for _ in range(1_500)]
    seen = np.searchsorted(np.cumsum(counts), drawn, side="right")
    heads = np.meshgrid(*(np.arange(count + 1) for count in counts[1:]), indexing="ij")
    joint = math.prod(binom.pmf(k, n, math.exp(-gap)) for k, n, gap in zip(heads, counts[1:], gaps[1:], strict=True))
    chances = [float((k * joint / (2 + sum(heads))).sum()) for k in (2, *heads)]
    assert misfit(seen.tolist(), chances) > alarm


def test_arrays_of_numpy_are_scores(alarm, misfit):
    coins = TestCoins(5)
    draws = [PermuteAndFlip(1).release(np.array([3, 0, 4, 2], dtype=np.uint8), coins=coins) for _ in range(2_000)]
    assert misfit(draws, [float(p) for p in law((3, 0, 4, 2), Fraction(1, 2))]) > alarm
    assert type(draws[0]) is int


@pytest.mark.parametrize("mechanism", [PermuteAndFlip(1), PermuteAndFlip(0.5, 3), PermuteAndFlip(1, monotone=True)])
def test_draws_follow_the_law(mechanism, misfit, alarm):
    scores, coins = (0, 3, Fraction(5, 2), -1, 4), TestCoins(1)
    draws = [mechanism.release(scores, coins=coins) for _ in range(2_500)]
    rate = exact(mechanism.epsilon) / exact(mechanism.sensitivity) / (1 if mechanism.monotone else 2)
    assert misfit(draws, [float(p) for p in law(scores, rate)]) > alarm
    assert misfit(draws, [float(p) for p in law(scores, 2 * rate)]) < alarm


def in_turn(scores, rate, size, coins):
    """A broken twin: the coins are tossed in the order in which the candidates stand."""
    heads = [bernoulli_exponential(exponent=rate * (max(scores) - score), size=size, coins=coins) for score in scores]
    return np.argmax(np.array(heads), axis=0)


def test_a_twin_without_the_permutation_is_told_apart_from_ours(leaked):
    one, other, draws, ours = (2, 3), (3, 2), 4_000, PermuteAndFlip(epsilon=1)
    twin = [int((in_turn(scores, ours.rate, draws, TestCoins(2)) == 1).sum()) for scores in (one, other)]
    assert leaked(*twin, draws) > 1
    coins = TestCoins(3)
    for event in (0, 1):
        hits = [sum(ours.release(s, coins=coins) == event for _ in range(draws)) for s in (one, other)]
        assert leaked(*hits, draws) <= 1
        assert leaked(*hits[::-1], draws) <= 1


def test_the_best_is_taken_where_others_are_hopeless():
    assert PermuteAndFlip(1).release([10**400, 10**400 + 10**6, -(10**400)]) == 1
    assert {PermuteAndFlip(1).release([5, 5]) for _ in range(100)} == {0, 1}


# Refusals


def test_the_loss_is_the_response_of_the_promise_and_bounded_range_would_be_too_small():
    mechanism = PermuteAndFlip(1)
    assert mechanism.loss() == bounding(PureDP(1.0))
    # A candidate that is one behind falls back by two: it wins with e^(−1/2)/2, and then with e^(−3/2)/2.
    p, q = math.exp(-0.5) / 2, math.exp(-1.5) / 2
    stick = p - math.exp(0.9) * q
    assert stick > Exponential(1).loss().delta(epsilon=0.9).upper
    assert stick < mechanism.loss().delta(epsilon=0.9).lower


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(number):
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(ValueError, match=f"{name} of PermuteAndFlip to be a finite number above 0"):
            PermuteAndFlip(**{"epsilon": 1, "sensitivity": 1, name: number})


def test_other_bad_things_are_refused():
    with pytest.raises(ValueError, match="monotone"):
        PermuteAndFlip(1, monotone=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="integers or fractions"):
        PermuteAndFlip(1).release([0.5, 1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="candidates"):
        PermuteAndFlip(1).error(candidates=0)


def test_the_promise_is_epsilon():
    assert PermuteAndFlip(0.1).promise() == PureDP(0.1)
