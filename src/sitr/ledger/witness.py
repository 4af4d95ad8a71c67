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
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from sitr.errors import LedgerError, SitrError
from sitr.ledger import acts, chain, gate, proposals
from sitr.ledger.database import Connection
from sitr.ledger.key import Key, genuine
from sitr.ledger.roles import check_steward
from sitr.ledger.spent import Spent, overseen
from sitr.ledger.state import absolute, locked, state_folder, unwritable, write_durably

BEGAN, JOINED = "began", "joined"
"""The act that begins a chain, and the one with which another installation begins to write to it."""

NOTHING: Mapping[str, Spent] = MappingProxyType({})

_checked: dict[Path, tuple[bytes, Head]] = {}
"""The files that this process has checked or written, and what they say: the same octets say the same again."""


@dataclass(frozen=True, slots=True)
class Head:
    """How far a ledger has come."""

    ledger: str
    number: int
    hash: str
    accounts: Mapping[str, Spent] = field(default_factory=lambda: NOTHING)

    def written(self, by: Key) -> bytes:
        """The file of the witness, signed.

        The text is what `chain.hash_of` hashes, put together from the accounts: of a thousand, a charge changes one.
        """
        accounts = ",".join(_text(name, self.accounts[name]) for name in sorted(self.accounts))
        content = f'{{"accounts":{{{accounts}}},"hash":"{self.hash}","ledger":"{self.ledger}","number":{self.number}}}'
        hashed = f'["sitr ledger 1",0,"witness","{self.ledger}",{content},"{chain.START}","{by.public}"]'
        hash = sha256(hashed.encode(errors="surrogatepass")).hexdigest()
        whole = f'{{"signature":"{by.sign(hash)}","signer":"{by.public}","witness":{content}}}\n'
        return whole.encode(errors="surrogatepass")


@lru_cache(maxsize=8192)
def _text(name: str, spent: Spent) -> str:
    """An account in the file of a witness."""
    quoted = json.dumps(name, ensure_ascii=False)
    return f"{quoted}:{json.dumps(spent.plain(), sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"


def follow(connection: Connection, head: Head, *, name: str) -> Head:
    """The head of the ledger now. All records after `head` are checked; `LedgerError` if it is behind or altered."""
    there = chain.record(connection, head.number)
    newest = chain.last(connection)
    if there is None or newest is None or there.hash != head.hash:
        raise behind(name, head.number, 0 if newest is None else newest.number)
    if newest.number == head.number:
        return head
    at, accounts, known = there, dict(head.accounts), signers(connection)
    for found in chain.records(connection, after=head.number):
        if found.number != at.number + 1 or found.before != at.hash:
            raise altered(name, f"record {found.number} does not continue record {at.number}")
        if found.signer not in known or not chain.intact(connection, found) or not chain.signed(found):
            raise altered(name, f"record {found.number} is not the one that was signed")
        if not counted(connection, found, accounts):
            raise altered(name, f"record {found.number} does not add up")
        at = found
    return replace(head, number=at.number, hash=at.hash, accounts=accounts)


def counted(connection: Connection, found: chain.Record, accounts: dict[str, Spent]) -> bool:
    """Count a record; False if it opens an account again, or if the sum in an entry is not the sum of the charges.

    Anybody can make a key and append records. So what a record says about sums is computed again: it can only spend.
    """
    if found.table == "accounts":
        row = connection.execute("SELECT * FROM accounts WHERE dataset = ?", (found.row,)).fetchone()
        new = found.row not in accounts
        accounts[found.row] = Spent(found.hash, row["promise"], row["neighbors"])
        return new
    try:
        if found.table == "entries":
            return _charged(connection, found, accounts)
        if found.table == "acts":
            return _acted(connection, found, accounts)
    except (SitrError, ValueError, LookupError, TypeError, ZeroDivisionError, AttributeError):
        return False  # nobody can read or pay this price, or do this
    return True


def _charged(connection: Connection, found: chain.Record, accounts: dict[str, Spent]) -> bool:
    row = connection.execute("SELECT * FROM entries WHERE number = ?", (int(found.row),)).fetchone()
    spent = accounts.get(row["dataset"])
    if spent is None or row["number"] <= spent.entry:
        return False
    gate.check_again(connection, row, overseen(accounts, row["dataset"]))
    who = {"share": row["share"] or "", "by": row["by"]}
    after = spent.after(row["dataset"], entry=row["number"], price=row["price"], **who)
    accounts[row["dataset"]] = after
    if row["request"] is not None and not proposals.as_approved(connection, row):
        return False
    # Entries of old versions have no sum; it is added up when it is needed.
    return row["charges"] is None or (row["charges"], row["paid"]) == (after.charges, after.paid)


def _acted(connection: Connection, found: chain.Record, accounts: dict[str, Spent]) -> bool:
    row = connection.execute("SELECT * FROM acts WHERE number = ?", (int(found.row),)).fetchone()
    if row["kind"] in acts.EFFECTIVE or row["kind"] in proposals.DECISIONS:
        for spent in overseen(accounts, row["dataset"]):
            check_steward(spent.members, row["by"])
    if row["kind"] in acts.EFFECTIVE:
        accounts[row["dataset"]] = acts.applied(
            accounts[row["dataset"]], row["dataset"], row["kind"], body(row["body"]), by=row["by"]
        )
    if row["kind"] == proposals.RESUMED:
        for spent in accounts.values():
            check_steward(spent.members, row["by"])
    if row["kind"] in proposals.DECISIONS:
        return proposals.sound(connection, row)
    return True


def check_account(connection: Connection, head: Head, dataset: str, *, name: str) -> Spent:
    """What the witness remembers of an account; an error if its terms or sum differ. `head` is the head now."""
    known, opened = head.accounts.get(dataset), chain.of_row(connection, "accounts", dataset)
    if known is None or opened is None or opened.hash != known.opened or not chain.intact(connection, opened):
        raise altered(name, f"the account of {dataset} is not the one that was opened")
    newest = "SELECT * FROM entries WHERE dataset = ? ORDER BY number DESC LIMIT 1"
    row = connection.execute(newest, (dataset,)).fetchone()
    oldest = connection.execute("SELECT price FROM entries WHERE dataset = ? ORDER BY number LIMIT 1", (dataset,))
    first = oldest.fetchone()
    # Entries of old versions have no sum.
    found = (0, "", "") if row is None else (row["number"], row["paid"] or known.paid, first["price"])
    if found != (known.entry, known.paid, known.first):
        raise altered(name, f"the last entry of {dataset} is number {found[0]}, but it was {known.entry}")
    if row is not None and (
        (entry := chain.of_row(connection, "entries", row["number"])) is None or not chain.intact(connection, entry)
    ):
        raise altered(name, f"entry {row['number']} is not the one that was signed")
    return known


@dataclass(frozen=True, slots=True)
class Witness:
    """The witnesses of an installation, one file for each ledger, in a folder. Other installations have other files."""

    folder: Path
    public: str
    """The public key of the installation: a witness that another one signed is not believed."""

    def read(self, ledger: str) -> Head | None:
        """What is remembered of a ledger; None if it was never seen."""
        path = self._path(ledger)
        try:
            text = path.read_bytes()
            if (checked := _checked.get(path)) is not None and checked[0] == text:
                return checked[1]
            whole = json.loads(text)
            content = whole["witness"]
            head = Head(
                content["ledger"],
                content["number"],
                content["hash"],
                {name: Spent.of(spent) for name, spent in content["accounts"].items()},
            )
            hash = chain.hash_of(0, "witness", head.ledger, content, chain.START, self.public)
            valid = genuine(self.public, hash, whole["signature"]) and head.ledger == ledger
        except FileNotFoundError:
            return None
        except OSError as cause:
            raise unwritable(self.folder) from cause
        except (ValueError, TypeError, LookupError, AttributeError, ZeroDivisionError):
            valid = False
        if not valid:
            raise LedgerError(
                given=f"The witness {path} was changed by hand.",
                do="Restore it from a backup, or run sitr ledger resume; nothing was spent.",
            )
        _checked[path] = text, head
        return head

    def advance(self, head: Head, by: Key, *, back: bool = False) -> None:
        """Remember a head durably, unless a later one is remembered already and this is no way `back`."""
        path = self._path(head.ledger)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(path):
                known = None if back else self.read(head.ledger)
                if known is None or known.number < head.number:
                    text = head.written(by)
                    write_durably(path, text)
                    _checked[path] = text, head
        except OSError as cause:
            raise LedgerError(
                given=f"The witness {path} could not be written: {cause.strerror}.",
                do="Free or mount its disk. What was just charged stays spent, and nothing was answered.",
            ) from cause

    def _path(self, ledger: str) -> Path:
        return self.folder / f"{ledger}-{self.public[:16]}.json"


def witnesses(key: Key) -> Witness:
    """The witnesses of this installation: in the folder `$SITR_WITNESS`, or in the state folder."""
    given = os.environ.get("SITR_WITNESS")
    return Witness(absolute(given, "SITR_WITNESS") if given else state_folder() / "witnesses", key.public)


def signers(connection: Connection) -> set[str]:
    """The public keys of the installations that write to this ledger: each has introduced itself by an act."""
    rows = connection.execute("SELECT body FROM acts WHERE kind IN (?, ?)", (BEGAN, JOINED)).fetchall()
    return {str(body(row["body"]).get("public")) for row in rows}


def body(text: str) -> dict[str, object]:
    """The content of an act; empty if it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def behind(name: str, known: int, found: int) -> LedgerError:
    """The ledger has lost records."""
    return LedgerError(
        given=f"{name} is behind its witness: record {known} was there, and {found} records are left or differ. It is "
        "an old copy, or its end was cut off.",
        do="Put the newest file back, with its -wal file; if it is lost, run sitr ledger resume, which counts what the "
        "witness remembers as spent. Nothing was spent.",
    )


def altered(name: str, how: str) -> LedgerError:
    """The ledger was changed by hand."""
    return LedgerError(
        given=f"{name} was changed by hand: {how}.",
        do="Run sitr ledger verify to see every change, and restore the ledger from a backup; nothing was spent.",
    )
