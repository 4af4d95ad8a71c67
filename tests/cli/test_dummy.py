"""`sitr dummy`: invented rows from a description alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv, feather, parquet

from sitr.dataset.description import Description, load, save

Sitr = Callable[..., Any]


def test_the_same_questions_can_be_asked_about_them(sitr: Sitr, description: Path) -> None:
    done = sitr("dummy", description, "dummy.parquet", "--rows", "300", "--seed", "2")
    assert (done.code, done.err) == (0, "")
    assert "dummy.parquet" in done.out
    assert parquet.read_table("dummy.parquet").num_rows == 300
    made = load(Path("dummy.sitr.yaml"))
    assert made.table == load(description).table
    assert made.promise == load(description).promise
    assert isinstance(made.ledger, Path)
    assert made.ledger.name == "dummy.sitr.db"
    assert made.publication.title == "Invented rows"
    before = sitr("ledger", "show", "sitr.db").out
    asked = sitr("ask", "dummy.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.05)")
    assert asked.code == 0
    assert sitr("ledger", "show", "sitr.db").out == before  # the invented rows have a ledger of their own


def test_a_data_set_without_a_budget_gives_none(sitr: Sitr, description: Path) -> None:
    found = load(description)
    save(Description(found.table, found.source), Path("bare.sitr.yaml"))
    done = sitr("dummy", "bare.sitr.yaml", "dummy.parquet", "--json")
    assert done.told()["ledger"] is None
    assert load(Path("dummy.sitr.yaml")).promise is None
    assert not Path("dummy.sitr.db").exists()


def test_no_rows_are_read(sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the file of rows must exist."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the rows were read")

    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", read)
    source = load(description).source
    assert isinstance(source, Path)
    source.unlink()
    assert sitr("dummy", description, "dummy.csv").code == 0
    assert csv.read_csv("dummy.csv").num_rows == 1_000
    assert sitr("dummy", description, "dummy.arrow", "--rows", "5", "--json").told() == {
        "rows": 5,
        "output": "dummy.arrow",
        "description": None,
        "ledger": None,
    }
    assert feather.read_table("dummy.arrow").num_rows == 5


def test_nothing_is_overwritten(sitr: Sitr, description: Path) -> None:
    Path("dummy.sitr.yaml").write_text("mine")
    refused = sitr("dummy", description, "dummy.parquet")
    assert refused.code != 0
    assert "already exists" in refused.err
    assert not Path("dummy.parquet").exists()
    assert sitr("dummy", description, "dummy.txt").code != 0
