"""The revision of the tables in a database, and how to upgrade it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from sitr.errors import LedgerError
from sitr.ledger import postgres
from sitr.ledger.database import Connection, Database
from sitr.namespace import Later

if TYPE_CHECKING:
    from alembic import command, config
else:  # only a ledger that is new or old needs them
    command, config = Later("alembic.command"), Later("alembic.config")

HISTORY = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
"""The revisions in `migrations/versions`, oldest first."""

# Not alembic's default name, so that another program's database is never taken for a ledger.
VERSION_TABLE = "sitr_ledger_revision"


GUARDED = {
    "accounts": "dataset",
    "acts": "number",
    "entries": "number",
    "plans": "sha256",
    "records": "number",
    "seals": "number",
}
"""The tables whose rows never change, with the columns that name them."""


@cache
def guards() -> dict[str, str]:
    """The triggers that refuse to change a row of a SQLite file, as the migrations make them, by name."""
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    made: dict[str, str] = {}
    for table, key in GUARDED.items():
        exists = f"EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key})"
        made |= {
            f"{table}_no_update": f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
            f"{table}_no_delete": f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}",
            f"{table}_no_replace": f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {exists} {refuse}",
        }
    return made


def as_made(connection: Connection) -> bool:
    """Whether the database has exactly these triggers and no views: others could change what is written."""
    if isinstance(connection, postgres.PostgresConnection):
        return postgres.as_made(connection, list(GUARDED))
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    temporary = connection.execute("SELECT 1 FROM sqlite_temp_master LIMIT 1").fetchone()
    return dict(map(tuple, rows)) == guards() and temporary is None


def _tables(connection: Connection) -> list[str]:
    if isinstance(connection, postgres.PostgresConnection):
        return postgres.tables(connection)
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    return [table for (table,) in connection.execute(listed)]


def revision(connection: Connection, *, name: str) -> str | None:
    """The revision of a database; None if it is empty, `LedgerError` if it is no ledger or a newer one."""
    tables = _tables(connection)
    if not tables:
        return None
    if VERSION_TABLE not in tables:
        raise LedgerError(
            wanted="a Sitr ledger",
            given=f"{name}, a database with the tables {', '.join(sorted(tables)[:3])}",
            do="Choose another file or schema for the ledger.",
        )
    row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    found = None if row is None else row["version_num"]
    if found not in HISTORY:
        raise LedgerError(
            wanted=f"a ledger of revision {HISTORY[-1]} or older",
            given=f"{name} of revision {found}, which a newer version of Sitr wrote",
            do="Upgrade Sitr; the ledger was not changed.",
        )
    return str(found)


def upgrade(database: Database, *, then: Callable[[Connection], None]) -> None:
    """Bring the tables to the newest revision and do what comes `then`, in one transaction.

    Does nothing if another process was faster.
    """
    with database.migration() as (connection, adopted):
        if revision(connection, name="the ledger") == HISTORY[-1]:
            return
        settings = config.Config()
        settings.set_main_option("script_location", "sitr.ledger:migrations")
        settings.attributes["connection"] = adopted
        settings.attributes["version_table"] = VERSION_TABLE
        command.upgrade(settings, "head")
        then(connection)
