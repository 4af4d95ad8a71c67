"""SQLite as the home of a ledger: where the file is, how a transaction is made, and what its failures mean.

The file is in write-ahead mode: while it is in use SQLite keeps two more files beside it (`-wal`, `-shm`), so the
folder must be writable even for reading, and on a local disk. Several paths or links to the file are one ledger.

Nothing here may open the file except through SQLite: closing any other handle would, by the rules of POSIX, drop the
locks that SQLite holds on it in this process.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from sitr.errors import LedgerBusy, LedgerError

# SQLite's memory of its own locks is wrong after a fork in the middle of a transaction: the child would find the ledger
# locked for ever, or not locked at all. One transaction at a time in a process, and none while it forks.
_alone = threading.RLock()
os.register_at_fork(before=_alone.acquire, after_in_parent=_alone.release, after_in_child=_alone.release)


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A ledger's file, and how many seconds to wait while somebody else is writing to it."""

    path: Path
    patience: float
    engine: Engine

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Connection]:
        """One transaction on a connection of its own: no lock outlives it, and it is durable when this returns."""
        with self._turn() as deadline, self.engine.begin() as connection:
            left = max(0.0, deadline - time.monotonic())
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(1000 * left)}")
            # What FULL does in write-ahead mode; it stays durable even if somebody switches that mode off.
            connection.exec_driver_sql("PRAGMA synchronous=EXTRA")
            connection.exec_driver_sql("PRAGMA foreign_keys=ON")
            # A write lock from the start: what is read in the transaction is still true when it commits.
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection

    def create(self) -> None:
        """Make the file if it is missing, in write-ahead mode, which a file remembers."""
        with self._turn() as deadline, closing(_connect(self.path, mode="rwc")) as connection:
            while True:
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    return
                except sqlite3.OperationalError as failure:
                    # SQLite does not wait by itself here, to avoid a deadlock of two that switch at once.
                    if _primary(failure) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)

    @contextmanager
    def _turn(self) -> Iterator[float]:
        """This thread's turn at SQLite, with its failures explained; gives the moment at which patience ends."""
        deadline = time.monotonic() + self.patience
        if not _alone.acquire(timeout=self.patience):
            raise _busy(self.path)
        try:
            with _explained(self.path):
                yield deadline
        finally:
            _alone.release()


def sqlite_file(where: str | Path, *, patience: float) -> SqliteFile:
    """The file at a path or a `sqlite:///` address; `LedgerError` if there cannot be a ledger."""
    path = _path(where)
    try:
        in_folder, is_folder = path.parent.is_dir(), path.is_dir()
    except PermissionError as denied:
        raise LedgerError(
            wanted="A ledger is a file in a folder that you may use.",
            given=f"The system does not let you look at {path}.",
            do="Get the right to write to the file and to its folder.",
        ) from denied
    if not in_folder:
        raise LedgerError(
            wanted="A ledger is a file in a folder that exists.",
            given=f"There is no folder {path.parent}.",
            do="Create the folder, or choose another place for the ledger.",
        )
    if is_folder:
        raise LedgerError(
            wanted="A ledger is a file.",
            given=f"{path} is a folder.",
            do=f"Name a file in it, such as {path / 'ledger.db'}.",
        )
    # No pool: a connection that lives between calls could keep a lock, or be carried through a fork.
    engine = create_engine("sqlite://", creator=lambda: _connect(path, mode="rw"), poolclass=NullPool)
    return SqliteFile(path, patience, engine)


def _path(where: str | Path) -> Path:
    """An absolute path, so that a later change of directory does not lead to another ledger."""
    if isinstance(where, str) and "://" in where:
        # Only the kind of an address is ever repeated: the rest may hold a password.
        kind = where.partition("://")[0]
        try:
            url = make_url(where)
        except ArgumentError:
            raise _unsupported(f"an address of the kind {kind}:// that cannot be read") from None
        if url.get_backend_name() != "sqlite" or url.query:
            raise _unsupported(f"an address of the kind {kind}://" + (" with options" if url.query else ""))
        where = url.database or ":memory:"
    if str(where) in ("", ":memory:"):
        raise _unsupported("a ledger in memory, which would forget what was spent,")
    return Path(where).absolute()


def _unsupported(given: str) -> LedgerError:
    return LedgerError(
        wanted="A ledger is kept in a SQLite file: a path, or an address sqlite:///path.",
        given=f"{given[0].upper()}{given[1:]} was given.",
        do="Give the path of a file; other databases are not supported yet.",
    )


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    """Without `mode=rwc` a file that went missing is an error: a new one in its place would forget what was spent."""
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=0)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Tell the failures of SQLite in words that say what to do."""
    try:
        yield
    except (sqlite3.Error, DBAPIError) as failure:
        cause = failure.orig if isinstance(failure, DBAPIError) else failure
        code = _primary(cause)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
            raise _busy(path) from failure
        given, do = _MEANING.get(code, ("{path} failed: {cause}.", "Check the file with SQLite's integrity_check."))
        raise LedgerError(
            wanted="A ledger that can be read and written was wanted.",
            given=given.format(path=path, cause=cause),
            do=f"{do} No data were read.",
        ) from failure


def _primary(failure: BaseException | None) -> int:
    """SQLite's primary result code: the low byte of the extended one."""
    return int(getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _busy(path: Path) -> LedgerBusy:
    return LedgerBusy(
        wanted="A moment alone with the ledger was wanted.",
        given=f"Somebody else is writing to {path}.",
        do="Try again; nothing was spent.",
    )


_MEANING = {
    sqlite3.SQLITE_NOTADB: ("{path} is not a SQLite database.", "Choose another file for the ledger."),
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged: {cause}.",
        "Restore it from a backup, and count what came after it as spent.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened.",
        "Check that the file is there, and the rights on it and its folder.",
    ),
    sqlite3.SQLITE_READONLY: ("{path} is read-only.", "Get the right to write to the file and to its folder."),
    sqlite3.SQLITE_PERM: ("{path} may not be opened.", "Get the right to write to the file and to its folder."),
    sqlite3.SQLITE_FULL: ("The disk of {path} is full.", "Free some space and try again."),
    sqlite3.SQLITE_IOERR: (
        "The disk of {path} is full or failing: {cause}.",
        "Free some space or repair the disk, then look at the entries before you try again.",
    ),
}
