"""`sitr ask` pays before it looks, and never pays for what it cannot deliver."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

from sitr.dataset.hospital import WARDS
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

WARD = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"
PRICE = ("--price", "zcdp(0.05)")


def entries() -> int:
    return len(SqlLedger("sitr.db", create=False).entries()) if Path("sitr.db").exists() else 0


def test_an_answer(sitr: Sitr, description: Path) -> None:
    done = sitr("ask", description, WARD, *PRICE)
    assert (done.code, done.err) == (0, "")
    assert all(ward in done.out for ward in WARDS)
    assert "ρ = 0.45 of ρ = 0.5" in done.out
    assert entries() == 1


def test_all_digits_are_printed_on_demand(sitr: Sitr, description: Path) -> None:
    asked = ("ask", description, "SELECT SUM(cost) AS total FROM visits", *PRICE)
    told = sitr(*asked, "--json").told()
    (value,) = told["rows"][0]["values"]
    error = told["columns"][0]["error"]
    rounded, exact = sitr(*asked).out, sitr(*asked, "--exact").out
    whole = f"{value['value']:,.2f}".rstrip("0").rstrip(".").replace("-", "−")
    assert f"{whole} ± {error:,.2f}".rstrip("0").rstrip(".") in exact
    assert whole not in rounded
    assert f"{error:,.2f}".rstrip("0").rstrip(".") not in rounded
    previewed = ("preview", description, "SELECT SUM(cost) AS total FROM visits", *PRICE)
    assert f"± {error:,.2f}".rstrip("0").rstrip(".") in sitr(*previewed, "--exact").out
    assert f"± {error:,.2f}".rstrip("0").rstrip(".") not in sitr(*previewed).out
    assert entries() == 1


def test_an_interval_of_values_is_shown_where_it_was_paid_for(sitr: Sitr, description: Path) -> None:
    paid = sitr("ask", description, "SELECT WITH_INTERVAL(MEDIAN(cost)) AS middle FROM visits", *PRICE)
    free = sitr("ask", description, "SELECT MEDIAN(cost) AS middle FROM visits", *PRICE)
    assert "ranks   " in paid.out.splitlines()[2]
    assert "95% interval" in paid.out.splitlines()[0]
    assert "95% interval" not in free.out.splitlines()[0]


def test_json_is_the_certificate(sitr: Sitr, description: Path) -> None:
    told = sitr("ask", description, WARD, *PRICE, "--json").told()
    assert told["kind"] == "answer"
    assert (told["receipt"]["entry"], told["receipt"]["private"]) == (1, True)
    assert [row["key"] for row in told["rows"]] == [[ward] for ward in WARDS]


def test_every_file_holds_the_same_answer(sitr: Sitr, description: Path) -> None:
    files = ("-o", "answer.csv", "--certificate", "answer.html", "--plot", "answer.svg")
    told = sitr("ask", description, WARD, *PRICE, *files, "--json").told()
    columns = ["ward", "visits", "visits_low", "visits_high", "total", "total_low", "total_high"]
    table = pyarrow.csv.read_csv("answer.csv")
    assert table.schema.names == columns
    assert table["visits"].to_pylist() == [row["values"][0]["value"] for row in told["rows"]]
    assert Path("answer.html").read_text().lower().startswith("<!doctype html>")
    assert Path("answer.svg").read_text().lstrip().startswith("<svg")
    assert "Written: answer.parquet" in sitr("ask", description, WARD, *PRICE, "-o", "answer.parquet").out
    assert pyarrow.parquet.read_table("answer.parquet").schema.names == columns
    told = sitr("ask", description, WARD, *PRICE, "-o", "answer.json", "--json").told()
    assert json.loads(Path("answer.json").read_text()) == told


def test_what_no_file_holds_is_shown_in_full(sitr: Sitr, folder: Path) -> None:
    wards = [f"ward-{place:03}" for place in range(60)]
    words = ("--unit-row", "--keys", f"ward={','.join(wards)}", "--budget", "zcdp(1)", "--ledger", "sitr.db")
    assert sitr("protect", folder / "visits.parquet", *words).code == 0
    shown = sitr("ask", folder / "visits.sitr.yaml", WARD.replace(", SUM(cost) AS total", ""), *PRICE).out
    assert all(f"{ward} " in shown for ward in wards)
    asked = ("ask", folder / "visits.sitr.yaml", WARD.replace(", SUM(cost) AS total", ""), *PRICE, "-o", "wards.csv")
    shown = sitr(*asked).out
    assert sum(f"{ward} " in shown for ward in wards) == 50
    assert "The first 50 of 60 rows are shown here; the answer has 10 more." in shown
    assert pyarrow.csv.read_csv("wards.csv").num_rows == 60


def test_lines_in_a_pipe_end_with_their_last_letter(sitr: Sitr, description: Path) -> None:
    told = [
        sitr("preview", description, WARD, *PRICE),
        sitr("ask", description, WARD, *PRICE),
        sitr("ledger", "show", "sitr.db"),
        sitr("protect", "visits.parquet", "--unit-row", "-o", "rows.yaml"),
    ]
    assert [run.code for run in told] == [0] * 4
    assert [line for run in told for line in run.out.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize(
    ("files", "code", "error"),
    [
        (("-o", "answer.xlsx"), 2, "BadUsage"),
        (("-o", "answer"), 2, "BadUsage"),
        (("--certificate", "answer.pdf"), 2, "BadUsage"),
        (("--plot", "answer.png"), 2, "BadUsage"),
        (("-o", "missing/answer.csv"), 1, "FileError"),
        (("--plot", "missing/answer.svg"), 1, "FileError"),
        (("-o", "visits.parquet"), 1, "FileError"),
        (("-o", "answer.csv", "--certificate", "."), 2, "BadUsage"),
    ],
)
def test_files_that_cannot_be_written_cost_nothing(
    sitr: Sitr, description: Path, files: tuple[str, ...], code: int, error: str
) -> None:
    before = Path("visits.parquet").read_bytes()
    refused = sitr("ask", description, WARD, *PRICE, *files, "--json")
    assert (refused.code, refused.error()["error"]) == (code, error)
    assert "nothing was spent" in refused.error()["do"]
    assert entries() == 0
    assert Path("visits.parquet").read_bytes() == before
    assert not list(Path().glob("answer*"))


def test_a_disk_that_fails_after_the_charge_does_not_lose_the_answer(
    sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "answer.html")

    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.shown.written", full)
        done = sitr("ask", description, WARD, *PRICE, "--certificate", "answer.html", "--json")
    assert done.code == 1
    assert done.told()["receipt"]["entry"] == 1
    assert json.loads(done.err)["given"] == "Could not write answer.html (No space left on device)."
    kept = done.told()["receipt"]["kept"]
    assert f"is kept in {kept}: repeat the command" in json.loads(done.err)["do"]
    again = sitr("ask", description, WARD, *PRICE, "--certificate", "answer.html", "--json")
    assert again.told()["rows"] == done.told()["rows"]
    assert again.told()["receipt"] == done.told()["receipt"] | {"again": True}
    assert Path("answer.html").exists()
    assert entries() == 1


def test_asking_again_costs_nothing_unless_a_fresh_answer_is_wanted(sitr: Sitr, description: Path) -> None:
    first, again, fresh, last = (
        sitr("ask", description, WARD, *PRICE, *words, "--json").told() for words in ((), (), ("--fresh",), ())
    )
    assert [told["receipt"]["entry"] for told in (first, again, fresh, last)] == [1, 1, 2, 2]
    assert [told["receipt"]["again"] for told in (first, again, fresh, last)] == [False, True, False, True]
    assert again["rows"] == first["rows"] != fresh["rows"] == last["rows"]
    assert "kept answer of entry 2, from 20" in sitr("ask", description, WARD, *PRICE).out
    assert sitr("ask", description, WARD, "--price", "zcdp(0.06)", "--json").told()["receipt"]["entry"] == 3
    off = {"SITR_KEEP_ANSWERS": "no"}
    assert sitr("ask", description, WARD, *PRICE, "--json", environment=off).told()["receipt"]["entry"] == 4


def test_a_changed_answer_is_refused(sitr: Sitr, description: Path) -> None:
    kept = Path(sitr("ask", description, WARD, *PRICE, "--json").told()["receipt"]["kept"])
    kept.write_text(kept.read_text().replace(WARDS[0], "Elsewhere"))
    refused = sitr("ask", description, WARD, *PRICE, "--json")
    assert (refused.code, refused.error()["error"]) == (1, "FileError")
    assert "--fresh" in refused.error()["do"]
    assert entries() == 1
    assert sitr("ask", description, WARD, *PRICE, "--fresh").code == 0


def test_a_price_beyond_the_budget(sitr: Sitr, description: Path) -> None:
    assert sitr("ask", description, WARD, "--price", "zcdp(0.4)").code == 0
    before = sitr("ledger", "show", "sitr.db", "--json").told()
    refused = sitr("ask", description, WARD, "--price", "zcdp(0.2)", "-o", "answer.csv", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "BudgetExceeded")
    assert "zcdp(rho=0.1)" in refused.error()["wanted"]
    assert sitr("ledger", "show", "sitr.db", "--json").told() == before
    assert not Path("answer.csv").exists()


@pytest.mark.parametrize(
    ("sql", "price", "error"),
    [
        ("SELECT SUM(price) AS n FROM visits", "zcdp(0.1)", "UnknownName"),
        ("SELECT COUNT(*) AS n FROM stays", "zcdp(0.1)", "UnknownName"),
        ("SELECT COUNT(*) AS n FROM visits JOIN staff USING (ward)", "zcdp(0.1)", "ForbiddenConstruct"),
        ("SELECT SUM(days) AS n FROM visits", "zcdp(0.1)", "DescriptionError"),
        (WARD, "much", "InvalidPromise"),
        (WARD, "approximate(1, 1e-6)", "IncompatiblePromises"),
    ],
)
def test_bad_questions_and_prices_cost_nothing(sitr: Sitr, description: Path, sql: str, price: str, error: str) -> None:
    refused = sitr("ask", description, sql, "--price", price, "--json")
    assert (refused.code, refused.error()["error"]) == (2, error)
    assert entries() == 0


def test_a_busy_ledger(sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sitr("ask", description, WARD, *PRICE).code == 0
    monkeypatch.setattr(SqlLedger.__init__, "__kwdefaults__", {"create": True, "patience": 0.1})
    with closing(sqlite3.connect("sitr.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = sitr("ask", description, WARD, *PRICE, "--fresh", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "LedgerBusy")
    assert entries() == 1


def test_data_that_changed_since_they_were_described(sitr: Sitr, description: Path) -> None:
    table = pyarrow.parquet.read_table("visits.parquet")
    pyarrow.parquet.write_table(table.drop_columns("insurance"), "visits.parquet")
    refused = sitr("ask", description, WARD, *PRICE, "--json")
    assert (refused.code, refused.error()["error"]) == (1, "SourceError")
    assert entries() == 0


def test_data_that_fail_after_the_charge(sitr: Sitr, description: Path) -> None:
    """The footer is sound and the rows are not: the charge stands, and nothing is quoted."""
    content = bytearray(Path("visits.parquet").read_bytes())
    rows = slice(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    content[rows] = bytes(len(content[rows]))
    Path("visits.parquet").write_bytes(content)
    refused = sitr("ask", description, WARD, *PRICE, "--json")
    assert (refused.code, refused.error()["error"]) == (1, "BackendFailure")
    assert entries() == 1


def test_an_error_is_pure_json_even_where_the_parser_would_warn(description: Path) -> None:
    """In a process of its own: a test's handlers would catch what Python prints when there are none."""
    command = [sys.executable, "-c", "from sitr.cli.main import main; main()", "ask", str(description), "SHOW x y z"]
    done = subprocess.run([*command, *PRICE, "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"] == "ForbiddenConstruct"


QUESTIONS = f"-- name: wards\n{WARD};\nSELECT COUNT(*) AS n FROM visits WHERE ward <> ';';\n"


def test_a_file_of_questions_is_one_charge(sitr: Sitr, description: Path) -> None:
    Path("questions.sql").write_text(QUESTIONS)
    asked = (description, "--file", "questions.sql", *PRICE)
    previewed = sitr("preview", *asked)
    assert "2 questions with one plan and one charge" in previewed.out
    assert entries() == 0
    done = sitr("ask", *asked, "-o", "answers.csv", "--certificate", "page.html")
    assert (done.code, done.err, entries()) == (0, "", 1)
    assert all(ward in done.out for ward in WARDS)
    told = sitr("ask", *asked, "--json").told()
    assert (told["kind"], told["receipt"]["again"], [one["name"] for one in told["answers"]]) == (
        "batch",
        True,
        ["wards", "2"],
    )
    assert pyarrow.csv.read_csv("answers.csv")["question"].unique().to_pylist() == ["wards", "2"]
    assert sitr("show", "sitr.db", 1).out.startswith("2 answers for one charge")
    assert entries() == 1


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), "Missing SQL (or --file)"),
        ((WARD, "--file", "questions.sql"), "both"),
        (("--file", "absent.sql"), "Cannot read absent.sql"),
        (("--file", "empty.sql"), "The file empty.sql has no question"),
        (("--file", "wrong.sql"), "nowhere"),
    ],
)
def test_a_file_that_cannot_be_asked_costs_nothing(
    sitr: Sitr, description: Path, words: tuple[str, ...], given: str
) -> None:
    for name, content in (
        ("questions", QUESTIONS),
        ("empty", "-- nothing\n;"),
        ("wrong", "SELECT COUNT(*) FROM nowhere"),
    ):
        Path(f"{name}.sql").write_text(content)
    done = sitr("ask", description, *words, *PRICE)
    assert done.code != 0
    assert given in done.err
    assert entries() == 0
