"""Synthetic people with several rows each: numbers of rows, constants and sequences are kept, for one charge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import sitr
from sitr.backends.duckdb import open_source
from sitr.backends.spark import sent
from sitr.flavors.promise import Promise
from sitr.neighbors.period import Length, Period
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import people as drawing
from sitr.questions.synthetic.plan import PEOPLE, Method
from sitr.session.budget import Budget
from sitr.session.synthetic import Synthetic
from tests import postgres, spark

PRICE = sitr.ZeroConcentratedDP(1.0)
MOST = 4
YEAR = (date(2024, 1, 1), date(2024, 12, 31))
MOVES = np.array([[0.5, 0.1, 0.4], [0.1, 0.5, 0.4], [0.1, 0.0, 0.9]])


def visits(people: int = 1500) -> pa.Table:
    """Women have more rows than men, and start in another ward. Wards follow each other by `MOVES`."""
    generator = np.random.default_rng(5)
    rows: list[tuple[Any, ...]] = []
    for who in range(people):
        sex, born = "fm"[generator.integers(2)], int(generator.integers(1940, 2010))
        number = int(generator.integers(3, 7)) if sex == "f" else int(generator.integers(1, 3))
        ward, day = (0 if sex == "f" else 1), int(generator.integers(0, 200))
        for _ in range(number):
            rows.append((f"p{who}", sex, born, "abc"[ward], date(2024, 1, 1) + timedelta(day)))
            ward, day = int(generator.choice(3, p=MOVES[ward])), day + int(generator.integers(1, 30))
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("id", "sex", "born", "ward", "day"), map(list, columns), strict=True)))


SAID: dict[str, Any] = {
    "unit": "id", "max_groups": 1, "max_rows_per_group": MOST, "bounds": {"born": (1940, 2009)},
    "keys": {"sex": ["f", "m"], "ward": ["a", "b", "c"]},
}  # fmt: skip
ASKED: dict[str, Any] = {
    "bins": 6, "bounds": {"day": YEAR}, "required": ["born", "day"], "constant": ["sex", "born"], "order": "day",
}  # fmt: skip

FEW: dict[str, Any] = {"columns": ["sex", "ward"], "constant": ["sex"]}


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    folder = tmp_path_factory.mktemp("people")
    write_table(visits(), folder / "visits.parquet")
    write_table(visits(300), folder / "last.parquet")
    data = sitr.protect(folder / "visits.parquet", name="visits", public={"last": folder / "last.parquet"}, **SAID)
    return data.budget(sitr.ZeroConcentratedDP(20.0), ledger=folder / "ledger.db")


@pytest.fixture(scope="module", params=[None, Method.JOINT], ids=["pairs", "joint"])
def made(budget: Budget, request: pytest.FixtureRequest) -> Synthetic:
    if request.param is None:
        return budget.synthesize(**ASKED).release(PRICE)
    few = ASKED | {"constant": ["sex"], "required": ["day"], "columns": ["sex", "ward", "day"], "bins": 4}
    return budget.synthesize(**few, method=request.param).release(PRICE)


def by_person(rows: pa.Table) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["id"], []).append(row)
    return found


def followed(people: dict[Any, list[dict[str, Any]]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How often each ward follows each, up to the cap."""
    found = np.zeros((3, 3))
    for rows in people.values():
        own = ["abc".index(row["ward"]) for row in rows[:MOST]]
        np.add.at(found, (own[:-1], own[1:]), 1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def test_every_person_is_whole(made: Synthetic) -> None:
    drawn = made.table
    people = by_person(drawn)
    assert drawn.schema.field("id").type == pa.string()
    assert sorted(map(int, people)) == list(range(1, len(people) + 1))
    for rows in people.values():
        assert 1 <= len(rows) <= MOST
        assert len({(row["sex"], row.get("born")) for row in rows}) == 1
        assert [row["day"] for row in rows] == sorted(row["day"] for row in rows)
    assert all(check.broken == 0 for check in made.validity())
    assert {check.demand.value for check in made.validity()} >= {"constant", "capped", "in order"}


def test_the_structure_of_people_is_kept(made: Synthetic) -> None:
    true, ours = by_person(visits()), by_person(made.table)
    for sex in "fm":
        shares = []
        for people in (true, ours):
            numbers = Counter(min(MOST, len(rows)) for rows in people.values() if rows[0]["sex"] == sex)
            shares.append(np.array([numbers[n] for n in range(1, MOST + 1)]) / numbers.total())
        assert np.abs(shares[0] - shares[1]).sum() < 0.1
        first = [
            Counter(rows[0]["ward"] for rows in people.values() if rows[0]["sex"] == sex) for people in (true, ours)
        ]
        assert first[0].most_common(1)[0][0] == first[1].most_common(1)[0][0]
    assert abs(len(ours) - len(true)) < 60
    assert np.abs(followed(true) - followed(ours)).max() < 0.12
    wards = np.bincount(["abc".index(ward) for ward in visits()["ward"].to_pylist()])
    assert np.abs(followed(true) - wards / wards.sum()).max() > 0.3  # so the bound says much


def test_rows_without_an_order_depend_on_each_other(budget: Budget) -> None:
    asked = budget.synthesize(columns=["sex", "ward"], people=True)  # the sex is not declared constant
    rows = by_person(asked.release(PRICE).table)
    same = [own[0]["sex"] == own[1]["sex"] for own in rows.values() if len(own) > 1]
    assert np.mean(same) > 0.9  # independent rows would agree in about two thirds


@pytest.mark.parametrize("price", [sitr.PureDP(2.0), sitr.ZeroConcentratedDP(0.3), sitr.ApproximateDP(1.0, 1e-9)])
def test_all_tables_are_one_charge(budget: Budget, price: Promise) -> None:
    plan = budget.synthesize(**ASKED).synthetic.plan(price)
    assert plan.people is not None
    plan.check()
    assert plan.promise().covers(plan.price)
    one, all_rows = plan.people.sheet.distance(), plan.sheet.distance()
    assert (one.l1, all_rows.l1) == (1, MOST)
    own = len(plan.people.measurements)
    assert {each.distance for each in plan.measurements[:own]} == {one}
    assert {each.distance for each in plan.measurements[own:]} == {all_rows}
    if isinstance(price, sitr.ZeroConcentratedDP):
        people, every = (
            sum(getattr(each.mechanism.promise(), "rho", 9.0) for each in part)
            for part in (plan.measurements[:own], plan.measurements)
        )
        assert people == pytest.approx(0.3 * float(PEOPLE), rel=1e-2)
        assert 0.299 < every <= 0.3


def test_what_was_paid_for_is_kept_and_saved(made: Synthetic, tmp_path: Path) -> None:
    loaded = sitr.load(made.save(tmp_path / "model.sitr"))
    assert loaded.table.equals(made.table)
    batches = list(loaded.batches(600, most=100))
    ids = [set(batch["id"].to_pylist()) for batch in batches]
    assert sum(map(len, ids)) == len(set().union(*ids))  # a person is in one batch
    if made.portrait.plan.method is Method.JOINT:  # which need not be fitted
        again = made.request.release(PRICE)
        assert again.receipt.entry.number == made.receipt.entry.number
        assert again.table.equals(made.table)


def test_the_quality_of_people_is_measured(budget: Budget) -> None:
    both = budget.synthesize(**FEW).release(PRICE, quality=sitr.ZeroConcentratedDP(0.2))
    assert both.quality is not None
    pairs = {figure.columns: figure.found for figure in both.quality.released.pairs}
    assert pairs["previous_ward", "ward"] < 0.15
    free = both.compare("last").released
    assert {figure.columns for figure in free.pairs} == set(pairs)
    assert {table.columns for table in both.agreement().people} >= {("rows_of_person",), ("rows_of_person", "sex")}


def test_people_of_one_period_are_compared_without_its_date(tmp_path: Path) -> None:
    """Drawn rows lack the date of the period, and the hold-out is of another one: nothing fails after the charge."""
    write_table(visits(200), tmp_path / "visits.parquet")
    last = visits(60)
    write_table(
        last.set_column(4, "day", pa.array([day - timedelta(366) for day in last["day"].to_pylist()])),
        tmp_path / "last.parquet",
    )
    data = sitr.protect(
        tmp_path / "visits.parquet",
        name="visits",
        public={"last": tmp_path / "last.parquet"},
        period=Period("day", Length.YEAR),
        **SAID,
    )
    year = data.budget(sitr.ZeroConcentratedDP(3.0), ledger=tmp_path / "ledger.db").period("2024")
    made = year.synthesize(**FEW, method=Method.JOINT).release(PRICE, quality=sitr.ZeroConcentratedDP(0.2))
    assert made.quality is not None
    assert len(made.codes(None)) == made.table.num_rows
    assert made.agreement().people
    assert made.compare("last").released.pairs


def test_rules_hold_for_people_too(budget: Budget) -> None:
    rule = (sitr.column("sex") == "f") & (sitr.column("ward") == "b")
    asked = budget.synthesize(**FEW, never=[rule])
    rows = asked.release(PRICE).draw(400)
    assert not any(row["sex"] == "f" and row["ward"] == "b" for row in rows.to_pylist())
    with pytest.raises(sitr.SitrError, match="constant within a person"):
        budget.synthesize(
            columns=["sex", "ward"],
            keys={"sex": ["f", None], "ward": ["a", None]},
            constant=["sex"],
            together=[("sex", "ward")],
        )


def test_pages_in_both_languages(made: Synthetic, tmp_path: Path) -> None:
    for lang, said in (("en", "by day"), ("ar", "بترتيب")):
        page = made.certificate(tmp_path / f"{lang}.html", lang=lang).read_text("utf-8")
        assert said in page
        assert "rows_of_person" in page
    assert made.to_dict()["people"]["order"] == "day"


def in_postgres() -> Any:
    postgres.load(visits(200), "people_visits")
    return sitr.protect(postgres.server().url(), table="people_visits", name="visits", **SAID)


def on_spark() -> Any:
    return sitr.protect(sent(spark.session(), visits(200)), name="visits", **SAID)


@pytest.mark.parametrize("engine", [in_postgres, pytest.param(on_spark, marks=pytest.mark.slow)])
def test_every_engine_reads_the_same_people(
    engine: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of rows of the same day is a hash, which engines compute differently; here, each day is another one."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))
    budget = engine().budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "there.db")
    diary = budget.synthesize(**ASKED).synthetic.diary
    there = budget._at.backend.read(diary, salt=3)
    mine = open_source(visits(200), types={}).read(diary, salt=3)
    for cut in (diary.people, diary.steps):
        assert sorted(map(tuple, cut(there).tolist())) == sorted(map(tuple, cut(mine).tolist()))


def test_long_rows_do_not_drift_to_the_end_of_the_year(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days never decrease within a person, so that errors of one row remain in all later ones. The broken twin draws
    each row by its own law alone."""
    generator, most = np.random.default_rng(8), 20
    days = np.sort(generator.beta(1.0, 2.0, size=(1_500, most)) * 365, axis=1).astype(int)
    table = pa.table(
        {
            "id": np.repeat(np.arange(len(days)), most),
            "day": [YEAR[0] + timedelta(int(day)) for day in days.ravel()],
            "ward": np.array(["a", "b", "c"])[generator.choice(3, p=[0.6, 0.3, 0.1], size=days.size)],
        }
    )
    said: dict[str, Any] = SAID | {"max_rows_per_group": most, "bounds": {}, "keys": {"ward": ["a", "b", "c"]}}
    data = sitr.protect(table, name="long", **said)
    asked = data.budget(PRICE * 2, ledger=tmp_path / "long.db").synthesize(
        bins=12, bounds={"day": YEAR}, required=["day"], order="day"
    )
    made = asked.release(PRICE, coins=TestCoins(3))
    true = np.bincount(days.ravel() // 31, minlength=12) / days.size

    def far() -> float:
        drawn = made.draw(days.size, coins=TestCoins(4))["day"].to_pylist()
        found = np.bincount([(day - YEAR[0]).days // 31 for day in drawn], minlength=12) / len(drawn)
        return float(np.abs(found - true).sum())

    near = far()
    monkeypatch.setattr(drawing, "levelled", lambda logs, *_: np.zeros(logs.shape[1], dtype=np.float32))
    assert near < 0.2
    assert far() > 2 * near
