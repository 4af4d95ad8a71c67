"""Tables, synthetic rows, and public pages: what a steward shows to everybody, and nothing else."""

from __future__ import annotations

import csv
import io
import re

import pytest

from sitr.errors import InvalidUse
from sitr.ledger.who import acting
from sitr.server.publications import PublicPages, address_of
from sitr.session.dataset import open as open_description
from tests.server.conftest import PRICE, SQL, Team, mark

TABLES = {"table-0": ["ward", "age_band"], "table-1": ["days"], "measure": ["count", "mean(cost)"], "bins": "5"}


def answered(team: Team, name: str = "ana") -> int:
    found = team.program(name).post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": PRICE})
    assert found.status_code == 200
    return len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"])


def test_tables_are_previewed_and_released(team: Team) -> None:
    ana = team.browser("ana")
    form = {"mark": mark(ana.get("/datasets/visits/publish")), "price": PRICE, **TABLES}
    preview = ana.post("/datasets/visits/publish/preview", data=form)
    assert "ward × age_band" in preview.text
    assert "45" in preview.text
    assert 'value="mean(cost)" checked' in preview.text
    assert team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"] == []
    first, second = (ana.post("/datasets/visits/publish", data=form) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]  # the same again is free
    assert "ward × age_band" in ana.get(first.headers["location"]).text
    empty = ana.post("/datasets/visits/publish", data={"mark": form["mark"], "price": PRICE})
    assert "at least one table" in empty.text


def test_tables_that_somebody_else_has_paid_for_are_free_and_shown(team: Team) -> None:
    """Also if they were rounded to whole numbers there: the way to the kept answer would show those, or nothing."""
    noor, ana = team.browser("noor"), team.browser("ana")
    form = {"mark": mark(noor.get("/datasets/visits/publish")), "price": PRICE, "table-0": ["ward"]}
    place = noor.post("/datasets/visits/publish", data=form).headers["location"]
    form["mark"] = mark(ana.get("/datasets/visits/publish"))
    free = ana.post("/datasets/visits/publish", data=form)
    assert (free.status_code, ana.get(place).status_code) == (200, 404)
    assert "Cardiology" in free.text
    assert f"{place}/answer.csv" not in free.text  # its files are those of who has paid
    budget = open_description(team.settings.datasets["visits"]).budget()
    with acting("noor"):
        whole = budget.tables([["ward", "age_band"]], whole=True).release(PRICE)
    form = {"mark": mark(noor.get("/datasets/visits/publish")), "price": PRICE, "table-0": ["ward", "age_band"]}
    free = noor.post("/datasets/visits/publish", data=form)
    assert free.status_code == 200
    assert "IN WHOLE NUMBERS" not in free.text
    assert len(budget.entries()) == whole.receipt.entry.number == 2


def test_synthetic_rows_are_previewed_released_and_downloaded(team: Team) -> None:
    ana = team.browser("ana")
    page = ana.get("/datasets/visits/synthetic")
    form = {"mark": mark(page), "price": PRICE, "column": ["age_band", "insurance"], "rows": "40"}
    assert "patient_id" not in re.findall(r'name="column" value="(\w+)"', page.text)
    assert "±" in ana.post("/datasets/visits/synthetic/preview", data=form).text
    shown = ana.post("/datasets/visits/synthetic", data=form)
    assert shown.text.count("<tr><td>") == 12
    file = ana.post("/datasets/visits/synthetic", data=form | {"file": "csv"})
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert len(rows) == 40
    assert rows[0].keys() == {"age_band", "insurance"}
    assert rows[0]["age_band"] in shown.text
    assert len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"]) == 1


@pytest.mark.parametrize("address", ["", "visits-2026"])
def test_a_steward_shows_an_answer_to_everybody(team: Team, address: str) -> None:
    number = answered(team)
    noor, stranger = team.browser("noor"), team.visitor()
    sent = {"mark": mark(noor.get("/account")), "address": address}
    assert noor.post(f"/datasets/visits/answers/{number}/public", data=sent).status_code == 303
    [found] = PublicPages(team.people.path).of("visits")
    assert len(found.address) >= 40 if not address else found.address == address
    page = stranger.get(f"/public/{found.address}")
    assert page.status_code == 200
    assert "Emergency" in page.text
    assert "<svg" in page.text
    assert 'dir="rtl"' in stranger.get(f"/public/{found.address}", headers={"accept-language": "ar"}).text
    certificate = stranger.get(f"/public/{found.address}/certificate")
    assert "sitr-release" in certificate.text
    assert "sandbox" in certificate.headers["content-security-policy"]
    assert "n_low" in stranger.get(f"/public/{found.address}/answer.csv").text
    assert str(team.folder) not in page.text + certificate.text
    for private in (f"/datasets/visits/answers/{number}", "/datasets/visits", "/datasets/visits/publish"):
        assert stranger.get(private).headers["location"].startswith("/login")
    noor.post("/datasets/visits/public", data={"mark": sent["mark"], "address": found.address})
    assert stranger.get(f"/public/{found.address}").status_code == 404


def test_nobody_else_publishes(team: Team) -> None:
    number = answered(team)
    for name in ("ana", "omar", "admin"):
        client = team.browser(name)
        sent = {"mark": mark(client.get("/account")), "address": "mine"}
        assert client.post(f"/datasets/visits/answers/{number}/public", data=sent).status_code == 403
    noor = team.browser("noor")
    sent = {"mark": mark(noor.get("/account")), "address": "first-one"}
    assert noor.post("/datasets/visits/answers/99/public", data=sent).status_code == 404
    assert noor.post(f"/datasets/visits/answers/{number}/public", data=sent).status_code == 303
    again = noor.post(f"/datasets/visits/answers/{number}/public", data=sent)
    assert again.status_code == 422
    assert "already" in again.text
    assert [each.address for each in PublicPages(team.people.path).of("visits")] == ["first-one"]


@pytest.mark.parametrize("given", ["a", "No", "a b", "../x", "x" * 61, "-ab", "ä-ä"])
def test_an_address_is_plain(given: str) -> None:
    with pytest.raises(InvalidUse, match="address"):
        address_of(given)


def test_random_addresses_differ() -> None:
    assert len({address_of("") for _ in range(100)}) == 100
