"""The witness of a ledger: a small file outside of it that remembers how far the ledger had come.

A ledger that is put back to an older copy, cut, or opened without the end of its write-ahead log is whole as far as the
chain can tell. The witness holds the newest record and the total of every account, so the missing end is noticed before
the next charge. The order is always: the entry is durable, the witness is durable, then rows are read. If the machine
stops in between, the ledger is ahead of its witness; the records in between are checked and the witness is brought up
to date. A ledger behind its witness is refused.

An installation that has never seen a ledger trusts what it finds there, after checking all of it. One that has written
to a ledger, and finds no witness of it, refuses.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from sitr.errors import LedgerBusy, LedgerError, LedgerUncertain
from sitr.ledger import chain
from sitr.ledger.key import Key, genuine
from sitr.ledger.spent import Spent
from sitr.ledger.state import absolute, locked, state_folder, unwritable, write_durably
from sitr.namespace import Later

if TYPE_CHECKING:
    from sitr.ledger import site as sites
    from sitr.ledger.site import Site, Told
else:  # few witnesses are kept on the network
    sites = Later("sitr.ledger.site")

NOTHING: Mapping[str, Spent] = MappingProxyType({})

_checked: dict[str, tuple[bytes, Head]] = {}
"""The files that this process has checked or written, and what they say: the same octets say the same again."""

MOST_TEXTS = 8192
"""The number of accounts whose texts are remembered."""

_texts: dict[str, tuple[Spent, str]] = {}
"""Accounts as they were written last: what is the same object has the same text."""

_answers: dict[str, tuple[Told | None, Head | None]] = {}
"""What sites have answered last, until something is stored there."""

_ATTEMPTS, _LOST = 20, 2
"""How often a text is sent to a site if others write there too, and if answers are lost."""


@dataclass(frozen=True, slots=True)
class Head:
    """How far a ledger has come."""

    ledger: str
    number: int
    hash: str
    accounts: Mapping[str, Spent] = field(default_factory=lambda: NOTHING)
    beside: Head | None = None
    """An older head that is remembered elsewhere; the ledger must have come by it."""
    unknown: bool = False
    """Whether somebody went on without a witness before: accounts that are not listed may have been charged."""

    def written(self, by: Key) -> bytes:
        """The file of the witness, signed.

        The text is what `chain.hash_of` hashes, put together from the accounts: of a thousand, a charge changes one.
        """
        accounts = ",".join([_text(name, self.accounts[name]) for name in sorted(self.accounts)])
        content = f'{{"accounts":{{{accounts}}},"hash":"{self.hash}","ledger":"{self.ledger}","number":{self.number}'
        content += ',"unknown":true}' if self.unknown else "}"
        text = content.encode(errors="surrogatepass")
        hashed = sha256(f'["sitr ledger 1",0,"witness","{self.ledger}",'.encode())
        hashed.update(text)
        hashed.update(f',"{chain.START}","{by.public}"]'.encode())
        signed = f'{{"signature":"{by.sign(hashed.hexdigest())}","signer":"{by.public}","witness":'
        return signed.encode() + text + b"}\n"


def _text(name: str, spent: Spent) -> str:
    """An account in the file of a witness."""
    known = _texts.get(name)
    if known is not None and known[0] is spent:
        return known[1]
    plain = json.dumps(spent.plain(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    text = f"{json.dumps(name, ensure_ascii=False)}:{plain}"
    if len(_texts) >= MOST_TEXTS:
        _texts.clear()
    _texts[name] = spent, text
    return text


class _Changed(Exception):
    """The text of a witness is not the one that was signed; it is found at the place that this names."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The witnesses of an installation, one file for each ledger, in a folder. Other installations have other files.

    With a site, it keeps the witnesses too, and first: what is in the folder was stored there before. The newer of both
    is believed, and the other one must agree with the ledger. So neither can be put back alone.
    """

    folder: Path
    public: str
    """The public key of the installation: a witness that another one signed is not believed."""
    site: Site | None = None

    def read(self, ledger: str) -> Head | None:
        """What is remembered of a ledger; None if it was never seen."""
        try:
            told = None if self.site is None else self._told(self.site, ledger)[1]
        except OSError as cause:
            raise LedgerError(
                given=f"The witness {self._address(ledger)} could not be read: {cause.strerror}.",
                do="Try again when it answers; nothing was spent, and no rows were read.",
            ) from cause
        except _Changed as found:
            raise _changed(found) from None
        try:
            return _newest(told, self._filed(ledger))
        except OSError as cause:
            raise unwritable(self.folder) from cause
        except _Changed as found:
            raise _changed(found) from None

    def advance(self, head: Head, by: Key, *, back: bool = False) -> None:
        """Remember a head durably, unless a later one is remembered already and this is no way `back`."""
        path = self._path(head.ledger)
        place = path if self.site is None else self._address(head.ledger)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(path):
                if self.site is not None:
                    self._send(self.site, head, by, back=back)
                place = path
                known = None if back else self._filed(head.ledger)
                if known is None or known.number < head.number:
                    text = head.written(by)
                    write_durably(path, text)
                    _checked[str(path)] = text, head
        except (OSError, LedgerBusy, _Changed) as cause:
            reasons = {LedgerBusy: "other programs are writing to it", _Changed: "it was changed by hand"}
            reason = cause.strerror if isinstance(cause, OSError) else reasons[type(cause)]
            raise LedgerUncertain(
                given=f"The witness {place} could not be written: {reason}.",
                do="Free or mount its disk, or repair what keeps it. What was just charged stays spent, and nothing "
                "was answered.",
            ) from cause

    @property
    def place(self) -> str:
        """Where the witnesses are."""
        return str(self.folder) if self.site is None else self.site.address

    def _filed(self, ledger: str) -> Head | None:
        path = self._path(ledger)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        return self._opened(text, ledger, place=str(path))

    def _told(self, site: Site, ledger: str) -> tuple[Told | None, Head | None]:
        """What the site says now. This is remembered, because a text is stored in the place of one that was read."""
        address = self._address(ledger)
        _answers.pop(address, None)
        told = site.get(self._name(ledger))
        head = None if told is None else self._opened(told.text, ledger, place=address)
        _answers[address] = told, head
        return told, head

    def _send(self, site: Site, head: Head, by: Key, *, back: bool) -> None:
        """Store a head at the site. If its answer is lost, look whether it is there."""
        text, address, lost = head.written(by), self._address(head.ledger), 0
        for _ in range(_ATTEMPTS):
            told, known = _answers.get(address) or self._told(site, head.ledger)
            _answers.pop(address, None)
            if (told is not None and told.text == text) or not (back or known is None or known.number < head.number):
                return
            try:
                if site.put(self._name(head.ledger), text, instead=told):
                    _checked[address] = text, head
                    return
            except sites.Unanswered as cause:
                lost += 1
                if cause.final or lost == _LOST:
                    raise
        raise sites.Unanswered("others are writing to it, or it answers with an old text", final=True)

    def _opened(self, text: bytes, ledger: str, *, place: str) -> Head:
        """What a text says that this installation signed."""
        if (checked := _checked.get(place)) is not None and checked[0] == text:
            return checked[1]
        try:
            whole = json.loads(text)
            content = whole["witness"]
            head = Head(
                content["ledger"],
                content["number"],
                content["hash"],
                {name: Spent.of(spent) for name, spent in content["accounts"].items()},
                unknown=content.get("unknown") is True,
            )
            hash = chain.hash_of(0, "witness", head.ledger, content, chain.START, self.public)
            valid = genuine(self.public, hash, whole["signature"]) and head.ledger == ledger
        except (ValueError, TypeError, LookupError, AttributeError, ZeroDivisionError, RecursionError):
            valid = False
        if not valid:
            raise _Changed(place)
        _checked[place] = text, head
        return head

    def _name(self, ledger: str) -> str:
        return f"{ledger}-{self.public[:16]}.json"

    def _path(self, ledger: str) -> Path:
        return self.folder / self._name(ledger)

    def _address(self, ledger: str) -> str:
        return f"{self.place}/{self._name(ledger)}"


def _newest(told: Head | None, filed: Head | None) -> Head | None:
    if told is None or filed is None:
        return told or filed
    new, old = (told, filed) if told.number >= filed.number else (filed, told)
    unknown = new.unknown or old.unknown
    return replace(new, unknown=unknown, beside=None if new.hash == old.hash else old)


def _changed(found: _Changed) -> LedgerError:
    return LedgerError(
        given=f"The witness {found} was changed by hand.",
        do="Restore it from a backup, or move it away and run sitr ledger resume; nothing was spent.",
    )


def witnesses(key: Key) -> Witness:
    """The witnesses of this installation: at the address or in the folder `$SITR_WITNESS`, or in the state folder."""
    given = os.environ.get("SITR_WITNESS")
    if given and "://" in given:
        return Witness(state_folder() / "witnesses", key.public, sites.site_at(given))
    return Witness(absolute(given, "SITR_WITNESS") if given else state_folder() / "witnesses", key.public)
