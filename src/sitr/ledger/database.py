"""Where a ledger can be: a SQLite file, or a schema of a PostgreSQL server. Everything else is one copy for both.

Statements are texts in the part of SQL that both share (decision 0018), with `:name` or `?` for values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlalchemy as sa

Place = Path | str
"""The path of a file, or the address of a schema without user and password: the same for all who use the ledger."""


class LedgerRow(Protocol):
    """A row: its values in order, or by name."""

    def __getitem__(self, column: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def keys(self) -> list[str]: ...


class Cursor(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """An open transaction."""

    def execute(self, sql: str, values: Mapping[str, object] | Sequence[object] = (), /) -> Cursor: ...


class Database(Protocol):
    """One ledger's place in a database."""

    @property
    def place(self) -> Place:
        """What names the ledger in messages, links and the registry. It has no password."""

    def exists(self) -> bool:
        """Whether there may be a ledger; False if there is certainly none."""

    def create(self) -> None:
        """Make the place, if it is missing."""

    def identity(self) -> tuple[str, ...]:
        """The same for all names of one place, and sortable: whoever locks several ledgers locks them in this order."""

    def transaction(self, *, write: bool) -> AbstractContextManager[Connection]:
        """One transaction on its own connection, durable when this returns. Writers wait for their turn, in order."""

    def migration(self) -> AbstractContextManager[tuple[Connection, sa.Connection]]:
        """The same for writing, as SQLAlchemy sees it, too: for changes of the tables."""


def with_any_text(connection: Connection) -> None:
    """Let a connection read whatever somebody has written, even where it is no text. PostgreSQL stores only text."""
    if isinstance(connection, sqlite3.Connection):
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
