"""Cut the power: a disk that forgets what was not synced, under the ledger's own code.

SQLite reaches files through a "virtual file system", and APSW lets one be written in Python. The one here passes
everything on to real files and remembers what a disk would have promised: the content of each file when it was last
synced, and every write since. At a chosen moment the power is cut. Then nothing is written any more, and each file is
put back to what was synced, with a random part of the later writes, sector by sector: a write may survive whole, torn
or not at all, and a later one may survive without an earlier one. A file that was made, renamed or deleted may still
have its old name until the folder was synced. The witness, which is written without SQLite, is treated in the same way:
`os.fsync` and `Path.replace` are watched.

What then comes up is opened by the ordinary ledger. Every charge that was returned must be there, the ledger must not
be behind its witness, the file must be sound, and the next charge must work.

APSW brings its own version of SQLite, and knows no shared memory: so these connections lock the file for themselves.
The order of writes and syncs, which is what is tested, is the same.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger

SECTOR = 512
NEIGHBORS = "row, add-remove"
PRICE = PureDP(1e-6)

Write = tuple[int, bytes] | int
"""Octets at a place, or a new length."""


class PowerCut(BaseException):
    """The machine is off: no `except Exception` goes on."""


@dataclass(slots=True)
class Image:
    """A file on the disk: its content when it was last synced (None if its name was not), and the writes since."""

    synced: bytes | None
    since: list[Write] = field(default_factory=list)
    before: bytes | None = None
    """What is there if the last change of its name is forgotten."""
    renamed: bool = False
    """Whether the last change of its name may be forgotten."""


@dataclass(slots=True)
class Disk:
    """What a disk has promised to remember."""

    draw: random.Random
    left: int
    """How many steps there are until the power is cut."""
    sync: bool = True
    """A broken twin has a disk that ignores all syncs, as some do."""
    off: bool = False
    images: dict[str, Image] = field(default_factory=dict)
    whole: dict[str, bytes] = field(default_factory=dict)
    """Files that are written without SQLite, as they were last synced."""

    def step(self) -> None:
        """One step nearer to the cut."""
        if self.off or self.left <= 0:
            self.off = True
            raise PowerCut
        self.left -= 1

    def image(self, path: str) -> Image:
        """The image of a file, which was synced if it was there before."""
        if path not in self.images:
            self.images[path] = Image(Path(path).read_bytes() if Path(path).exists() else None)
        return self.images[path]

    def synced(self, path: str) -> None:
        """A file was synced; SQLite then syncs the folder too, if the file is new."""
        if self.sync:
            self.images[path] = Image(Path(path).read_bytes())

    def deleted(self, path: str, *, durably: bool) -> None:
        """A file was deleted."""
        image = self.image(path)
        self.images[path] = Image(None, [], None if durably else self._some(image), renamed=not durably)

    # What is written without SQLite

    def fsync(self, handle: int) -> None:
        self.step()
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if not self.sync:
            return
        if path.is_dir():
            for image in [image for name, image in self.images.items() if Path(name).parent == path]:
                image.renamed = False
        else:
            self.whole[str(path)] = path.read_bytes()

    def replace(self, source: Path, target: Path) -> Path:
        self.step()
        before = target.read_bytes() if target.exists() else None
        content = source.read_bytes()
        known = self.whole.get(str(source))
        torn = content[: self.draw.randrange(len(content) + 1)] if known is None else known
        self.images[str(target)] = Image(torn, [], before, renamed=True)
        source.rename(target)
        return target

    # After the cut

    def come_up(self) -> None:
        """Put every file back to what the disk remembers."""
        for name, image in self.images.items():
            content = self._some(image)
            if content is None:
                Path(name).unlink(missing_ok=True)
            else:
                Path(name).write_bytes(content)

    def _some(self, image: Image) -> bytes | None:
        """What was synced, and a part of what was written since."""
        if image.renamed and self.draw.random() < 0.5:
            return image.before
        if image.synced is None and not (image.since and self.draw.random() < 0.5):
            return None
        content, chance = bytearray(image.synced or b""), self.draw.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for write in image.since:
            if isinstance(write, int):
                if self.draw.random() < chance:
                    del content[write:]
                continue
            place, octets = write
            for start in range(0, len(octets), SECTOR):
                if self.draw.random() < chance:
                    part, at = octets[start : start + SECTOR], place + start
                    content.extend(bytes(max(0, at + len(part) - len(content))))
                    content[at : at + len(part)] = part
        return bytes(content)


class _Files(apsw.VFS):
    """The real file system, watched."""

    def __init__(self, name: str, disk: Disk) -> None:
        super().__init__(name, "")
        self.disk = disk

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802 - SQLite's name
        return _File(self.disk, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802
        self.disk.step()
        self.disk.deleted(name, durably=syncdir and self.disk.sync)
        super().xDelete(name, syncdir)


class _File(apsw.VFSFile):
    """A real file, watched."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self.disk, self.path = disk, str(name.filename() if hasattr(name, "filename") else name)
        disk.image(self.path)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.disk.step()
        self.disk.image(self.path).since.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.disk.step()
        self.disk.image(self.path).since.append(newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.disk.step()
        super().xSync(flags)
        self.disk.synced(self.path)


class _Row(tuple[Any, ...]):  # noqa: SLOT001 - its names are kept beside its values
    """A row as the ledger reads it: by place and by name, and `dict(row)`."""

    names: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.names.index(key) if isinstance(key, str) else key)

    def keys(self) -> Sequence[str]:
        return self.names


@dataclass(slots=True)
class _Found:
    """The result of a statement."""

    rows: list[Any]
    lastrowid: int

    def fetchone(self) -> Any:
        return self.rows.pop(0) if self.rows else None

    def fetchall(self) -> list[Any]:
        return self.rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


class _Connection:
    """What the ledger needs of a connection of Python's own driver, from APSW."""

    row_factory: Any = None

    def __init__(self, disk: Disk, vfs: str, where: str) -> None:
        self._disk = disk
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
        self._own = apsw.Connection(where, flags=flags, vfs=vfs)
        self._own.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()

    def execute(self, sql: str, values: Mapping[str, object] | Sequence[object] = ()) -> _Found:
        try:
            cursor = self._own.cursor()
            cursor.row_trace = _row
            return _Found(cursor.execute(sql, values).fetchall(), self._own.last_insert_rowid())
        except apsw.Error as failure:
            if self._disk.off:
                raise PowerCut from failure
            raise sqlite3.OperationalError(str(failure)) from failure

    def close(self) -> None:
        try:
            self._own.close()
        except apsw.Error:
            if not self._disk.off:
                raise


def _row(cursor: apsw.Cursor, values: tuple[Any, ...]) -> _Row:
    row = _Row(values)
    row.names = tuple(name for name, *_ in cursor.get_description())
    return row


@contextmanager
def on(disk: Disk) -> Iterator[None]:
    """Everything that ledgers write goes to this disk."""
    vfs = f"sitr-{id(disk)}"
    files = _Files(vfs, disk)

    def connect(where: str, **_: object) -> _Connection:
        return _Connection(disk, vfs, where)

    def replace(source: Path, target: Path) -> Path:
        return disk.replace(source, target)

    with patch("sqlite3.connect", connect), patch("os.fsync", disk.fsync), patch.object(Path, "replace", replace):
        yield
    files.unregister()


def steps(act: Callable[[], object]) -> int:
    """How many steps something takes, with power."""
    disk = Disk(random.Random(0), 10**9)
    with on(disk):
        act()
    return 10**9 - disk.left


@dataclass(slots=True)
class Survived:
    """What was seen after some cuts."""

    cuts: int = 0
    returned: int = 0
    """Charges that were returned, and so might have been answered."""
    recorded: int = 0
    lost: int = 0
    """Charges that were returned and are not in the ledger."""
    refused: int = 0
    """Times that the ledger could not be used afterwards."""
    unsound: int = 0


def cut_power(folder: Path, cuts: int, *, seed: int = 0, most: int = 3, sync: bool = True) -> Survived:
    """Cut the power this often while a ledger is charged, each time at a random step, and look at what is left."""
    draw, seen = random.Random(seed), Survived()
    ledger, length = _new(folder, 0), 0
    length = steps(lambda: _charge(ledger))
    for number in range(cuts):
        if number and number % 100 == 0:
            ledger = _new(folder, number)
        before, returned = len(ledger.entries()), 0
        disk = Disk(draw, draw.randrange(most * length), sync)
        try:
            with on(disk):
                for _ in range(most):
                    _charge(ledger)
                    returned += 1
        except PowerCut:
            pass
        disk.come_up()
        seen.cuts, seen.returned = seen.cuts + 1, seen.returned + returned
        try:
            after = SqlLedger(ledger.path, create=False)
            entries = len(after.entries()) - before
            seen.recorded += entries
            seen.lost += max(0, returned - entries)
            _charge(after)
        except Exception:  # noqa: BLE001 - whatever it is, this ledger cannot be used any more
            seen.refused += 1
            ledger = _new(folder, cuts + number)
            continue
        seen.unsound += not (_sound(ledger.path) and (number % 20 or after.examine().sound))
    return seen


def _new(folder: Path, number: int) -> SqlLedger:
    ledger = SqlLedger(folder / f"{number}.db")
    ledger.open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    return ledger


def _charge(ledger: SqlLedger) -> None:
    ledger.charge("clinic", price=PRICE, question="SELECT COUNT(*) FROM clinic")


def _sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    finally:
        connection.close()


def state_in(folder: Path) -> None:
    """Keep keys and witnesses in a folder of this run's own."""
    os.environ["SITR_STATE"] = str(folder / "state")
