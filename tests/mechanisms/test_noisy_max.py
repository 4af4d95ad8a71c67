"""The law of what is chosen, exactly, ties included; and twins that break ties, or noise, in other ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb, ctx

from sitr.flavors.pure import PureDP
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.noisy_max import NoisyMax, ScoreNoise
from sitr.noise.coins import TestCoins
from sitr.noise.geometric import geometric
from sitr.noise.laplace import discrete_laplace
from sitr.numbers import ball

BITS = 300
BOTH, ONE = (-1, 0, 1), (0, 1)
each_noise = pytest.mark.parametrize("noise", ScoreNoise)

Ties = Callable[[tuple[int, ...], int, tuple[int, ...]], Fraction]
"""The chance of candidate i, if it is tied with these others; it may look at the true scores."""


def even(_scores, _i, tied):
    return Fraction(1, 1 + len(tied))


def redrawn(_scores, _i, tied):
    return Fraction(not tied)


def by_true_score(scores, i, tied):
    return Fraction(all((-scores[i], i) < (-scores[j], j) for j in tied))


@cache
def masses(noise, scale):
    """P(y) and P(Z < y) for all y but those that have less than 2^{−200} together."""
    with ctx.workprec(BITS):
        q, reach = (-1 / ball(scale)).exp(), math.ceil(150 * scale)
        if noise is ScoreNoise.GEOMETRIC:
            mass = {y: (1 - q) * q**y for y in range(reach)}
        else:
            mass = {y: (1 - q) / (1 + q) * q ** abs(y) for y in range(-reach, reach)}
        below, total = {}, arb(0)
        for y in mass:
            below[y] = total
            total += mass[y]
        return mass, below


@cache
def law(scores, noise, scale, ties: Ties = even):
    """Sum over the largest noisy score v, and over the set of others that have it too."""
    mass, below = masses(noise, scale)
    low, high = min(mass), max(mass)

    def chance(i, v):
        """P(Z = v − s_i), P(Z < v − s_i)."""
        y = v - scores[i]
        return (arb(0), arb(0)) if y < low else (arb(0), arb(1)) if y > high else (mass[y], below[y])

    with ctx.workprec(BITS):
        chances = []
        for i in range(len(scores)):
            others, found = [j for j in range(len(scores)) if j != i], arb(0)
            rules = [
                (tied, share)
                for size in range(len(others) + 1)
                for tied in combinations(others, size)
                if (share := ties(scores, i, tied))
            ]
            for v in range(max(scores) + low, scores[i] + high + 1):
                at = {j: chance(j, v) for j in range(len(scores))}
                for tied, share in rules:
                    term = at[i][0] * ball(share)
                    for j in others:
                        term *= at[j][0] if j in tied else at[j][1]
                    found += term
            chances.append(found)
        whole = sum(chances, arb(0))  # less than 1 if ties are drawn again
        return [found / whole for found in chances]


def largest(apart, noise, scale, *, size, moves, ties=even, reach=2):
    found = arb(0)
    for rest in product(range(-reach, reach + 1), repeat=size - 1):
        one = (0, *rest)
        for moved in product(moves, repeat=size):
            other = tuple(a + b for a, b in zip(one, moved, strict=True))
            lifted = tuple(score - min(other) for score in other)  # only differences matter
            start = tuple(score - min(one) for score in one)
            found = max(found, apart(law(start, noise, scale, ties), law(lifted, noise, scale, ties)))
    return found


# The promise


@pytest.mark.sampled(4)
@each_noise
@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize(("size", "moves", "monotone"), [(2, BOTH, False), (3, BOTH, False), (3, ONE, True)])
def test_the_promise_is_kept(apart, over, noise, epsilon, size, moves, monotone):
    mechanism = NoisyMax(epsilon, monotone=monotone, noise=noise)
    loss = largest(apart, noise, mechanism.scale, size=size, moves=moves)
    assert over(loss, epsilon) < 1e-50
    if noise is ScoreNoise.GEOMETRIC:
        assert over(loss, epsilon) > -1e-50  # and no smaller promise would be


def test_laplace_noise_uses_its_promise_nearly(apart):
    """The more hopeless rivals, the nearer: here two of them."""
    assert largest(apart, ScoreNoise.LAPLACE, NoisyMax(3, noise=ScoreNoise.LAPLACE).scale, size=3, moves=BOTH) > ball(
        2.99
    )


@pytest.mark.parametrize("sensitivity", [2, Fraction(5, 2)])
def test_wider_moves(apart, over, sensitivity):
    mechanism, moves = NoisyMax(2, sensitivity), range(-2, 3)
    loss = largest(apart, ScoreNoise.GEOMETRIC, mechanism.scale, size=2, moves=moves, reach=5)
    assert abs(over(loss, Fraction(2 * 4) / (2 * sensitivity))) < 1e-50  # integers move by 2, whatever Δ is


@each_noise
def test_half_the_noise_is_told_apart(apart, noise):
    mechanism = NoisyMax(2, monotone=True, noise=noise)
    assert largest(apart, noise, mechanism.scale, size=3, moves=BOTH) > ball(3)


@pytest.mark.parametrize(("ties", "factor"), [(redrawn, 1.25), (by_true_score, 1.49)])
def test_other_ways_to_break_ties_do_not_keep_it(apart, ties, factor):
    """What would be harmless if noise were continuous."""
    loss = largest(apart, ScoreNoise.GEOMETRIC, NoisyMax(2).scale, size=2, moves=BOTH, ties=ties, reach=4)
    assert loss > ball(2 * factor)


# The release follows its law


@each_noise
@pytest.mark.parametrize(("scores", "scale"), [((0, 2, 1), 2), ((0, 0, 0, 0), 1), ((3, 0), Fraction(1, 2))])
def test_draws_follow_the_law(noise, scores, scale, misfit, alarm):
    mechanism, coins = NoisyMax(Fraction(2) / scale, noise=noise), TestCoins(1)
    draws = [mechanism.release(scores, coins=coins) for _ in range(6_000)]
    assert misfit(draws, [float(p) for p in law(scores, noise, Fraction(scale))]) > alarm


def test_the_test_rejects_ties_by_index(misfit, alarm):
    noise = geometric(scale=1, size=(6_000, 4), coins=TestCoins(1))
    assert misfit(np.argmax(noise, axis=1), [0.25] * 4) < alarm


def test_enormous_scores():
    assert NoisyMax(1).release([10**400, 10**400 + 10**6, -(10**400)]) == 1
    assert NoisyMax(1e-30).release([0, 2**70]) in (0, 1)
    assert type(NoisyMax(1).release(np.array([1, 2, 3]))) is int


# Attacks: ours beside broken twins, told apart by how often an event comes up

DRAWS = 15_000


def seen(mechanism, scores, *, seed):
    coins = TestCoins(seed)
    return np.array([mechanism.release(scores, coins=coins) for _ in range(DRAWS)])


def noisy(scores, scale, *, seed, size=DRAWS, draw=geometric):
    return np.array(scores) + draw(scale=scale, size=(size, len(scores)), coins=TestCoins(seed))


def to_the_better(scores, scale, *, seed):
    """Ties go to the larger true score, then to the lower index."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return np.array(order)[np.argmax(noisy(scores, scale, seed=seed)[:, order], axis=1)]


def drawn_again(scores, scale, *, seed):
    found = noisy(scores, scale, seed=seed, size=3 * DRAWS)
    single = (found == found.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return np.argmax(found[single], axis=1)[:DRAWS]


def one_noise_for_all(scores, scale, *, seed):
    shared = geometric(scale=scale, size=(DRAWS, 1), coins=TestCoins(seed))
    return np.argmax(np.array(scores) + shared, axis=1)


def too_little_noise(scores, scale, *, seed):
    """Δ/ε where scores move both ways. Ties are broken as well as may be."""
    found = noisy(scores, scale / 2, seed=seed).astype(float)
    return np.argmax(found + np.random.default_rng(seed).random(found.shape), axis=1)


ATTACKS = {
    "ties to the better": (2, to_the_better, (1, 1), (0, 2), 0),
    "ties drawn again": (4, drawn_again, (1, 1), (0, 2), 0),
    "one noise for all": (1, one_noise_for_all, (1, 0), (0, 1), 0),
    "too little noise": (1, too_little_noise, (3, 1), (4, 0), 1),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("epsilon", "twin", "one", "other", "event"), ATTACKS.values(), ids=ATTACKS)
def test_twins_are_told_apart_from_ours(epsilon, twin, one, other, event, leaked):
    ours = NoisyMax(epsilon)
    broken = [int((twin(scores, ours.scale, seed=seed) == event).sum()) for seed, scores in ((1, one), (2, other))]
    assert leaked(*broken, DRAWS) > epsilon
    right = [np.bincount(seen(ours, scores, seed=seed), minlength=2) for seed, scores in ((1, one), (2, other))]
    for i in range(2):
        assert leaked(int(right[0][i]), int(right[1][i]), DRAWS) <= epsilon
        assert leaked(int(right[1][i]), int(right[0][i]), DRAWS) <= epsilon


def test_the_largest_noisy_score_must_not_be_told(leaked):
    """Ten counts that one unit moves together: the largest with its noise is small far more often without the unit."""
    ours, draws = NoisyMax(1, noise=ScoreNoise.LAPLACE), 400_000
    lows = []
    for shift in (0, 1):
        values = noisy((shift,) * 10, ours.scale, seed=shift, size=draws, draw=discrete_laplace).max(axis=1)
        lows.append(int((values <= 0).sum()))
    assert leaked(*lows, draws) > 2


# The error


@each_noise
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("candidates", [1, 2, 3, 4])
def test_the_error_holds_as_often_as_it_says(over, noise, candidates, confidence):
    """At worst all others are just farther below. For two candidates it is the least that does."""
    mechanism = NoisyMax(1, noise=noise)
    width = mechanism.error(candidates=candidates, confidence=confidence)
    best = law((width + 1, *(0,) * (candidates - 1)), noise, mechanism.scale)[0]
    assert over(best, confidence) > -1e-50
    if candidates == 2 and width > 0:
        assert over(law((width, 0), noise, mechanism.scale)[0], confidence) < 0


def test_geometric_noise_errs_less():
    for candidates in (2, 10, 1000):
        ours, other = (
            NoisyMax(1, noise=noise).error(candidates=candidates)
            for noise in (ScoreNoise.GEOMETRIC, ScoreNoise.LAPLACE)
        )
        assert ours < other
    assert NoisyMax(1e-9, 10**15).error(candidates=100) > 10**24


# Refusals


def test_the_loss_is_the_response_of_the_promise_and_bounded_range_would_be_too_small():
    mechanism = NoisyMax(1)
    assert mechanism.loss() == bounding(PureDP(1.0))
    # A candidate that is one behind falls back by two: it wins with e^(−1/2)/2, and then with e^(−3/2)/2.
    p, q = math.exp(-0.5) / 2, math.exp(-1.5) / 2
    stick = p - math.exp(0.9) * q
    assert stick > Exponential(1).loss().delta(epsilon=0.9).upper
    assert stick < mechanism.loss().delta(epsilon=0.9).lower


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(number):
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(ValueError, match=f"{name} of NoisyMax to be a finite number above 0"):
            NoisyMax(**{"epsilon": 1, "sensitivity": 1, name: number})


def test_other_bad_things_are_refused():
    with pytest.raises(ValueError, match="monotone"):
        NoisyMax(1, monotone=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="geometric, laplace"):
        NoisyMax(1, noise="gumbel")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a row of integers"):
        NoisyMax(1).release([Fraction(1, 2)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="candidates"):
        NoisyMax(1).error(candidates=0)


def test_the_promise_is_epsilon():
    assert NoisyMax(0.1).promise() == PureDP(0.1)
    assert NoisyMax(1, noise="laplace") == NoisyMax(1, noise=ScoreNoise.LAPLACE)  # type: ignore[arg-type]
