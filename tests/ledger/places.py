"""Places for ledgers in the tests, and ways to change them by hand."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sitr.ledger.database import Connection
from sitr.ledger.migrate import GUARDED
from sitr.ledger.postgres import PostgresConnection
from tests import postgres

Place = Path | str

_NUMBERS = itertools.count(1)


def schema(user: str = "postgres") -> str:
    """The address of a new ledger on the PostgreSQL server of the tests, or the test is skipped."""
    return f"{postgres.server().url(user)}&schema=t{next(_NUMBERS)}"


@contextmanager
def raw(place: Place) -> Iterator[Connection]:
    """A connection without Sitr, of somebody who may do anything."""
    if isinstance(place, Path):
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
        return
    with closing(connected(place)) as made:
        yield PostgresConnection(made)


def connected(place: str) -> Any:
    url, _, name = place.rpartition("&schema=")
    import psycopg

    return psycopg.connect(url, autocommit=True, options=f"-c search_path={name}")


@contextmanager
def without_triggers(place: Place) -> Iterator[Connection]:
    """A connection of somebody who takes the triggers out and puts them back."""
    with raw(place) as connection:
        if isinstance(place, Path):
            triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            before = [f"DROP TRIGGER {name}" for name, _ in triggers]
            after = [sql for _, sql in triggers]
        else:
            before = [f"ALTER TABLE {table} DISABLE TRIGGER {table}_guard" for table in GUARDED]
            after = [f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_guard" for table in GUARDED]
        for statement in before:
            connection.execute(statement)
        yield connection
        for statement in after:
            connection.execute(statement)
