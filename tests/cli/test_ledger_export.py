from __future__ import annotations

import json
from pathlib import Path

import pytest

import sitr as library
from sitr.ledger.sql import SqlLedger
from tests.cli.conftest import Sitr


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A certificate, beside its ledger."""
    import pyarrow as pa

    people = pa.table({"ward": ["a", "b", "b"] * 100})
    data = library.protect(people, unit=library.Row(), keys={"ward": ["a", "b"]}, name="people")
    budget = data.budget(library.ZeroConcentratedDP(1.0), ledger=tmp_path / "sitr.db")
    answer = budget.group_by("ward").agg(n=library.count()).release(library.ZeroConcentratedDP(0.1))
    written: Path = answer.certificate(tmp_path / "page.html")
    return written


def test_a_certificate_is_verified_without_the_database(sitr: Sitr, page: Path) -> None:
    ledger, books, head = (page.with_name(name) for name in ("sitr.db", "books.json", "head.json"))
    told = sitr("ledger", "export", ledger, books, "--head", head, "--json").told()
    assert told == {"ledger": str(ledger), "records": 5, "files": [str(books), str(head)]}
    ledger.rename(page.with_name("away.db"))
    assert "Valid: this certificate belongs to entry 1" in sitr("verify", page, "--ledger", books, "--head", head).out
    shown = sitr("verify", page, "--head", head).out
    assert shown.startswith("Valid: the signed head lists this certificate")
    assert len(shown.splitlines()) == 1
    by_head = sitr("verify", page, "--head", head, "--json")
    assert (by_head.code, by_head.told()["verdict"], by_head.told()["entry"]) == (0, "valid", None)
    page.write_text(page.read_text() + " ")
    assert sitr("verify", page, "--ledger", books).code == 1
    changed = sitr("verify", page, "--head", head)
    assert (changed.code, changed.out[:10]) == (5, "Not listed")
    assert "غير مدرجة" in sitr("--lang", "ar", "verify", page, "--head", head).out


def test_another_ledger_does_not_contain_a_head(sitr: Sitr, page: Path, tmp_path: Path) -> None:
    head = tmp_path / "head.json"
    sitr("ledger", "export", tmp_path / "sitr.db", "--head", head)
    other = SqlLedger(tmp_path / "other.db")
    other.open("clinic", promise=library.PureDP(1.0), neighbors="row, add-remove")
    refused = sitr("verify", page, "--ledger", other.path, "--head", head)
    assert refused.code == 1
    assert "does not contain the head of 5 records" in refused.err


@pytest.mark.usefixtures("page")
def test_an_export_overwrites_nothing(sitr: Sitr, tmp_path: Path) -> None:
    ledger = tmp_path / "sitr.db"
    assert "got neither" in sitr("ledger", "export", ledger).err
    assert "is there already" in sitr("ledger", "export", ledger, tmp_path).err
    assert "Written" in sitr("ledger", "export", ledger, tmp_path / "books").out
    assert (tmp_path / "books" / "entries.csv").read_text().count("\n") == 2
    assert "is there already" in sitr("ledger", "export", ledger, "--head", tmp_path / "books" / "head.json").err


@pytest.mark.usefixtures("page")
def test_spending_is_drawn(sitr: Sitr, tmp_path: Path) -> None:
    ledger = tmp_path / "sitr.db"
    assert "Written" in sitr("ledger", "plot", ledger, tmp_path / "spent.svg").out
    assert "Spending over time" in (tmp_path / "spent.svg").read_text()
    told = sitr("--lang", "ar", "ledger", "plot", ledger, tmp_path / "spent.html", "--json").told()
    assert told["file"] == str(tmp_path / "spent.html")
    drawn = (tmp_path / "spent.html").read_text()
    assert 'dir="rtl"' in drawn
    assert "الإنفاق عبر الزمن" in drawn
    assert "COUNT" not in drawn
    assert "ending in .svg or .html" in sitr("ledger", "plot", ledger, tmp_path / "spent.png").err
    assert json.loads(sitr("ledger", "show", ledger, "--json").out)["entries"]
