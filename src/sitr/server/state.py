"""The database of the server: its steps, which bring an older one up to date, and its revision.

A step is never changed: databases out there have taken it. A change of the tables is a new step at the end.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sitr.errors import FileError

FIRST = """
CREATE TABLE IF NOT EXISTS users (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, enabled INTEGER NOT NULL DEFAULT 1,
    created TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS invitations (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, by TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, started TEXT NOT NULL, seen TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    number INTEGER PRIMARY KEY, hash TEXT UNIQUE NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL,
    scope TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS datasets (
    name TEXT PRIMARY KEY, description TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL);
DROP TABLE IF EXISTS attempts;
CREATE TABLE IF NOT EXISTS logins (
    hash TEXT PRIMARY KEY, state TEXT NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL, goal TEXT NOT NULL,
    invitation TEXT NOT NULL, account TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS identities (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (issuer, subject),
    UNIQUE (issuer, name));
"""
"""Databases that were made before there were revisions have some of these tables, or all."""

KEYS = """
CREATE TABLE keys (
    hash TEXT PRIMARY KEY, sent TEXT NOT NULL, at TEXT NOT NULL, response TEXT);
"""
"""What was done under keys of clients: see `sitr.server.once`."""

STEPS = (FIRST, KEYS)


def upgrade(path: Path) -> None:
    """Make the tables in a database, or bring those of an older version up to date: all steps, or none."""
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")  # several worker processes start at once
        try:
            [revision] = connection.execute("PRAGMA user_version").fetchone()
            if revision > len(STEPS):
                raise FileError(
                    given=f"{path} was written by a newer version of Sitr.",
                    do="Start that version, or restore the backup that was made before it.",
                )
            for step in STEPS[revision:]:
                for statement in filter(str.strip, step.split(";")):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # a copy of the file alone is whole
