"""The folder in which an installation keeps what must not lie beside a ledger: its key, witnesses and the registry.

It is `$SITR_STATE`, or `sitr` in `$XDG_STATE_HOME`, or `~/.local/state/sitr`. Whoever can write both to a ledger and to
this folder can roll both back together, so give them different owners or disks where that matters.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from sitr.errors import LedgerBusy, LedgerError
from sitr.ledger.turns import turn

PATIENCE = 60.0
"""Seconds to wait for other programs that write. Each waits for its turn, so this is enough for hundreds of them."""

# A child process inherits the locks on files, and SQLite in it is wrong about its own: after a fork in the middle of a
# transaction, the ledger would be locked for ever, or not at all. So a process runs one transaction at a time, and none
# while it forks.
alone = threading.RLock()
os.register_at_fork(before=alone.acquire, after_in_parent=alone.release, after_in_child=alone.release)


def state_folder() -> Path:
    """The folder, created if missing; only its owner may look into it."""
    given, base = os.environ.get("SITR_STATE"), os.environ.get("XDG_STATE_HOME")
    try:
        state = Path(base) if base else Path.home() / ".local" / "state"
        folder = absolute(given, "SITR_STATE") if given else state / "sitr"
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError) as cause:
        raise unwritable(given or base or "your home folder") from cause
    return folder.absolute()


def absolute(path: str, variable: str) -> Path:
    """The path in an environment variable, which must not depend on the working directory."""
    if not Path(path).is_absolute():
        raise LedgerError(
            wanted=f"an absolute path in {variable}", given=repr(path), do="Write the whole path; nothing was spent."
        )
    return Path(path)


def unwritable(path: object) -> LedgerError:
    """Nothing can be charged if the witness of the charge cannot be written."""
    return LedgerError(
        given=f"Sitr cannot write to {path}, where it keeps its signing key and the witnesses of ledgers.",
        do="Set SITR_STATE to a folder that you can write to, outside the folder of the ledger; nothing was spent.",
    )


def write_durably(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Put a file in place at once: after a crash there is the old one or the new one, whole."""
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(content)
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one program at a time works on a file, in the order in which they came; the file of tickets stays."""

    def late() -> LedgerBusy:
        return LedgerBusy(given=f"Another program is writing to {path}.", do="Try again in a moment.")

    with alone, turn(path.with_name(f".{path.name}.lock"), time.monotonic() + PATIENCE, late):
        yield
