"""Logins at an identity provider that have begun and not ended, and whom each identity belongs to.

Both are in the server's own database, because another worker process may see the end of a login. An identity is an
issuer and a subject. It is bound to an account by an act of somebody who may do that, and never by the name that the
provider gives it: whoever accepts an invitation at the provider, whoever is logged in and connects their account, or an
administrator. Decision 0071 says why.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sitr.server.tokens import hashed, new_token

LONGEST = timedelta(minutes=10)
"""How long somebody may take at the identity provider."""


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
    invitation: str = ""
    """The hash of the invitation that is accepted by this login."""
    account: str = ""
    """The account of who is logged in and connects it."""


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
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                yield connection

    def begin(self, then: str, *, invitation: str = "", account: str = "") -> tuple[str, Attempt]:
        """Begin a login. Returns the id that only this browser knows. Those that were given up are forgotten."""
        browser, made = new_token(), Attempt(new_token(), new_token(), new_token(), then, invitation, account)
        now = self.clock()
        values = (hashed(browser), *astuple(made), (now + LONGEST).isoformat())
        with self._writing() as connection:
            connection.execute("DELETE FROM logins WHERE expires < ?", (now.isoformat(),))
            connection.execute("INSERT INTO logins VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        return browser, made

    def end(self, browser: str) -> Attempt | None:
        """The login that this browser began, once; None if it has ended, or took too long."""
        statement = (
            "DELETE FROM logins WHERE hash = ? RETURNING state, nonce, verifier, goal, invitation, account, expires"
        )
        with self._writing() as connection:
            found = connection.execute(statement, (hashed(browser),)).fetchone()
        if found is None or datetime.fromisoformat(found[-1]) < self.clock():
            return None
        return Attempt(*found[:-1])

    # Whom an identity belongs to

    def owner(self, issuer: str, subject: str) -> str | None:
        """The name of the account of an identity; None if it has none. The provider's names count nothing."""
        statement = "SELECT name FROM identities WHERE issuer = ? AND subject = ?"
        with self._writing() as connection:
            found = connection.execute(statement, (issuer, subject)).fetchone()
        return None if found is None else str(found[0])

    def bind(self, issuer: str, subject: str, name: str) -> bool:
        """Let an identity log in as this account; False if either of them belongs to another one already."""
        statement = "SELECT subject, name FROM identities WHERE issuer = ? AND (subject = ? OR name = ?)"
        with self._writing() as connection:
            found = connection.execute(statement, (issuer, subject, name)).fetchall()
            if not found:
                connection.execute("INSERT INTO identities VALUES (?, ?, ?)", (issuer, subject, name))
        return not found or found == [(subject, name)]

    def unbind(self, issuer: str, name: str) -> None:
        """Let nobody at the provider log in as this account any more, nor end what would connect it again."""
        with self._writing() as connection:
            connection.execute("DELETE FROM identities WHERE issuer = ? AND name = ?", (issuer, name))
            connection.execute("DELETE FROM logins WHERE account = ?", (name,))

    def forget(self, name: str) -> None:
        """Let nobody at any provider log in as this account any more: its owner may fear who connected it."""
        with self._writing() as connection:
            connection.execute("DELETE FROM identities WHERE name = ?", (name,))
            connection.execute("DELETE FROM logins WHERE account = ?", (name,))

    def bound(self, issuer: str) -> dict[str, str]:
        """The subjects that log in as accounts, by the names of the accounts."""
        with self._writing() as connection:
            found = connection.execute("SELECT name, subject FROM identities WHERE issuer = ?", (issuer,)).fetchall()
        return dict(found)
