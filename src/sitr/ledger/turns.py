"""Turns at a file: whoever comes first goes first, and whoever dies does not keep the others waiting.

Each program takes a ticket: the next number, from a counter in a file of its own, and a lock on the octet of that
number. Its turn comes when no lower octet is locked. The system drops the locks of a program that ends, in any way,
so neither a holder nor a waiter can be left behind. A program that has had its turn takes a new ticket, behind all who
wait: without that, a busy program would come first again and again, because it is awake and the others are not.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DOOR = 0
"""The octet that is locked while a ticket is taken. Tickets are the octets after it."""

_WAIT = 0.001
"""Seconds between two looks whether the turn has come."""


@contextmanager
def turn(path: Path, deadline: float, late: Callable[[], Exception], *, like: Path | None = None) -> Iterator[None]:
    """Wait for a turn, until the deadline of the monotonic clock; then the error of `late` is raised.

    The tickets are in the file `path`, which stays. If it belongs to another file, `like`, whoever may write to that
    one may take a ticket, and the last one to leave removes it.
    """
    handle = _entered(path, deadline, late, like)
    try:
        yield
    finally:
        if like is not None and _locked(handle, fcntl.F_WRLCK, 0, 0):  # nobody waits, and nobody can take a ticket now
            with suppress(OSError):
                path.unlink(missing_ok=True)
        os.close(handle)


def _entered(path: Path, deadline: float, late: Callable[[], Exception], like: Path | None) -> int:
    """A handle that has its turn."""
    while True:
        other = None if like is None else like.stat()  # first: no tickets for a file that is not there
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if other is not None:
                _refuse_foreign(handle, path)
                _permit(handle, other)
            _wait(handle, fcntl.F_WRLCK, _DOOR, 1, deadline, late)
            if _is(handle, path):
                ticket = _taken(handle)
                if ticket > 1:
                    _wait(handle, fcntl.F_RDLCK, 1, ticket - 1, deadline, late)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was removed in between


def _refuse_foreign(handle: int, path: Path) -> None:
    """Refuse a file that somebody put in place to have it changed: one with another name, or no file at all.

    Symbolic links are refused when it is opened. In a folder that others write to, both could lead anywhere.
    """
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise OSError(errno.EMLINK, os.strerror(errno.EMLINK), str(path))


def _permit(handle: int, other: os.stat_result) -> None:
    """Let everybody use the file who may use the other one, as SQLite does with the files that it makes."""
    if os.fstat(handle).st_uid == os.geteuid() or os.geteuid() == 0:
        if os.geteuid() == 0:
            os.fchown(handle, other.st_uid, other.st_gid)
        os.fchmod(handle, other.st_mode & 0o666)


def _taken(handle: int) -> int:
    """The next ticket, locked; the door is open again."""
    stored = os.pread(handle, 8, 0)
    ticket = (struct.unpack("<q", stored)[0] if len(stored) == 8 else 0) + 1
    if not 1 <= ticket < 2**61 or not _locked(handle, fcntl.F_WRLCK, ticket, 1):
        ticket = _unlocked(handle, max(ticket, 1) if ticket < 2**61 else 1)
    os.pwrite(handle, struct.pack("<q", ticket), 0)
    _lock(handle, fcntl.F_UNLCK, _DOOR, 1)
    return ticket


def _unlocked(handle: int, ticket: int) -> int:
    """The first ticket that nobody has; only needed after somebody wrote into the file."""
    while not _locked(handle, fcntl.F_WRLCK, ticket, 1):
        ticket += 1
    return ticket


def _is(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _wait(handle: int, kind: int, start: int, length: int, deadline: float, late: Callable[[], Exception]) -> None:
    """Lock a range as soon as nobody else has it."""
    while not _locked(handle, kind, start, length):
        if time.monotonic() > deadline:
            raise late()
        time.sleep(_WAIT)


def _locked(handle: int, kind: int, start: int, length: int) -> bool:
    """Lock a range for this handle, if nobody else has it; no length means no end."""
    try:
        _lock(handle, kind, start, length)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _lock(handle: int, kind: int, start: int, length: int) -> None:
    # Locks of the open file, not of the process: they end when the last handle of this opening is closed.
    if not hasattr(fcntl, "F_OFD_SETLK"):  # macOS: one lock for all, in no order
        fcntl.flock(handle, fcntl.LOCK_UN if kind == fcntl.F_UNLCK and start else fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    fcntl.fcntl(handle, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0))
