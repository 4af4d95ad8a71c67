"""The tables of new ledgers: made by migrations once, and then by the statements that this left behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sitr.ledger import migrate
from sitr.ledger.database import Connection, Database
from sitr.ledger.sqlite import SqliteFile


@cache
def statements() -> tuple[str, ...]:
    """What makes the tables, indexes and triggers of a new file, and its revision."""
    with TemporaryDirectory() as folder:
        file = SqliteFile(Path(folder) / "ledger.db", patience=60)
        file.create()
        migrate.upgrade(file, then=lambda _: None)
        with file.transaction(write=False) as connection:
            made = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
            (version,) = connection.execute(f"SELECT version_num FROM {migrate.VERSION_TABLE}").fetchone()
    return *(sql for (sql,) in made), f"INSERT INTO {migrate.VERSION_TABLE} VALUES ('{version}')"


def upgrade(database: Database, *, then: Callable[[Connection], None]) -> None:
    """Does what `migrate.upgrade` does; for a new file in a small part of the time."""
    if isinstance(database, SqliteFile):
        made = statements()
        with database.transaction(write=True) as connection:
            if new := migrate.revision(connection, name="the ledger") is None:
                for statement in made:
                    connection.execute(statement)
                then(connection)
        if new:
            return
    migrate.upgrade(database, then=then)
