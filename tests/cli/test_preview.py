"""`sitr preview` shows price and error, and leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

WARD = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"


def test_a_preview_is_shown_and_spends_nothing(sitr: Sitr, description: Path) -> None:
    done = sitr("preview", description, WARD, "--price", "zcdp(0.05)")
    assert (done.code, done.err) == (0, "")
    assert "COUNT(*)" in done.out
    assert "±" in done.out
    assert "cannot pay" not in done.out
    words = " ".join(done.out.split())
    assert "Each person contributes at most 2 rows in each of at most 3 groups." in words
    assert "rows without a value in patient_id are always left out." in words
    assert SqlLedger("sitr.db", create=False).entries() == []


def test_no_rows_are_read(sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("the rows were read")

    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", read)
    assert sitr("preview", description, WARD, "--price", "zcdp(0.05)").code == 0


def test_json(sitr: Sitr, description: Path) -> None:
    told = sitr("preview", description, WARD, "--price", "zcdp(0.05)", "--json").told()
    assert told["kind"] == "preview of answer"
    assert told["price"]["notation"] == "zcdp(rho=0.05)"
    assert [column["name"] for column in told["columns"]] == ["visits", "total"]
    assert told["budget"]["after"]["remaining"]["rho"] == 0.45


def test_a_price_that_does_not_fit_is_shown_with_one_that_does(sitr: Sitr, description: Path) -> None:
    assert sitr("ask", description, WARD, "--price", "zcdp(0.4)").code == 0
    done = sitr("preview", description, WARD, "--price", "zcdp(0.2)")
    assert (done.code, done.err) == (0, "")
    assert "The budget cannot pay this: at most zcdp(rho=0.1) is left." in done.out
    assert "cannot pay" not in sitr("preview", description, WARD, "--price", "zcdp(0.1)").out
    told = sitr("preview", description, WARD, "--price", "zcdp(0.2)", "--json").told()
    assert told["budget"]["after"] is None


@pytest.mark.parametrize(
    ("sql", "price", "error"),
    [
        ("SELECT SUM(price) AS n FROM visits", "zcdp(0.1)", "UnknownName"),
        ("SELECT COUNT(*) AS n FROM stays", "zcdp(0.1)", "UnknownName"),
        ("SELECT COUNT(*) AS n FROM visits JOIN staff USING (ward)", "zcdp(0.1)", "ForbiddenConstruct"),
        ("SELECT SUM(days) AS n FROM visits", "zcdp(0.1)", "DescriptionError"),
        ("SELEC", "zcdp(0.1)", "QuestionError"),
        ("SELECT COUNT(* FROM visits", "zcdp(0.1)", "QuestionError"),
        ("SELECT insurance, COUNT(*) AS n FROM visits GROUP BY insurance", "zcdp(0.1)", "QuestionError"),
        (WARD, "zcdp(0)", "QuestionError"),
        (WARD, "zcdp(-1)", "InvalidPromise"),
        (WARD, "a little", "InvalidPromise"),
        (WARD, "approximate(1, 1e-6)", "IncompatiblePromises"),
    ],
)
def test_bad_questions_and_prices(sitr: Sitr, description: Path, sql: str, price: str, error: str) -> None:
    refused = sitr("preview", description, sql, "--price", price, "--json")
    assert (refused.code, refused.error()["error"]) == (2, error)


@pytest.mark.parametrize("path", ["missing.yaml", "visits.parquet", "."])
def test_what_is_no_description(sitr: Sitr, folder: Path, path: str) -> None:
    refused = sitr("preview", folder / path, WARD, "--price", "zcdp(0.1)", "--json")
    assert (refused.code, refused.error()["error"]) == (2, "DescriptionError")


def test_data_that_are_gone(sitr: Sitr, description: Path) -> None:
    Path("visits.parquet").unlink()
    refused = sitr("preview", description, WARD, "--price", "zcdp(0.1)", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "SourceError")
