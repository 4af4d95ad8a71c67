"""`sitr synthesize-together` writes a file for each table, for one charge, and `sitr draw` draws more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import sitr as library
from sitr.session.several import SeveralSynthetic

Sitr = Callable[..., Any]

TABLES = """
tables:
  - {description: visits.sitr.yaml, people: true, columns: [ward], bins: 4, never: ["ward = 'c'"]}
  - description: patients.sitr.yaml
    domain: {born: {bins: 4, required: true}}
everyone: [patients]
"""
FILES = ["rows-visits.csv", "rows-patients.csv"]


@pytest.fixture
def tables(sitr: Sitr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of two tables with budgets in one ledger, in another folder, and the file that names both."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "described"
    folder.mkdir()
    people = np.arange(300)
    pyarrow.parquet.write_table(
        pa.table({"id": people, "sex": np.array(["f", "m"])[people % 2], "born": 1950 + people % 40}),
        folder / "patients.parquet",
    )
    pyarrow.parquet.write_table(
        pa.table({"patient": people.repeat(2), "ward": np.array(["a", "b", "c"])[people.repeat(2) % 3]}),
        folder / "visits.parquet",
    )
    own = ("--max-groups", 1, "--budget", "zcdp(2)", "--ledger", folder / "sitr.db")
    bounds = ("--bounds", "born=1950:1989")
    for words in (
        ("patients.parquet", "--unit", "id", "--max-rows-per-group", 1, "--keys", "sex=f,m", *bounds),
        ("visits.parquet", "--unit", "patient", "--max-rows-per-group", 2, "--keys", "ward=a,b,c"),
    ):  # fmt: skip
        source, *more = words
        done = sitr("protect", folder / str(source), *more, *own)
        assert done.code == 0, done.err
    path = folder / "tables.yaml"
    path.write_text(TABLES)
    return path


def spent(tables: Path) -> list[int]:
    return [
        len(library.open(tables.parent / f"{name}.sitr.yaml").budget().entries()) for name in ("visits", "patients")
    ]


def test_each_table_is_a_file(sitr: Sitr, tables: Path) -> None:
    words = ("synthesize-together", tables, "--price", "zcdp(0.5)")
    shown = sitr(*words, "--preview")
    assert (shown.code, shown.err) == (0, "")
    assert "also charged" in shown.out
    assert spent(tables) == [0, 0]
    more = ("--model", "model.sitr", "--certificate", "page.html", "--label", "label.html", "--people", 250)
    done = sitr(*words, "-o", "rows.csv", *more)
    assert (done.code, done.err) == (0, "")
    every = [*FILES, *(f"{name}.about.json" for name in FILES), "model.sitr", "page.html", "label.html"]
    assert all(Path(name).exists() for name in every)
    assert all(name in done.out for name in every)
    visits, patients = (pyarrow.csv.read_csv(name) for name in FILES)
    assert patients["id"].to_pylist() == list(range(1, 251))
    assert set(visits["patient"].to_pylist()) <= set(patients["id"].to_pylist())
    assert set(visits["ward"].to_pylist()) <= {"a", "b", ""}
    about = json.loads(Path("rows-visits.csv.about.json").read_text())
    assert (about["file"], about["rows"], about["drawn_with"]) == ("rows-visits.csv", visits.num_rows, ["patients"])
    assert spent(tables) == [1, 1]

    again = sitr(*words, "-o", "again.parquet", "--people", 250, "--json").told()
    assert spent(tables) == [1, 1]
    assert again["drawn"] == {"visits": visits.num_rows, "patients": 250}
    assert set(again["fit"]) == {"", "visits"}
    assert all(not check["broken"] for checks in again["validity"].values() for check in checks)
    assert pyarrow.parquet.read_table("again-patients.parquet")["id"].to_pylist() == list(range(1, 251))

    for path in tables.parent.iterdir():
        path.unlink() if path.is_file() else None
    drawn = sitr("draw", "model.sitr", "--rows", 100, "--seed", 3, "-o", "more.parquet")
    assert (drawn.code, drawn.err) == (0, "")
    one = pyarrow.parquet.read_table("more-visits.parquet")
    assert json.loads(one.schema.metadata[b"sitr"])["synthetic"] is True
    assert sitr("draw", "model.sitr", "--rows", 100, "--seed", 3, "-o", "same.csv", "--json").told()["written"] == [
        "same-visits.csv", "same-visits.csv.about.json", "same-patients.csv", "same-patients.csv.about.json",
    ]  # fmt: skip
    assert pyarrow.csv.read_csv("same-visits.csv")["patient"].to_pylist() == one["patient"].to_pylist()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_people_are_drawn_in_several_parts(
    sitr: Sitr, tables: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    sitr("synthesize-together", tables, "--price", "zcdp(0.5)", "-o", "rows.parquet", "--model", "model.sitr")
    monkeypatch.setattr(SeveralSynthetic.batches, "__kwdefaults__", {"coins": None, "most": 64})
    done = sitr("draw", "model.sitr", "--rows", 200, "-o", f"more.{ending}")
    assert (done.code, done.err) == (0, "")
    read = {"parquet": pyarrow.parquet.read_table, "arrow": pa.feather.read_table, "csv": pyarrow.csv.read_csv}[ending]
    assert read(f"more-patients.{ending}")["id"].to_pylist() == list(range(1, 201))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "a list of tables"),
        ("tables: {a: b}", "a list of tables"),
        ("tables: [{people: true}]", "a list of tables"),
        ("tables: [{description: visits.sitr.yaml}]\nfist: [a.b]", "Did you mean 'first'"),
        ("tables: [{description: visits.sitr.yaml, peple: true}]", "Did you mean 'people'"),
        ("tables: [{description: visit.sitr.yaml, people: true}]", "visit.sitr.yaml"),
        ("tables: [{description: visits.sitr.yaml, people: true}]", "2 to 16 tables"),
        (TABLES + "first: [visits.wards]", "table.column"),
        (TABLES + "first: [wards]", "got 'wards'"),
        (TABLES + "first: [2024-02-30]", "a date or time does not exist"),
    ],
)
def test_a_wrong_file_is_refused_before_the_charge(sitr: Sitr, tables: Path, written: str, why: str) -> None:
    tables.write_text(written)
    done = sitr("synthesize-together", tables, "--price", "zcdp(0.5)", "-o", "rows.csv")
    assert done.code == 2
    assert why in done.err.replace("\n", " ")
    assert spent(tables) == [0, 0]


def test_files_are_checked_before_the_charge(sitr: Sitr, tables: Path) -> None:
    words = ("synthesize-together", tables, "--price", "zcdp(0.5)")
    assert "No file is given" in sitr(*words).err
    assert "no-such-folder" in sitr(*words, "-o", "no-such-folder/rows.csv").err
    Path("rows-patients.csv").write_text("mine")
    assert "already exists" in sitr(*words, "-o", "rows.csv").err
    assert ".sitr" in sitr(*words, "-o", "new.csv", "--model", "model.json").err
    assert spent(tables) == [0, 0]
    assert Path("rows-patients.csv").read_text() == "mine"
