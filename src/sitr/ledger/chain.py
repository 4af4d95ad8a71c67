"""The chain of a ledger: one signed record for every row, each with the hash of the record before.

    hash = SHA-256(["sitr ledger 1", number, table, key of the row, the row, hash of the record before, public key])

as JSON without spaces, with sorted names and without columns that are NULL. A row that is changed has another hash than
its record; a record that is changed, removed, inserted or moved has another hash than the next one holds; and who holds
no key cannot sign the records that would have to be written again. What the chain alone cannot show is a whole end that
was cut off: that is what the witness is for (`sitr.ledger.witness`).

A signature covers all records before it, because each hash covers the hash before, and it covers who signed them. So
it is enough to check the last signature of each key, however long the ledger is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from hashlib import sha256

from sitr.ledger.database import Connection
from sitr.ledger.key import Key, genuine

START = "0" * 64
"""What the first record holds in place of a hash."""

PAGE = 5000
"""The number of records that are read at once."""

KEYS = {"accounts": "dataset", "acts": "number", "entries": "number", "seals": "number"}
"""The tables that the chain covers, with the columns that name their rows."""


@dataclass(frozen=True, slots=True)
class Record:
    """One link of the chain. Records are numbered 1, 2, 3, … over all tables, in the order of writing."""

    number: int
    table: str
    row: str
    before: str
    hash: str
    signer: str
    signature: str


def hash_of(number: int, table: str, row: str, content: Mapping[str, object], before: str, signer: str) -> str:
    """The hash of a record.

    >>> hash_of(1, "acts", "1", {"kind": "began", "dataset": None}, START, "d75a98")[:16]
    'd48715d008a2d991'
    """
    present = {name: value for name, value in content.items() if value is not None}
    whole = ["sitr ledger 1", number, table, row, present, before, signer]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_octets)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _octets(value: object) -> dict[str, str]:
    """Sitr writes no octets, but somebody else may have."""
    return {"octets": value.hex() if isinstance(value, bytes) else repr(value)}


def last(connection: Connection) -> Record | None:
    """The newest record."""
    found = connection.execute("SELECT * FROM records ORDER BY number DESC LIMIT 1").fetchone()
    return None if found is None else Record(*found)


def record(connection: Connection, number: int) -> Record | None:
    """The record of this number."""
    found = connection.execute("SELECT * FROM records WHERE number = ?", (number,)).fetchone()
    return None if found is None else Record(*found)


def records(connection: Connection, *, after: int = 0) -> Iterator[Record]:
    """All records after this number, oldest first."""
    some = "SELECT * FROM records WHERE number > ? ORDER BY number LIMIT ?"
    while page := connection.execute(some, (after, PAGE)).fetchall():
        yield from (Record(*row) for row in page)
        after = page[-1]["number"]


def back(connection: Connection, number: int) -> Iterator[Record]:
    """The records before this number, newest first."""
    some = "SELECT * FROM records WHERE number < ? ORDER BY number DESC LIMIT 20"
    while page := connection.execute(some, (number,)).fetchall():
        yield from (Record(*row) for row in page)
        number = page[-1]["number"]


def of_row(connection: Connection, table: str, key: object) -> Record | None:
    """The record of a row."""
    where = 'SELECT * FROM records WHERE "table" = ? AND row = ?'
    found = connection.execute(where, (table, str(key))).fetchone()
    return None if found is None else Record(*found)


def append(connection: Connection, table: str, key: object, by: Key) -> Record:
    """Write the record of a row that was just inserted."""
    head = last(connection)
    number, before = (1, START) if head is None else (head.number + 1, head.hash)
    hash = hash_of(number, table, str(key), row_of(connection, table, key) or {}, before, by.public)
    made = Record(number, table, str(key), before, hash, by.public, by.sign(hash))
    connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(made))
    return made


def intact(connection: Connection, found: Record) -> bool:
    """Whether the row of a record is there and has the record's hash. The signature is not looked at."""
    content = row_of(connection, found.table, found.row) if found.table in KEYS else None
    if content is None or str(content[KEYS[found.table]]) != found.row:  # 01 is the number 1, too
        return False
    return found.hash == hash_of(found.number, found.table, found.row, content, found.before, found.signer)


def signed(found: Record) -> bool:
    """Whether the signature is genuine."""
    return genuine(found.signer, found.hash, found.signature)


def row_of(connection: Connection, table: str, key: object) -> dict[str, object] | None:
    """A row of one of the tables, by its key. A record may name it by a text that is no number."""
    named = key if KEYS[table] != "number" else _number(str(key))
    found = connection.execute(f"SELECT * FROM {table} WHERE {KEYS[table]} = ?", (named,)).fetchone()
    return None if found is None else dict(found)


def _number(text: str) -> int:
    """The number that a text is, written as Sitr writes it; otherwise 0, which no row has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
