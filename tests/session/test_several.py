"""Synthetic rows of several tables of the same people: what is kept of them, what is charged, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sitr
from sitr.backends.spark import sent
from sitr.errors import BackendFailure, BudgetExceeded, InvalidUse, QuestionError, SitrError
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import several as questions
from sitr.questions.synthetic.crowd import Crowd
from sitr.questions.synthetic.diaries import PeopleSheet
from sitr.questions.synthetic.plan import PEOPLE, Method
from sitr.session import model_file
from sitr.session.budget import Budget
from sitr.session.several import SeveralSynthesis, SeveralSynthetic
from tests import postgres, spark

PRICE = sitr.ZeroConcentratedDP(1.0)
PEOPLE_OF_TOWN = 4000
MOST, MOST_DRUGS = 4, 2
WARDS, DRUGS = ["a", "b", "c"], ["w", "x", "y"]

Town = dict[str, pa.Table]
Exact = np.ndarray[Any, Any]


def town(people: int = PEOPLE_OF_TOWN, *, seed: int = 5, text: bool = False) -> Town:
    """A hospital: women come more often, old people take drugs, the first ward decides which, and wards persist.

    A tenth of the people have visits and no row as patients.
    """
    dice = np.random.default_rng(seed)
    patients, visits, drugs = [], [], []
    for who in range(people):
        sex, born = "fm"[dice.integers(2)], int(dice.integers(1930, 2010))
        number = int(dice.integers(2, 6)) if sex == "f" else int(dice.integers(0, 3))
        ward = first = int(dice.integers(3))
        day = int(dice.integers(0, 100))
        name = f"p{who}" if text else who
        for _ in range(number):
            visits.append((name, WARDS[ward], day))
            ward = ward if dice.random() < 0.7 else int(dice.integers(3))
            day += int(dice.integers(1, 20))
        taken = int(dice.integers(1, 3)) if born < 1970 and number else 0
        drugs += [(name, DRUGS[first if dice.random() < 0.8 else dice.integers(3)]) for _ in range(taken)]
        if dice.random() < 0.9 or not number:
            patients.append((name, sex, born))
    return {
        "patients": _table(("id", "sex", "born"), patients),
        "visits": _table(("patient", "ward", "day"), visits),
        "drugs": _table(("patient", "drug"), drugs),
    }


def _table(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


SAID: dict[str, dict[str, Any]] = {
    "patients": {
        "unit": "id", "max_groups": 1, "max_rows_per_group": 1, "bounds": {"born": (1930, 2009)},
        "keys": {"sex": ["f", "m"]},
    },
    "visits": {
        "unit": "patient", "max_groups": 1, "max_rows_per_group": MOST, "bounds": {"day": (0, 200)},
        "keys": {"ward": WARDS},
    },
    "drugs": {"unit": "patient", "max_groups": 1, "max_rows_per_group": MOST_DRUGS, "keys": {"drug": DRUGS}},
}  # fmt: skip


def budgets(tables: Town, folder: Path, *, rho: float = 20.0, **more: Any) -> dict[str, Budget]:
    """A budget for each table, all in one ledger."""
    return {
        name: sitr.protect(tables[name], name=name, **said, **more).budget(rho=rho, ledger=folder / "ledger.db")
        for name, said in SAID.items()
    }


def asked(of: dict[str, Budget], **more: Any) -> SeveralSynthesis:
    more = {"first": ["visits.ward"]} | more
    return sitr.synthesize_together(
        of["visits"].synthesize(bins=10, required=["day"], people=True, order="day"),
        of["patients"].synthesize(bins=8, required=["born"]),
        of["drugs"].synthesize(people=True),
        **more,
    )


def few(of: dict[str, Budget], **more: Any) -> SeveralSynthesis:
    """A request that is fitted at once: one table of people, and one of steps, each of all columns."""
    return sitr.synthesize_together(
        of["visits"].synthesize(columns=["ward"], people=True, method=Method.JOINT),
        of["patients"].synthesize(columns=["sex"]),
        **more,
    )


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Budget]:
    return budgets(town(), tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def made(opened: dict[str, Budget]) -> SeveralSynthetic:
    return asked(opened).release(PRICE)


# What is kept of the data


def facts(tables: Town) -> dict[str, Any]:
    """What an analyst would ask of the three tables together, as shares."""
    patients, visits, drugs = (tables[name].to_pandas() for name in ("patients", "visits", "drugs"))
    visits = visits.sort_values(["patient", "day"], kind="stable")
    visits = visits[visits.groupby("patient").cumcount() < MOST]
    known = patients.set_index("id")
    known["visits"] = visits.groupby("patient").size()
    known["drugs"] = drugs.groupby("patient").size()
    known = known.fillna({"visits": 0, "drugs": 0})
    old = known.born < 1970
    after = visits.groupby("patient").ward.shift(-1)
    first = visits.groupby("patient").ward.first()
    of_first = drugs.patient.map(first)
    match = dict(zip(WARDS, DRUGS, strict=True))
    return {
        "visits of women": known.visits[known.sex == "f"].mean(),
        "visits of men": known.visits[known.sex == "m"].mean(),
        "old people with drugs and visits": (known.drugs[old & (known.visits > 0)] > 0).mean(),
        "young people with drugs": (known.drugs[~old] > 0).mean(),
        "the same ward again": (after == visits.ward)[after.notna()].mean(),
        "the drug of the first ward": (of_first.map(match) == drugs.drug)[of_first.notna()].mean(),
        "without a row as patients": 1 - first.index.isin(known.index).mean(),
    }


def shuffled(tables: Town) -> Town:
    """The same tables, in each of which people have other ids: nothing is left between tables."""
    dice, mixed = np.random.default_rng(1), {}
    for name, table in tables.items():
        own = np.unique(table[0].to_numpy())
        new = dict(zip(own.tolist(), dice.permutation(PEOPLE_OF_TOWN)[: len(own)].tolist(), strict=True))
        mixed[name] = table.set_column(0, table.column_names[0], pa.array([new[who] for who in table[0].to_pylist()]))
    return mixed


def test_dependence_between_tables_is_kept(made: SeveralSynthetic) -> None:
    true, ours, apart = facts(town()), facts(made.tables), facts(shuffled(town()))
    for name, share in true.items():
        assert abs(ours[name] - share) < (0.2 if name.startswith("visits of") else 0.12), name
    for name in ("visits of women", "old people with drugs and visits", "the drug of the first ward"):
        assert abs(apart[name] - true[name]) > 0.25, name  # so the bound says much
    assert abs(len(made.table) - PEOPLE_OF_TOWN) < 100


def test_without_the_first_ward_drugs_do_not_depend_on_it(opened: dict[str, Budget], made: SeveralSynthetic) -> None:
    """What the page says is lost is lost, unless the first value is carried."""
    name = "the drug of the first ward"
    without = facts(asked(opened, first=()).release(PRICE).tables)[name]
    assert without < 0.5 < 0.65 < facts(made.tables)[name]


# What every drawn table is


def test_ids_and_caps_hold_over_all_tables(made: SeveralSynthetic) -> None:
    tables = made.tables
    assert {name: rows.column_names for name, rows in tables.items()} == {
        name: rows.column_names for name, rows in town(20).items()
    } | {"visits": ["patient", "ward", "day"]}
    people = made.table
    assert people.column_names == ["person", "rows_in_visits", "rows_in_patients", "rows_in_drugs"]
    assert people["person"].to_pylist() == list(range(1, len(people) + 1))  # nobody is in no table
    assert [pc.max(people[column]).as_py() for column in people.column_names[1:]] == [MOST, 1, MOST_DRUGS]
    checked = made.validity()
    assert {check.demand.value for check in checked["visits"]} >= {"capped", "in order", "values", "type"}
    assert all(check.broken == 0 for each in checked.values() for check in each)
    wrong = tables | {"visits": pa.concat_tables([tables["visits"]] * 5)}
    assert any(check.broken for check in made.validity(wrong)["visits"])


def test_everyone_has_a_row_where_that_is_a_rule(opened: dict[str, Budget], made: SeveralSynthetic) -> None:
    ruled = few(opened, everyone=["patients"]).release(PRICE)
    (check,) = [check for check in ruled.validity()["visits"] if check.demand.value == "among"]
    assert (check.columns, check.broken) == (("patient", "patients"), 0)
    known = set(ruled.tables["patients"]["id"].to_pylist())
    assert known >= set(ruled.tables["visits"]["patient"].to_pylist())
    assert known != set(range(1, len(known) + 1)) or len(known) == len(ruled.table)
    assert not set(made.tables["visits"]["patient"].to_pylist()) <= set(made.tables["patients"]["id"].to_pylist())
    ruled_out = {"visits": ruled.tables["visits"], "patients": ruled.tables["patients"].slice(10)}
    assert [each.broken > 0 for each in ruled.validity(ruled_out)["visits"] if each.demand.value == "among"] == [True]


def test_rules_of_each_table_hold(opened: dict[str, Budget]) -> None:
    never = [(sitr.column("ward") == "b")]
    ruled = sitr.synthesize_together(
        opened["visits"].synthesize(columns=["ward"], people=True, never=never), opened["patients"].synthesize(bins=4)
    )
    rows = ruled.release(PRICE).draw(500)
    assert set(rows["visits"]["ward"].to_pylist()) == {"a", "c"}
    assert len(set(rows["visits"]["patient"].to_pylist()) | set(rows["patients"]["id"].to_pylist())) == 500


def test_batches_number_people_on(made: SeveralSynthetic) -> None:
    parts = list(made.batches(700, most=200))
    assert len(parts) == 4
    seen = [set().union(*(rows[0].to_pylist() for rows in part.values())) for part in parts]
    assert [len(each) for each in seen] == [200, 200, 200, 100]
    assert set().union(*seen) == set(range(1, 701))
    assert {name: rows.num_rows for name, rows in made.draw(0).items()} == {"visits": 0, "patients": 0, "drugs": 0}


# What it costs


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("price", [sitr.PureDP(2.0), sitr.ZeroConcentratedDP(0.3), sitr.ApproximateDP(1.0, 1e-9)])
def test_all_tables_are_one_charge(tmp_path: Path, price: Promise, relation: Relation) -> None:
    """The parts of the price add up, and the noise of each part is fitted to what one person moves it by."""
    request = asked(budgets(town(50), tmp_path, relation=relation))
    plan = request.several.plan(price)
    plan.check()
    assert plan.promise().covers(plan.price)
    both = 2 if relation is Relation.REPLACE_ONE else 1
    parts = dict(plan.parts())
    assert [parts[name].sheet.distance().l1 for name in ("", "visits", "drugs")] == [
        2 * both, 2 * both * MOST, 2 * both * MOST_DRUGS,
    ]  # fmt: skip
    assert isinstance(parts[""].sheet, PeopleSheet)
    whole = 0.0
    for name, share in (("", float(PEOPLE)), ("visits", 0.4), ("drugs", 0.4)):
        distance = parts[name].sheet.distance()
        assert {each.distance for each in parts[name].measurements} == {distance}
        if isinstance(price, sitr.ZeroConcentratedDP):
            spent = sum(getattr(each.mechanism.promise(), "rho", 9.0) for each in parts[name].measurements)
            assert spent == pytest.approx(0.3 * share, rel=1e-2)
            whole += spent
            alone = parts[name].division.alone()
            paid = sum(distance.l2_squared / (2 * noise.deviation**2) for noise in alone)
            assert paid <= 0.3 * share * (0.2 if len(alone) > 1 else 1.0) * 1.001  # noise for all of the rows
            assert paid > 0.3 * share * 0.19
    assert whole <= 0.3
    assert plan.measurements == tuple(each for part in parts.values() for each in part.measurements)


def test_all_budgets_pay_or_none(tmp_path: Path) -> None:
    of = budgets(town(50), tmp_path, rho=1.0)
    of["drugs"].sql("SELECT COUNT(*) AS n FROM drugs").release(rho=0.8)
    with pytest.raises(BudgetExceeded, match="of the budget of drugs"):
        asked(of).release(rho=0.5)
    assert [budget.remaining() for budget in of.values()] == [
        sitr.ZeroConcentratedDP(1.0), sitr.ZeroConcentratedDP(1.0), sitr.ZeroConcentratedDP(0.2),
    ]  # fmt: skip
    answer = few(of).release(rho=0.25)
    assert [len(budget.entries()) for budget in of.values()] == [1, 1, 1]
    assert [(paid.dataset, paid.entry.price) for paid in answer.receipt.beside] == [
        ("patients", sitr.ZeroConcentratedDP(0.25))
    ]
    shown = few(of).preview(rho=0.25)
    assert "also charged" in str(shown)
    assert shown.to_dict()["join"]["beside"][0]["dataset"] == "patients"


def test_an_interruption_after_the_charge_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = budgets(town(300), tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.several.crowd", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt) as stopped:
            few(of).release(PRICE)
    assert "ask again, at no charge" in stopped.value.__notes__[0]
    left = of["visits"].remaining()
    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", lambda *_, **__: pytest.fail("rows were read"))
    again = few(of).release(PRICE)
    assert again.receipt.again
    assert of["visits"].remaining() == left
    assert again.tables["visits"].equals(few(of).release(PRICE).tables["visits"])


def test_an_exact_number_never_leaves_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = budgets(town(50), tmp_path)
    monkeypatch.setattr(questions, "measure", lambda *_, **__: 1 / 0)
    with pytest.raises(BackendFailure, match="the reason is withheld"):
        few(of).release(PRICE)
    assert len(of["visits"].entries()) == len(of["patients"].entries()) == 1


# One person, end to end


class Watched:
    """The exact integers that noise is added to, in their order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[Exact] = []
        release = Noise.release

        def watched(noise: Noise, value: Any, *, coins: Any) -> Any:
            self.seen.append(np.array(value))
            return release(noise, value, coins=coins)

        monkeypatch.setattr(Noise, "release", watched)


def without(tables: Town, who: int, left: tuple[str, ...]) -> Town:
    """The tables without this person in some of them."""
    return {name: rows.filter(pc.not_equal(rows[0], who)) if name in left else rows for name, rows in tables.items()}


@pytest.mark.parametrize(
    ("left", "moved"), [(("visits",), (2, MOST)), (("patients",), (2, 2 * MOST)), (("visits", "patients"), (1, MOST))]
)
def test_a_neighbour_moves_what_is_measured_by_no_more_than_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...], moved: tuple[int, int]
) -> None:
    """Read by the engine, with people who have the most rows: what one table alone would declare is too little."""
    tables, watch = town(60), Watched(monkeypatch)
    known = tables["patients"]["id"].to_pylist()
    numbers = np.bincount(tables["visits"]["patient"].to_numpy())
    people = [int(each) for each in np.flatnonzero(numbers >= MOST) if each in known][:5]

    def measured(name: str, of: Town) -> tuple[list[Exact], list[Exact]]:
        (tmp_path / name).mkdir()
        request = few(budgets(of, tmp_path / name))
        plan = request.several.plan(PRICE)
        distances = [part.sheet.distance() for _, part in plan.parts()]
        assert [(each.l1, each.l2_squared) for each in distances] == [(2, 2), (2 * MOST, 2 * MOST**2)]
        exact = tuple(request.at.backend.read(each, salt=7) for each in request.several.reading())
        watch.seen.clear()
        request.several.answer(plan, exact, coins=TestCoins(1))
        return watch.seen[: len(plan.people.known())], watch.seen[-1:]

    whole, farthest = measured("all", tables), [0, 0]
    for person in people:
        for place, (one, other) in enumerate(
            zip(whole, measured(f"{person}", without(tables, person, left)), strict=True)
        ):
            for here, there in zip(one, other, strict=True):
                apart = int(np.abs(here - there).sum())
                assert apart <= (2, 2 * MOST)[place]
                farthest[place] = max(farthest[place], apart)
    assert tuple(farthest) == moved


# Where it is shown and kept


def test_pages_in_both_languages(made: SeveralSynthetic, tmp_path: Path) -> None:
    for lang, said in (("en", "come in no common order"), ("ar", "ترتيب مشترك")):
        page = made.certificate(tmp_path / f"{lang}.html", lang=lang).read_text("utf-8")
        assert said in page
        assert "rows_in_visits" in page
        assert made.label(tmp_path / f"{lang}-label.html", lang=lang).exists()
    content = made.to_dict()
    assert content["kind"] == "synthetic rows of several tables"
    assert [table["name"] for table in content["tables"]] == ["visits", "patients", "drugs"]
    assert content["tables"][0]["first"] == ["ward"]
    assert made.plot(tmp_path / "people.svg").exists()
    assert "ward" in repr(made.plot(table="visits")._repr_svg_())
    with pytest.raises(SitrError, match="no chart of the rows of 'visit'"):
        made.plot(table="visit")


def test_the_agreement_is_that_of_people_and_of_steps(made: SeveralSynthetic) -> None:
    found = made.agreement()
    assert list(found) == ["", "visits", "drugs"]
    assert all(each.score > 0.85 for each in found.values())
    assert made.agreement(shuffled_drawn(made))[""].score < found[""].score - 0.02


def shuffled_drawn(made: SeveralSynthetic) -> Town:
    """Drawn tables, with other ids in each."""
    dice, most = np.random.default_rng(2), len(made.table)
    return {
        name: rows.set_column(0, rows.column_names[0], pa.array(dice.permutation(most)[rows[0].to_numpy() - 1]))
        for name, rows in made.tables.items()
    }


def test_a_saved_model_draws_the_same_people(made: SeveralSynthetic, tmp_path: Path) -> None:
    path = made.save(tmp_path / "model.sitr")
    loaded = sitr.load_together(path)
    for name, rows in made.tables.items():
        assert loaded.tables[name].equals(rows)
    assert loaded.to_dict()["tables"] == made.to_dict()["tables"]
    with pytest.raises(InvalidUse, match="several tables"):
        sitr.load(path)
    with pytest.raises(InvalidUse, match="measured for a price"):
        loaded.measure(rho=0.1)
    with pytest.raises(InvalidUse, match="compared with public ones"):
        loaded.compare("last")


def test_a_changed_model_is_refused(made: SeveralSynthetic, tmp_path: Path) -> None:
    read = model_file.read(made.save(tmp_path / "model.sitr"))
    crowd = read.portrait
    assert isinstance(crowd, Crowd)
    changed: dict[str, Any] = {"people": crowd.steps[0]}
    plan = crowd.plan
    known = replace(plan.diaries.tables[0], known=(7, *plan.diaries.tables[0].known[1:]))
    plans = [
        replace(plan, measurements=plan.measurements[1:]),
        replace(plan, everyone=("nowhere",)),
        replace(plan, everyone=cast("Any", -1)),
        replace(plan, diaries=replace(plan.diaries, tables=(known, *plan.diaries.tables[1:]))),
    ]
    for wrong in (
        *(replace(crowd, measured=replace(crowd.measured, plan=each)) for each in plans),
        replace(crowd, steps=(None, *crowd.steps[1:])),
        replace(crowd, schemas=crowd.schemas[1:]),
        replace(crowd, schemas=(crowd.schemas[1], crowd.schemas[0], crowd.schemas[2])),
        replace(crowd, **changed),
        replace(crowd, measured=replace(crowd.measured, steps=crowd.measured.steps[::-1])),
        replace(crowd, never=()),
    ):
        model_file.write(tmp_path / "wrong.sitr", replace(read, portrait=wrong))
        with pytest.raises(SitrError, match="is not a model that Sitr saved"):
            sitr.load_together(tmp_path / "wrong.sitr")


# Engines


def in_postgres(name: str, rows: pa.Table) -> Any:
    postgres.load(rows, f"several_{name}")
    return sitr.protect(postgres.server().url(), table=f"several_{name}", name=name, **SAID[name])


def on_spark(name: str, rows: pa.Table) -> Any:
    return sitr.protect(sent(spark.session(), rows), name=name, **SAID[name])


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("engine", [in_postgres, pytest.param(on_spark, marks=pytest.mark.slow)])
def test_tables_may_be_in_different_engines(
    engine: Callable[[str, pa.Table], Any], text: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visits and drugs there, patients here: people are the same by their ids, which are numbers or texts."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))
    tables, there = town(120, text=text), tmp_path / "there.db"
    here = budgets(tables, tmp_path)
    mixed = {name: engine(name, tables[name]).budget(rho=9, ledger=there) for name in ("visits", "drugs")}
    cells = []
    for request in (asked(here), asked(here | mixed)):
        of, reading = request.several.diaries, request.several.reading()
        found = of.found([request.at.backend.read(each, salt=3) for each in reading])
        cells.append((sorted(of.people(found).tolist()), sorted(of.steps(found, 0).tolist())))
    assert cells[0] == cells[1]
    assert sum(row[0] > 0 and row[-1] > 0 for row in cells[0][0]) > 10  # visits and drugs of the same people


# What is refused


def test_what_does_not_fit_together_is_refused(tmp_path: Path, opened: dict[str, Budget]) -> None:
    visits, patients = opened["visits"], opened["patients"]
    people = visits.synthesize(columns=["ward"], people=True)
    texts = sitr.protect(town(5, text=True)["patients"], name="texts", **SAID["patients"]).budget(
        rho=1, ledger=tmp_path / "t.db"
    )
    rows = sitr.protect(town(5)["patients"], name="rows", unit=sitr.Row(), keys={"sex": ["f", "m"]}).budget(
        rho=1, ledger=tmp_path / "r.db"
    )
    replaced = sitr.protect(
        town(5)["patients"], name="replaced", relation=Relation.REPLACE_ONE, **SAID["patients"]
    ).budget(rho=1, ledger=tmp_path / "o.db")
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: sitr.synthesize_together(people), "2 to 16 tables"),
        (sitr.synthesize_together, "2 to 16 tables"),
        (lambda: sitr.synthesize_together(people, people), "have the name 'visits'"),
        (lambda: sitr.synthesize_together(visits.synthesize(columns=["ward"]), patients.synthesize()), "people=True"),
        (lambda: sitr.synthesize_together(people, texts.synthesize(columns=["sex"])), "whole numbers in all tables"),
        (lambda: sitr.synthesize_together(people, rows.synthesize(columns=["sex"])), "protects each row by itself"),
        (lambda: sitr.synthesize_together(people, replaced.synthesize(columns=["sex"])), "different neighbours"),
        (lambda: few(opened, first=["ward"]), "table.column"),
        (lambda: few(opened, first=["visits.sex"]), "table.column"),
        (lambda: few(opened, first="visits.ward"), "first"),
        (lambda: few(opened, first=cast("Any", [3])), "names of columns and tables as texts"),
        (lambda: few(opened, everyone=cast("Any", [["patients"]])), "names of columns and tables as texts"),
        (lambda: few(opened, everyone=["patient"]), "Did you mean 'patients'"),
        (lambda: sitr.synthesize_together(people, cast("Any", patients)), "requests for synthetic rows"),
    ]  # fmt: skip
    for wrong, why in cases:
        with pytest.raises(SitrError, match=why):
            wrong()
    named = cast("Any", (name for name in ["visits.ward"]))  # can be read only once
    assert few(opened, first=named).several == few(opened, first=["visits.ward"]).several
    with pytest.raises(QuestionError, match="whole number of rows"):
        few(opened).release(PRICE, people=-1)
