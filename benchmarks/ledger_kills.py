"""Kill -9 at random moments: while a ledger is charged, answers, migrates from an old version, or is backed up.

A child process works until it is killed, and says what it has finished; the parent then looks at what is left. Nothing
that was said may be missing, and every file must be sound. What was finished and not yet said may be there too: that
loses budget, and never privacy.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path

import pyarrow as pa
from pyarrow.parquet import write_table

import sitr
from sitr.errors import SitrError
from sitr.flavors.pure import PureDP
from sitr.ledger.migrate import HISTORY, VERSION_TABLE
from sitr.ledger.resume import back_up
from sitr.ledger.sql import SqlLedger

NEIGHBORS = "row, add-remove"
PRICE = PureDP(1e-7)

Work = Callable[[Path], Iterator[str]]
"""Works in a folder until it is killed, and names what it has finished."""

Look = Callable[[Path, list[str], bool], list[str]]
"""Looks at a folder after a kill, given what was named and whether to look at all of it, and says what is wrong."""

HOME, WHOLE = 50, 25
"""After so many kills a new folder is begun, and after so many everything in a ledger is looked at again: its chain,
its sums and all pages of its file. After every kill it is charged, which checks all that came after its witness."""


@dataclass(frozen=True, slots=True)
class Killed:
    """What was seen after some kills."""

    kills: int
    finished: int
    """Pieces of work that were finished and said."""
    wrong: tuple[str, ...] = ()


def kill(kind: str, folder: Path, kills: int, *, seed: int = 0) -> Killed:
    """Kill a child at this kind of work, this often."""
    draw, finished, wrong = random.Random(f"{seed} {kind}"), 0, list[str]()
    prepare, work, look = KINDS[kind]
    home = prepare(folder, 0)
    usual = _usual(work, home)
    for number in range(kills):
        if number % HOME == 0:  # so that looking at everything stays quick
            home = prepare(folder, number + 1)
        said = _killed(work, home, after=draw.uniform(0.0, 1.5 * usual))
        finished += len(said)
        whole = number % WHOLE == WHOLE - 1 or number == kills - 1
        wrong += [f"{kind}, kill {number}: {problem}" for problem in look(home, said, whole)]
    return Killed(kills, finished, tuple(wrong))


def _usual(work: Work, home: Path) -> float:
    """The seconds of one piece of work: the least of three."""
    pieces = work(home)
    times = []
    for _ in range(3):
        start = time.monotonic()
        if next(pieces, None) is None:
            break
        times.append(time.monotonic() - start)
    return min(times)


def _killed(work: Work, home: Path, *, after: float) -> list[str]:
    """What a child has said before it was killed: at some moment after its first piece of work."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for piece in work(home):
                os.write(writing, f"{piece}\n".encode())
            time.sleep(600)
        except BaseException:  # noqa: BLE001 - the parent must not go on twice
            traceback.print_exc()
        os._exit(1)
    os.close(writing)
    said = os.read(reading, 1)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with open(reading, "rb") as pipe:  # noqa: PTH123 - a number, not a path
        said += pipe.read()
    if not os.WIFSIGNALED(status):  # the child printed its error
        raise SystemExit("The child ended before it was killed; run its work alone to see why.")
    return said.decode().splitlines()


# Charges


def _ledger(folder: Path, number: int) -> Path:
    home = folder / f"ledger-{number}"
    home.mkdir()
    SqlLedger(home / "ledger.db").open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    return home


def _charge(home: Path) -> Iterator[str]:
    ledger = SqlLedger(home / "ledger.db", create=False)
    while True:
        entry, _ = ledger.charge("clinic", price=PRICE, question="SELECT COUNT(*) FROM clinic")
        yield str(entry.number)


def _charged(home: Path, said: list[str], whole: bool) -> list[str]:
    """Every charge that was said is in the ledger, which goes on."""
    return _usable(home / "ledger.db", least=max(map(int, said), default=0), whole=whole)


def _usable(path: Path, *, least: int, whole: bool) -> list[str]:
    try:
        ledger = SqlLedger(path, create=False)
        entry, _ = ledger.charge("clinic", price=PRICE, question="after the kill")
        faults = [finding.fault.value for finding in ledger.examine().findings] if whole else []
    except SitrError as error:
        return [str(error)]
    lost = [f"{entry.number - 1} entries instead of at least {least}"] if entry.number <= least else []
    return [*lost, *faults, *([] if not whole or _sound(path) else ["the file is damaged"])]


def _sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


# Answers


def _people(folder: Path, number: int) -> Path:
    home = folder / f"answers-{number}"
    home.mkdir()
    write_table(pa.table({"ward": ["a", "b", "b"] * 100}), home / f"people-{number}.parquet")
    return home


def _answer(home: Path) -> Iterator[str]:
    """Each answer is named with its entry, the hash of what was released, and where it is kept."""
    (file,) = home.glob("*.parquet")
    data = sitr.protect(file, unit=sitr.Row(), keys={"ward": ["a", "b"]}, name="clinic")
    budget = data.budget(PureDP(1.0), ledger=home / "ledger.db")
    question = budget.group_by("ward").agg(n=sitr.count())
    for _ in count():
        receipt = question.release(PRICE, fresh=True).receipt
        yield f"{receipt.entry.number} {receipt.sha256} {receipt.kept}"


def _answered(home: Path, said: list[str], whole: bool) -> list[str]:
    """Every answer that was shown was charged, sealed and kept."""
    if not (path := home / "ledger.db").exists():
        return ["an answer without a ledger"] if said else []
    wrong, least = list[str](), 0
    for line in said:
        number, hash, kept = line.split(" ", 2)
        least = max(least, int(number))
        if hash not in [seal.sha256 for seal in SqlLedger(path).seals(int(number))]:
            wrong.append(f"answer {number} has no seal")
        if sha256(Path(kept).read_bytes()).hexdigest() != hash:
            wrong.append(f"answer {number} was not kept")
    if not SqlLedger(path).accounts():
        return [*wrong, *(["an answer without an account"] if said else [])]
    return [*wrong, *_usable(path, least=least, whole=whole)]


# Migrations


def _old(folder: Path, number: int) -> Path:
    """A ledger of the first version, with three charges."""
    home = folder / f"old-{number}"
    home.mkdir()
    SqlLedger(made := home / "made.db").open("clinic", promise=PureDP(1.0), neighbors=NEIGHBORS)
    with closing(sqlite3.connect(made, isolation_level=None)) as connection:
        for table in ("plans", "seals", "acts", "records"):
            connection.execute(f"DROP TABLE {table}")
        indexes = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        for (index,) in indexes:
            connection.execute(f"DROP INDEX {index}")
        for column in ("charges", "paid", "beside", "plan", "description", "share", "request", "key", "coins"):
            connection.execute(f"ALTER TABLE entries DROP COLUMN {column}")
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '{HISTORY[0]}'")
        entry = (
            "INSERT INTO entries (dataset, price, question, at, by, version) VALUES ('clinic', 'pure(epsilon=0.1)', "
        )
        for _ in range(3):
            connection.execute(entry + "'COUNT(*)', '2025-01-02T00:00:00+00:00', 'noor', '0.1.0')")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.rename(home / "template")
    return home


def _migrate(home: Path) -> Iterator[str]:
    for number in count(len(list(home.glob("old-*.db")))):
        shutil.copy(home / "template", path := home / f"old-{number}.db")
        SqlLedger(path, create=False)
        yield str(number)


def _migrated(home: Path, said: list[str], whole: bool) -> list[str]:
    """Every old ledger is the old one or the new one: it opens with its three charges, and goes on."""
    wrong, found = list[str](), sorted(home.glob("old-*.db"), key=lambda path: path.stat().st_mtime)
    for path in found[-len(said) - 1 :]:
        if path.stat().st_size == (home / "template").stat().st_size or str(path.stem[4:]) in said:
            wrong += _usable(path, least=3, whole=whole)
    return wrong


# Backups


def _backup(home: Path) -> Iterator[str]:
    ledger = SqlLedger(home / "ledger.db", create=False)
    for number in count(len(list(home.glob("copy-*.db")))):
        ledger.charge("clinic", price=PRICE, question="SELECT COUNT(*) FROM clinic")
        back_up(ledger, home / f"copy-{number}.db")
        yield str(number)


def _backed_up(home: Path, said: list[str], whole: bool) -> list[str]:
    """Every copy is whole, and all that were said are there."""
    wrong = [f"copy {number} is missing" for number in said if not (home / f"copy-{number}.db").exists()]
    newest = sorted(home.glob("copy-*.db"), key=lambda path: path.stat().st_mtime)[-len(said) - 1 :]
    wrong += [f"{copy.name} is damaged" for copy in newest if not _sound(copy) or not _chained(copy)]
    return wrong + _usable(home / "ledger.db", least=0, whole=whole)


def _chained(copy: Path) -> bool:
    """Whether every entry of a copy has its record."""
    with closing(sqlite3.connect(copy)) as connection:
        (entries,) = connection.execute("SELECT count(*) FROM entries").fetchone()
        (records,) = connection.execute("""SELECT count(*) FROM records WHERE "table" = 'entries'""").fetchone()
    return bool(entries == records > 0)


KINDS: Mapping[str, tuple[Callable[[Path, int], Path], Work, Look]] = {
    "charge": (_ledger, _charge, _charged),
    "answer": (_people, _answer, _answered),
    "migration": (_old, _migrate, _migrated),
    "backup": (lambda folder, number: _ledger(folder, 10**6 + number), _backup, _backed_up),
}
