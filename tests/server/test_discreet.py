"""Nobody learns from an error where the files of the server are, whichever route meets it."""

from __future__ import annotations

import sqlite3

import pytest

from sitr.errors import BackendFailure, LedgerBusy, LedgerError, QuestionError
from sitr.server.discreet import without_places
from tests.server.conftest import PRICE, SQL, Team, mark

PLACE = "/api/v1/datasets/visits"


def test_a_ledger_that_cannot_be_read_says_so_without_its_place(team: Team) -> None:
    """Who has a role is found out first, and that can still be read."""
    assert team.program("ana").post(f"{PLACE}/ask", json={"sql": SQL, "price": PRICE}).status_code == 200
    forms = {name: (browser := team.browser(name), mark(browser.get("/account"))) for name in ("ana", "omar")}
    with sqlite3.connect(team.folder / "sitr.db") as changed:
        for (trigger,) in changed.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            changed.execute(f'DROP TRIGGER "{trigger}"')
        changed.execute("UPDATE entries SET price = 'nonsense'")
    ana, omar = (team.program(name) for name in ("ana", "omar"))
    found = [ana.get(f"{PLACE}{path}") for path in ("/answers", "/answers/1", "/answers/1/certificate")]
    found += [omar.get(f"{PLACE}/ledger"), omar.post(f"{PLACE}/certificates/verify", json={"page": "<p>"})]
    browser, seen = forms["ana"]
    found += [browser.get(f"/datasets/visits{path}") for path in ("", "/answers", "/spending.svg")]
    found += [browser.post("/datasets/visits/preview", data={"sql": SQL, "price": PRICE, "mark": seen})]
    auditor, seen = forms["omar"]
    sent = {"files": {"certificate": ("c.html", b"<p>", "text/html")}, "data": {"mark": seen}}
    found += [auditor.post("/datasets/visits/ledger/certificate", **sent)]  # type: ignore[arg-type]
    for each in found:
        assert "The files of visits cannot be read on the server" in each.text, each.text
        assert str(team.folder) not in each.text


def test_an_error_stays_what_it_is() -> None:
    places = frozenset({"/srv/sitr.db"})
    busy = without_places(LedgerBusy(given="Another program is writing to /srv/sitr.db.", do="Wait."), "visits", places)
    assert (type(busy), "/srv" in busy.message) == (LedgerBusy, False)
    failed = without_places(LedgerError(given="/srv/sitr.db failed.", do="Look."), "visits", places)
    assert type(failed) is BackendFailure
    mistake = QuestionError(given="There is no column wardd.", do="Look.")
    assert without_places(mistake, "visits", places) is mistake


def test_an_error_on_a_page_about_all_data_sets_is_shown_without_places(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise LedgerError(given=f"{team.folder / 'sitr.db'} failed.", do="Look.")

    browser = team.browser("noor")
    monkeypatch.setattr("sitr.server.office.queue", fails)
    found = browser.get("/queue")
    assert "The files of visits cannot be read on the server" in found.text
    assert str(team.folder) not in found.text
