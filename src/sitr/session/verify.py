"""Find out if a certificate belongs to an entry of a ledger, and if it was altered.

The ledger records the SHA-256 of every certificate before the file is written. So a page is valid if and only if the
ledger knows its hash: every other octet, seen or unseen, makes another hash. What the page says about itself decides
only which of the other verdicts fits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Protocol

from sitr.errors import FileError, InvalidParameter, LedgerError
from sitr.ledger.entry import Entry, Seal, Sealed
from sitr.ledger.export import SignedHead
from sitr.report.words.words import Words

ELEMENT = "sitr-release"
"""The class of the element in which a page names its entry."""


class Verdict(Enum):
    """What is known about a page."""

    VALID = "valid"
    ALTERED = "altered"
    UNKNOWN_ENTRY = "unknown entry"
    OTHER_LEDGER = "other ledger"
    NOT_LISTED = "not listed"
    """A head does not list the page: it was altered, or written after the head."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The verdict on a page."""

    verdict: Verdict
    number: int
    """The entry that the page names, or for a valid page its entry."""
    entry: Entry | None
    """The entry in the ledger, for valid and altered pages; a head has none."""
    release: bool | None
    """Whether the released numbers that the page carries for machines are those in the ledger; None if it has none."""
    private: bool | None
    """False if the release was made with test coins; None if that is not known from an unaltered release."""


class Books(Protocol):
    """What is needed of a ledger, or of its export."""

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of one entry, or with one hash, or all."""

    def charged(self, number: int) -> tuple[Entry, Any]:
        """The entry of this number first, or `LedgerError`."""


def verify_by_head(page: Path, head: SignedHead) -> Verified:
    """The verdict on the certificate in this file by a signed head alone, which names no questions."""
    content = _read(page)
    mark = _marked(content)
    listed = head.certificates.get(_hash(content))
    if listed is None and mark.number is None:
        raise _no_certificate(str(page))
    number = int(mark.number or 0) if listed is None else listed
    return Verified(Verdict.NOT_LISTED if listed is None else Verdict.VALID, number, None, None, None)


def _read(page: Path) -> bytes:
    try:
        return page.read_bytes()
    except OSError as failure:
        raise FileError(given=f"Cannot read {page}: {failure.strerror}.", do="Check the path.") from None


def _marked(content: bytes) -> _Mark:
    mark = _Mark()
    mark.feed(content.decode(errors="replace"))
    return mark


def _no_certificate(page: str) -> InvalidParameter:
    return InvalidParameter(
        wanted="a certificate that Sitr wrote, which names its entry in the ledger",
        given=f"{page}, which names none and which the ledger does not know",
        do="Check the path; an older version of Sitr wrote certificates that cannot be verified.",
    )


def verify(page: Path, ledger: Books) -> Verified:
    """The verdict on the certificate in this file."""
    return verify_page(_read(page), ledger, name=str(page))


def verify_page(content: bytes, ledger: Books, *, name: str) -> Verified:
    """The verdict on a certificate that came under this name."""
    mark = _marked(content)
    released = "".join(mark.text).encode()
    sealed = [seal for seal in ledger.seals(sha256=_hash(content)) if seal.kind is Sealed.CERTIFICATE]
    if not sealed and mark.number is None:
        raise _no_certificate(name)
    number = sealed[0].entry if sealed else int(mark.number or 0)
    entry = _entry(ledger, number, mark, known=bool(sealed))
    known = ledger.seals(sha256=_hash(released)) if entry and released else []
    intact = any(seal.entry == number and seal.kind is Sealed.ANSWER for seal in known) if entry and released else None
    private = json.loads(released)["private"] is True if intact else None
    if sealed:
        verdict = Verdict.VALID
    elif entry is not None:
        verdict = Verdict.ALTERED
    else:
        verdict = Verdict.OTHER_LEDGER if _exists(ledger, number) else Verdict.UNKNOWN_ENTRY
    return Verified(verdict, number, entry, intact if released else None, private)


def sentence(found: Verified, words: Words) -> str:
    """The verdict in words."""
    say = words.verify
    if found.verdict is Verdict.NOT_LISTED:
        return say.unlisted(found.number)
    if found.entry is None and found.verdict is Verdict.VALID:
        return say.listed(found.number)
    if found.entry is None:
        unknown = found.verdict is Verdict.UNKNOWN_ENTRY
        return say.unknown(found.number) if unknown else say.other(found.number)
    return say.valid(found.entry) if found.verdict is Verdict.VALID else say.altered(found.entry)


def _entry(ledger: Books, number: int, mark: _Mark, *, known: bool) -> Entry | None:
    """The entry that the page is about, by its hash or by the time of the charge; None if it is another ledger's."""
    if not _exists(ledger, number):
        return None
    entry, _ = ledger.charged(number)
    hashes = [seal.sha256 for seal in ledger.seals(number) if seal.kind is Sealed.ANSWER]
    return entry if known or mark.sha256 in hashes or mark.charged == entry.at.isoformat() else None


def _exists(ledger: Books, number: int) -> bool:
    try:
        ledger.charged(number)
    except LedgerError:
        return False
    return True


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


class _Mark(HTMLParser):
    """What a page says about itself."""

    def __init__(self) -> None:
        super().__init__()
        self.number: str | None = None
        self.charged = self.sha256 = ""
        self.text: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        entry = said.get("data-entry", "")
        if tag == "template" and said.get("class") == ELEMENT and entry.isdecimal() and len(entry) < 19:
            self.number, self._inside = entry, True
            self.charged, self.sha256 = said.get("data-charged", ""), said.get("data-sha256", "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "template"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text.append(data)
