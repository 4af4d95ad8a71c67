from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, MetaData, Text, create_engine
from sqlalchemy.pool import NullPool

from sitr.errors import LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger.entry import Sealed
from sitr.ledger.migrate import VERSION_TABLE
from sitr.ledger.sql import SqlLedger
from sitr.ledger.tables import accounts, entries, metadata


def differences(path: Path, wanted: MetaData = metadata) -> list[object]:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        return list(compare_metadata(context, wanted))


def test_the_migrations_make_these_tables(path: Path) -> None:
    SqlLedger(path)
    assert differences(path) == []


def test_a_forgotten_column_would_be_seen(path: Path) -> None:
    SqlLedger(path)
    forgetful = MetaData()
    accounts.to_metadata(forgetful)
    entries.to_metadata(forgetful).append_column(Column("forgotten", Text))
    assert differences(path, forgetful)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET price = 'pure(epsilon=0.0)'",
        "UPDATE entries SET question = 'another'",
        "UPDATE entries SET paid = '0'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries VALUES (1, 'clinic', 'pure(epsilon=0.0)', '', '', '', '', 1, '0')",
        "UPDATE accounts SET promise = 'pure(epsilon=99.0)'",
        "UPDATE accounts SET neighbors = 'row'",
        "DELETE FROM accounts",
        "INSERT OR REPLACE INTO accounts VALUES ('clinic', 'pure(epsilon=99.0)', '', '')",
        "INSERT INTO accounts VALUES ('clinic', 'x', '', '') ON CONFLICT DO UPDATE SET promise = 'pure(epsilon=99.0)'",
        "UPDATE seals SET sha256 = 'another'",
        "UPDATE seals SET entry = 2",
        "DELETE FROM seals",
        "INSERT OR REPLACE INTO seals VALUES (1, 1, 'answer', 'another', '')",
    ],
)
def test_what_is_written_stays(path: Path, statement: str) -> None:
    ledger = SqlLedger(path)
    account = ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    entry, _ = ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    ledger.seal(1, Sealed.ANSWER, "hash")
    seals = ledger.seals()
    refused = pytest.raises(sqlite3.IntegrityError, match="a ledger only grows")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, refused:
        connection.execute(statement)
    assert ledger.entries() == [entry]
    assert ledger.accounts() == [account]
    assert ledger.seals() == seals


def test_a_seal_needs_an_entry(path: Path) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with pytest.raises(LedgerError, match="FOREIGN KEY"):
        ledger.seal(1, Sealed.ANSWER, "hash")
    assert ledger.seals() == []


def test_a_charge_needs_an_account(path: Path) -> None:
    SqlLedger(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute(
                "INSERT INTO entries VALUES (1, 'clinic', 'pure(epsilon=0.1)', '', '', '', '', 1, '1/10')"
            )
