"""The law of a quantile, exactly, on every small table and all its neighbours."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.pure import PureDP
from sitr.mechanisms import quantile
from sitr.mechanisms.quantile import Quantiles, _runs, choose
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact

BITS = 300
LOW, HIGH = 0, 4
LEVELS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(0), Fraction(1)]


def cost(values, x, level):
    """As it is defined, value by value."""
    return max(sum(v < x for v in values) - level * len(values), level * len(values) - sum(v <= x for v in values))


@cache
def law(values, level, rate):
    with ctx.workprec(BITS):
        weights = [ball(-rate * cost(values, x, level)).exp() for x in range(LOW, HIGH + 1)]
        whole = sum(weights, arb(0))
        return [weight / whole for weight in weights]


def rate(mechanism, level, relation):
    moved = max(level, 1 - level) if relation is Relation.ADD_REMOVE else 1
    moved = Fraction(1, 2) if level in (0, 1) else moved
    return exact(mechanism.epsilon) / (2 * moved * mechanism.each)


def tables(size):
    return combinations_with_replacement(range(LOW, HIGH + 1), size)


def neighbours(relation, most, each=1):
    for size in range(most + 1):
        for common in tables(size):
            for one in tables(each):
                if relation is Relation.ADD_REMOVE:
                    yield common, tuple(sorted(common + one))
                else:
                    yield from ((tuple(sorted(common + one)), tuple(sorted(common + other))) for other in tables(each))


def largest(apart, level, steep, relation, most=5, each=1):
    return max(apart(law(a, level, steep), law(b, level, steep)) for a, b in neighbours(relation, most, each))


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("level", LEVELS)
def test_the_promise_is_kept_and_used(apart, over, relation, level):
    mechanism = Quantiles(2, (level,), LOW, HIGH, relation)
    loss = largest(apart, level, rate(mechanism, level, relation), relation)
    assert over(loss, 2) <= 0
    assert over(loss, 1) > 0  # more than half of it, on tables as small as these


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(0)])
def test_several_values_of_one_unit(apart, over, relation, level):
    mechanism = Quantiles(2, (level,), LOW, HIGH, relation, each=2)
    steep = rate(mechanism, level, relation)
    assert over(largest(apart, level, steep, relation, 3, 2), 2) <= 0
    assert over(largest(apart, level, 2 * steep, relation, 3, 2), 2) > 0  # as if everybody had one


def test_nearly_all_of_epsilon_can_be_used():
    """Wide gaps weigh as much as anything: a unit that is added moves one of them up, the other down."""
    level, steep = Fraction(1, 2), Fraction(1)  # ε = 1
    with ctx.workprec(BITS):
        # The new value is 3: as a median, 0 is then farther off, and 4 is nearer.
        ratios = []
        for wide in (10, 10**4, 10**8):
            weights = []
            for values in ((-2, 5, 9, 9), (-2, 3, 5, 9, 9)):
                sizes = {0: wide**2, 4: wide}  # so many integers look like 0, and like 4
                masses = {x: size * ball(-steep * cost(values, x, level)).exp() for x, size in sizes.items()}
                weights.append(masses[4] / sum(masses.values(), arb(0)))
            ratios.append(float(abs((weights[0] / weights[1]).log())))
        assert ratios == sorted(ratios)
        assert 0.99 < ratios[-1] <= 1


@pytest.mark.parametrize("level", LEVELS[:3])
def test_the_sensitivity_of_the_other_relation_is_told_apart(apart, over, level):
    mechanism = Quantiles(2, (level,), LOW, HIGH, Relation.ADD_REMOVE)
    steep = rate(mechanism, level, Relation.ADD_REMOVE)
    if level == Fraction(1, 2):
        assert over(largest(apart, level, steep, Relation.REPLACE_ONE), 2) > 0
    assert over(largest(apart, level, 2 * steep, Relation.ADD_REMOVE), 2) > 0  # and so is the factor 2 forgotten


# The release


@pytest.mark.sampled(3)
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(
    ("values", "level"), [((0, 1, 1, 3), 0.5), ((2,), 0.25), ((), 0.5), ((4, 4, 4), 1), ((-9, 77), 0)]
)
def test_draws_follow_the_law(relation, values, level, misfit, alarm):
    mechanism, coins = Quantiles(2, (level,), LOW, HIGH, relation), TestCoins(1)
    draws = [mechanism.release(values, coins=coins)[0] for _ in range(6_000)]
    clamped = tuple(sorted(min(max(v, LOW), HIGH) for v in values))
    steep = rate(mechanism, exact(level), relation)
    assert misfit(draws, [float(p) for p in law(clamped, exact(level), steep)]) > alarm
    if values:
        assert misfit(draws, [float(p) for p in law(clamped, exact(level), 3 * steep)]) < alarm


@given(st.lists(st.integers(-5, 15), max_size=8), st.integers(-3, 5), st.integers(6, 12))
def test_runs_are_all_integers_once(values, low, high):
    clamped = [min(max(v, low), high) for v in values]
    runs = _runs(Counter(clamped), low, high)
    listed = [(x, run) for run in runs for x in range(run.first, run.first + run.size)]
    assert [x for x, _ in listed] == list(range(low, high + 1))
    for x, run in listed:
        assert run.below == sum(v < x for v in clamped)
        assert run.up_to == sum(v <= x for v in clamped)


@pytest.mark.parametrize("steep", [Fraction(1, 1000), Fraction(1), Fraction(300)])
def test_a_choice_follows_its_law(steep, misfit, alarm):
    sizes, costs, coins = [3, 1, 10**6, 5, 10**30], [0, 0, 10, 11, 75], TestCoins(2)
    draws = [choose(sizes, costs, steep, coins) for _ in range(4_000)]
    with ctx.workprec(BITS):
        weights = [size * ball(-steep * c).exp() for size, c in zip(sizes, costs, strict=True)]
        chances = [float(weight / sum(weights, arb(0))) for weight in weights]
    if max(chances) > 1 - 1e-9:
        assert set(draws) == {chances.index(max(chances))}
    else:
        assert misfit(draws, chances) > alarm
        assert misfit(draws, [0.2] * 5) < alarm


def test_what_is_far_away_can_be_chosen(script):
    """Weights 1 and e^{−300}: a U of 2^{−448} or less is among the last, though it was left out at first."""
    far = [0] * 7
    assert choose([1, 1], [0, 300], Fraction(1), script(*far)) == 1
    # e^{−300} = 2^{−432.8…}: the first 448 bits after the point hold it above zero.
    assert choose([1, 1], [0, 300], Fraction(1), script(*[0] * 6, 2**63)) == 0


def test_ties_are_settled_and_not_drawn_again(script):
    """1/2 is a border: of the first word nothing follows, and the second decides."""
    assert choose([1, 1], [0, 0], Fraction(1), script(2**63 - 1)) == 1
    assert choose([1, 1], [0, 0], Fraction(1), script(2**63)) == 0
    third = (2**64 - 1) // 3
    assert choose([2, 1], [0, 0], Fraction(1), script(third, third, third - 1)) == 1
    assert choose([2, 1], [0, 0], Fraction(1), script(third, third, third + 1)) == 0


class Script:
    """Coins that show the words they are told."""

    private = False

    def __init__(self, *words):
        self.rest = iter(words)

    def bits(self, count, /):
        assert count == 64
        return next(self.rest)


@pytest.fixture
def script():
    return Script


def test_several_levels_come_in_order():
    coins = TestCoins(3)
    mechanism = Quantiles(0.1, (0.1, 0.5, 0.9), 0, 100)
    for _ in range(50):
        found = mechanism.release(range(100), coins=coins)
        assert found == sorted(found)
        assert all(0 <= x <= 100 for x in found)


def test_many_values_and_a_wide_range():
    values = [10**12 + i for i in range(2001)]
    low, middle, high = Quantiles(30, (0, 0.5, 1), -(10**30), 10**30).release(values)
    assert abs(middle - 10**12 - 1000) < 60
    assert low <= 10**12 + 60
    assert high >= 10**12 + 1940


def test_what_is_left_out_is_bounded(monkeypatch):
    """Few of many values are near: only those are added up."""
    asked = []

    def counted(number):
        asked.append(number)
        return ball(number)

    monkeypatch.setattr(quantile, "ball", counted)
    Quantiles(1, (0.5,), 0, 10**6).release(range(0, 10**6, 50), coins=TestCoins(1))
    assert len(asked) < 1000


# The promise, the loss and the error


def test_levels_share_the_price():
    mechanism = Quantiles(0.3, (0.25, 0.5, 0.75), 0, 100)
    assert mechanism.promise() == PureDP(0.3)
    assert mechanism.loss().max() == pytest.approx(0.3)
    assert mechanism.loss().epsilon(delta=1e-3).upper < 0.3


@pytest.mark.parametrize("level", LEVELS[:3])
def test_the_loss_dominates_what_happens(level):
    mechanism = Quantiles(2, (level,), LOW, HIGH)
    steep, size = rate(mechanism, level, Relation.ADD_REMOVE), 0.7
    bound = mechanism.loss().delta(epsilon=size).upper
    for a, b in neighbours(Relation.ADD_REMOVE, 3):
        for one, other in ((a, b), (b, a)):
            pairs = zip(law(one, level, steep), law(other, level, steep), strict=True)
            assert sum(max(0.0, float(p) - math.exp(size) * float(q)) for p, q in pairs) <= bound


def test_the_error_holds_as_often_as_it_says():
    """At worst one number is right and all others are just farther off: many values at one place."""
    mechanism = Quantiles(1, (0.5,), 0, 10**6)
    error = mechanism.error(confidence=0.95)
    steep = Fraction(1)
    for wider, kept in ((1.001, True), (0.999, False)):
        off = Fraction(error * wider)
        with ctx.workprec(BITS):
            right = 1 / (1 + 10**6 * ball(-steep * off).exp())
        assert (right >= ball(0.95)) is kept
    assert Quantiles(1, (0.5,), 0, 10**6, Relation.REPLACE_ONE).error() == pytest.approx(2 * error)
    assert Quantiles(2, (0.25, 0.5), 0, 10**6).error() > error  # a quarter moves by 3/4, and two must be right


def test_the_error_is_kept_in_practice():
    values, coins = [i * i for i in range(1000)], TestCoins(4)
    mechanism = Quantiles(1, (0.25, 0.75), 0, 10**6)
    error = mechanism.error(confidence=0.9)
    off = [
        max(
            cost(values, x, Fraction(level))
            for x, level in zip(mechanism.release(values, coins=coins), (0.25, 0.75), strict=True)
        )
        for _ in range(60)
    ]
    assert sum(one > error for one in off) < 30  # of at most 6 expected; 30 or more with probability below 1e-12


# Refusals


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, None, "ten", True])
def test_a_bad_epsilon_is_refused(number):
    with pytest.raises(ValueError, match="epsilon of Quantiles to be a finite number above 0"):
        Quantiles(number, (0.5,), 0, 1)


@pytest.mark.parametrize("levels", [(), (0.5, 0.5), (0.9, 0.1), (-0.1,), (1.1,), (math.nan,), None, ("a",)])
def test_bad_levels_are_refused(levels):
    with pytest.raises(ValueError, match="levels between 0 and 1 in growing order"):
        Quantiles(1, levels, 0, 1)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0.5, 2), (0, math.inf), (None, 1)])
def test_bad_bounds_are_refused(low, high):
    with pytest.raises(ValueError, match="low below high"):
        Quantiles(1, (0.5,), low, high)


def test_other_bad_things_are_refused():
    with pytest.raises(ValueError, match="Relation"):
        Quantiles(1, (0.5,), 0, 1, "add-remove")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="each"):
        Quantiles(1, (0.5,), 0, 1, each=0)
    with pytest.raises(ValueError, match="integers for Quantiles") as caught:
        Quantiles(1, (0.5,), 0, 1).release([7654321.5])  # type: ignore[list-item]
    assert "7654321" not in str(caught.value)


@pytest.mark.parametrize("kind", [np.int8, np.int64])
def test_bounds_of_numpy_do_not_wrap_around(kind):
    """high − low + 1 is beyond the type that both have."""
    low, high = kind(np.iinfo(kind).min), kind(np.iinfo(kind).max)
    made = Quantiles(1, (0.5,), low, high, each=kind(2))
    plain = Quantiles(1, (0.5,), int(low), int(high), each=2)
    assert made == plain
    assert {type(number) for number in (made.low, made.high, made.each)} == {int}
    assert made.error() == plain.error()
    values = [low, kind(0), high]
    assert made.release(values, coins=TestCoins(3)) == plain.release([int(v) for v in values], coins=TestCoins(3))
