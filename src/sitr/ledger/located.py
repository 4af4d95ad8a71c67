"""The database at a path or an address."""

from __future__ import annotations

from pathlib import Path

from sitr.dataset.database import Address, is_database
from sitr.ledger.database import Database
from sitr.ledger.postgres import postgres_schema
from sitr.ledger.sqlite import sqlite_file

Where = str | Path | Address
"""What a user writes for a ledger: a path, `sqlite:///path`, or `postgresql://host/database`."""


def addressed(where: Where) -> Path | Address:
    """The same as a path or an address, whose text has no password.

    >>> addressed("sitr.db"), str(addressed("postgresql://noor:secret@db/hospital"))
    (PosixPath('sitr.db'), 'postgresql://noor@db/hospital')
    """
    if isinstance(where, str) and is_database(where):
        return postgres_schema(where, patience=0.0).at
    return Path(where) if isinstance(where, str) else where


def located(where: Where, *, patience: float) -> Database:
    """The file or the schema of a ledger; `LedgerError` if a ledger cannot be there.

    >>> str(located("postgresql://noor:secret@db/hospital", patience=1.0).place)
    'postgresql://db/hospital'
    """
    if isinstance(where, Address) or is_database(where):
        assert not isinstance(where, Path)
        return postgres_schema(where, patience=patience)
    return sqlite_file(where, patience=patience)
