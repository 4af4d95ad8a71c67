"""A certificate that an auditor gets from somebody: the ledger of the data set says whether it is genuine."""

from __future__ import annotations

import httpx2 as httpx
import pytest

import sitr
from sitr.server.certificates import MOST_NAME
from tests.server.conftest import PRICE, SQL, Team, mark

PLACE = "/api/v1/datasets/visits"


@pytest.fixture(scope="module")
def certificate(shared: Team) -> str:
    ana = shared.program("ana")
    assert ana.post(f"{PLACE}/ask", json={"sql": SQL, "price": PRICE}).status_code == 200
    return ana.get(f"{PLACE}/answers/1/certificate").text


def verdict(team: Team, page: str, name: str = "omar") -> httpx.Response:
    return team.program(name).post(f"{PLACE}/certificates/verify", json={"page": page, "file": "got.html"})


def test_a_program_learns_whether_a_certificate_is_genuine(shared: Team, certificate: str) -> None:
    found = verdict(shared, certificate).json()
    assert (found["verdict"], found["number"], found["release"], found["private"]) == ("valid", 1, "intact", True)
    assert found["entry"]["by"] == "ana"
    assert verdict(shared, certificate.replace("Maternity", "Materniti", 1)).json()["verdict"] == "altered"
    assert verdict(shared, certificate.replace('data-entry="1"', 'data-entry="7"')).json()["verdict"] == "unknown entry"
    refused = verdict(shared, "<p>nothing</p>")
    assert refused.status_code == 422
    assert "got.html" in refused.json()["given"]


def test_who_does_not_read_the_books_verifies_nothing(shared: Team, certificate: str) -> None:
    assert verdict(shared, certificate, "noor").status_code == 200
    assert verdict(shared, certificate, "ana").status_code == 403
    assert verdict(shared, certificate, "admin").status_code == 403


def test_entries_of_other_data_sets_in_the_same_ledger_are_not_told(shared: Team, certificate: str) -> None:
    folder = shared.folder
    (folder / "staff.csv").write_text("id,team\n1,a\n2,b\n")
    staff = sitr.protect(folder / "staff.csv", unit="id", max_groups=1, max_rows_per_group=1, accept_types=True)
    answer = staff.budget(rho=1, ledger=folder / "sitr.db").ask("SELECT COUNT(*) AS n FROM staff", "zcdp(0.1)")
    other = answer.certificate(folder / "other.html").read_text(encoding="utf-8")
    found = verdict(shared, other).json()
    assert (found["verdict"], found["entry"]) == ("unknown entry", None)
    assert "staff" not in str(found)
    assert verdict(shared, certificate).json()["verdict"] == "valid"


@pytest.mark.parametrize(
    ("language", "valid", "altered"), [("en", "Valid: this certificate", "Do not trust"), ("ar", "صحيحة", "لا تثق")]
)
def test_the_page_says_it_in_the_language_of_the_reader(
    shared: Team, certificate: str, language: str, valid: str, altered: str
) -> None:
    browser = shared.browser("omar")
    browser.headers["accept-language"] = language
    for page, expected in ((certificate, valid), (certificate + " ", altered)):
        text = sent(browser, page).text
        assert expected in text
    assert SQL not in text  # an auditor sees sums here, not questions
    wrong = sent(browser, "<p>nothing</p>", name="x" * 300 + ".html")
    assert wrong.status_code == 422
    assert "x" * MOST_NAME in wrong.text
    assert "x" * (MOST_NAME + 1) not in wrong.text


def sent(browser: httpx.Client, page: str, *, name: str = "wards.html") -> httpx.Response:
    form = {"mark": mark(browser.get("/datasets/visits/ledger"))}
    return browser.post(
        "/datasets/visits/ledger/certificate", data=form, files={"certificate": (name, page.encode(), "text/html")}
    )


def test_a_certificate_that_is_too_long_is_refused(shared: Team) -> None:
    assert sent(shared.browser("omar"), "x" * shared.settings.most_octets).status_code == 413
