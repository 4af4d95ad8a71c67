"""A certificate is valid if and only if it is, octet by octet, what Sitr wrote for this ledger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

import sitr
from sitr.errors import FileError, InvalidParameter
from sitr.noise.coins import TestCoins
from sitr.session import shown
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.verify import Verdict, verify

PRICE = sitr.ZeroConcentratedDP(0.1)


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "sitr.db")


def asked(budget: Budget) -> Any:
    return budget.group_by("ward").agg(n=sitr.count())


@pytest.fixture
def page(budget: Budget, tmp_path: Path) -> Path:
    written: Path = asked(budget).release(PRICE).certificate(tmp_path / "page.html")
    return written


def test_a_page_as_it_was_written_is_valid(budget: Budget, page: Path) -> None:
    found = verify(page, budget.ledger)
    (entry,) = budget.entries()
    assert (found.verdict, found.number, found.entry) == (Verdict.VALID, 1, entry)
    assert (found.release, found.private) == (True, True)


def test_every_visible_number_counts(budget: Budget, page: Path) -> None:
    written = page.read_text()
    body = written.index("<body>")
    places = [found.start() for found in re.finditer(r"\d", written[body : written.index("<template")])]
    for place in places[:: len(places) // 40]:
        at = body + place
        page.write_text(written[:at] + str((int(written[at]) + 1) % 10) + written[at + 1 :])
        found = verify(page, budget.ledger)
        assert (found.verdict, found.release) == (Verdict.ALTERED, True)
        assert found.entry == budget.entries()[0]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text + " ",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("</main>", "<p>Approved.</p></main>"),
        lambda text: text.replace("</style>", "table { visibility: hidden }</style>"),
        lambda text: text.replace('data-entry="1"', 'data-entry="2"'),
        lambda text: re.sub('data-sha256="[0-9a-f]+"', 'data-sha256="0"', text),
        lambda text: re.sub('data-charged="[^"]+"', 'data-charged="yesterday"', text),
    ],
)
def test_every_change_is_found(budget: Budget, page: Path, edit: Any) -> None:
    asked(budget).release(PRICE, fresh=True)  # there is an entry 2
    page.write_bytes(edit(page.read_text()).encode())
    assert verify(page, budget.ledger).verdict in (Verdict.ALTERED, Verdict.OTHER_LEDGER)


def test_a_change_of_what_machines_read_is_found(budget: Budget, page: Path) -> None:
    page.write_text(page.read_text().replace(str(escape('"private":true')), str(escape('"private":null'))))
    found = verify(page, budget.ledger)
    assert (found.verdict, found.release, found.private) == (Verdict.ALTERED, False, None)


def test_a_page_of_another_entry_is_valid_for_that_entry_only(budget: Budget, page: Path, tmp_path: Path) -> None:
    other = asked(budget).release(PRICE, fresh=True).certificate(tmp_path / "other.html")
    assert [verify(each, budget.ledger).number for each in (page, other)] == [1, 2]


def test_a_page_of_another_ledger(budget: Budget, visits: Dataset, page: Path, tmp_path: Path) -> None:
    second = visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "second.db", second_budget=True)
    found = verify(page, second.ledger)
    assert (found.verdict, found.number, found.entry) == (Verdict.UNKNOWN_ENTRY, 1, None)
    asked(second).release(PRICE)
    found = verify(page, second.ledger)
    assert (found.verdict, found.number, found.entry) == (Verdict.OTHER_LEDGER, 1, None)
    assert verify(page, budget.ledger).verdict is Verdict.VALID


@pytest.mark.parametrize(
    "text", ["", "<html></html>", '<template class="sitr-release" data-entry="x"></template>', "\0"]
)
def test_a_page_that_names_no_entry_is_no_certificate(budget: Budget, tmp_path: Path, text: str) -> None:
    (tmp_path / "page.html").write_text(text)
    with pytest.raises(InvalidParameter, match="names none"):
        verify(tmp_path / "page.html", budget.ledger)
    with pytest.raises(FileError, match="Cannot read"):
        verify(tmp_path / "missing.html", budget.ledger)


def test_an_entry_of_absurd_size_is_no_entry(budget: Budget, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f'<template class="sitr-release" data-entry="{"9" * 18}"></template>')
    assert verify(tmp_path / "page.html", budget.ledger).verdict is Verdict.UNKNOWN_ENTRY


def test_a_page_that_carries_another_page_as_its_release_carries_none(budget: Budget, page: Path) -> None:
    """The ledger knows the hash of the page inside, as that of a certificate: it was taken for released numbers."""
    written = page.read_text()
    begin = re.search(r'<template class="sitr-release"[^>]*>', written)
    assert begin is not None
    page.write_text(f"{begin[0]}{escape(written)}</template>")
    found = verify(page, budget.ledger)
    assert (found.verdict, found.release, found.private) == (Verdict.ALTERED, False, None)


def test_a_test_is_called_one(budget: Budget, tmp_path: Path) -> None:
    page = asked(budget).release(PRICE, coins=TestCoins(1)).certificate(tmp_path / "page.html")
    found = verify(page, budget.ledger)
    assert (found.verdict, found.private) == (Verdict.VALID, False)


def test_the_page_names_no_path_of_this_machine(page: Path, tmp_path: Path) -> None:
    assert str(tmp_path) not in page.read_text()


def test_a_long_release_is_not_carried_but_verified(
    budget: Budget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "MOST_CONTENT", 10)
    page = asked(budget).release(PRICE).certificate(tmp_path / "page.html")
    found = verify(page, budget.ledger)
    assert (found.verdict, found.release, found.private) == (Verdict.VALID, None, None)


def test_rows_and_their_quality_have_a_page_of_one_entry(budget: Budget, tmp_path: Path) -> None:
    made = budget.synthesize(columns=["ward"]).release(PRICE, quality=PRICE)
    assert made.quality is not None
    for page in (made.certificate(tmp_path / "rows.html"), made.quality.certificate(tmp_path / "quality.html")):
        assert verify(page, budget.ledger).verdict is Verdict.VALID
    free = budget.histogram("cost", bins=3).release(PRICE).nonnegative().certificate(tmp_path / "processed.html")
    assert verify(free, budget.ledger).verdict is Verdict.VALID
