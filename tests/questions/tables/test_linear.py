"""Weighted sums of cells: their deviation is exact, and their intervals hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.dataset.schema import Column, Kind, Quantised, Table
from sitr.errors import SitrError
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.tables import linear
from sitr.questions.tables.counting import coarser, totals
from sitr.questions.tables.publication import release
from sitr.questions.tables.question import tables_question

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

GROUPS = {"ward": {"region": {"north": ["a", "b"], "south": ["c", "d", "e"]}}}
PRICES = [ZeroConcentratedDP(0.5), PureDP(1.0)]
WANTED = [("ward", "sex"), ("region", "age"), ("sex", "age")]


def planned(price, *, whole=False):
    columns = (
        Column("ward", Kind.TEXT, keys=tuple("abcde")),
        Column("sex", Kind.TEXT, keys=("f", "m")),
        Column("age", Kind.TEXT, keys=("x", "y", "z")),
        Column("cost", Kind.REAL, Quantised(0, 40, Fraction(1, 4))),
    )
    table = Table("visits", columns, Row(), Relation.ADD_REMOVE, 1, 1)
    measures = ["count", "sum(cost)", "mean(cost)"]
    return tables_question(table, WANTED, measures=measures, hierarchies=GROUPS, whole=whole).plan(price)


def rows(plan):
    random = np.random.default_rng(5)
    codes = [random.integers(0, size, 200) for size in (5, 2, 3)]
    values = [random.integers(low, high + 1, 200) for low, high in (term.reach for term in plan.records.valued)]
    return np.column_stack([*codes, *values]).astype(np.int64)


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_single_cells_have_the_variances_of_the_plan(price) -> None:
    plan = planned(price)
    made = release(plan, rows(plan), coins=TestCoins(1))
    for measure in plan.measures[:2]:
        for node in plan.workload.tables:
            wide = np.broadcast_to(plan.variances(measure, node), plan.workload.shape(node))
            for at in np.ndindex(*plan.workload.shape(node)):
                weights = np.zeros(plan.workload.shape(node))
                weights[at] = 1.0
                assert linear.deviation(made, measure, {node: weights}) == pytest.approx(math.sqrt(wide[at]), rel=1e-9)


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_margins_have_the_variances_of_coarser_tables(price) -> None:
    """Noise that siblings share must cancel: adding variances, as for independent cells, would be wrong."""
    plan = planned(price)
    made = release(plan, rows(plan), coins=TestCoins(1))
    count, fine = plan.measures[0], plan.workload.tables[0]
    shape = plan.workload.shape(fine)
    for node in (((0, 1),), ((0, 1), (1, 1)), ((1, 1),), ((0, 2),), ()):
        wide = np.broadcast_to(plan.variances(count, node), plan.workload.shape(node))
        for at in np.ndindex(*plan.workload.shape(node)):
            unit = np.zeros(plan.workload.shape(node), np.int64)
            unit[at] = 1
            weights = np.zeros(shape)
            for cell in np.ndindex(*shape):
                one = np.zeros(shape, np.int64)
                one[cell] = 1
                weights[cell] = (np.asarray(coarser(plan.workload, fine, one, node)) * unit).sum()
            found = linear.deviation(made, count, {fine: weights})
            assert found == pytest.approx(math.sqrt(wide[at]), rel=1e-9)
    independent = math.sqrt(np.broadcast_to(plan.variances(count, fine), shape).sum())
    shared = independent / math.sqrt(float(plan.variances(count, ())))
    assert plan.pure or shared > 1.2  # the cells of one table with Laplace noise are independent


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_deviations_and_intervals_are_those_of_many_releases(price) -> None:
    """Of a difference across two tables with common margins: simulated, at 80%."""
    plan = planned(price)
    read = rows(plan)
    weights: dict[str, Any] = {
        "ward × sex": {("a", "f"): 1, ("c", "m"): -2.5},
        "region × age": {("north", "x"): 1, ("south", "y"): 0.5},
    }
    exact = totals(plan.records, plan.workload, read, plan.workload.tables)[0]
    first, second = (exact[node] for node in plan.workload.tables[:2])
    true = first[0, 0] - 2.5 * first[2, 1] + second[0, 0] + 0.5 * second[1, 1]
    coins = TestCoins(7)
    found = [linear.combined(release(plan, read, coins=coins), weights, confidence=0.8) for _ in range(400)]
    errors = np.array([each.value - true for each in found])
    assert errors.std() == pytest.approx(found[0].deviation, rel=0.12)
    assert abs(errors.mean()) < 0.2 * found[0].deviation
    missed = sum(not each.low <= true <= each.high for each in found) / len(found)
    assert 0.13 < missed < 0.26


def test_totals_name_labels_of_any_level() -> None:
    plan = planned(PRICES[0])
    made = release(plan, rows(plan), coins=TestCoins(1))
    count = plan.measures[0]
    some = linear.total(made, {"region": "north", "sex": ["f"]})
    cells = made.cells(count, plan.workload.tables[0])
    assert some.value == pytest.approx(cells[0, 0] + cells[1, 0], abs=1e-9)
    assert some.low < some.value < some.high
    whole = linear.total(made, {})
    assert whole.value == pytest.approx(cells.sum(), abs=1e-6)
    assert whole.deviation == pytest.approx(math.sqrt(float(plan.variances(count, ()))), rel=1e-9)
    costs = linear.total(made, {"ward": ["a", "e"]}, measure="sum of cost")
    assert costs.value == pytest.approx(made.cells(plan.measures[1], plan.workload.tables[0])[[0, 4]].sum(), abs=1e-6)


def test_intervals_of_rounded_totals_hold_the_number_shown() -> None:
    plan = planned(ZeroConcentratedDP(0.001), whole=True)
    made = release(plan, rows(plan), coins=TestCoins(1))
    found = linear.total(made, {"region": "south"})
    assert found.value == int(found.value)
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    "wrong",
    [
        lambda made: linear.total(made, {"nobody": "a"}),
        lambda made: linear.total(made, {"ward": "q"}),
        lambda made: linear.total(made, {"ward": "a", "age": "x"}),
        lambda made: linear.total(made, {}, measure="mean of cost"),
        lambda made: linear.combined(made, {"ward × sex": {"a": 1}}),
        lambda made: linear.combined(made, {"ward × sex": {("a", "q"): 1}}),
        lambda made: linear.combined(made, {"ward × sex": {("a", "f"): math.nan}}),
        lambda made: linear.combined(made, {"nobody": {"a": 1}}),
    ],
)
def test_mistakes_are_refused(wrong) -> None:
    plan = planned(PRICES[0])
    made = release(plan, rows(plan), coins=TestCoins(1))
    with pytest.raises(SitrError):
        wrong(made)
