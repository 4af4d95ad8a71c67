"""Answers with several groupings: kept, opened again, on the command line, in both languages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import sitr
from sitr.cli.main import app
from sitr.session.grouping import GroupingAnswer
from sitr.session.reopened import reopened

SQL = "SELECT ward, sex, GROUPING(sex) AS g, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ROLLUP (ward, sex)"


@pytest.fixture
def description(tmp_path: Path) -> Path:
    n = np.arange(600)
    table = pa.table(
        {"ward": np.array(["a", "b", "c"])[n % 3], "sex": np.array(["f", "m"])[n % 2], "cost": n % 100 / 1.0}
    )
    parquet.write_table(table, tmp_path / "visits.parquet")
    data = sitr.protect(
        tmp_path / "visits.parquet",
        unit=sitr.Row(),
        bounds={"cost": (0, 100)},
        keys={"ward": ["a", "b", "c"], "sex": ["m", "f"]},
    )
    data.save(tmp_path / "visits.sitr.yaml", promise="zcdp(1)", ledger=tmp_path / "sitr.db")
    return tmp_path / "visits.sitr.yaml"


def test_an_answer_is_kept_and_has_every_grouping(description: Path, tmp_path: Path) -> None:
    budget = sitr.open(description).budget()
    answer = budget.ask(SQL, "zcdp(0.1)")
    assert isinstance(answer, GroupingAnswer)
    assert answer.table.column_names == ["ward", "sex", "g", "n", "mean"]
    assert answer.table.num_rows == 6 + 3 + 1
    assert list(answer.tables) == ["ward × sex", "ward", "total"]
    assert set(answer.errors()) == {"n", "mean"}
    wide, each = (answer.intervals(simultaneous=together)["n_low"][0].as_py() for together in (True, False))
    assert wide < each
    again = budget.ask(SQL.replace("ROLLUP (ward, sex)", "ward, sex WITH ROLLUP"), "zcdp(0.1)")
    assert again.receipt.again
    opened = reopened(budget.ledger, answer.receipt.entry.number)
    assert isinstance(opened, GroupingAnswer)
    assert opened.table.equals(answer.table)
    assert answer.certificate(tmp_path / "page.html").exists()
    assert "(all)" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("lang", "word"), [("en", "(all)"), ("ar", "(الكل)")])
def test_the_command_line_shows_all_rows(description: Path, lang: str, word: str) -> None:
    arguments = [str(description), SQL, "--price", "zcdp(0.1)"]
    seen = CliRunner().invoke(app, ["--lang", lang, "preview", *arguments])
    assert seen.exit_code == 0, seen.output
    done = CliRunner().invoke(app, ["--lang", lang, "ask", *arguments])
    assert done.exit_code == 0, done.output
    assert word in done.output
    content = json.loads(CliRunner().invoke(app, ["ask", *arguments, "--json"]).output)
    assert [table["name"] for table in content["tables"]] == ["ward × sex", "ward", "total"]


def test_an_error_finds_a_price(description: Path) -> None:
    least = CliRunner().invoke(app, ["preview", str(description), SQL, "--error", "n=30"])
    assert least.exit_code == 0, least.output
