"""Quantiles by group: the laws, exactly, on every small table, all its neighbours, and units in several groups."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from flint import arb, ctx

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Composed, Repeated, concentrated
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.quantile import Quantiles
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact

BITS = 300
LOW, HIGH = 0, 3
LEVELS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(0), Fraction(1)]
OFFSETS = [0, 2, -2]
RATE = Fraction(3, 4)


PLAIN, INWARD, FLIP = "plain", "inward", "flip"


def cost(values, x, level, offset):
    """As it is defined, value by value."""
    target = level * len(values) + offset
    too_high, too_low = sum(v < x for v in values) - target, target - sum(v <= x for v in values)
    if offset > 0 and x == HIGH:
        too_low = min(too_low, 0)
    if offset < 0 and x == LOW:
        too_high = min(too_high, 0)
    return max(too_high, too_low)


@cache
def law(values, level, offset, rate=RATE, kind=PLAIN):
    with ctx.workprec(BITS):
        costs = [cost(values, x, level, offset) for x in range(LOW, HIGH + 1)]
        if kind == FLIP:
            return flips([ball(-rate * (each - min(costs))).exp() for each in costs])
        count = HIGH - LOW + 1
        places = range(count) if level == 0 else reversed(range(count))
        public = [3 * count + 10 * place if kind == INWARD else 1 for place in places]
        weights = [weight * ball(-rate * each).exp() for weight, each in zip(public, costs, strict=True)]
        whole = sum(weights, arb(0))
        return [weight / whole for weight in weights]


def flips(heads):
    """Permute and flip: all coins are tossed, and one of the heads is drawn, whatever their number."""
    found = [arb(0)] * len(heads)
    for shown in product((False, True), repeat=len(heads)):
        chance = arb(1)
        for head, is_head in zip(heads, shown, strict=True):
            chance *= head if is_head else 1 - head
        for place, is_head in enumerate(shown):
            found[place] += chance / sum(shown) if is_head else 0
    return found


def tables(most, least=0):
    return [t for size in range(least, most + 1) for t in combinations_with_replacement(range(LOW, HIGH + 1), size)]


def merged(common, own):
    return tuple(sorted(common + own))


@cache
def losses(level, offset, each, relation, kind=PLAIN):
    """All vectors of ln P(x)/Q(x) of one group, for every small table and all its neighbours."""
    found = []
    for common in tables(4 if each == 1 else 3):
        for own in tables(each, 1 if relation is Relation.ADD_REMOVE else 0):
            others = [()] if relation is Relation.ADD_REMOVE else tables(each)
            for other in others:
                one, two = (law(merged(common, some), level, offset, RATE, kind) for some in (own, other))
                with ctx.workprec(BITS):
                    found.append([(p / q).log() for p, q in zip(one, two, strict=True)])
    return found


def greatest(level, offset, each, relation, kind=PLAIN):
    with ctx.workprec(BITS):
        return max(abs(loss) for vector in losses(level, offset, each, relation, kind) for loss in vector)


def widest(level, offset, each, relation, kind=PLAIN):
    """The longest interval in which the losses of one pair of tables lie."""
    with ctx.workprec(BITS):
        return max(max(vector) - min(vector) for vector in losses(level, offset, each, relation, kind))


def mechanism(level, offset, *, each=1, groups=1, cells=None, relation=Relation.ADD_REMOVE, kind=PLAIN):
    leaning = {PLAIN: {}, INWARD: {"inward": True}, FLIP: {"flip": True}}[kind]
    return GroupedQuantile(RATE, level, LOW, HIGH, each, groups, cells, relation, offset, **leaning)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("level", LEVELS)
def test_one_group_keeps_its_promise_and_its_range(level, offset, each, relation, over):
    one = mechanism(level, offset, each=each, cells=1, relation=relation)
    (((eta, times),),) = [[part for part in parts if part[1]] for parts in one.changes()]
    assert times == 1
    assert one.promise() == PureDP(float(eta))
    assert over(greatest(level, offset, each, relation), eta) <= 0
    wide = widest(level, offset, each, relation)
    assert over(wide, eta) <= 1e-60
    assert over(wide, eta / 3) > 0  # much of it is used on tables as small as these
    assert one.zero_concentrated().rho == pytest.approx(float(eta) ** 2 / 8)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
@pytest.mark.parametrize("each", [1, 2])
def test_weights_change_no_range(level, each, relation, over):
    one = mechanism(level, 0, each=each, cells=1, relation=relation, kind=INWARD)
    assert one.promise() == mechanism(level, 0, each=each, cells=1, relation=relation).promise()
    wide = widest(level, 0, each, relation, INWARD)
    assert over(wide, one.promise().epsilon) <= 1e-60
    assert over(wide, one.promise().epsilon / 3) > 0


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("level", LEVELS)
def test_flips_keep_the_same_pure_promise_and_no_range(level, offset, relation, over):
    one = mechanism(level, offset, cells=1, relation=relation, kind=FLIP)
    eta = one.promise().epsilon
    assert eta == mechanism(level, offset, cells=1, relation=relation).promise().epsilon
    assert over(greatest(level, offset, 1, relation, FLIP), eta) <= 1e-60  # it is reached
    assert over(greatest(level, offset, 1, relation, FLIP), eta / 3) > 0
    assert one.zero_concentrated().rho == pytest.approx(eta**2 / 2)
    if (level, offset, relation) == (Fraction(1, 2), 0, Relation.ADD_REMOVE):
        assert over(widest(level, offset, 1, relation, FLIP), eta) > 0  # so η²/8 would be a broken twin


def test_the_range_is_attained_and_half_of_it_is_a_broken_twin(over):
    """At levels 0 and 1 with an offset that points inward, a unit moves costs both ways."""
    for level, offset in ((Fraction(0), 2), (Fraction(1), -2)):
        right, broken = mechanism(level, offset), mechanism(level, 0)
        assert right.promise().epsilon == 2 * broken.promise().epsilon
        assert over(widest(level, offset, 1, Relation.ADD_REMOVE), broken.promise().epsilon) > 0
    for level, offset in ((Fraction(0), 0), (Fraction(1, 2), 0), (Fraction(0), -2), (Fraction(1), 2)):
        eta = mechanism(level, offset).promise().epsilon
        assert abs(over(widest(level, offset, 1, Relation.ADD_REMOVE), eta)) < 1e-60


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("level", LEVELS[:4])
def test_a_unit_in_several_groups(level, groups, over):
    """The choices are independent: the worst loss of all groups is the sum of the worst losses of the groups."""
    with ctx.workprec(BITS):
        worst = groups * greatest(level, 0, 1, Relation.ADD_REMOVE)
    promised = mechanism(level, 0, groups=groups).promise().epsilon
    assert promised == pytest.approx(groups * mechanism(level, 0).promise().epsilon)
    assert over(worst, promised) <= 0
    forgetting = mechanism(level, 0, groups=1).promise().epsilon  # the broken twin forgets the other groups
    assert over(worst, forgetting) > 0


@pytest.mark.parametrize(("cells", "groups"), [(1, 2), (2, 2), (3, 2), (None, 2), (2, 1)])
@pytest.mark.parametrize("level", LEVELS)
def test_a_replaced_unit_changes_groups_of_both_versions(level, cells, groups, over):
    """All ways to be in at most k groups, before and after, group by group."""
    relation = Relation.REPLACE_ONE
    promised = mechanism(level, 0, groups=groups, cells=cells, relation=relation).promise().epsilon
    with ctx.workprec(BITS):
        one_more, other = greatest(level, 0, 1, Relation.ADD_REMOVE), greatest(level, 0, 1, relation)
        worst = arb(0)
        for before, after in product(product((0, 1), repeat=cells or 2 * groups), repeat=2):
            if max(sum(before), sum(after)) <= groups:
                both = sum(b and a for b, a in zip(before, after, strict=True))
                worst = max(worst, both * other + (sum(before) + sum(after) - 2 * both) * one_more)
    assert over(worst, promised) <= 1e-60
    assert over(worst, promised / 3) > 0  # on tables as small as these
    if cells != 1 and level == Fraction(1, 2):
        lesser = mechanism(level, 0, groups=groups, cells=cells).promise().epsilon
        assert over(worst, lesser) > 0  # the promise for units that are added or removed is a broken twin


@pytest.mark.parametrize(("level", "kind"), [(0.5, PLAIN), (0.5, FLIP), (0, PLAIN), (0, INWARD), (0, FLIP)])
@pytest.mark.parametrize("size", [0.3, 1.0])
def test_the_loss_dominates_two_groups(level, kind, size):
    level = exact(level)
    both = mechanism(level, 0, groups=2, kind=kind).loss()
    bound, alone = both.delta(epsilon=size).upper, mechanism(level, 0, kind=kind).loss().delta(epsilon=size).upper
    worst = 0.0
    pairs = [(c, merged(c, (v,))) for c in tables(2) for v in range(LOW, HIGH + 1)]
    some = [tuple(law(values, level, 0, RATE, kind) for values in pair) for pair in pairs]
    some = [([float(p) for p in one], [float(q) for q in two]) for one, two in some]
    for (p, q), (r, s) in product(some, repeat=2):
        for a, b, c, d in ((p, q, r, s), (q, p, s, r), (p, q, s, r)):
            found = sum(max(0.0, x * y - math.exp(size) * u * v) for (x, u), (y, v) in product(zip(a, b), zip(c, d)))  # noqa: B905
            worst = max(worst, found)
    assert worst <= bound
    if kind == PLAIN or (kind == FLIP and size == 1.0):  # elsewhere such small tables are far from the worst
        assert worst > alone  # the loss of one group does not cover a unit in two


@cache
def farthest(level, one, other):
    """The largest loss, and the longest interval of losses, of a group where `one` values take the place of `other`."""
    found = []
    for common in tables(2):
        for own, instead in product(tables(one), tables(other)):
            here, there = law(merged(common, own), level, 0), law(merged(common, instead), level, 0)
            with ctx.workprec(BITS):
                found.append([(p / q).log() for p, q in zip(here, there, strict=True)])
    with ctx.workprec(BITS):
        widest = max(max(vector) - min(vector) for vector in found)
        return max(abs(loss) for vector in found for loss in vector), widest


def rows_of(each, total, cells, groups):
    return [c for c in product(range(each + 1), repeat=cells) if sum(c) <= total and sum(map(bool, c)) <= groups]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("each", "total"), [(1, 2), (2, 2), (2, 3)])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(1, 4), Fraction(0)])
def test_a_total_of_values_in_all_groups(level, each, total, relation, over):
    """All ways to put the values of a unit into three groups, before and after."""
    one = replace(mechanism(level, 0, each=each, groups=3, cells=3, relation=relation), total=total)
    ways = rows_of(each, total, 3, 3)
    others = ways if relation is Relation.REPLACE_ONE else [(0, 0, 0)]
    with ctx.workprec(BITS):
        pairs = {tuple(sorted(zip(before, after, strict=True))) for before in ways for after in others}
        worst = max(sum((farthest(level, *pair)[0] for pair in some), arb(0)) for some in pairs)
        squares = max(sum((farthest(level, *pair)[1] ** 2 for pair in some), arb(0)) for some in pairs)
    assert over(worst, one.promise().epsilon) <= 0
    assert over(squares / 8, one.zero_concentrated().rho) <= 1e-60
    assert over(squares / 8, one.zero_concentrated().rho / 9) > 0  # on tables as small as these
    assert one.promise().epsilon <= replace(one, total=None).promise().epsilon
    if level == Fraction(1, 2) and relation is Relation.ADD_REMOVE:
        assert abs(over(squares / 8, one.zero_concentrated().rho)) < 1e-15  # it is reached
        assert over(squares / 8, replace(one, total=total - 1).zero_concentrated().rho) > 0  # a broken twin


@pytest.mark.parametrize(("each", "total", "groups"), [(3, 3, 9), (3, 7, 9), (2, 5, 9), (3, 6, 4), (2, 6, 3)])
@pytest.mark.parametrize("size", [0.2, 0.7])
def test_the_loss_dominates_all_ways_to_have_a_total_of_values(each, total, groups, size):
    """Every partition of the total into groups of at most `each` values; five small groups are one large one."""
    one = GroupedQuantile(Fraction(1, 5), Fraction(1, 2), 0, 9, each=each, groups=groups, total=total)
    bound = one.loss().delta(epsilon=size).upper
    for parts in partitions(total, each, groups):
        law = sum((Loss.of(BoundedRangeLaw(part / 5)) for part in parts[1:]), Loss.of(BoundedRangeLaw(parts[0] / 5)))
        assert law.delta(epsilon=size).lower <= bound, parts
    if each == total:  # all values in one group are the worst, and nothing is lost by putting groups together
        assert bound == pytest.approx(Loss.of(BoundedRangeLaw(each / 5)).delta(epsilon=size).upper, rel=1e-9)


def partitions(total, most, groups):
    if total == 0:
        return [()]
    if groups == 0:
        return []
    return [
        (first, *rest)
        for first in range(min(total, most), 0, -1)
        for rest in partitions(total - first, first, groups - 1)
    ]


def test_flavors_are_fitted():
    one = GroupedQuantile(1, 0.5, 0, 100, each=2, groups=30)
    pure, moments = one.fitted(PureDP(1.0)), one.fitted(ZeroConcentratedDP(0.01))
    assert pure.promise() == PureDP(1.0)
    assert pure.rate == Fraction(1, 60)
    assert 0.01 * (1 - 1e-12) < moments.zero_concentrated().rho <= 0.01
    assert moments.rate == pytest.approx(math.sqrt(8 * 0.01 / 30) / 2)
    assert concentrated(Composed((moments, Repeated(moments, 2)))).rho == pytest.approx(0.03)
    assert concentrated(Laplace(scale=10)).rho == pytest.approx(0.005)  # without anything better, ε²/2
    # Many groups cost less than their sum at a small δ.
    price = ApproximateDP(1.0, 1e-6)
    assert price.proved_by(replace(pure, rate=pure.rate * 2).loss())
    assert not price.proved_by(replace(pure, rate=pure.rate * 4).loss())


# The release


@pytest.mark.sampled(3)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("values", "level"), [((0, 1, 1, 3), 0.5), ((2,), 0.25), ((1, 1, 2), 1), ((2, 3, 3), 0)])
def test_draws_follow_the_law(values, level, offset, misfit, alarm):
    chosen, coins = mechanism(level, offset), TestCoins(1)
    draws = chosen.release([Counter(values)] * 6_000, coins=coins)
    assert misfit(draws, [float(p) for p in law(values, exact(level), offset)]) > alarm
    assert misfit(draws, [float(p) for p in law(values, exact(level), offset, 4 * RATE)]) < alarm


@pytest.mark.parametrize(("kind", "level", "offset"), [(INWARD, 0, 0), (INWARD, 1, 0), (FLIP, 0.5, 0), (FLIP, 0, 2)])
@pytest.mark.parametrize("values", [(0, 1, 1, 3), (2,), (1, 1, 2), ()])
def test_draws_follow_the_law_of_their_kind(kind, level, offset, values, misfit, alarm):
    chosen, coins = mechanism(level, offset, kind=kind), TestCoins(3)
    draws = chosen.release([Counter(values)] * 6_000, coins=coins)
    assert misfit(draws, [float(p) for p in law(values, exact(level), offset, RATE, kind)]) > alarm
    if len(values) > 2:
        assert misfit(draws, [float(p) for p in law(values, exact(level), offset)]) < alarm


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("kind", [PLAIN, INWARD, FLIP])
def test_ranks_are_off_by_no_more_than_the_error(kind, confidence):
    """On every small table, exactly; and a smaller error would be wrong on some of them."""
    tight = False
    for level, rate in product([Fraction(0), Fraction(1, 2), Fraction(1)], [Fraction(1), Fraction(3)]):
        if kind == INWARD and level == Fraction(1, 2):
            continue
        one = replace(mechanism(level, 0, kind=kind), rate=rate)
        error = exact(one.error(confidence=confidence))
        for values in tables(6):
            chances = law(values, level, 0, rate, kind)
            ranks = [max(0, cost(values, x, level, 0)) for x in range(LOW, HIGH + 1)]
            with ctx.workprec(BITS):
                held, less = (
                    sum((p for p, rank in zip(chances, ranks, strict=True) if rank <= most), arb(0))
                    for most in (error, error / 2)
                )
                assert held >= ball(confidence)
                tight = tight or bool(less < ball(confidence))
    assert tight


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0, 1])
def test_the_extreme_is_not_beyond_its_interval(level, confidence):
    """The law of all choices between 0 and 40, for a least value anywhere between them."""
    for rate, many in product([Fraction(1, 50), Fraction(1), Fraction(50)], [1, 30]):
        one = GroupedQuantile(rate, level, 0, 40, inward=True)
        missed_by_itself = False
        for least in range(41):
            beyond = [one.beyond(x, confidence=confidence) for x in range(41)]
            with ctx.workprec(BITS):
                places = [x if level == 0 else 40 - x for x in range(41)]  # counted from the bound
                weights = [(3 * 41 + 10 * k) * ball(-rate * many * (k > least)).exp() for k in places]
                whole, inside = sum(weights, arb(0)), range(41)
                value = least if level == 0 else 40 - least
                holds = [x for x in inside if (value <= beyond[x] if level == 0 else value >= beyond[x])]
                assert sum((weights[x] for x in holds), arb(0)) >= ball(confidence) * whole
                alone = [x for x in inside if places[x] >= least]
                missed = bool(sum((weights[x] for x in alone), arb(0)) < ball(confidence) * whole)
                missed_by_itself = missed_by_itself or missed
        assert missed_by_itself  # the number shown is no such end by itself


def test_flips_are_better_where_equal_values_are_many():
    values = (0, 0, 0, 1, 1, 1, 2, 2, 2)
    plain, flip = (law(values, Fraction(1, 2), 0, RATE, kind)[1] for kind in (PLAIN, FLIP))
    assert float(flip) > float(plain)
    assert mechanism(0.5, 0, kind=FLIP).error() < mechanism(0.5, 0).error()


def test_it_draws_as_quantiles_do():
    """The same coins give the same numbers, and every group has its own."""
    old, new = Quantiles(2, (Fraction(1, 4),), 0, 50), GroupedQuantile(Fraction(4, 3), Fraction(1, 4), 0, 50)
    groups = [[3, 3, 70, -9], [], [12]]
    one, two = TestCoins(5), TestCoins(5)
    assert [old.release(values, coins=one)[0] for values in groups] == new.release(map_counts(groups), coins=two)
    assert new.error() == old.error()
    assert new.promise() == old.promise()


@pytest.mark.parametrize("offset", [0, 3, -3])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(1), Fraction(1, 10**30)])
def test_long_integers_are_as_good_as_short_ones(level, offset):
    """Far from 0, or with a level that has a long denominator, nothing wraps around."""
    far = 10**30
    near = GroupedQuantile(Fraction(1, 2), level, -5, 9, offset=offset)
    moved = GroupedQuantile(Fraction(1, 2), level, far - 5, far + 9, offset=offset)
    for values in ({}, {3: 2}, {-9: 1, 0: 5, 4: 1, 99: 2}, {-5: 1}, {9: 3}, dict.fromkeys(range(-5, 10), 1)):
        elsewhere = {value + far: count for value, count in values.items()}
        one, two = TestCoins(8), TestCoins(8)
        assert [x + far for x in near.release([values] * 20, coins=one)] == moved.release([elsewhere] * 20, coins=two)


def map_counts(groups):
    return [Counter(values) for values in groups]


def test_a_group_without_values_is_uniform(misfit, alarm):
    draws = mechanism(Fraction(1, 2), 0).release([{}] * 4_000, coins=TestCoins(2))
    assert misfit(draws, [1 / (HIGH - LOW + 1)] * (HIGH - LOW + 1)) > alarm


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_ends_are_on_their_side(level, confidence):
    """With an offset of its error, an end is at or beyond every quantile as often as it says, on every small table."""
    with ctx.workprec(BITS):
        for rate in (Fraction(1), Fraction(3)):
            offset = math.ceil(GroupedQuantile(rate, level, LOW, HIGH).error(confidence=confidence))
            for values in tables(6):
                above, below = law(values, level, offset, rate), law(values, level, -offset, rate)
                upper = [
                    x for x in range(LOW, HIGH + 1) if x == HIGH or sum(v <= x for v in values) >= level * len(values)
                ]
                lower = [
                    x for x in range(LOW, HIGH + 1) if x == LOW or sum(v < x for v in values) <= level * len(values)
                ]
                assert sum((above[x] for x in upper), arb(0)) >= ball(confidence)
                assert sum((below[x] for x in lower), arb(0)) >= ball(confidence)


def test_without_an_offset_an_end_is_often_wrong():
    """The broken twin: the quantile itself is on the wrong side nearly as often as on the right one."""
    values = tuple([0] * 30 + [1] * 30 + [2] * 30 + [3] * 30)
    right = [x for x in range(4) if x == HIGH or sum(v <= x for v in values) >= 60]
    with ctx.workprec(BITS):
        assert sum((law(values, Fraction(1, 2), 0, Fraction(1, 50))[x] for x in right), arb(0)) < ball(0.85)


def test_one_candidate_is_always_chosen():
    only = GroupedQuantile(1, 0.5, 7, 7)
    assert only.release([{3: 2}, {}, {9: 1}]) == [7, 7, 7]
    assert only.error() == 0.0


# Refusals


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0},
        {"rate": math.nan},
        {"level": 1.5},
        {"level": -0.1},
        {"low": 5, "high": 4},
        {"low": 0.5},
        {"each": 0},
        {"groups": 0},
        {"cells": 0},
        {"offset": 1.5},
        {"relation": "add-remove"},
        {"inward": 1, "level": 0},
        {"flip": 1},
        {"inward": True},
        {"inward": True, "level": 0, "offset": 1},
        {"inward": True, "level": 0, "flip": True},
    ],
)
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match="GroupedQuantile"):
        GroupedQuantile(**{"rate": 1, "level": 0.5, "low": 0, "high": 9, **wrong})


def test_values_are_never_quoted():
    with pytest.raises(ValueError, match="integers with their counts") as caught:
        GroupedQuantile(1, 0.5, 0, 9).release([{7654321.5: 1}])  # type: ignore[dict-item]
    assert "7654321" not in str(caught.value)


def test_bounds_of_numpy_do_not_wrap_around():
    made = GroupedQuantile(1, 0.5, np.int8(-128), np.int8(127), each=np.int8(2))  # type: ignore[arg-type]
    assert made == GroupedQuantile(1, 0.5, -128, 127, each=2)
    assert type(made.low) is int
