"""The revision of the tables in a database, and how to upgrade it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, column, inspect, select, table

from sitr.errors import LedgerError
from sitr.namespace import Later

if TYPE_CHECKING:
    from alembic import command, config
else:  # only a ledger that is new or old needs it
    command, config = Later("alembic.command"), Later("alembic.config")

HISTORY = ("0001", "0002", "0003")
"""The revisions in `migrations/versions`, oldest first."""

# Not alembic's default name, so that another program's database is never taken for a ledger.
VERSION_TABLE = "sitr_ledger_revision"


def revision(connection: Connection, *, name: str) -> str | None:
    """The revision of a database; None if it is empty, `LedgerError` if it is no ledger or a newer one."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if VERSION_TABLE not in tables:
        raise LedgerError(
            wanted="a Sitr ledger",
            given=f"{name}, a database with the tables {', '.join(sorted(tables)[:3])}",
            do="Choose another file for the ledger.",
        )
    found = connection.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar()
    if found not in HISTORY:
        raise LedgerError(
            wanted=f"a ledger of revision {HISTORY[-1]} or older",
            given=f"{name} of revision {found}, which a newer version of Sitr wrote",
            do="Upgrade Sitr; the ledger was not changed.",
        )
    return str(found)


def upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision, inside the transaction that the connection is in."""
    settings = config.Config()
    settings.set_main_option("script_location", "sitr.ledger:migrations")
    settings.attributes["connection"] = connection
    settings.attributes["version_table"] = VERSION_TABLE
    command.upgrade(settings, "head")
