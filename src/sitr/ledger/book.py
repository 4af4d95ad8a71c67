"""Writing to a ledger: what is found there is compared with the witness first, and the witness follows each write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from sitr.errors import LedgerError
from sitr.ledger import chain, registry
from sitr.ledger.database import Connection, Database, Place
from sitr.ledger.follow import BEGAN, JOINED, altered, body, check_account, follow, signers
from sitr.ledger.key import Key, installation_key, new_name
from sitr.ledger.migrate import as_made
from sitr.ledger.postgres import OPEN_PERIOD, PostgresConnection
from sitr.ledger.roles import check_steward
from sitr.ledger.spent import Spent, overseen
from sitr.ledger.state import alone
from sitr.ledger.who import user
from sitr.ledger.witness import Head, Witness, witnesses

SECOND = "second budget"
"""The act that gives rows a budget that have another one elsewhere."""


@dataclass(frozen=True, slots=True)
class Page:
    """A ledger that is open for writing, in one transaction."""

    connection: Connection
    key: Key
    head: Head
    """How far the ledger had come when it was opened for writing."""
    name: str

    def insert(self, table: str, row: Mapping[str, object]) -> int:
        """Insert a row of named values and its record; returns the number of the row."""
        return insert(self.connection, table, row, self.key)

    def open_part(self, row: Mapping[str, object], *, of: str) -> None:
        """Open the account of a period. On PostgreSQL the owner of the tables does it, for those who only charge."""
        how = ""
        if isinstance(self.connection, PostgresConnection):
            how = f"SELECT {OPEN_PERIOD}(:dataset, :whole, :opened)"
        insert(self.connection, "accounts", row, self.key, how=how, whole=of)

    def act(
        self, kind: str, body: Mapping[str, object], *, dataset: str | None = None, about: int | None = None
    ) -> int:
        """Record something that was done to the ledger itself, or to an earlier act."""
        return self.insert("acts", act_row(kind, body, dataset=dataset) | {"about": about})

    def check_steward(self, dataset: str) -> None:
        """Refuse what only a steward may do: of this account, and of all periods if it is that of one of them."""
        for spent in self.overseen(dataset):
            check_steward(spent.members, user())

    def overseen(self, dataset: str) -> tuple[Spent, ...]:
        """An account, and the one of all periods if it is that of one of them, as they are now."""
        return overseen(follow(self.connection, self.head, name=self.name).accounts, dataset)

    def check_account(self, dataset: str) -> Spent:
        """What is known of an account; an error if its terms or sum are not what the witness remembers."""
        now = follow(self.connection, self.head, name=self.name)
        return check_account(self.connection, now, dataset, name=self.name)


@contextmanager
def writing(file: Database) -> Iterator[Page]:
    """Write to a ledger in one transaction. When this returns, the rows are durable, and so is their witness."""
    with alone:  # from the start: what is loaded or signed while the process forks would stop the child for ever
        yield from _written(file)


def _written(file: Database) -> Iterator[Page]:
    key, name = installation_key(), str(file.place)
    remembered = witnesses(key)
    with file.transaction(write=True) as connection:
        head = known(connection, key, remembered, place=file.place)
        page = Page(connection, key, head, name)
        if key.public not in signers(connection):
            remembered.advance(head, key)  # first: a key that has written here without a witness has lost it
            registry.remember(file.place, head.ledger)
            page.act(JOINED, {"public": key.public})
        yield page
        head = follow(connection, head, name=name)
    remembered.advance(head, key)


def now(file: Database) -> Head:
    """The head of a ledger, to look at. What this installation has not witnessed yet is checked."""
    name = str(file.place)
    with file.transaction(write=False) as connection:
        ledger, first = ledger_id(connection), chain.record(connection, 1)
    if ledger is None or first is None:
        raise altered(name, "the beginning of its chain is missing")
    head = witnesses(installation_key()).read(ledger)  # first: a ledger may be ahead of it, and not behind
    with file.transaction(write=False) as connection:
        return follow(connection, head or Head(ledger, 1, first.hash), name=name)


def begin(connection: Connection, key: Key) -> Head:
    """Begin the chain of a ledger that has none; returns what its witness must remember."""
    name = new_name()
    insert(connection, "acts", act_row(BEGAN, {"ledger": name, "public": key.public}), key)
    for table in ("accounts", "entries", "seals"):
        for (row,) in connection.execute(f"SELECT {chain.KEYS[table]} FROM {table} ORDER BY 1").fetchall():
            chain.append(connection, table, row, key)
    first = chain.record(connection, 1)
    assert first is not None
    return follow(connection, Head(name, 1, first.hash), name=name)


def ledger_id(connection: Connection) -> str | None:
    """The name that the ledger was given when its chain began."""
    row = connection.execute("SELECT body FROM acts WHERE kind = ? ORDER BY number LIMIT 1", (BEGAN,)).fetchone()
    name = "" if row is None else str(body(row["body"]).get("ledger"))
    return name if re.fullmatch(r"[0-9a-f]{32}", name) else None  # it becomes part of a path


def known(connection: Connection, key: Key, remembered: Witness, *, place: Place) -> Head:
    """The head of the ledger now, after comparing it with the witness."""
    name = str(place)
    if not as_made(connection):
        raise altered(name, "its triggers are not those that Sitr made")
    ledger, first = ledger_id(connection), chain.record(connection, 1)
    if ledger is None or first is None:
        raise altered(name, "the beginning of its chain is missing")
    recognised = registry.recognise(place, ledger)
    head = remembered.read(ledger)
    if head is not None:
        if not recognised:
            registry.remember(place, ledger)
        return follow(connection, head, name=name)
    if key.public in signers(connection) or registry.knows(ledger):  # its own act may be lost with the end
        raise LedgerError(
            given=f"The witness of {name} is missing from {remembered.place}.",
            do="Put it back, or run sitr ledger resume, which says what can be counted as spent; nothing was spent.",
        )
    if first.before != chain.START or not chain.intact(connection, first) or not chain.signed(first):
        raise altered(name, "its first record is not the one that was signed")
    return follow(connection, Head(ledger, 1, first.hash), name=name)


def insert(
    connection: Connection, table: str, row: Mapping[str, object], key: Key, *, how: str = "", **more: object
) -> int:
    """Insert a row of named values and its record; returns the number of the row, 0 if it has none.

    `how` is a statement that inserts the row, if INSERT does not; it may need `more` values.
    """
    number = 0
    if chain.KEYS[table] == "number":  # without gaps: a sequence of PostgreSQL would leave some
        found = connection.execute(f"SELECT coalesce(max(number), 0) + 1 AS next FROM {table}").fetchone()
        number = cast("int", found["next"])
        row = {"number": number, **row}
    columns, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(how or f"INSERT INTO {table} ({columns}) VALUES ({values})", {**row, **more})
    named = number or row["dataset"]
    stored = chain.row_of(connection, table, named) or {}
    if {name: stored.get(name) for name in row} != dict(row):  # it is signed as it was meant
        raise altered("The ledger", f"a row of {table} was changed while it was written")
    chain.append(connection, table, named, key)
    return number


def act_row(kind: str, body: Mapping[str, object], *, dataset: str | None = None) -> dict[str, object]:
    """The row of an act by this user now."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return {"kind": kind, "dataset": dataset, "body": text, "at": datetime.now(UTC).isoformat(), "by": user()}
