"""Tables as a question: what can be asked, what it costs, and that intervals hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.residual_gaussian import ResidualGaussian
from sitr.noise.coins import TestCoins
from sitr.questions.tables.counting import totals
from sitr.questions.tables.publication import PublishedTables, release
from sitr.questions.tables.question import TablesQuestion

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

ROWS = 300
REGIONS = {"ward": {"region": {"north": ["a", "b"], "south": ["c"]}}}
PRICES = (ZeroConcentratedDP(0.5), ApproximateDP(1.0, 1e-6), PureDP(1.0))


@pytest.fixture
def budget(tmp_path):
    random = np.random.default_rng(7)
    table = pa.table(
        {
            "ward": [["a", "b", "c", None][place] for place in random.integers(0, 4, ROWS)],
            "sex": [["m", "f"][place] for place in random.integers(0, 2, ROWS)],
            "age": random.integers(0, 100, ROWS),
            "cost": np.where(random.random(ROWS) < 0.1, np.nan, random.uniform(-10, 120, ROWS)),
            "id": random.integers(0, 200, ROWS),
        }
    )
    data = sitr.protect(
        table,
        unit="id",
        max_groups=1,
        max_rows_per_group=3,
        name="visits",
        bounds={"cost": (0, 100), "age": (0, 100)},
        granularity={"cost": 0.5},
        keys={"ward": ["a", "b", "c"], "sex": ["m", "f"]},
    )
    return data.budget("zcdp(1000)", ledger=tmp_path / "sitr.db")


def asked(budget, tables=(("ward", "sex"), ("region", "age"), ()), **said) -> TablesQuestion:
    said = {"bins": {"age": 4}, "hierarchies": REGIONS, "measures": ["count", "sum(cost)", "mean(cost)"]} | said
    found = budget.tables(tables, **said).question
    assert isinstance(found, TablesQuestion)
    return found


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_plans_keep_their_price_and_use_it(budget, price) -> None:
    plan = asked(budget).plan(price)
    plan.check()
    promise = plan.promise()
    name = "rho" if isinstance(price, ZeroConcentratedDP) else "epsilon"
    assert getattr(price, name) * (1 - 1e-9) <= getattr(promise, name) <= getattr(price, name)
    assert plan.pure == isinstance(price, PureDP)
    assert plan.gap <= 0.01


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_every_margin_is_the_sum_of_its_parts(budget, price) -> None:
    wanted = [("ward", "sex"), "ward", "region", "sex", (), ("region", "sex")]
    question = asked(budget, tables=wanted, bins=None)
    plan = question.plan(price)
    listed = budget._at.backend.read(question.reading(), salt=1)
    made = release(plan, listed, coins=TestCoins(1))
    assert made.possible()
    for name in ("count", "sum of cost"):
        of = {key: _summed(made, key, name) for key in ("ward × sex", "ward", "region", "sex", "total", "region × sex")}
        wards = of["ward × sex"]
        for ward, sex in product("abc", "mf"):
            assert (ward, sex) in wards
        for ward in "abc":
            assert sum(wards[(ward, sex)] for sex in "mf") == of["ward"][(ward,)]
        for sex in "mf":
            assert sum(wards[(ward, sex)] for ward in "abc") == of["sex"][(sex,)]
            assert wards[("a", sex)] + wards[("b", sex)] == of["region × sex"][("north", sex)]
        assert sum(of["region"].values()) == of["total"][()] == sum(wards.values())


def _summed(made: PublishedTables, table: str, measure: str) -> dict[tuple[str, ...], Fraction]:
    """The numbers as the decimals that are written: sums of these are exact."""
    found = made.tables()[table].to_pylist()
    names = [name for name in found[0] if name in ("ward", "sex", "region")]
    return {tuple(row[name] for name in names): Fraction(repr(row[measure])) for row in found}


@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.5), PureDP(3.0)], ids=repr)
def test_intervals_contain_the_exact_numbers_as_often_as_they_say(budget, price) -> None:
    """At 80%, of all cells of all measures; fewer misses would mean that intervals are too wide."""
    question = asked(budget)
    plan = question.plan(price)
    listed = budget._at.backend.read(question.reading(), salt=1)
    exact = totals(plan.records, plan.workload, listed, plan.nodes)
    coins, misses, cells = TestCoins(3), {measure.name: 0 for measure in plan.measures}, 0
    for _ in range(60):
        made = release(plan, listed, coins=coins)
        for node in plan.workload.tables:
            cells += plan.workload.cells(node)
            for measure in plan.measures:
                true = sum(float(weight) * exact[term][node].astype(float) for term, weight in measure.weights)
                if measure.values is not None:
                    values = exact[measure.values][node]
                    with np.errstate(all="ignore"):
                        true = true / values + float(measure.middle)
                    true = np.where(values > 0, true, 50.0)
                low, high = made.ends(measure, node, confidence=0.8)
                misses[measure.name] += int(((true < low) | (true > high)).sum())
    rates = {name: missed / cells for name, missed in misses.items()}
    least = 0.1 if plan.pure else 0.15  # of Laplace noise, all cells of a table have the width of the worst
    assert least < rates["count"] < 0.24
    assert least < rates["sum of cost"] < 0.24
    assert rates["mean of cost"] < 0.24
    assert plan.pure or rates["mean of cost"] > 0.05


def test_a_unit_with_more_rows_pays_for_all_of_them(budget) -> None:
    one, three = (asked(budget, rows_per_person=rows).plan(ZeroConcentratedDP(0.5)) for rows in (1, 3))
    count = one.measures[0]
    assert three.error(count, ()) == pytest.approx(3 * one.error(count, ()), rel=1e-2)
    noise = three.measurements[0].mechanism
    assert isinstance(noise, ResidualGaussian)
    assert noise.sensitivity == 3


def test_weights_buy_precision(budget) -> None:
    price = ZeroConcentratedDP(0.5)
    even, heavy = (asked(budget, weights=weights).plan(price) for weights in ({}, {"ward × sex": 100}))
    count = even.measures[0]
    first, second = even.workload.tables[:2]
    assert heavy.error(count, first) < 0.8 * even.error(count, first)
    assert heavy.error(count, second) > even.error(count, second)
    ratio = 10 * heavy.error(count, first) / heavy.error(count, second)
    assert ratio == pytest.approx(1, abs=0.25)


def test_the_sum_is_least_for_the_sum(budget) -> None:
    price = ZeroConcentratedDP(0.5)
    largest, total = (asked(budget, objective=objective).plan(price) for objective in ("largest", "sum"))
    count = total.measures[0]
    sums = [sum(float(p.variances(count, node).mean()) for node in p.workload.tables) for p in (largest, total)]
    worst = [max(float(p.variances(count, node).mean()) for node in p.workload.tables) for p in (largest, total)]
    assert sums[1] <= sums[0]
    assert worst[0] <= worst[1]


def test_people_are_counted_where_each_has_one_cell(budget) -> None:
    with pytest.raises(SitrError, match="only where each has one cell"):
        budget.tables(["ward"], measures=["people"])
    assert budget.tables(["ward"], measures=["people"], rows_per_person=1).question.measures[0].name == "people"


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([], {}),
        ([()], {}),
        ("ward", {}),
        ([("ward", "ward")], {}),
        ([("ward", "region")], {"hierarchies": REGIONS}),
        (["ward", ["ward"]], {}),
        (["nobody"], {}),
        (["age"], {"bins": 4}),
        (["age"], {"bins": {"sex": 4}}),
        (["ward"], {"measures": ["median(cost)"]}),
        (["ward"], {"measures": []}),
        (["ward"], {"measures": ["count", "count"]}),
        (["ward"], {"weights": {"sex": 2}}),
        (["ward"], {"weights": {"ward": 0}}),
        (["ward"], {"objective": "best"}),
        (["ward"], {"rows_per_person": 0}),
        (["ward"], {"hierarchies": {"ward": {"sex": {"x": ["a", "b", "c"]}}}}),
        (["age"], {"bins": {"age": 3_000_000}}),
        ([7], {}),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(budget, tables, said) -> None:
    with pytest.raises(SitrError):
        budget.tables(tables, **said).preview(rho=0.1)
    assert budget.entries() == []


def test_changed_numbers_are_found(budget) -> None:
    question = asked(budget)
    plan = question.plan(ZeroConcentratedDP(0.5))
    made = release(plan, budget._at.backend.read(question.reading(), salt=1), coins=TestCoins(1))
    other = tuple(part + (place == 0) * 10**6 for place, part in enumerate(made.numbers))
    assert not PublishedTables(plan, other, made.shown).possible()
    assert not PublishedTables(plan, made.numbers[:1], made.shown).possible()


CONDITIONS = ("age < 50", "cost IS NULL OR ward = 'a'", "sex = 'm' AND age % 2 = 0")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_keeps_rows_as_sql_does(budget, condition: str) -> None:
    """Against exact counts of the same rows, with caps that nobody reaches."""
    wanted = budget.tables(["sex", ()], where=condition, rows_per_person=99, measures=["count"]).question
    listed = budget._at.backend.read(wanted.reading(), salt=1)
    sql = f"SELECT sex, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY sex"
    asked_for = budget.sql(sql, bias="off", max_groups=2, max_rows_per_group=99)
    exact = budget._at.backend.read(asked_for.question.reading(), salt=1)
    found = np.bincount(listed[:, 0], minlength=2).tolist()
    assert found == [exact.get((sex,), (0,))[0] for sex in ("m", "f")]
    assert condition.split(maxsplit=1)[0] in wanted.text()


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("person", range(0, 200, 23))
def test_neighbours_of_filtered_tables_differ_by_the_declared_distance(tmp_path, condition: str, person: int) -> None:
    """One person comes or goes: no more than N rows of all tables change, whichever rows the condition keeps."""
    random = np.random.default_rng(7)
    count = 400
    columns = {
        "ward": [["a", "b", "c"][place] for place in random.integers(0, 3, count)],
        "sex": [["m", "f"][place] for place in random.integers(0, 2, count)],
        "age": random.integers(0, 100, count),
        "cost": np.where(random.random(count) < 0.2, np.nan, 50.0),
        "id": random.integers(0, 60, count) * (random.random(count) < 0.9) + 100 * (random.random(count) < 0.1),
    }
    whole = pa.table(columns)
    mask = pa.array(np.asarray(columns["id"]) != person)
    found = []
    for place, table in enumerate((whole, whole.filter(mask))):
        data = sitr.protect(
            table,
            unit="id",
            max_groups=1,
            max_rows_per_group=2,
            name="visits",
            keys={"ward": ["a", "b", "c"], "sex": ["m", "f"]},
            bounds={"age": (0, 100), "cost": (0, 100)},
        )
        at = data.budget("zcdp(1)", ledger=tmp_path / f"{place}.db")
        question = at.tables([("ward", "sex")], where=condition).question
        listed = at._at.backend.read(question.reading(), salt=5)
        found.append(np.bincount(listed[:, 0] * 2 + listed[:, 1], minlength=6))
        far = question.reading().distance()
    moved = np.abs(found[0] - found[1])
    assert moved.sum() <= far.l1 == 2


def test_a_condition_is_text_or_an_expression(budget) -> None:
    one = budget.tables(["sex"], where="age > 3").question
    other = budget.tables(["sex"], where=sitr.column("age") > 3).question
    assert one == other
    for wrong in (3, "age >", "nobody = 1", "age + 1", "age > 1 GROUP BY sex"):
        with pytest.raises(SitrError):
            budget.tables(["sex"], where=wrong)
