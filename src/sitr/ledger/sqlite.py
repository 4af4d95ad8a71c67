"""The SQLite file of a ledger: its path, its transactions, and what SQLite's errors mean.

The file is in write-ahead mode: while it is in use, SQLite keeps two more files next to it (`-wal`, `-shm`). So the
folder must be writable even for reading, and on a local disk. While somebody writes, a third file (`-turns`) is there,
in which writers queue. Several paths or links to one file are one ledger.

This module opens the file only through SQLite. POSIX drops all locks of a process on a file when the process closes any
handle of it, so another handle would drop the locks that SQLite holds.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.errors import LedgerBusy, LedgerError
from sitr.ledger.looking import looks
from sitr.ledger.state import alone
from sitr.ledger.turns import turn
from sitr.namespace import Later

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy import engine, exc
else:  # only a new ledger or an address needs it, and hardly anyone writes one
    sa, engine, exc = Later("sqlalchemy"), Later("sqlalchemy.engine"), Later("sqlalchemy.exc")


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """The file of a ledger, and how many seconds to wait while another program is writing to it."""

    path: Path
    patience: float

    @property
    def place(self) -> Path:
        return self.path

    def exists(self) -> bool:
        return self.path.exists()

    def identity(self) -> tuple[str, ...]:
        found = self.path.stat()
        return "sqlite", f"{found.st_dev:020}", f"{found.st_ino:020}"

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """One transaction. No lock outlives it, and it is durable when this returns.

        It has a connection of its own, unless somebody looks several times (`sitr.ledger.looking`).
        """
        with self.connection(write=write) if write or looks() is None else self._look() as connection:
            # A write lock from the start, so that what the transaction reads is still true when it commits.
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
            connection.execute("COMMIT")  # without it, closing the connection rolls the transaction back

    @contextmanager
    def migration(self) -> Iterator[tuple[sqlite3.Connection, sa.Connection]]:
        """A transaction for writing in which SQLAlchemy can change the tables."""
        with self.connection(write=True) as connection:
            made = sa.create_engine("sqlite://", creator=lambda: connection, poolclass=sa.StaticPool)
            try:
                with made.begin() as adopted:  # which first ends any transaction, so ours begins only now
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection, adopted
            except sa.exc.DBAPIError as failure:
                raise failure.orig or failure from failure

    @contextmanager
    def connection(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection without a transaction. It is not kept: it could keep a lock, or survive a fork."""
        with (
            self._turn() as deadline,
            self._queue(deadline) if write else nullcontext(),
            closing(_connect(self.path, mode="rw")) as connection,
        ):
            yield _prepared(connection, deadline)

    @contextmanager
    def _look(self) -> Iterator[sqlite3.Connection]:
        """The connection that is kept for several looks. A look that failed leaves no transaction open."""
        found = looks()
        assert found is not None
        with self._turn() as deadline:
            connection = found.at(self.path, lambda: _prepared(_connect(self.path, mode="rw"), deadline))
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise

    def create(self) -> None:
        """Create the file if it is missing, in write-ahead mode, which the file remembers."""
        with self._turn() as deadline, closing(_connect(self.path, mode="rwc")) as connection:
            while True:
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    return
                except sqlite3.OperationalError as failure:
                    # SQLite does not wait here by itself, to avoid a deadlock of two processes that switch at once.
                    if _primary(failure) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)

    @contextmanager
    def _queue(self, deadline: float) -> Iterator[None]:
        """Writers wait for their turn; SQLite alone would let whoever looks at the right moment go first."""
        file = self.path.resolve()
        with ExitStack() as turns:
            with suppress(OSError):  # SQLite says what is wrong with the folder
                tickets = file.with_name(f"{file.name}-turns")
                turns.enter_context(turn(tickets, deadline, lambda: _busy(self.path), like=file))
            yield

    @contextmanager
    def _turn(self) -> Iterator[float]:
        """This thread's turn at SQLite, with explained errors; yields the time at which patience ends."""
        deadline = time.monotonic() + self.patience
        if not alone.acquire(timeout=self.patience):
            raise _busy(self.path)
        try:
            with _explained(self.path):
                yield deadline
        finally:
            alone.release()


def sqlite_file(where: str | Path, *, patience: float) -> SqliteFile:
    """The file at a path or a `sqlite:///` address; `LedgerError` if a ledger cannot be there."""
    path = _path(where)
    try:
        in_folder, is_folder = path.parent.is_dir(), path.is_dir()
    except PermissionError as denied:
        raise LedgerError(
            given=f"You have no permission to use {path}.",
            do="Ask for permission to write to the file and to its folder.",
        ) from denied
    if not in_folder:
        raise LedgerError(
            given=f"There is no folder {path.parent} for the ledger.",
            do="Create the folder, or choose another place for the ledger.",
        )
    if is_folder:
        raise LedgerError(
            wanted="a file for the ledger",
            given=f"the folder {path}",
            do=f"Name a file in it, such as {path / 'ledger.db'}.",
        )
    return SqliteFile(path, patience)


def _path(where: str | Path) -> Path:
    """An absolute path, so that the ledger stays the same when the working directory changes."""
    if isinstance(where, str) and "://" in where:
        # An error repeats only the kind of an address, because the rest may contain a password.
        kind = where.partition("://")[0]
        try:
            url = engine.make_url(where)
        except exc.ArgumentError:
            raise _unsupported(f"an address of the kind {kind}:// that cannot be read") from None
        if url.get_backend_name() != "sqlite" or url.query:
            raise _unsupported(f"an address of the kind {kind}://" + (" with options" if url.query else ""))
        where = url.database or ":memory:"
    if str(where) in ("", ":memory:"):
        raise _unsupported("a ledger in memory, which would forget what was spent")
    return Path(where).absolute()


def _unsupported(given: str) -> LedgerError:
    return LedgerError(
        wanted="the path of a SQLite file, or an address such as postgresql://host/database",
        given=given,
        do="Give the path of a file, or the address of a PostgreSQL database.",
    )


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    """Without `mode=rwc` a missing file is an error, because a new file would forget what was spent."""
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=0)


def _prepared(connection: sqlite3.Connection, deadline: float) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    left = max(0.0, deadline - time.monotonic())
    connection.execute(f"PRAGMA busy_timeout={int(1000 * left)}")
    # The same as FULL in write-ahead mode; durable even if that mode is switched off.
    connection.execute("PRAGMA synchronous=EXTRA")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into errors that say what to do."""
    try:
        yield
    except sqlite3.Error as failure:
        code = _primary(failure)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
            raise _busy(path) from failure
        given, do = _MEANING.get(code, ("{path} failed: {cause}.", "Check the file with SQLite's integrity_check."))
        raise LedgerError(
            given=given.format(path=path, cause=failure),
            do=f"{do[:-1]}; no data were read.",
        ) from failure


def _primary(failure: sqlite3.Error) -> int:
    """SQLite's primary result code, which is the low byte of the extended code."""
    return int(getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _busy(path: Path) -> LedgerBusy:
    return LedgerBusy(
        given=f"Another program is writing to the ledger {path}.",
        do="Try again in a moment; nothing was spent.",
    )


_MEANING = {
    sqlite3.SQLITE_NOTADB: ("{path} is not a SQLite database.", "Choose another file for the ledger."),
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged: {cause}.",
        "Restore it from a backup, and count all later charges as spent.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened.",
        "Check that the file exists, and the permissions of it and of its folder.",
    ),
    sqlite3.SQLITE_READONLY: ("{path} is read-only.", "Ask for permission to write to the file and to its folder."),
    sqlite3.SQLITE_PERM: ("{path} may not be opened.", "Ask for permission to write to the file and to its folder."),
    sqlite3.SQLITE_FULL: ("The disk of {path} is full.", "Free some space and try again."),
    sqlite3.SQLITE_IOERR: (
        "The disk of {path} is full or failing: {cause}.",
        "Free some space or repair the disk, and look at the entries before you try again.",
    ),
}
