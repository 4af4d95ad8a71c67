"""The books as files: an auditor checks them without the server, and learns nothing of other data sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitr.errors import LedgerError
from sitr.ledger.export import read_export, read_head, write_json
from sitr.ledger.who import acting
from sitr.session.dataset import open as open_description
from tests.server.conftest import PRICE, SQL, Team, mark

PLACE = "/api/v1/datasets/visits"


def test_an_auditor_takes_the_books_along(team: Team, tmp_path: Path) -> None:
    assert team.program("ana").post(f"{PLACE}/ask", json={"sql": SQL, "price": PRICE}).status_code == 200
    found = team.program("omar").get(f"{PLACE}/ledger/export")
    assert found.status_code == 200
    write_json(found.json(), tmp_path / "books.json")
    read = read_export(tmp_path / "books.json")
    [live] = open_description(team.settings.datasets["visits"]).budget().ledger.entries("visits")
    assert read.charged(1)[0].hash == live.hash
    assert live.question == SQL
    assert str(team.folder) not in found.text  # nobody needs to know where the files are
    changed = found.text.replace(SQL, SQL.replace("COUNT(*)", "COUNT(*) + 0"))
    assert changed != found.text
    write_json(json.loads(changed), tmp_path / "changed.json")
    with pytest.raises(LedgerError):
        read_export(tmp_path / "changed.json")


def test_the_head_names_no_question_and_verifies_certificates(team: Team, tmp_path: Path) -> None:
    assert team.program("ana").post(f"{PLACE}/ask", json={"sql": SQL, "price": PRICE}).status_code == 200
    team.program("ana").get(f"{PLACE}/answers/1/certificate")
    found = team.program("omar").get(f"{PLACE}/ledger/head")
    assert "SELECT" not in found.text
    write_json(found.json(), tmp_path / "head.json")
    head = read_head(tmp_path / "head.json")
    ledger = open_description(team.settings.datasets["visits"]).budget().ledger
    assert head.certificates == {seal.sha256: 1 for seal in ledger.seals(1) if seal.kind.value == "certificate"}
    assert head.certificates


def test_whoever_does_not_read_all_books_of_a_ledger_gets_its_head_only(team: Team) -> None:
    """Two data sets in one ledger: the auditor of one of them reads no question about the other."""
    budget = open_description(team.settings.datasets["visits"]).budget()
    with acting("noor"):
        budget.ledger.open("other", promise=budget.promise, neighbors=budget.table.neighbors())
    omar = team.program("omar")
    refused = omar.get(f"{PLACE}/ledger/export")
    assert refused.status_code == 403
    assert "whose books you do not read" in refused.json()["given"]
    assert omar.get(f"{PLACE}/ledger/head").status_code == 200
    assert team.browser("omar").get("/datasets/visits/ledger/books.json").status_code == 403


def test_the_page_has_both_files_and_a_reserve(team: Team) -> None:
    omar, noor = team.browser("omar"), team.browser("noor")
    page = omar.get("/datasets/visits/ledger").text
    for name in ("books.json", "head.json"):
        assert f'href="/datasets/visits/ledger/{name}"' in page
        found = omar.get(f"/datasets/visits/ledger/{name}")
        assert found.headers["content-disposition"].startswith("attachment")
        assert json.loads(found.text)["format"].startswith("sitr ledger")
    sent = {"mark": mark(noor.get("/datasets/visits")), "account": "ana", "amount": "zcdp(0.1)"}
    assert noor.post("/datasets/visits/accounts/reserve", data=sent).status_code == 303
    moved = {"mark": sent["mark"], "source": "ana", "target": "ben", "amount": "zcdp(0.01)"}
    assert noor.post("/datasets/visits/accounts", data=sent | {"account": "ben"}).status_code == 303
    assert noor.post("/datasets/visits/accounts/move", data=moved).status_code == 303
    tree = open_description(team.settings.datasets["visits"]).budget().accounts()
    assert [str(each) for each in tree.share("ana").reserve][:1] == ["1/10"]
    assert str(tree.share("ben").cap[0]) == "11/100"
