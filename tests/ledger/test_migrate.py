from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from sitr.errors import LedgerError
from sitr.flavors.pure import PureDP
from sitr.ledger import migrate, sql
from sitr.ledger.entry import Sealed
from sitr.ledger.migrate import HISTORY, VERSION_TABLE
from sitr.ledger.sql import SqlLedger
from tests import tables


@pytest.fixture(autouse=True)
def every_ledger_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """In other tests, only the first."""
    monkeypatch.setattr(sql, "upgrade", migrate.upgrade)


def test_the_ledgers_of_other_tests_are_as_migrations_make_them(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqlLedger(path)
    monkeypatch.setattr(sql, "upgrade", tables.upgrade)
    SqlLedger(other := path.with_name("other.db"))
    made = []
    for each in (path, other):
        with closing(sqlite3.connect(each)) as connection:
            look = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
            rows = [f"SELECT * FROM {table}" for table in (VERSION_TABLE, "accounts", "entries", "plans", "seals")]
            made.append([connection.execute(asked).fetchall() for asked in (look, *rows)])
    assert made[0] == made[1]
    assert made[0][1] == [(HISTORY[-1],)]


def test_the_history_is_what_the_scripts_say() -> None:
    config = Config()
    config.set_main_option("script_location", "sitr.ledger:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()] == list(reversed(HISTORY))


def test_a_new_ledger_is_of_the_newest_revision(path: Path) -> None:
    SqlLedger(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [(HISTORY[-1],)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_empty_file_becomes_a_ledger_unless_one_was_expected(path: Path) -> None:
    path.touch()
    with pytest.raises(LedgerError, match=r"There is no ledger at"):
        SqlLedger(path, create=False)
    assert path.stat().st_size == 0
    assert SqlLedger(path).accounts() == []
    assert SqlLedger(path, create=False).accounts() == []


def test_making_a_ledger_leaves_logging_alone(path: Path) -> None:
    before = (list(logging.root.handlers), logging.root.level, logging.getLogger("alembic").level)
    SqlLedger(path)
    assert before == (list(logging.root.handlers), logging.root.level, logging.getLogger("alembic").level)


@pytest.mark.parametrize("tables", [["patients"], ["alembic_version", "patients"], ["accounts", "entries"]])
@pytest.mark.parametrize("create", [True, False])
def test_a_database_of_something_else_is_not_touched(path: Path, tables: list[str], create: bool) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (version_num TEXT)")
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=rf"a database with the tables {', '.join(tables)}\."):
        SqlLedger(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("change", ["UPDATE {} SET version_num = '9999'", "DELETE FROM {}"])
def test_a_ledger_of_a_newer_version_is_refused(path: Path, change: str) -> None:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(change.format(VERSION_TABLE))
    with pytest.raises(LedgerError, match=r"a newer version of Sitr wrote\. Upgrade Sitr"):
        SqlLedger(path)


def _first_version(path: Path) -> None:
    SqlLedger(path).open("clinic", promise=PureDP(1.0), neighbors="row, add-remove")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("plans", "seals", "acts", "records"):
            connection.execute(f"DROP TABLE {table}")
        for index in ("entries_by_dataset", "entries_by_request", "entries_by_key"):
            connection.execute(f"DROP INDEX {index}")
        for column in ("charges", "paid", "beside", "plan", "description", "share", "request", "key", "coins"):
            connection.execute(f"ALTER TABLE entries DROP COLUMN {column}")
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0001'")
        for price in (0.1, 0.2, 0.1):
            connection.execute(
                "INSERT INTO entries (dataset, price, question, at, by, version) "
                f"VALUES ('clinic', 'pure(epsilon={price})', 'COUNT(*)', '2025-01-02T00:00:00+00:00', 'noor', '0.1.0')"
            )


def test_a_ledger_cannot_be_made_old_to_lose_its_chain(path: Path) -> None:
    _first_version(path)
    with pytest.raises(LedgerError, match="replaced by a ledger without a chain"):
        SqlLedger(path)


def test_a_ledger_of_the_first_version_keeps_what_was_spent(path: Path) -> None:
    """Its tables, without running sums, and three entries: nothing is forgotten, before and after the next charge."""
    _first_version(elsewhere := path.with_name("elsewhere.db"))
    elsewhere.rename(path)
    ledger = SqlLedger(path)
    assert ledger.standing("clinic").remaining() == PureDP(0.6)
    assert ledger.charged(2)[1].remaining() == PureDP(0.7)  # added up, because these entries have no sums
    ledger.seal(2, Sealed.ANSWER, "hash")
    assert [seal.sha256 for seal in ledger.seals(2)] == ["hash"]
    entry, after = ledger.charge("clinic", price=PureDP(0.6), question="COUNT(*)")
    assert (entry.number, after.charges, after.remaining()) == (4, 4, PureDP(0.0))
    assert ledger.check("clinic") == after
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="a ledger only grows"):
            connection.execute("DELETE FROM entries")
        assert connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [(HISTORY[-1],)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET price = 'pure(epsilon=0.0)'",
        "UPDATE entries SET question = 'another'",
        "UPDATE entries SET paid = '0'",
        "UPDATE entries SET beside = '[]'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries (number, dataset, price, question, at, by, version, charges, paid) "
        "VALUES (1, 'clinic', 'pure(epsilon=0.0)', '', '', '', '', 1, '0')",
        "UPDATE accounts SET promise = 'pure(epsilon=99.0)'",
        "UPDATE accounts SET neighbors = 'row'",
        "DELETE FROM accounts",
        "INSERT OR REPLACE INTO accounts VALUES ('clinic', 'pure(epsilon=99.0)', '', '')",
        "INSERT INTO accounts VALUES ('clinic', 'x', '', '') ON CONFLICT DO UPDATE SET promise = 'pure(epsilon=99.0)'",
        "UPDATE seals SET sha256 = 'another'",
        "UPDATE seals SET entry = 2",
        "DELETE FROM seals",
        "INSERT OR REPLACE INTO seals VALUES (1, 1, 'answer', 'another', '')",
        "UPDATE acts SET body = '{}'",
        "DELETE FROM acts",
        "UPDATE records SET hash = ''",
        "DELETE FROM records",
        "INSERT OR REPLACE INTO records VALUES (1, 'acts', '1', '', '', '', '')",
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
                "INSERT INTO entries (number, dataset, price, question, at, by, version, charges, paid) "
                "VALUES (1, 'clinic', 'pure(epsilon=0.1)', '', '', '', '', 1, '1/10')"
            )
