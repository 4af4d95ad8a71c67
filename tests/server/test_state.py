"""The database of the server: one of an older version is brought up to date, and one of a newer version is left."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from sitr.errors import FileError
from sitr.server.role import UserRole
from sitr.server.state import STEPS, upgrade
from sitr.server.users import Users
from tests.server.conftest import QUICK, password

BEFORE = """
CREATE TABLE users (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, enabled INTEGER NOT NULL DEFAULT 1,
    created TEXT NOT NULL);
CREATE TABLE sessions (hash TEXT PRIMARY KEY, name TEXT NOT NULL, started TEXT NOT NULL, seen TEXT NOT NULL);
CREATE TABLE attempts (hash TEXT PRIMARY KEY);
"""
"""A database of a version without revisions, with some of the tables."""


def tables(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())


def revision(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def opened(path: Path) -> Users:
    return Users.open(path, idle=timedelta(minutes=1), longest=timedelta(hours=1), hasher=QUICK)


def test_an_older_database_keeps_its_accounts(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.executescript(BEFORE)
        values = ("ana", "analyst", QUICK.hash(password("ana")), "2026-01-01")
        connection.execute("INSERT INTO users (name, role, password, created) VALUES (?, ?, ?, ?)", values)
    people = opened(old)
    assert people.check("ana", password("ana")) is not None
    assert people.session(people.begin(people.users()[0])) == people.users()[0]
    opened(new).add("ana", UserRole.ANALYST, password("ana"))
    assert tables(old).keys() == tables(new).keys() >= {"users", "tokens", "identities", "keys"}
    assert revision(old) == revision(new) == len(STEPS)


def test_every_step_leads_to_the_newest_tables(tmp_path: Path) -> None:
    upgrade(tmp_path / "new.db")
    for taken in range(len(STEPS)):
        path = tmp_path / f"{taken}.db"
        with closing(sqlite3.connect(path)) as connection:
            for step in STEPS[:taken]:
                connection.executescript(step)
            connection.execute(f"PRAGMA user_version = {taken}")
        upgrade(path)
        upgrade(path)  # there is nothing left to do
        assert tables(path) == tables(tmp_path / "new.db")


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "server.db"
    upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    before = tables(path)
    with pytest.raises(FileError, match="newer version"):
        opened(path)
    assert (tables(path), revision(path)) == (before, len(STEPS) + 1)


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.db"
    upgrade(path)
    before = tables(path)
    monkeypatch.setattr("sitr.server.state.STEPS", (*STEPS, "CREATE TABLE more (x TEXT); CREATE NONSENSE;"))
    with pytest.raises(sqlite3.OperationalError):
        upgrade(path)
    assert (tables(path), revision(path)) == (before, len(STEPS))


def test_several_processes_may_start_at_once(tmp_path: Path) -> None:
    path = tmp_path / "server.db"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(upgrade, [path] * 16))
    assert revision(path) == len(STEPS)
