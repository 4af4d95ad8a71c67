"""The law of a row of answers, exactly: for ours, and for the published variants that do not keep their promise."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx

from sitr.errors import BudgetExceeded
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.sparse_vector import RefinedSparseVector, SparseVector
from sitr.noise.coins import TestCoins
from sitr.noise.laplace import discrete_laplace
from sitr.numbers import ball

BITS = 300


@cache
def thresholds(scale):
    """P(ρ = z) for all z but those that have less than 2^{−200} together."""
    with ctx.workprec(BITS):
        q, reach = (-1 / ball(scale)).exp(), math.ceil(150 * scale)
        return [(z, (1 - q) / (1 + q) * q ** abs(z)) for z in range(-reach, reach + 1)]


@cache
def reached(least, scale):
    """P(ν ≥ least); without noise if the scale is 0."""
    if scale == 0:
        return arb(least <= 0)
    q = (-1 / ball(scale)).exp()
    return q**least / (1 + q) if least > 0 else 1 - q ** (1 - least) / (1 + q)


@cache
def chance(values, said, scales, threshold=0):
    """The probability of these answers to the first values."""
    with ctx.workprec(BITS):
        found = arb(0)
        for z, at_z in thresholds(scales[0]):
            mass = at_z
            for value, yes in zip(values, said, strict=False):
                above = reached(threshold + z - value, scales[1])
                mass *= above if yes else 1 - above
            found += mass
        return found


def rows(length, answers):
    """All rows of answers: those that end with the last yes that may be, and those that run to the end."""
    for said in product((False, True), repeat=length):
        stops = [i + 1 for i in range(length) if sum(said[: i + 1]) == answers]
        if not stops or not any(said[stops[0] :]):
            yield said[: stops[0]] if stops else said


def law(values, mechanism, threshold=0):
    return [chance(values, said, mechanism.scales, threshold) for said in rows(len(values), mechanism.answers)]


# The promise


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("epsilon", "answers", "monotone", "length"),
    [(1, 1, False, 2), (4, 1, False, 3), (4, 2, False, 3), (1, 1, True, 2), (4, 2, True, 3)],
)
def test_the_promise_is_kept(apart, over, epsilon, answers, monotone, length):
    mechanism, moves = SparseVector(epsilon, answers=answers, monotone=monotone), (0, 1) if monotone else (-1, 0, 1)
    for values in product((-1, 1), repeat=length):
        one = law(values, mechanism)
        with ctx.workprec(BITS):
            assert abs(sum(one, arb(0)) - 1) < 1e-50
        for moved in product(moves, repeat=length):
            other = law(tuple(a + b for a, b in zip(values, moved, strict=True)), mechanism)
            assert over(apart(one, other), epsilon) <= 0


@pytest.mark.parametrize(("answers", "monotone"), [(1, False), (3, False), (1, True), (3, True)])
def test_the_promise_is_used_nearly(over, answers, monotone):
    """Many no, which hold the threshold up, then as many yes as may be, far from it."""
    epsilon, many = 2, 60
    mechanism = SparseVector(epsilon, answers=answers, monotone=monotone)
    said, far = (False,) * many + (True,) * answers, -40
    one = (0,) * many + (far,) * answers
    other = (1,) * many + ((far if monotone else far - 1),) * answers
    with ctx.workprec(BITS):
        loss = (chance(one, said, mechanism.scales) / chance(other, said, mechanism.scales)).log()
    assert -0.15 < over(loss, epsilon) <= 0


@pytest.mark.parametrize("answers", [1, 2, 5, 100])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, Fraction(7, 3)])
def test_the_shares_add_up_and_vary_least(answers, monotone, sensitivity):
    epsilon = Fraction(13, 10)
    first, second = SparseVector(epsilon, sensitivity, answers, monotone).scales
    steps = answers * (1 if monotone else 2)
    assert sensitivity / first + steps * sensitivity / second == epsilon
    spread = float(first) ** 2 + float(second) ** 2
    for share in (0.98, 1.02):
        other = float(epsilon) * float(sensitivity / first / epsilon) * share
        assert spread < (float(sensitivity) / other) ** 2 + (steps * float(sensitivity) / (float(epsilon) - other)) ** 2


# The variants of Lyu, Su and Li: (the scales of ρ and ν, an event) for a given ε and c, and Δ = 1


def variant_4(epsilon, _answers):
    """The noise of the values does not grow with c."""
    return Fraction(4) / epsilon, Fraction(4, 3) / epsilon


def variant_5(epsilon, _answers):
    """No noise on the values."""
    return Fraction(2) / epsilon, Fraction(0)


def variant_6(epsilon, _answers):
    """No bound on the number of yes."""
    return Fraction(2) / epsilon, Fraction(2) / epsilon


NO, YES = False, True
VARIANTS = {
    "4": (variant_4, (0, 0, 0, 0), (1, 1, -1, -1), (NO, NO, YES, YES)),
    "5": (variant_5, (0, 1), (1, 0), (NO, YES)),
    "6": (variant_6, (0, 0, 0, 0), (1, 1, -1, -1), (NO, NO, YES, YES)),
}
each_variant = pytest.mark.parametrize(("variant", "one", "other", "said"), VARIANTS.values(), ids=VARIANTS)
EPSILON = 2
FEW, MANY = 40_000, 200_000
SAMPLE, SLOW = [pytest.mark.slow, pytest.mark.sample], pytest.mark.slow


@each_variant
def test_variants_leak_more_than_they_say(variant, one, other, said):
    scales, ours = variant(EPSILON, sum(said)), SparseVector(EPSILON, answers=sum(said))
    with ctx.workprec(BITS):
        p, q = (chance(values, said, scales) for values in (one, other))
        assert p > 0
        assert q == 0 or (p / q).log() > 1.5 * EPSILON
        assert abs((chance(one, said, ours.scales) / chance(other, said, ours.scales)).log()) <= EPSILON


def seen(mechanism, values, said, draws, *, seed):
    coins = TestCoins(seed)
    return sum(tuple(mechanism.release(values, threshold=0, coins=coins)) == said for _ in range(draws))


def seen_of_twin(scales, values, said, draws, *, seed):
    coins = TestCoins(seed)
    rho = discrete_laplace(scale=scales[0], size=(draws, 1), coins=coins)
    nu = discrete_laplace(scale=scales[1], size=(draws, len(values)), coins=coins) if scales[1] else 0
    return int((((np.array(values) + nu) >= rho) == np.array(said)).all(axis=1).sum())


@pytest.mark.parametrize(
    ("name", "draws"),
    [
        pytest.param("4", FEW, marks=SAMPLE),
        pytest.param("4", MANY, marks=SLOW),
        pytest.param("5", MANY, marks=SLOW),
        pytest.param("6", MANY, marks=SLOW),
    ],
)
def test_variants_are_told_apart_from_ours(name, draws, leaked):
    variant, one, other, said = VARIANTS[name]
    scales, ours = variant(EPSILON, sum(said)), SparseVector(EPSILON, answers=sum(said))
    broken = [seen_of_twin(scales, values, said, draws, seed=seed) for seed, values in ((1, one), (2, other))]
    assert leaked(*broken, draws) > EPSILON
    right = [seen(ours, values, said, draws, seed=seed) for seed, values in ((1, one), (2, other))]
    assert min(right) > 10  # it can happen, with both
    assert leaked(*right, draws) <= EPSILON
    assert leaked(*right[::-1], draws) <= EPSILON


@pytest.mark.parametrize("draws", [pytest.param(20_000, marks=SAMPLE), pytest.param(MANY, marks=SLOW)])
def test_variant_3_which_shows_the_noisy_value_is_told_apart_from_ours(draws, leaked):
    """The value that passed is shown with the noise it passed with: ρ is below it, and the no are above ρ."""
    one, other, coins = (0, 0, 0, 1), (1, 1, 1, 0), TestCoins(1)
    hits = []
    for values in (one, other):
        rho = discrete_laplace(scale=Fraction(2, EPSILON), size=(draws, 1), coins=coins)
        noisy = np.array(values) + discrete_laplace(scale=Fraction(2, EPSILON), size=(draws, 4), coins=coins)
        above = noisy >= rho
        hits.append(int((~above[:, :3].any(axis=1) & above[:, 3] & (noisy[:, 3] == 1)).sum()))
    assert leaked(*hits, draws) > EPSILON

    ours = RefinedSparseVector(SparseVector(EPSILON / 2), Fraction(2, EPSILON))
    assert ours.promise() == PureDP(EPSILON)
    right = [
        sum(ours.release(values, threshold=0, coins=coins) == [None, None, None, 1] for _ in range(draws))
        for values in (one, other)
    ]
    assert min(right) > 10
    assert leaked(*right, draws) <= EPSILON


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("answers", "monotone"), [(1, False), (2, True)])
def test_draws_follow_the_law(answers, monotone, misfit, alarm):
    mechanism, values, coins = SparseVector(1, 2, answers, monotone), (0, 3, -2), TestCoins(5)
    outcomes = list(rows(len(values), answers))
    draws = [outcomes.index(tuple(mechanism.release(values, threshold=1, coins=coins))) for _ in range(10_000)]
    assert misfit(draws, [float(p) for p in law(values, mechanism, threshold=1)]) > alarm
    twin = SparseVector(2, 2, answers, monotone)
    assert misfit(draws, [float(p) for p in law(values, twin, threshold=1)]) < alarm


@pytest.mark.parametrize("fresh", ["threshold", "values", "neither"])
def test_draws_with_noise_for_the_wrong_things_do_not(fresh, misfit, alarm):
    """ρ is drawn once and ν for every value; here both, or neither, or the wrong one of them is drawn anew."""
    mechanism, values, size, coins = SparseVector(1, answers=2, monotone=True), (0, 0, 0), 40_000, TestCoins(6)
    rho, nu = (
        discrete_laplace(scale=scale, size=(size, 3 if again else 1), coins=coins)
        for scale, again in zip(mechanism.scales, (fresh == "threshold", fresh != "neither"), strict=True)
    )
    outcomes = list(rows(3, 2))
    said = (np.array(values) + nu >= rho).tolist()
    seen = [outcomes.index(tuple(row[:2] if row[:2] == [True, True] else row)) for row in said]
    fits = misfit(seen, [float(p) for p in law(values, mechanism)]) > alarm
    assert fits is (fresh == "values")


# A stream


def test_a_stream_stops_for_good():
    stream = SparseVector(1000, answers=2).begin()
    assert [stream.release(value, threshold=10) for value in (0, 20, 0, 20)] == [False, True, False, True]
    assert stream.left == 0
    for _ in range(2):
        with pytest.raises(BudgetExceeded, match=r"said yes as often as it may\. Begin a new one"):
            stream.release(0, threshold=10)


def test_no_costs_nothing():
    stream = SparseVector(1000).begin()
    assert not any(stream.release(0, threshold=10) for _ in range(1000))
    assert stream.left == 1


def test_thresholds_may_change():
    stream = SparseVector(1000, answers=3).begin()
    assert [stream.release(50, threshold=t) for t in (49, 51, 50)] == [True, False, True]


def test_a_value_at_the_threshold_passes():
    assert SparseVector(10_000).release([5], threshold=5) == [True]


def test_a_stream_can_be_neither_copied_nor_pickled():
    for stream in (SparseVector(1).begin(), RefinedSparseVector(SparseVector(1), scale=1).begin()):
        for duplicate in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="stays where it began"):
                duplicate(stream)
    with pytest.raises(TypeError, match="stays where it began"):
        copy.copy(SparseVector(1).begin())


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_cannot_go_on():
    stream = SparseVector(1000).begin()
    child = os.fork()
    if child == 0:
        try:
            stream.release(0, threshold=10)
        except BudgetExceeded:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert stream.release(0, threshold=10) is False


def test_threads_share_the_answers():
    stream, said = SparseVector(1000, answers=50).begin(), []

    def ask():
        for _ in range(40):
            try:
                said.append(stream.release(100, threshold=0))
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [True] * 50


# Refinement


def test_a_refined_value_costs_its_own_noise():
    refined = RefinedSparseVector(SparseVector(Fraction(1, 2), sensitivity=3, answers=4), scale=20)
    assert refined.promise() == PureDP(0.5 + 4 * 3 / 20)
    assert refined.loss() == refined.search.loss() + Laplace(20, 3).loss() * 4
    assert refined.loss().max() == pytest.approx(refined.promise().epsilon, rel=1e-12)
    with pytest.raises(ValueError, match="scale of RefinedSparseVector to be a finite number above 0"):
        RefinedSparseVector(SparseVector(1), scale=0)


def test_the_numbers_are_off_as_often_as_they_say(misfit, alarm):
    """P(|Y| ≤ w) = 1 − 2q^{w+1}/(1 + q); almost everything passes a threshold far below."""
    refined, coins = RefinedSparseVector(SparseVector(1), scale=3), TestCoins(7)
    told = [refined.release([500], threshold=-1000, coins=coins)[0] for _ in range(3_000)]
    q, width = math.exp(-1 / 3), refined.error(confidence=0.9)
    inside = 1 - 2 * q ** (width + 1) / (1 + q)
    assert 1 - 2 * q**width / (1 + q) < 0.9 <= inside
    off = [int(abs((number or 0) - 500) > width) for number in told]
    assert misfit(off, [inside, 1 - inside]) > alarm


def test_a_refined_stream_tells_numbers():
    stream = RefinedSparseVector(SparseVector(1000, answers=1), Fraction(1, 1000)).begin()
    assert (stream.release(3, threshold=10), stream.left) == (None, 1)
    assert (stream.release(30, threshold=10), stream.left) == (30, 0)
    with pytest.raises(BudgetExceeded):
        stream.release(30, threshold=10)


# The error


@pytest.mark.parametrize("values", [1, 5, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_error_holds_as_often_as_it_says(over, values, confidence):
    """Values that are just farther away: all low, or one high after them."""
    mechanism = SparseVector(1)
    width = mechanism.error(values=values, confidence=confidence)
    low = (-width - 1,) * values
    assert over(chance(low, (False,) * values, mechanism.scales), confidence) > 0
    mixed = (*low[1:], width)
    right = chance(mixed, (False,) * (values - 1) + (True,), mechanism.scales)
    assert over(right, confidence) > 0


def test_the_error_is_not_far_too_large(over):
    mechanism = SparseVector(1)
    width = mechanism.error(values=5, confidence=0.95) // 2
    assert over(chance((-width - 1,) * 5, (False,) * 5, mechanism.scales), 0.95) < 0


# Refusals


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_bad_parameters_are_refused_by_name(number):
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(ValueError, match=f"{name} of SparseVector to be a finite number above 0"):
            SparseVector(**{"epsilon": 1, "sensitivity": 1, name: number})


def test_other_bad_things_are_refused():
    with pytest.raises(ValueError, match="answers"):
        SparseVector(1, answers=0)
    with pytest.raises(ValueError, match="monotone"):
        SparseVector(1, monotone=None)  # type: ignore[arg-type]
    assert SparseVector(1).loss() == bounding(PureDP(1.0))
    with pytest.raises(ValueError, match="values"):
        SparseVector(1).error(values=0)


@pytest.mark.parametrize(("value", "threshold"), [(7654321.5, 0), (0, 0.5), (None, 0), (math.nan, 0)])
def test_a_refusal_repeats_no_value_and_spends_nothing(value, threshold):
    stream = SparseVector(1).begin()
    with pytest.raises(ValueError, match="integers for SparseVector") as caught:
        stream.release(value, threshold=threshold)
    assert "7654321" not in str(caught.value)
    assert stream.left == 1


def test_integers_of_numpy_do_not_wrap_around():
    """2·c is beyond the type of c; a value and a threshold at its ends are far apart."""
    search = SparseVector(1, answers=np.int8(100))  # type: ignore[arg-type]
    assert search.scales == SparseVector(1, answers=100).scales
    assert type(search.answers) is int
    still = SparseVector(10**6, answers=2)
    assert still.release([np.int8(127), np.int8(-128)], threshold=np.int8(-127)) == [True, False]  # type: ignore[arg-type, list-item]
    assert still.release(np.array([2**63 - 1, -(2**63)]), threshold=np.int64(-(2**63) + 1)) == [True, False]  # type: ignore[arg-type]
