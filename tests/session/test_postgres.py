"""The door to a table in PostgreSQL: every kind of question, and a password that nobody sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import DescriptionError, MissingExtra, SourceError
from sitr.mechanisms.smooth import SmoothNoise
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.sensitivity import median, smooth
from sitr.session.dataset import Dataset
from tests import postgres

WARDS = ["Cardiology", "Surgery", "Maternity"]
SECRET = "geheim4711"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test gives the same tables a first budget."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))


@pytest.fixture(scope="module", autouse=True)
def hospital() -> None:
    rows = range(900)
    visits = {
        "patient_id": [row % 300 for row in rows],
        "ward": [WARDS[row % 3] for row in rows],
        "days": [row % 7 for row in rows],
        "cost": [float(row * 7 % 5000) for row in rows],
    }
    postgres.load(pa.table(visits), "door_visits")
    postgres.load(pa.table({"ward": WARDS, "floor": [1, 2, 2]}), "door_wards")
    postgres.load(pa.table({"pid": range(300), "sex": ["f", "m"] * 150}), "door_patients")


def protected(**more: Any) -> Dataset:
    url = postgres.server().url().replace("postgres@", f"postgres:{SECRET}@")
    usual: dict[str, Any] = {
        "table": "door_visits", "name": "visits", "unit": "patient_id", "max_groups": 3, "max_rows_per_group": 3,
        "bounds": {"cost": (0, 5000), "days": (0, 6)}, "granularity": {"cost": 1}, "keys": {"ward": WARDS},
    }  # fmt: skip
    return sitr.protect(url, **{**usual, **more})


def test_every_kind_of_question_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    budget = protected().budget(rho=10_000, ledger="sitr.db")
    answer = budget.sql(
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, MEDIAN(days) AS m FROM visits GROUP BY ward"
    ).release(rho=2000)
    assert answer.table["n"].to_pylist() == pytest.approx([300] * 3, abs=3)
    assert len(budget.histogram("days", bins=3).release(rho=1)) > 0
    assert budget.synthesize(columns=["ward", "days"]).release(rho=1).table.num_rows > 0
    assert str(budget.suggest("cost").release(rho=1))
    assert budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward").release(rho=1) is not None


def test_statistics_of_rows(tmp_path: Path) -> None:
    data = protected(unit=Row(), relation=Relation.REPLACE_ONE, max_groups=None, max_rows_per_group=None, keys={})
    budget = data.budget("pure(5)", ledger=tmp_path / "sitr.db")
    assert budget._at.backend.size() == 900
    mechanism = SmoothNoise.fitting(sitr.PureDP(0.5), sensitivity=smooth(median, bounds=(0, 6)))
    assert budget.release(mechanism, column="days") is not None


def test_public_and_other_protected_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wards = pa.table({"ward": WARDS, "colour": ["red", "blue", "blue"]})
    data = protected(public={"wards": "public.door_wards", "colours": wards}, keys={"ward": "wards.ward"})
    assert sorted(filter(None, data.table.columns[1].keys or ())) == sorted(WARDS)  # type: ignore[type-var]
    visits = data.budget(rho=10_000, ledger="sitr.db")
    for name, table in (("floor", "wards"), ("colour", "colours")):
        sql = f"SELECT {name}, COUNT(*) AS n FROM visits JOIN {table} ON visits.ward = {table}.ward GROUP BY {name}"
        answer = visits.sql(sql).release(rho=2000)
        assert sorted(answer.table["n"].to_pylist()) == pytest.approx([300, 600], abs=4)
    patients = protected(
        table="door_patients", name="patients", unit="pid", bounds={}, granularity={}, keys={"sex": ["f", "m"]}
    ).budget(rho=10_000, ledger="sitr.db")
    joined = "SELECT sex, COUNT(*) AS n FROM visits JOIN patients ON visits.patient_id = patients.pid GROUP BY sex"
    answer = visits.beside(patients).sql(joined).release(rho=2000)
    assert answer.table["n"].to_pylist() == pytest.approx([450, 450], abs=4)


def test_the_protected_table_cannot_be_public(tmp_path: Path) -> None:
    del tmp_path
    for name in ("door_visits", "public.door_visits", "PUBLIC.Door_Visits"):
        with pytest.raises(DescriptionError, match="is a protected"):
            protected(public={"copy": name})
    with pytest.raises(SourceError, match="There is no table"):
        protected(public={"copy": "public.nowhere"})


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_the_password_is_written_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = protected(public={"wards": "public.door_wards"})
    data.save("visits.sitr.yaml", rho=1, ledger="sitr.db")
    budget = sitr.open("visits.sitr.yaml").budget()
    answer = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward").release(rho=0.1)
    answer.certificate("answer.html")
    seen = f"{data!r} {data} {data.source!r} {data.source} {budget!r} {budget} {answer!r} {vars(type(data))}"
    assert SECRET not in seen
    assert SECRET.encode() not in everything(tmp_path)
    assert sitr.open("visits.sitr.yaml").public == data.public
    with pytest.raises(SourceError) as refused:
        protected(table="nowhere")
    with pytest.raises(SourceError) as lost:
        sitr.protect(f"postgresql://me:{SECRET}@/x?host=/nowhere", table="t", unit="id")
    odd = [f"postgresql://me:{SECRET}#1@h/x", f"postgresql://me:{SECRET}/1@h/x", f"postgresql://me:{SECRET}@h:port/x"]
    texts = [str(refused.value), str(lost.value)]
    for url in odd:
        with pytest.raises(SourceError) as wrong:
            sitr.protect(url, table="t", unit="id")
        texts.append(str(wrong.value))
    assert SECRET not in " ".join(texts)


def test_a_password_in_a_description_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = protected().save("visits.sitr.yaml")
    path.write_text(path.read_text().replace("postgres@", f"postgres:{SECRET}@"))
    with pytest.raises(DescriptionError, match="it has a password") as refused:
        sitr.open(path)
    assert SECRET not in str(refused.value)


def test_a_role_that_may_only_select_is_enough(tmp_path: Path) -> None:
    postgres.connection().execute("DROP OWNED BY only_selects" if _has_role() else "CREATE ROLE only_selects LOGIN")
    postgres.connection().execute("GRANT SELECT ON door_visits TO only_selects")
    url = postgres.server().url(user="only_selects")
    data = sitr.protect(url, table="door_visits", name="visits", unit="patient_id", max_groups=3, max_rows_per_group=3)
    assert data.budget(rho=1, ledger=tmp_path / "sitr.db").sql("SELECT COUNT(*) AS n FROM visits").release(rho=1)
    with pytest.raises(SourceError):
        sitr.protect(url, table="door_wards", unit="ward", max_groups=1, max_rows_per_group=1)


def _has_role() -> bool:
    return bool(postgres.connection().execute("SELECT 1 FROM pg_roles WHERE rolname = 'only_selects'").fetchall())


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitr.namespace.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"sitr\[postgres\]"):
        protected()


def test_one_off_budgets_need_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DescriptionError, match="no ledger"):
        protected().one_off("zcdp(0.1)")
    assert list(tmp_path.iterdir()) == []
