"""Both outcomes on neighbouring numbers of people, exactly: no promise is broken, and none is left unused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.noise.coins import TestCoins
from sitr.noise.laplace import discrete_laplace_tail
from sitr.numbers import ball, exact
from sitr.precision import precision

BITS = 1600
NOTHING = arb(2) ** -1400
"""Where two numbers are equal, their enclosures differ by less."""
PEOPLE = 200
Chance = Callable[[int], arb]
CASES = [
    (1, 1e-6),
    (0.1, 1e-5),
    (0.05, 0.01),
    (3, 1e-10),
    (20, 0.3),
    (Fraction(1, 3), 1e-3),
    (1, 0.9),
    (1, 0.5),
    (50, 1e-200),
]
every_case = pytest.mark.parametrize(("epsilon", "delta"), CASES)


def excess(chance: Chance, epsilon, delta, n: int) -> tuple[arb, arb]:
    """By how much n and n + 1 people break (ε, δ), for a key that is shown and for one that is hidden."""
    few, many, odds = chance(n), chance(n + 1), ball(epsilon).exp()
    shown = max(many - odds * few, few - odds * many)
    hidden = max((1 - few) - odds * (1 - many), (1 - many) - odds * (1 - few))
    return shown - ball(delta), hidden - ball(delta)


def broken(chance: Chance, epsilon, delta) -> bool:
    """Whether up to 200 people there is any proof of it. Ties are meant: they are none."""
    with precision(BITS):
        return any(over > NOTHING for n in range(PEOPLE) for over in excess(chance, epsilon, delta, n))


@every_case
def test_no_inequality_is_broken(epsilon, delta):
    assert not broken(PartitionSelection(epsilon, delta).chance, epsilon, delta)


@every_case
def test_one_inequality_is_always_tight(epsilon, delta):
    """Until a key is always shown: so no π_n could be larger, given those before it."""
    selection, reached = PartitionSelection(epsilon, delta), False
    with precision(BITS):
        for n in range(PEOPLE):
            if selection.chance(n + 1) == 1:
                reached = True
                break
            assert max(excess(selection.chance, epsilon, delta, n)).overlaps(arb(0))
            assert abs(max(excess(selection.chance, epsilon, delta, n))) < NOTHING
    assert reached or epsilon < 0.5


@every_case
def test_the_closed_form_is_the_recurrence(epsilon, delta):
    selection, pi = PartitionSelection(epsilon, delta), arb(0)
    with precision(4 * BITS):  # the recurrence forgets 1.5nε bits
        odds, more = ball(epsilon).exp(), ball(delta)
        for n in range(PEOPLE + 1):
            assert abs(selection.chance(n) - pi) < NOTHING
            pi = min(odds * pi + more, 1 - (1 - pi - more) / odds, arb(1))


# Broken twins, which the same check must reject


@every_case
def test_a_little_more_delta_is_caught(epsilon, delta):
    larger = PartitionSelection(epsilon, exact(delta) * (1 + Fraction(1, 10**9)))
    assert broken(larger.chance, epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [case for case in CASES if case[1] < 0.5])  # δ alone pays for two steps
def test_a_little_more_epsilon_is_caught(epsilon, delta):
    larger = PartitionSelection(exact(epsilon) * (1 + Fraction(1, 10**9)), delta)
    assert broken(larger.chance, epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), CASES[:4])
def test_growth_without_a_turn_is_caught(epsilon, delta):
    """Broken: δ(e^{nε} − 1)/(e^ε − 1) up to 1; that a key is hidden then tells too much."""

    def twin(n: int) -> arb:
        return min(arb(1), ball(delta) * (n * ball(epsilon)).expm1() / ball(epsilon).expm1())

    assert broken(twin, epsilon, delta)


# At least as often as with thresholded noise


@pytest.mark.parametrize("keys", [1, 2, 5])
@every_case
def test_no_key_is_shown_less_often_than_above_a_noisy_threshold(epsilon, delta, keys):
    selection = PartitionSelection(epsilon, delta, keys)
    threshold = Threshold.fitting(ApproximateDP(float(epsilon), delta), sensitivity=keys, groups=keys)

    def passes(n: int) -> arb:
        far = threshold.least - n
        tail = discrete_laplace_tail(far if far > 0 else 1 - far, scale=threshold.noise.scale)
        return tail if far > 0 else 1 - tail

    with precision(BITS):
        gains = [selection.chance(n) - passes(n) for n in range(1, PEOPLE)]
        assert all(gain >= 0 or abs(gain) < NOTHING for gain in gains)
        assert any(gain > 0 for gain in gains)


# Several keys


def hockey_stick(selection: PartitionSelection, tables: list[tuple[int, int]]) -> arb:
    """Of all outcomes together, for the worst of both directions."""
    each = []
    for one, other in tables:
        p, q = selection.chance(one), selection.chance(other)
        each.append([(p, q), (1 - p, 1 - q)])
    outcomes = [reduce(lambda a, b: (a[0] * b[0], a[1] * b[1]), chosen) for chosen in product(*each)]
    odds = ball(selection.epsilon).exp()
    return max(
        sum(((p - odds * q).nonnegative_part() for p, q in outcomes), arb(0)),
        sum(((q - odds * p).nonnegative_part() for p, q in outcomes), arb(0)),
    )


@pytest.mark.parametrize(("epsilon", "delta", "keys"), [(1, 1e-6, 2), (3, 0.01, 3), (0.5, 0.1, 2), (2, 0.3, 4)])
def test_many_keys_keep_the_promise_and_use_all_of_it(epsilon, delta, keys):
    """Keys that only this unit has expose it with 1 − (1 − δ')^k = δ."""
    selection, largest = PartitionSelection(epsilon, delta, keys), arb(0)
    people = sorted({1, 2, 3, *(selection.error(confidence=c) for c in (0.1, 0.5, 0.9))})
    with precision(BITS):
        for mine in combinations_with_replacement(people, keys):
            for turned in range(keys + 1):  # where a unit is replaced, some keys lose and some win
                tables = [(n, n - 1) if i < turned else (n - 1, n) for i, n in enumerate(mine)]
                largest = max(largest, hockey_stick(selection, tables))
        assert largest <= ball(delta) or abs(largest - ball(delta)) < NOTHING
        assert largest > ball(delta) * (1 - ball(1e-12))


def test_a_forgotten_number_of_keys_is_caught():
    single = PartitionSelection(1, 1e-6)
    with precision(BITS):
        assert hockey_stick(single, [(1, 0), (1, 0)]) > ball(1e-6)


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")  # at the largest loss itself, δ may be 0 or not
@pytest.mark.parametrize(("epsilon", "delta", "keys"), [(1, 1e-6, 1), (1, 1e-6, 5), (4, 1e-300, 3)])
def test_the_loss_dominates_and_is_the_promise(epsilon, delta, keys):
    selection = PartitionSelection(epsilon, delta, keys)
    assert selection.promise() == ApproximateDP(epsilon, delta)
    assert delta <= selection.loss().infinite_mass() <= delta * (1 + 1e-12)
    assert selection.loss().delta(epsilon=epsilon).lower <= delta
    assert delta <= selection.loss().delta(epsilon=epsilon * (1 + 1e-11)).upper <= delta * (1 + 1e-12)


# What is released


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.3, 0.01), (1e-5, 1e-4)])
def test_keys_are_shown_with_their_chance(epsilon, delta, alarm):
    """The last of them has too many numbers for a table."""
    selection, coins = PartitionSelection(epsilon, delta), TestCoins(1)
    draws = 200_000 if epsilon > 0.01 else 400
    for confidence in (0.02, 0.3, 0.5, 0.9, 0.99):
        n = selection.error(confidence=confidence)
        shown = sum(selection.release([n] * draws, coins=coins))
        assert binomtest(shown, draws, float(selection.chance(n))).pvalue > alarm
        if epsilon > 0.01:  # one person more or less is told apart
            assert binomtest(shown, draws, float(selection.chance(n + 1))).pvalue < alarm


def test_few_people_are_shown_hardly_ever_and_many_always():
    selection = PartitionSelection(1, 1e-6)
    assert not any(selection.release([0] * 100_000))
    assert all(selection.release([28] * 100_000))
    assert selection.release([0, 10**30, *np.array([28])]) == [False, True, True]
    assert selection.release([]) == []


def test_answers_to_different_keys_are_their_own():
    people = [14, 15, 16] * 100
    one = PartitionSelection(1, 1e-6).release(people, coins=TestCoins(2))
    assert one == PartitionSelection(1, 1e-6).release(people, coins=TestCoins(2))
    assert {(one[i], one[i + 1], one[i + 2]) for i in range(0, 300, 3)} >= {(False, False, True), (True, True, True)}


@settings(max_examples=50)
@given(st.floats(1e-6, 100), st.floats(1e-300, 0.999), st.integers(1, 50), st.sampled_from([0.01, 0.5, 0.95]))
def test_so_many_people_and_no_fewer(epsilon, delta, keys, confidence):
    selection = PartitionSelection(epsilon, delta, keys)
    n = selection.error(confidence=confidence)
    with precision(BITS):
        assert selection.chance(n) >= ball(confidence)
        assert not selection.chance(n - 1) >= ball(confidence)


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_bad_parameters_are_refused_by_name(name, number):
    with pytest.raises(
        ValueError, match=rf"{name} of PartitionSelection to be (a finite number above|strictly between) 0"
    ):
        PartitionSelection(**{"epsilon": 1, "delta": 0.1, name: number})


def test_a_certain_exposure_is_no_promise():
    with pytest.raises(ValueError, match="delta of PartitionSelection to be strictly between 0 and 1"):
        PartitionSelection(1, 1)


@pytest.mark.parametrize("keys", [0, -1, 1.0, True, None])
def test_keys_are_counted(keys):
    with pytest.raises(ValueError, match="keys of PartitionSelection to be a whole number of at least 1"):
        PartitionSelection(1, 0.1, keys)


@pytest.mark.parametrize("people", [-1, 1.0, math.nan, None, True, "3"])
def test_people_are_counted(people):
    with pytest.raises(ValueError, match="the number of people of each key"):
        PartitionSelection(1, 0.1).release([5, people])


def test_keys_of_numpy_do_not_wrap_around():
    selection = PartitionSelection(1, 1e-6, np.int8(127))  # type: ignore[arg-type]
    assert type(selection.keys) is int
    assert selection.promise() == PartitionSelection(1, 1e-6, 127).promise()
    assert selection.error() == PartitionSelection(1, 1e-6, 127).error()
    assert selection.release(np.array([0, 2**63 - 1])) == [False, True]  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [1, 2, 5])
def test_where_each_key_has_a_delta_of_one_half_two_people_are_always_shown(keys):
    """There, and only there, does no precision tell how many people are hidden at most."""
    selection = PartitionSelection(epsilon=1, delta=1 - Fraction(1, 2**keys), keys=keys)
    assert selection.chance(1).contains(0.5)
    assert selection.chance(2) == 1
    assert selection.release([0, 2, 3]) == [False, True, True]


def test_a_loss_beyond_floats_hides_nothing():
    assert math.isinf(PartitionSelection(epsilon=1e100, delta=1e-6).loss().max())
