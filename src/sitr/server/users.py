"""Accounts, invitations, sessions and API tokens, in a SQLite file of the server's own.

Several worker processes share it. Passwords are hashed with Argon2, tokens and the ids of sessions with SHA-256.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sitr.errors import InvalidUse, NotAllowed, quoted
from sitr.server.attempts import Attempts
from sitr.server.role import Scope, UserRole
from sitr.server.state import upgrade
from sitr.server.tokens import hashed, new_api_token, new_token

LEAST_PASSWORD = 12
"""The fewest characters of a password."""


@dataclass(frozen=True, slots=True)
class User:
    """An account."""

    name: str
    role: UserRole
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ApiToken:
    """What is shown of an API token. The token itself is shown once, when it is made."""

    number: int
    name: str
    label: str
    scope: Scope
    expires: datetime


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Users:
    """Everybody who has an account, and how they are recognised."""

    path: Path
    idle: timedelta = timedelta(minutes=30)
    longest: timedelta = timedelta(hours=12)
    clock: Callable[[], datetime] = field(default=_now, repr=False)
    hasher: PasswordHasher = field(default_factory=PasswordHasher, repr=False)
    _unknown: str = field(default="", repr=False)
    """The hash of a password that nobody has, so that a wrong name takes as long as a wrong password."""
    _open: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

    @classmethod
    def open(cls, path: Path, *, idle: timedelta, longest: timedelta, hasher: PasswordHasher | None = None) -> Users:
        """The accounts in a file, which is made if it is missing and which only its owner can read."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        used = hasher or PasswordHasher()
        found = cls(path, idle, longest, hasher=used, _unknown=used.hash(new_token()))
        upgrade(path)
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                yield connection
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # others read: a copy of the file alone is whole

    def _rows(self, statement: str, *values: object) -> list[tuple[str, ...]]:
        return self._reading().execute(statement, values).fetchall()

    def _reading(self) -> sqlite3.Connection:
        """The connection of this thread, because to connect takes longer than to read; another one for a new file."""
        found = self.path.stat()
        file = found.st_dev, found.st_ino
        if getattr(self._open, "file", None) != file:
            self._open.connection, self._open.file = sqlite3.connect(self.path, timeout=30), file
        return cast("sqlite3.Connection", self._open.connection)

    # Accounts

    def users(self) -> list[User]:
        """All accounts, by name."""
        found = self._rows("SELECT name, role, enabled FROM users ORDER BY name")
        return [User(name, UserRole(role), bool(enabled)) for name, role, enabled in found]

    def user(self, name: str) -> User | None:
        """An account by its name."""
        found = self._rows("SELECT name, role, enabled FROM users WHERE name = ?", name)
        return User(found[0][0], UserRole(found[0][1]), bool(found[0][2])) if found else None

    def add(self, name: str, role: UserRole, password: str) -> User:
        """Make an account."""
        check_name(name)
        check_password(password, name)
        values = (name, role.value, self.hasher.hash(password), self.clock().isoformat())
        with self._writing() as connection:
            if connection.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone():
                raise InvalidUse(given=f"There is an account {name} already.", do="Choose another name.")
            connection.execute("INSERT INTO users (name, role, password, created) VALUES (?, ?, ?, ?)", values)
        return User(name, role)

    def enable(self, name: str, *, enabled: bool) -> None:
        """Allow or forbid somebody to log in. Who is forbidden is logged out at once, and their tokens end."""
        with self._writing() as connection:
            self._known(connection, name)
            if not enabled and self._last_administrator(connection, name):
                raise NotAllowed(
                    given="Then nobody could invite people any more.", do="Invite another administrator first."
                )
            connection.execute("UPDATE users SET enabled = ? WHERE name = ?", (int(enabled), name))
            if not enabled:
                connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
                connection.execute("DELETE FROM tokens WHERE name = ?", (name,))

    def _known(self, connection: sqlite3.Connection, name: str) -> None:
        if not connection.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone():
            raise InvalidUse(given=f"There is no account {quoted(name)}.", do="See the list of accounts.")

    def _last_administrator(self, connection: sqlite3.Connection, name: str) -> bool:
        found = connection.execute("SELECT name FROM users WHERE role = 'administrator' AND enabled = 1").fetchall()
        return found == [(name,)]

    def check(self, name: str, password: str) -> User | None:
        """The account with this name and password; None for a wrong one, after the same work."""
        found = self._rows("SELECT password, enabled FROM users WHERE name = ?", name)
        try:
            self.hasher.verify(found[0][0] if found else self._unknown, password)
        except (VerificationError, InvalidHashError):
            return None
        return self.user(name) if found and found[0][1] else None

    def change_password(self, name: str, old: str, new: str) -> None:
        """Change a password. All sessions and API tokens of this person end: who changes it may fear for them.

        So does the connection to an identity provider, which somebody with a session could have made. It can be made
        again.
        """
        if self.check(name, old) is None:
            raise NotAllowed(given="This is not your password.", do="Type your current password again.")
        check_password(new, name)
        Attempts(self.path).forget(name)
        with self._writing() as connection:
            connection.execute("UPDATE users SET password = ? WHERE name = ?", (self.hasher.hash(new), name))
            connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
            connection.execute("DELETE FROM tokens WHERE name = ?", (name,))

    # Invitations

    def invite(self, name: str, role: UserRole, *, by: str, days: int = 7) -> str:
        """Invite somebody. Returns the secret part of the link, which is shown once."""
        check_name(name)
        if self.user(name) is not None:
            raise InvalidUse(given=f"There is an account {name} already.", do="Choose another name.")
        token, until = new_token(), self.clock() + timedelta(days=days)
        values = (hashed(token), name, role.value, by, until.isoformat())
        with self._writing() as connection:
            connection.execute("DELETE FROM invitations WHERE name = ?", (name,))
            connection.execute("INSERT INTO invitations VALUES (?, ?, ?, ?, ?)", values)
        return token

    def invited(self, token: str) -> User | None:
        """Who is invited by this link; None if it was used, has expired or never was."""
        found = self._rows("SELECT name, role, expires FROM invitations WHERE hash = ?", hashed(token))
        if not found or datetime.fromisoformat(found[0][2]) < self.clock():
            return None
        return User(found[0][0], UserRole(found[0][1]))

    def accept(self, token: str, password: str) -> User:
        """Make the account of an invitation, once."""
        found = self.invited(token)
        if found is None:
            raise NotAllowed(
                given="This invitation has expired or was used.", do="Ask an administrator for another one."
            )
        check_password(password, found.name)
        with self._writing() as connection:
            if not connection.execute("DELETE FROM invitations WHERE hash = ?", (hashed(token),)).rowcount:
                raise NotAllowed(given="This invitation was used.", do="Log in.")
            values = (found.name, found.role.value, self.hasher.hash(password), self.clock().isoformat())
            connection.execute("INSERT INTO users (name, role, password, created) VALUES (?, ?, ?, ?)", values)
        return found

    def accept_identified(self, invitation: str) -> User | None:
        """Make the account of an invitation, by its hash, for somebody whom a provider has identified, once.

        Nobody knows its password, so the provider is the only way in.
        """
        password = self.hasher.hash(new_token())
        with self._writing() as connection:
            statement = "DELETE FROM invitations WHERE hash = ? RETURNING name, role, expires"
            found = connection.execute(statement, (invitation,)).fetchone()
            if found is None or datetime.fromisoformat(found[2]) < self.clock():
                return None
            values = (found[0], found[1], password, self.clock().isoformat())
            connection.execute("INSERT INTO users (name, role, password, created) VALUES (?, ?, ?, ?)", values)
        return User(found[0], UserRole(found[1]))

    # Sessions

    def begin(self, user: User) -> str:
        """Begin a session. Returns its id, which only the browser of this person knows."""
        session, now = new_token(), self.clock()
        with self._writing() as connection:
            oldest = (now - self.longest).isoformat()
            connection.execute("DELETE FROM sessions WHERE started < ?", (oldest,))
            values = (hashed(session), user.name, now.isoformat(), now.isoformat())
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", values)
        return session

    def session(self, session: str) -> User | None:
        """Whose session this is; None if it has ended."""
        found = self._rows("SELECT name, started, seen FROM sessions WHERE hash = ?", hashed(session))
        if not found:
            return None
        name, started, seen = found[0][0], *map(datetime.fromisoformat, found[0][1:])
        now = self.clock()
        if now - started > self.longest or now - seen > self.idle:
            self.end(session)
            return None
        if now - seen > self.idle / 30:  # most requests write nothing
            with self._writing() as connection:
                connection.execute("UPDATE sessions SET seen = ? WHERE hash = ?", (now.isoformat(), hashed(session)))
        user = self.user(name)
        return user if user is not None and user.enabled else None

    def end(self, session: str) -> None:
        """End a session."""
        with self._writing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (hashed(session),))

    def sessions(self, name: str) -> int:
        """How many sessions of one person are open."""
        now = self.clock()
        since = (now - self.longest).isoformat(), (now - self.idle).isoformat()
        statement = "SELECT COUNT(*) FROM sessions WHERE name = ? AND started >= ? AND seen >= ?"
        return int(self._rows(statement, name, *since)[0][0])

    def end_all(self, name: str) -> None:
        """End all sessions of one person."""
        with self._writing() as connection:
            connection.execute("DELETE FROM sessions WHERE name = ?", (name,))

    # API tokens

    def new_token(self, user: User, label: str, scope: Scope, *, days: int) -> str:
        """Make an API token. It is shown once."""
        if not 0 < days <= 366:
            raise InvalidUse(wanted="a number of days from 1 to 366", given=quoted(days), do="Correct it.")
        if not label.isprintable() or not 0 < len(label) <= 100:
            raise InvalidUse(wanted="a name of at most 100 letters", given=quoted(label), do="Say what it is for.")
        token, until = new_api_token(), self.clock() + timedelta(days=days)
        with self._writing() as connection:
            values = (hashed(token), user.name, label, scope.value, until.isoformat())
            connection.execute("INSERT INTO tokens (hash, name, label, scope, expires) VALUES (?, ?, ?, ?, ?)", values)
        return token

    def token(self, token: str) -> tuple[User, Scope] | None:
        """Whose token this is and what it may be used for; None if it has expired or was revoked."""
        statement = (
            "SELECT users.name, role, scope, expires FROM tokens JOIN users ON users.name = tokens.name "
            "WHERE hash = ? AND enabled = 1"
        )
        found = self._rows(statement, hashed(token))
        if not found or datetime.fromisoformat(found[0][3]) < self.clock():
            return None
        name, role, scope, _ = found[0]
        return User(name, UserRole(role)), Scope(scope)

    def tokens(self, name: str) -> list[ApiToken]:
        """The tokens of one person."""
        statement = "SELECT number, name, label, scope, expires FROM tokens WHERE name = ? ORDER BY number"
        return [
            ApiToken(int(number), whose, label, Scope(scope), datetime.fromisoformat(expires))
            for number, whose, label, scope, expires in self._rows(statement, name)
        ]

    def revoke(self, number: int, *, of: str) -> None:
        """Revoke a token of one's own."""
        with self._writing() as connection:
            known = number if 0 < number < 2**63 else 0  # as the database can hold it
            if not connection.execute("DELETE FROM tokens WHERE number = ? AND name = ?", (known, of)).rowcount:
                raise InvalidUse(given=f"You have no token {number}.", do="See the list of your tokens.")

    # Data sets that were registered here

    def datasets(self) -> dict[str, Path]:
        """The descriptions of the data sets that were registered on this server."""
        found = self._rows("SELECT name, description FROM datasets WHERE description <> '' ORDER BY name")
        return {name: Path(path) for name, path in found}

    @contextmanager
    def registering(self, name: str, description: Path, *, by: str) -> Iterator[None]:
        """Remember a data set after what is done meanwhile. Until then nobody sees it, or takes its name."""
        with self._writing() as connection:
            try:
                values = (name, "", by, self.clock().isoformat())
                connection.execute("INSERT INTO datasets VALUES (?, ?, ?, ?)", values)
            except sqlite3.IntegrityError:
                raise InvalidUse(given=f"There is a data set {name} already.", do="Choose another name.") from None
        try:
            yield
        except BaseException:
            with self._writing() as connection:
                connection.execute("DELETE FROM datasets WHERE name = ? AND description = ''", (name,))
            raise
        with self._writing() as connection:
            connection.execute("UPDATE datasets SET description = ? WHERE name = ?", (str(description), name))


def check_name(name: object) -> None:
    """Refuse a name that could be taken for another, or that cannot be written in an address, as .. cannot."""
    allowed = isinstance(name, str) and 0 < len(name) <= 50 and name.isascii() and name == name.lower()
    signs = all(sign.isalnum() or sign in "._-@" for sign in str(name))
    if not allowed or not signs or not any(map(str.isalnum, str(name))):
        raise InvalidUse(
            wanted="a name of at most 50 small letters, digits and . _ - @",
            given=quoted(name),
            do="Choose another one.",
        )


def check_password(password: object, name: str) -> None:
    """Refuse a password that is short or easily guessed."""
    if not isinstance(password, str) or not LEAST_PASSWORD <= len(password) <= 200:
        raise InvalidUse(given=f"A password has {LEAST_PASSWORD} to 200 characters.", do="Choose another password.")
    if len(set(password)) < 5 or name.casefold() in password.casefold():
        raise InvalidUse(given="This password is easily guessed.", do="Choose another password.")
