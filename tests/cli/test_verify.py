"""`sitr verify` says in words, in JSON and by its exit code what became of a certificate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Sitr = Callable[..., Any]

ASK = ("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", "--price", "zcdp(0.05)")


@pytest.fixture
def page(sitr: Sitr, description: Path) -> Path:
    assert sitr("ask", description, *ASK, "--certificate", "page.html").code == 0
    return Path("page.html")


def test_a_valid_page(sitr: Sitr, page: Path) -> None:
    done = sitr("verify", page, "--ledger", "sitr.db")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Valid: this certificate belongs to entry 1 of visits and is unaltered.\n")
    assert ASK[0] in done.out
    told = sitr("verify", page, "--ledger", "sitr.db", "--json").told()
    assert (told["verdict"], told["number"], told["entry"]["question"]) == ("valid", 1, ASK[0])
    assert (told["release"], told["private"]) == ("intact", True)


def test_an_altered_page(sitr: Sitr, page: Path) -> None:
    before, after, rest = page.read_text().partition(" ± ")
    page.write_text(before + "0" + after + rest)
    done = sitr("verify", page, "--ledger", "sitr.db")
    assert done.code == 1
    assert "Altered: this certificate names entry 1 of visits" in done.out
    told = sitr("verify", page, "--ledger", "sitr.db", "--json")
    assert (told.code, told.told()["verdict"], told.told()["release"]) == (1, "altered", "intact")


def test_a_page_of_another_ledger(sitr: Sitr, page: Path) -> None:
    words = ("--unit-row", "--budget", "zcdp(1)", "--ledger", "other.db", "--name", "elsewhere", "-o", "other.yaml")
    Path("copy.parquet").write_bytes(Path("visits.parquet").read_bytes())
    assert sitr("protect", "copy.parquet", *words).code == 0
    done = sitr("verify", page, "--ledger", "other.db")
    assert (done.code, done.out.partition(":")[0]) == (3, "Unknown entry")
    assert sitr("ask", "other.yaml", "SELECT COUNT(*) AS n FROM elsewhere", "--price", "zcdp(0.1)").code == 0
    done = sitr("verify", page, "--ledger", "other.db")
    assert (done.code, done.out.partition(":")[0]) == (4, "Other ledger")
    assert sitr("verify", page, "--ledger", "other.db", "--json").told()["entry"] is None


def test_what_is_no_certificate(sitr: Sitr, page: Path) -> None:
    Path("other.html").write_text("<html></html>")
    assert sitr("verify", "other.html", "--ledger", "sitr.db", "--json").error()["error"] == "InvalidParameter"
    assert sitr("verify", "other.html", "--ledger", "sitr.db").code == 2
    assert sitr("verify", "missing.html", "--ledger", "sitr.db", "--json").error()["error"] == "FileError"
    assert sitr("verify", page, "--ledger", "missing.db", "--json").error()["error"] == "LedgerError"
    assert not Path("missing.db").exists()
