"""Minima, maxima and quantiles are as near as they say, in ten thousand releases of each kind.

The exact binomial tail leaves a sound statement a chance of 10⁻⁷ to fail here. Broken twins, with half of the ranks or
with the number shown as an end of its interval, fall out of that tail.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from sitr.dataset.schema import Kind, describe
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.sql import parse

pytestmark = pytest.mark.usefixtures("same_cells")

RELEASES = 10_000
PRICES = {"pure": PureDP(0.5), "zcdp": ZeroConcentratedDP(0.05), "dear": PureDP(30.0)}
CALLS = ["MIN(x)", "MAX(x)", "MEDIAN(x)", "QUANTILE(x, 0.9)", "WITH_INTERVAL(MEDIAN(x))", "WITH_INTERVAL(MAX(x))"]
LEVELS = {"MIN": 0.0, "MAX": 1.0, "MED": 0.5, "QUA": 0.9}


def values():
    """Some equal values, some gaps, and bounds that are far away above and near below."""
    draw = np.random.default_rng(6)
    return sorted(np.concatenate([draw.integers(3, 30, 150), [35] * 40, [50, 60]]).tolist())


def asked(call, price):
    table = describe(
        "t",
        kinds={"id": Kind.INTEGER, "x": Kind.INTEGER},
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=1,
        max_rows_per_group=1,
        bounds={"x": (0, 100)},
        granularity={},
        keys={},
    )
    question = AggregateQuestion(bound(parse(f"SELECT {call} AS q FROM t"), table))
    return question.plan(PRICES[price])


def strictly_between(rows, one, other):
    low, high = min(one, other), max(one, other)
    return max(0, bisect_left(rows, high) - bisect_right(rows, low))


def released(plan, rows, many):
    """The estimates of many releases: of each measurement many draws at once."""
    (column,) = plan.columns
    coins = TestCoins(17)
    drawn = [each.measurement.mechanism.release([Counter(rows)] * many, coins=coins) for each in column.measured]
    return column.ranks(), column.estimates(zip(*drawn, strict=True))


def held(call, price, many):
    """How often ranks, half of the ranks, the interval and its broken twin hold the exact quantile."""
    rows, level = values(), LEVELS[call.removeprefix("WITH_INTERVAL(")[:3]]
    plan = asked(call, price)
    exact = float(np.quantile(rows, level))
    ranks, found = released(plan, rows, many)
    between = [strictly_between(rows, float(one.value), exact) for one in found]
    inside = [float(one.low) <= exact <= float(one.high) for one in found]
    half = [many <= ranks / 2 for many in between]
    ends = [float(one.value) >= exact if level == 0 else float(one.value) <= exact for one in found]
    return [sum(flags) for flags in ([many <= ranks for many in between], half, inside, ends)]


@pytest.mark.parametrize(
    ("call", "price"),
    [
        pytest.param(
            call,
            price,
            marks=[pytest.mark.slow, *([pytest.mark.sample] if (call, price) == ("MIN(x)", "pure") else [])],
        )
        for call in CALLS
        for price in PRICES
    ],
)
def test_ranks_and_intervals_hold_as_often_as_they_say(call, price):
    ranks, _, inside, _ = held(call, price, RELEASES)
    assert binom.cdf(ranks, RELEASES, 0.95) > 1e-7
    assert binom.cdf(inside, RELEASES, 0.95) > 1e-7


@pytest.mark.parametrize(("call", "price"), [("MIN(x)", "pure"), ("MAX(x)", "zcdp"), ("MEDIAN(x)", "pure")])
def test_a_few_hundred_of_them_do_and_broken_twins_do_not(call, price):
    many = 500
    ranks, _, inside, ends = held(call, price, many)
    assert binom.cdf(ranks, many, 0.95) > 1e-7
    assert binom.cdf(inside, many, 0.95) > 1e-7
    if call != "MEDIAN(x)":
        assert binom.cdf(ends, many, 0.95) < 1e-7  # the number shown may lie beyond all values


def test_a_dear_extreme_is_an_end_and_a_cheap_one_leans_inward():
    (dear,), (cheap,) = (plan.noisy for plan in (asked("MAX(x)", "dear"), asked("MAX(x)", "pure")))
    assert dear.choice.offset < 0
    assert dear.choice.flip
    assert cheap.choice.inward
    assert cheap.choice.offset == 0
    ranks, _, inside, ends = held("MAX(x)", "dear", 300)
    assert min(ranks, inside, ends) > 285


def test_intervals_of_extremes_are_measured_if_asked_for():
    plan = asked("WITH_INTERVAL(MAX(x))", "zcdp")
    assert [each.term.name for each in plan.noisy] == ["MAX(x)", "MAX(x), a lower end"]
    rows = values()
    _, found = released(plan, rows, 200)
    _, without = released(asked("MAX(x)", "zcdp"), rows, 200)
    wide, narrow = (np.median([float(one.high - one.low) for one in some]) for some in (without, found))
    assert narrow < wide
    assert plan.columns[0].ranks() > asked("MAX(x)", "zcdp").columns[0].ranks()
    assert Fraction(35) in {one.value for one in found} or len({one.value for one in found}) > 5
