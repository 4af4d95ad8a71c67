"""Logins at an identity provider that have begun and not ended, and whom each identity belongs to.

Both are in the server's own database, because another worker process may see the end of a login.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sitr.server.tokens import hashed, new_token

LONGEST = timedelta(minutes=10)
"""How long somebody may take at the identity provider."""

TABLES = """
CREATE TABLE IF NOT EXISTS attempts (
    hash TEXT PRIMARY KEY, state TEXT NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL, goal TEXT NOT NULL,
    expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS identities (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (issuer, subject),
    UNIQUE (issuer, name));
"""


class NotIdentified(Exception):
    """The provider did not say who this is, or not in a way that can be trusted."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A login that has begun. All texts are random, except where it leads."""

    state: str
    """Returns with the browser."""
    nonce: str
    """Returns inside the signed token."""
    verifier: str
    """Only we know it; the provider knows its hash (PKCE)."""
    then: str
    """The page to go to."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Attempts:
    """All logins that have begun."""

    path: Path
    clock: Callable[[], datetime] = field(default=_now, repr=False)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
            for statement in filter(str.strip, TABLES.split(";")):
                connection.execute(statement)
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                yield connection

    def begin(self, then: str) -> tuple[str, Attempt]:
        """Begin a login. Returns the id that only this browser knows. Those that were given up are forgotten."""
        browser, made = new_token(), Attempt(new_token(), new_token(), new_token(), then)
        now = self.clock()
        values = (hashed(browser), made.state, made.nonce, made.verifier, then, (now + LONGEST).isoformat())
        with self._writing() as connection:
            connection.execute("DELETE FROM attempts WHERE expires < ?", (now.isoformat(),))
            connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)", values)
        return browser, made

    def end(self, browser: str) -> Attempt | None:
        """The login that this browser began, once; None if it has ended, or took too long."""
        statement = "DELETE FROM attempts WHERE hash = ? RETURNING state, nonce, verifier, goal, expires"
        with self._writing() as connection:
            found = connection.execute(statement, (hashed(browser),)).fetchone()
        if found is None or datetime.fromisoformat(found[4]) < self.clock():
            return None
        return Attempt(*found[:4])

    def belongs(self, issuer: str, subject: str, name: str) -> bool:
        """Whether an identity belongs to an account. The first one that comes for an account is bound to it.

        A provider may give a name to somebody else later; that person has another subject, and is not let in.
        """
        with self._writing() as connection:
            statement = "SELECT subject, name FROM identities WHERE issuer = ? AND (subject = ? OR name = ?)"
            found = connection.execute(statement, (issuer, subject, name)).fetchall()
            if not found:
                connection.execute("INSERT INTO identities VALUES (?, ?, ?)", (issuer, subject, name))
                return True
        return found == [(subject, name)]
