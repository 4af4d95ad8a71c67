"""Following a ledger from what its witness remembers to its end: every record in between is checked and counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sitr.errors import LedgerError, NotAllowed, SitrError
from sitr.ledger import acts, chain, gate, proposals
from sitr.ledger.database import Connection
from sitr.ledger.roles import check_steward
from sitr.ledger.spent import Spent, Waiting, overseen
from sitr.ledger.witness import Head

BEGAN, JOINED = "began", "joined"
"""The act that begins a chain, and the one with which another installation begins to write to it."""


def follow(connection: Connection, head: Head, *, name: str) -> Head:
    """The head of the ledger now. All records after `head` are checked; `LedgerError` if it is behind or altered."""
    there = chain.record(connection, head.number)
    newest = chain.last(connection)
    if there is None or newest is None or there.hash != head.hash:
        raise behind(name, head.number, 0 if newest is None else newest.number)
    if (old := head.beside) is not None and (
        (by := chain.record(connection, old.number)) is None or by.hash != old.hash
    ):
        raise behind(name, old.number, newest.number)
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
    return replace(head, number=at.number, hash=at.hash, accounts=accounts, beside=None)


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
    lost = row["question"] == gate.LOST and row["request"] is None
    after = spent.after(row["dataset"], entry=row["number"], price=row["price"], lost=lost, **who)
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
        accounts |= resumed(accounts, body(row["body"]), by=row["by"])
    if row["kind"] in proposals.DECISIONS:
        return proposals.sound(connection, row)
    return True


def resumed(accounts: Mapping[str, Spent], said: Mapping[str, Any], *, by: str) -> dict[str, Spent]:
    """The accounts after somebody went on after a loss, who must be a steward of all that do not wait for another one.

    An act that names accounts ends their waiting. One that names none is about all, and says which of them must wait.
    Whoever waited is free when what was lost is counted, not before: anybody could append the act alone.
    """
    waiting = said.get("waiting", {})
    own = said.get("datasets") or [name for name in accounts if name not in waiting]
    if not own and accounts:
        raise NotAllowed(
            given=f"{by} is the steward of no data set in this ledger.", do="Ask a steward; nothing was changed."
        )
    for name in own:
        check_steward(accounts[name].stewards(), by)
    for name in waiting.keys() & accounts.keys():  # nobody makes others forget what they must count
        if (before := accounts[name].waiting) and not Waiting.of(waiting[name]).counts(Waiting.of(before)):
            raise ValueError(name)
        if Waiting.of(waiting[name]).due is not None:
            raise ValueError(name)
    freed = {name: _counting(accounts[name]) for name in own}
    return freed | {name: replace(spent, waiting=waiting[name]) for name, spent in accounts.items() if name in waiting}


def _counting(spent: Spent) -> Spent:
    """An account whose steward has gone on."""
    return replace(spent, waiting=Waiting.of(spent.waiting).counting(spent)) if spent.waiting else spent


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
