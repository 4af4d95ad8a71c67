"""A private folder for rows that do not fit into memory.

DuckDB writes such rows to files while it answers. By default it writes them into the current folder, where everybody
can read them, and a killed process leaves them there. Here every process has one folder that only its user can open, in
the folder that the steward has set or among the system's temporary files. The process locks it while it lives, and the
system releases the lock however the process ends. So a folder without a lock has no living owner, and the next process
removes it.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from threading import Lock

from sitr.errors import SourceError

VARIABLE = "SITR_SPILL_FOLDER"
PREFIX = "sitr-spill-"


def parent() -> Path:
    """Where private folders are made: the folder in the environment variable, or the system's for temporary files."""
    return Path(os.environ.get(VARIABLE) or tempfile.gettempdir()).absolute()


class Scratch:
    """The folder of this process, made when it is first needed and removed when the process ends.

    If the setting changes meanwhile, there is a second one: questions may still be using the first.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._made: dict[Path, tuple[Path, int]] = {}

    def folder(self) -> Path:
        """Where DuckDB may write, with mode 0700."""
        place = parent()
        with self._guard:
            made = self._made.get(place)
            if made is None or not _is_at(*made):  # temporary files may have been deleted
                remove_abandoned()
                made = self._made[place] = _new_folder()
            return made[0]

    def remove(self) -> None:
        """Delete the folder and its files, and release its lock."""
        with self._guard:
            while self._made:
                _, (path, handle) = self._made.popitem()
                shutil.rmtree(path, ignore_errors=True)
                os.close(handle)

    def forget(self) -> None:
        """Called in the child of a fork, because the folder and its lock belong to the parent."""
        self._guard = Lock()
        while self._made:
            _, (_, handle) = self._made.popitem()
            os.close(handle)  # the parent's own handle keeps the lock


def remove_abandoned() -> None:
    """Delete the folders of this user's processes that have ended. The folder of a living process is locked."""
    for path in parent().glob(PREFIX + "*"):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # deleted, a link, or another user's
            continue
        try:
            if os.fstat(handle).st_uid == os.geteuid() and _locked(handle):
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(handle)


def _new_folder() -> tuple[Path, int]:
    """A new folder and the handle that holds its lock."""
    try:
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent()))
            try:
                handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            except FileNotFoundError:  # another process deleted it before it could be locked
                continue
            if _locked(handle) and _is_at(path, handle):
                return path, handle
            os.close(handle)
    except OSError as error:
        raise SourceError(
            given="DuckDB needs a folder for rows that do not fit into memory, and none can be created under "
            f"{parent()} ({error.strerror}).",
            do=f"Set {VARIABLE} to a folder on a local disk in which you can write.",
        ) from None


def _locked(handle: int) -> bool:
    """Take the lock unless another process holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, handle: int) -> bool:
    """Whether the opened folder is still the one at this path."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


scratch = Scratch()
"""The folder of this process."""

atexit.register(scratch.remove)
os.register_at_fork(after_in_child=scratch.forget)
