"""`sitr dummy`: invented rows from a description alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv, feather, parquet

from sitr.dataset.description import load

Sitr = Callable[..., Any]


def test_the_same_questions_can_be_asked_about_them(sitr: Sitr, description: Path) -> None:
    done = sitr("dummy", description, "dummy.parquet", "--rows", "300", "--seed", "2")
    assert (done.code, done.err) == (0, "")
    assert "dummy.parquet" in done.out
    assert parquet.read_table("dummy.parquet").num_rows == 300
    made = load(Path("dummy.sitr.yaml"))
    assert made.table == load(description).table
    assert made.promise is None
    assert made.publication.title == "Invented rows"
    budget = ("--budget", "zcdp(1)", "--ledger", "dummy.db")
    asked = sitr("ask", "dummy.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.5)", *budget)
    assert asked.code == 0


def test_no_rows_are_read(sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the file of rows must exist."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the rows were read")

    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", read)
    load(description).source.unlink()
    assert sitr("dummy", description, "dummy.csv").code == 0
    assert csv.read_csv("dummy.csv").num_rows == 1_000
    assert sitr("dummy", description, "dummy.arrow", "--rows", "5", "--json").told() == {
        "rows": 5,
        "output": "dummy.arrow",
        "description": None,
    }
    assert feather.read_table("dummy.arrow").num_rows == 5


def test_nothing_is_overwritten(sitr: Sitr, description: Path) -> None:
    Path("dummy.sitr.yaml").write_text("mine")
    refused = sitr("dummy", description, "dummy.parquet")
    assert refused.code != 0
    assert "already exists" in refused.err
    assert not Path("dummy.parquet").exists()
    assert sitr("dummy", description, "dummy.txt").code != 0
