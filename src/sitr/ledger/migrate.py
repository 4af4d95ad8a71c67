"""Which revision of the tables a database holds, and how it gets the newest."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, column, inspect, select, table

from sitr.errors import LedgerError

HISTORY = ("0001", "0002")
"""The revisions in `migrations/versions`, oldest first."""

# Not alembic's own default, so that other programs' databases are never taken for a ledger.
VERSION_TABLE = "sitr_ledger_revision"


def revision(connection: Connection, *, name: str) -> str | None:
    """The revision stored in a database: none in an empty one, `LedgerError` in one that is not ours to read."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if VERSION_TABLE not in tables:
        raise LedgerError(
            wanted="A Sitr ledger was wanted.",
            given=f"{name} is a database of something else: it holds {', '.join(sorted(tables)[:3])}.",
            do="Give the ledger a file of its own.",
        )
    found = connection.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar()
    if found not in HISTORY:
        raise LedgerError(
            wanted=f"A ledger of revision {HISTORY[-1]} or older was wanted.",
            given=f"{name} is of revision {found}: a newer version of Sitr wrote it.",
            do="Upgrade Sitr; the ledger was not touched.",
        )
    return str(found)


def upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision, inside the transaction that the connection is in."""
    config = Config()
    config.set_main_option("script_location", "sitr.ledger:migrations")
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, "head")
