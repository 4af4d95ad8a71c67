"""`sitr show` prints a kept answer again, and `sitr ledger answers` lists what is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

ASK = ("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", "--price", "zcdp(0.05)")


def test_everything_is_written_again_without_the_data(sitr: Sitr, description: Path) -> None:
    files = ("-o", "{}.csv", "--certificate", "{}.html", "--plot", "{}.svg")
    first = sitr("ask", description, *ASK, *(word.format("one") for word in files), "--json").told()
    Path("visits.parquet").unlink()
    description.unlink()
    done = sitr("show", "sitr.db", 1, *(word.format("two") for word in files), "--json")
    assert (done.code, done.err) == (0, "")
    assert done.told()["receipt"].pop("again")
    first["receipt"].pop("again")
    assert {**done.told(), "receipt": first["receipt"]} == first
    for ending in ("csv", "html", "svg"):
        assert Path(f"one.{ending}").read_bytes() == Path(f"two.{ending}").read_bytes()
    assert sitr("verify", "two.html", "--ledger", "sitr.db").code == 0
    assert "kept answer of entry 1" in sitr("show", "sitr.db", 1).out
    assert len(SqlLedger("sitr.db").entries()) == 1


def test_what_is_not_kept_is_refused(sitr: Sitr, description: Path) -> None:
    assert sitr("show", "nowhere.db", 1, "--json").error()["error"] == "LedgerError"
    assert sitr("show", "sitr.db", 1, "--json").error()["error"] == "LedgerError"
    assert sitr("ask", description, *ASK).code == 0
    assert sitr("show", "sitr.db", "one").code == 2
    assert sitr("show", "sitr.db", 1, "-o", "x.xlsx").code == 2
    (kept,) = Path("sitr.answers").iterdir()
    kept.write_text(kept.read_text().replace("Surgery", "Surgeries"))
    assert "was changed" in sitr("show", "sitr.db", 1, "--json").error()["given"]
    kept.unlink()
    assert "No answer of entry 1 is kept" in sitr("show", "sitr.db", 1, "--json").error()["given"]


def test_kept_answers_are_listed(sitr: Sitr, description: Path) -> None:
    assert sitr("ledger", "answers", "sitr.db").out == "No answer is kept.\n"
    for words in ((), ("--fresh",)):
        assert sitr("ask", description, *ASK, *words).code == 0
    told = sitr("ledger", "answers", "sitr.db", "--json").told()
    assert [(each["number"], each["dataset"], each["state"]) for each in told["answers"]] == [
        (1, "visits", "private"),
        (2, "visits", "private"),
    ]
    assert told["answers"][0]["price"]["notation"] == "zcdp(rho=0.05)"
    shown = sitr("ledger", "answers", "sitr.db", "--dataset", "visits").out
    assert shown.count("private") == 2
    assert sitr("ledger", "answers", "sitr.db", "--dataset", "nowhere", "--json").error()["error"] == "LedgerError"
    assert sitr("ledger", "answers", "nowhere.db", "--json").error()["error"] == "LedgerError"
