"""A certificate that somebody brings: whether the ledger of a data set recorded exactly this page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sitr.errors import LedgerError
from sitr.ledger.entry import Entry, Seal
from sitr.ledger.steward import in_file
from sitr.report.words.words import in_words
from sitr.server import content
from sitr.server.discreet import discreet
from sitr.server.office import Office
from sitr.server.users import User
from sitr.session.verify import Books, Verified, sentence, verify_page

MOST_NAME = 100
"""How much of the name of a file is repeated."""


@dataclass(frozen=True, slots=True)
class OwnBooks:
    """The entries of one data set, in a ledger that others may use too. Nothing about their entries is shown."""

    ledger: Books
    numbers: Collection[int]

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of these entries."""
        return [seal for seal in self.ledger.seals(entry, sha256=sha256) if seal.entry in self.numbers]

    def charged(self, number: int) -> tuple[Entry, Any]:
        """An entry of this data set, or `LedgerError`."""
        if number not in self.numbers:
            raise LedgerError(given=f"The data set has no entry {number}.", do="Check the number.")
        return self.ledger.charged(number)


def verified(office: Office, user: User, name: str, page: bytes, *, file: str) -> Verified:
    """The verdict on a certificate, for those who read the books."""
    with discreet(found := office.books(user, name)):
        books = OwnBooks(in_file(found.budget.ledger), {each.number for each in found.charges()})
        return verify_page(page, books, name=file[:MOST_NAME] or "certificate.html")


def as_json(found: Verified) -> dict[str, Any]:
    """A verdict for a program."""
    release = None if found.release is None else "intact" if found.release else "altered"
    return {
        "verdict": found.verdict.value,
        "words": sentence(found, in_words()),
        "number": found.number,
        "entry": None if found.entry is None else content.entry(found.entry),
        "release": release,
        "private": found.private,
    }
