"""Requests that wait for approval: a question with its price, decided once, before any row is read.

A request is an act, and so is its approval or refusal. The charge that answers it names it. Nothing is ever revised: a
request has one decision, made by somebody else than who asked, and one answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from sitr.dataclass import dataclass
from sitr.errors import LedgerError, NotAllowed
from sitr.ledger import chain
from sitr.ledger.database import Connection

ASKED, APPROVED, REFUSED = "asked", "approved", "refused"
"""The acts of a request."""

DECISIONS = (APPROVED, REFUSED)
RESUMED = "resumed"
"""The act of going on after a loss. Earlier requests have expired: whether they were answered is not known."""

BOUND = ("share", "price", "question", "plan", "description")
"""What the charge that answers a request has in common with it."""


class Status(Enum):
    """How far a request has come."""

    ASKED = "asked"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A request to charge a price for a question. The price and what is left have the notation of promises."""

    number: int
    dataset: str
    share: str
    question: str
    price: str
    plan: str
    description: str
    reason: str
    errors: Mapping[str, float]
    """The expected error of each column, with 95% probability; empty if it depends on the data."""
    left: str
    """What would be left in the account, as it was when the request was made."""
    by: str
    at: datetime
    expires: datetime
    status: Status
    decided_by: str = ""
    why: str = ""
    """The reason of the decision."""
    entry: int = 0
    """The entry that answers it; 0 if there is none."""

    @property
    def account(self) -> str:
        """The account that would be charged."""
        return f"{self.dataset}/{self.share}" if self.share else self.dataset


def proposal(connection: Connection, number: int, *, now: datetime | None = None) -> Proposal:
    """The request of this number, as it stands now, or `LedgerError`."""
    known = isinstance(number, int) and 0 < number < 2**31  # as every database can hold it
    found = connection.execute("SELECT * FROM acts WHERE number = ? AND kind = ?", (number if known else 0, ASKED))
    row = found.fetchone()
    if row is None:
        raise LedgerError(given=f"There is no request {number}.", do="Run sitr queue to see all requests.")
    return _read(connection, row, now or datetime.now(UTC))


def proposals(connection: Connection, dataset: str | None = None) -> list[Proposal]:
    """All requests, or those for a data set, oldest first."""
    ours, of = ("", (ASKED,)) if dataset is None else (" AND dataset = ?", (ASKED, dataset))
    rows = connection.execute(f"SELECT * FROM acts WHERE kind = ?{ours} ORDER BY number", of).fetchall()
    now = datetime.now(UTC)
    return [_read(connection, row, now) for row in rows]


def _read(connection: Connection, row: Any, now: datetime) -> Proposal:
    said = json.loads(row["body"])
    decided = connection.execute("SELECT * FROM acts WHERE about = ? ORDER BY number LIMIT 1", (row["number"],))
    decision = decided.fetchone()
    answer = connection.execute("SELECT number FROM entries WHERE request = ?", (row["number"],)).fetchone()
    lost = connection.execute("SELECT 1 FROM acts WHERE kind = ? AND number > ? LIMIT 1", (RESUMED, row["number"]))
    expires, at = (datetime.fromisoformat(text) for text in (said["expires"], row["at"]))
    if answer is not None:
        status = Status.ANSWERED
    elif decision is not None and decision["kind"] == REFUSED:
        status = Status.REFUSED
    elif now >= expires or lost.fetchone() is not None:
        status = Status.EXPIRED
    else:
        status = Status.ASKED if decision is None else Status.APPROVED
    texts = {name: str(said[name]) for name in (*BOUND, "reason", "left")}
    errors = {str(name): float(error) for name, error in said["errors"].items()}
    return Proposal(
        number=row["number"],
        dataset=row["dataset"],
        errors=errors,
        by=row["by"],
        at=at,
        expires=expires,
        status=status,
        decided_by="" if decision is None else decision["by"],
        why="" if decision is None else str(json.loads(decision["body"]).get("reason", "")),
        entry=0 if answer is None else answer["number"],
        **texts,
    )


def check_decision(found: Proposal, *, by: str) -> None:
    """Refuse a decision by who asked, a second one, and one that comes too late."""
    if found.by == by:
        raise NotAllowed(
            given=f"{by} asked request {found.number} and cannot decide about it.",
            do="Ask somebody else to decide; nothing was changed.",
        )
    if found.status is not Status.ASKED:
        raise NotAllowed(
            given=f"Request {found.number} is {found.status.value} already.",
            do="A decision is never revised: make a new request; nothing was changed.",
        )


def check_signed(connection: Connection, number: int) -> None:
    """Refuse a request or a decision that is not the one that was signed: the witness looks at newer records only."""
    acts = connection.execute("SELECT number FROM acts WHERE number = ? OR about = ?", (number, number)).fetchall()
    for row in acts:
        found = chain.of_row(connection, "acts", row["number"])
        if found is None or not chain.intact(connection, found) or not chain.signed(found):
            raise LedgerError(
                given=f"Request {number} was changed by hand, or its decision was.",
                do="Run sitr ledger verify to see every change, and restore the ledger from a backup; nothing was "
                "spent.",
            )


def check_answer(found: Proposal, bound: Mapping[str, str], *, dataset: str, by: str) -> None:
    """Refuse a charge that is not the one that was approved."""
    if found.status is not Status.APPROVED:
        raise NotAllowed(
            given=f"Request {found.number} is {found.status.value}, not approved.",
            do="Wait for its approval, or make a new request; nothing was spent.",
        )
    if found.by != by:
        raise NotAllowed(
            given=f"Request {found.number} was made by {found.by}, not by {by}.",
            do="Make a request of your own; nothing was spent.",
        )
    if dataset != found.dataset or any(bound[name] != getattr(found, name) for name in BOUND):
        raise NotAllowed(
            given=f"Request {found.number} was approved for another question, price, account or description.",
            do="Repeat the request exactly as it was approved, or make a new one; nothing was spent.",
        )


def sound(connection: Connection, row: Any) -> bool:
    """Whether a decision in a chain was possible: the first one, in time, about a request for its data set, by somebody
    else than who asked."""
    asked = connection.execute("SELECT * FROM acts WHERE number = ?", (row["about"],)).fetchone()
    earlier = "SELECT 1 FROM acts WHERE about = ? AND number < ? LIMIT 1"
    second = connection.execute(earlier, (row["about"], row["number"])).fetchone()
    if asked is None or asked["kind"] != ASKED or asked["number"] >= row["number"]:
        return False
    if not _in_time(connection, asked, row["at"], "acts", row["number"]):
        return False
    return asked["dataset"] == row["dataset"] and asked["by"] != row["by"] and second is None


def as_approved(connection: Connection, row: Any) -> bool:
    """Whether an entry in a chain is the one that was approved, not before it was and not after it expired."""
    approved = "SELECT number FROM acts WHERE about = ? AND kind = ? LIMIT 1"
    decision = connection.execute(approved, (row["request"], APPROVED)).fetchone()
    earlier = None if decision is None else chain.of_row(connection, "acts", decision["number"])
    entry = chain.of_row(connection, "entries", row["number"])
    if earlier is None or entry is None or earlier.number > entry.number:
        return False
    asked = connection.execute("SELECT * FROM acts WHERE number = ?", (row["request"],)).fetchone()
    if asked is None or not _in_time(connection, asked, row["at"], "entries", row["number"]):
        return False
    found = proposal(connection, row["request"])
    bound = {name: row[name] or "" for name in BOUND}
    same = all(bound[name] == getattr(found, name) for name in BOUND)
    return same and (row["dataset"], row["by"]) == (found.dataset, found.by)


def _in_time(connection: Connection, asked: Any, at: str, table: str, number: int) -> bool:
    """Whether a request was valid when a row was written: it had not expired, and no loss of the ledger ended it."""
    if datetime.fromisoformat(at) >= datetime.fromisoformat(json.loads(asked["body"])["expires"]):
        return False
    here = chain.of_row(connection, table, number)
    losses = "SELECT number FROM acts WHERE kind = ? AND number > ? ORDER BY number LIMIT 1"
    lost = connection.execute(losses, (RESUMED, asked["number"])).fetchone()
    end = None if lost is None else chain.of_row(connection, "acts", lost["number"])
    return here is not None and (lost is None or (end is not None and here.number < end.number))
