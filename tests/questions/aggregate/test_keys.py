from __future__ import annotations

import math
from itertools import product

import pytest

from sitr.dataset.schema import Kind
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.partition import PartitionSelection
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.keys import KeyThreshold, beside, in_order, number_of_people, shown_keys
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release

BY_BOTH = "SELECT {0}, {1}, COUNT(*) AS n FROM visits GROUP BY {0}, {1}"
MIXED = {"keys": {"urgent": [True, False]}, "price": ApproximateZeroConcentratedDP(0.1, 1e-6)}
PRICES = [ApproximateDP(1, 1e-6), ApproximateDP(0.1, 1e-9), ApproximateZeroConcentratedDP(0.1, 1e-6)]
MANY = 10_000


def release(plan: AggregatePlan, cells: Cells, *, seed: int = 1) -> Release:
    return AggregateQuestion(plan.query).answer(plan, cells, coins=TestCoins(seed))


def test_a_shown_key_has_a_row_for_every_public_key_beside_it(plan):
    cells: Cells = {("B", True): (MANY, MANY), ("A", False): (MANY, MANY), ("rare", True): (1, 1)}
    shown = release(plan(BY_BOTH.format("ward", "urgent"), **MIXED), cells)
    assert shown.keys == (("A", True), ("A", False), ("B", True), ("B", False))
    for key, (number,) in zip(shown.keys, shown.measured, strict=True):
        assert abs(number - cells.get(key, (0, 0))[0]) < 1_000
    turned: Cells = {(urgent, ward): numbers for (ward, urgent), numbers in cells.items()}
    other = release(plan(BY_BOTH.format("urgent", "ward"), **MIXED), turned)
    assert other.keys == ((True, "A"), (True, "B"), (False, "A"), (False, "B"))


def test_people_of_all_public_keys_together_select_an_unknown_one(plan):
    """No cell of A reaches the threshold by itself; A does."""
    fitted = plan(BY_BOTH.format("ward", "urgent"), **MIXED)
    assert fitted.threshold is not None
    least, far = fitted.threshold.least, 60 * int(fitted.threshold.noise.size)
    cells: Cells = {("A", urgent): (0, (least + far) // 2 + 1) for urgent in (True, False)}
    cells |= {("rare", urgent): (MANY, 0) for urgent in (True, False)}
    assert number_of_people(fitted.query, cells)[("A",)] >= least + far
    for seed in range(10):
        assert {ward for ward, _ in release(fitted, cells, seed=seed).keys} == {"A"}


def test_the_rows_depend_on_the_numbers_of_people_of_the_selected_keys_alone(plan):
    """Where the people are among the public keys, and what the terms are, changes no row. Where a twin selects whole
    combinations, the same tables have different rows."""
    fitted = plan(BY_BOTH.format("ward", "urgent"), **MIXED)
    assert fitted.threshold is not None
    least = fitted.threshold.least
    tables: list[Cells] = [
        {("A", True): (5, least), ("B", True): (MANY, MANY)},
        {("A", False): (-7, least), ("B", True): (0, 0), ("B", False): (0, MANY)},
        {("A", True): (1, least - 3), ("A", False): (9, 3), ("B", False): (3, MANY)},
    ]
    differ = set()
    for seed in range(30):
        rows = {shown_keys(fitted.query, fitted.threshold, cells, coins=TestCoins(seed)) for cells in tables}
        assert len(rows) == 1
        differ |= rows
    assert len(differ) == 2  # A is shown about half of the time

    whole = plan(BY_BOTH.format("ward", "days"), keys={}, price=MIXED["price"], bounds={}, granularity={})
    assert len({shown_keys(whole.query, whole.threshold, cells, coins=TestCoins(1)) for cells in tables}) > 1


def test_more_public_keys_than_can_be_shown_are_selected_too(plan):
    sql = "SELECT ward, days, cost_, COUNT(*) AS n FROM visits GROUP BY ward, days, cost_"
    wide = {"kinds": {"id": Kind.INTEGER, "ward": Kind.TEXT, "days": Kind.INTEGER, "cost_": Kind.INTEGER}, "keys": {}}
    few = plan(sql, price=MIXED["price"], bounds={"days": (1, 100), "cost_": (1, 90)}, granularity={}, **wide)
    many = plan(sql, price=MIXED["price"], bounds={"days": (1, 100), "cost_": (1, 110)}, granularity={}, **wide)
    assert few.query.selected == (0,)
    assert many.query.selected == (0, 1, 2)
    cells: Cells = {("A", 1, 2): (MANY, MANY), ("A", 1, 3): (1, 1)}
    assert release(many, cells).keys == (("A", 1, 2),)


def test_only_whole_answers_are_possible(plan):
    fitted = plan(BY_BOTH.format("ward", "urgent"), **MIXED)
    made = release(fitted, {("A", True): (MANY, MANY)})
    assert made.possible()
    assert Release(fitted, (), ()).possible()
    assert not Release(fitted, made.keys[:1], made.measured[:1]).possible()
    assert not Release(fitted, (("A", True), ("B", False)), made.measured).possible()


def test_keys_without_a_public_part_are_as_before(plan):
    fitted = plan(BY_BOTH.format("ward", "born"), keys={}, price=MIXED["price"])
    assert fitted.query.selected == (0, 1)
    assert beside(fitted.query, [("b", None), ("a", None)]) == (("a", None), ("b", None))
    assert in_order([("b",), (None,), ("a",)]) == [("a",), ("b",), (None,)]


# The threshold's δ is that of as many selected keys as one person may have.


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("groups", [1, 3])
def test_the_rows_alone_lose_no_more_than_the_threshold_promises(plan, price, groups):
    """All outcomes are enumerated: which of the selected keys of one person are shown, for all small numbers of other
    people. With all keys held by this person alone, δ is reached; a twin fitted to one key exceeds its δ."""
    settings = MIXED | {"price": price, "max_groups": groups}
    threshold = plan(BY_BOTH.format("ward", "urgent"), **settings).threshold
    assert threshold is not None
    assert (threshold.keys if isinstance(threshold, PartitionSelection) else threshold.groups) == groups
    loss, usual = threshold.loss(), threshold.error()
    rounding = 1e-15  # of differences of doubles
    allowed = {epsilon: loss.delta(epsilon=epsilon).upper * (1 + 1e-9) + rounding for epsilon in (0.05, 0.3, 1.0)}
    others = sorted({0, 1, 2, usual // 3, usual // 2, usual - 1, usual + 3})
    for held in product(others, repeat=groups):
        with_ = [shown(threshold, n + 1) for n in held]
        without = [shown(threshold, n) for n in held]
        for epsilon, most in allowed.items():
            assert hockey_stick(with_, without, epsilon) <= most
            assert hockey_stick(without, with_, epsilon) <= most
    alone = [shown(threshold, 1)] * groups
    exposed = hockey_stick(alone, [0.0] * groups, 50.0)
    assert exposed == pytest.approx(threshold.promise().delta, rel=1e-6)
    if groups > 1:
        one = plan(BY_BOTH.format("ward", "urgent"), **(settings | {"max_groups": 1})).threshold
        assert hockey_stick([shown(one, 1)] * groups, [0.0] * groups, 50.0) > one.promise().delta * 1.5


def shown(selection: KeyThreshold, people: int) -> float:
    """The probability that a key with this many people is shown."""
    if isinstance(selection, PartitionSelection):
        return recursion(selection, people)
    return passing(selection.noise, selection.least, people) if people else 0.0


def recursion(selection: PartitionSelection, people: int) -> float:
    """π_n, step by step."""
    step = float(selection.epsilon) / selection.keys
    each = -math.expm1(math.log1p(-float(selection.delta)) / selection.keys)
    chance = 0.0
    for _ in range(people):
        chance = min(math.exp(step) * chance + each, 1 - math.exp(-step) * (1 - chance - each), 1.0)
    return chance


def passing(noise: Noise, least: int, people: int) -> float:
    """P(people + Y ≥ least), computed another way."""
    lacks, size = least - people, float(noise.size)
    if isinstance(noise, Laplace):
        tail = math.exp(-abs(lacks) / size) / (1 + math.exp(-1 / size))
        return tail if lacks > 0 else 1 - math.exp(-(1 - lacks) / size) / (1 + math.exp(-1 / size))
    if isinstance(noise, Gaussian):
        reach = range(-int(12 * size) - 2, int(12 * size) + 3)
        bells = {y: math.exp(-((y / size) ** 2) / 2) for y in reach}
        return math.fsum(bell for y, bell in bells.items() if y >= lacks) / math.fsum(bells.values())
    return math.erfc((lacks - 0.5) / (size * math.sqrt(2))) / 2


def hockey_stick(one: list[float], other: list[float], epsilon: float) -> float:
    """Σ max(0, P − e^ε·Q) over all sets of shown keys."""
    total = 0.0
    for shown in product((True, False), repeat=len(one)):
        p, q = (
            math.prod(chance if is_shown else 1 - chance for chance, is_shown in zip(chances, shown, strict=True))
            for chances in (one, other)
        )
        total += max(0.0, p - math.exp(epsilon) * q)
    return total
