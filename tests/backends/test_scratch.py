"""Rows on disk are in a private folder, and are deleted when the process has ended, however it ended."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitr.backends.engine import connection
from sitr.backends.scratch import PREFIX, VARIABLE, Scratch, remove_abandoned
from sitr.errors import SourceError

SPILL = """
import sys
from sitr.backends.engine import connection
with connection({}) as engine:
    engine.execute("CREATE TABLE t AS SELECT i, hash(i) AS h FROM range(3000000) AS r(i)")
    print("spilled", flush=True)
    sys.stdin.readline()
"""
"""Holds more rows than fit into 40 MB until it reads a line."""

QUESTION = """
from dataclasses import replace
from pathlib import Path
from sitr.backends.duckdb import Reader, open_source
from sitr.backends.scratch import scratch
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import bound
from sitr.dataset.schema import describe
from sitr.questions.aggregate.sql import parse

backend = replace(open_source("../visits.parquet", types={}), reader=Reader(packs=False))  # packed rows need no disk
table = describe("visits", kinds=backend.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
                 max_rows_per_group=1, bounds={"cost": (0, 100)}, granularity={}, keys={})
question = bound(parse("SELECT SUM(cost) AS total FROM visits"), table)
folders = Path.cwd(), scratch.folder()
before = [folder.stat().st_mtime_ns for folder in folders]
cells = backend.read(question, salt=1)
after = [folder.stat().st_mtime_ns for folder in folders]
print(cells[()], [old != new for old, new in zip(before, after)])
"""
"""Prints whether anything was written into the current folder and into the private one."""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The current folder of the user, and the system's folder for temporary files."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("SITR_MEMORY_LIMIT", "40MB")
    return here, temporary


@contextmanager
def spilling(here: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has written rows to disk and waits."""
    command = [sys.executable, "-c", SPILL]
    with subprocess.Popen(command, cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "spilled\n"
        try:
            yield process
        finally:
            process.kill()


def folders(temporary: Path) -> list[Path]:
    return sorted(temporary.glob(PREFIX + "*"))


def test_rows_go_into_a_private_folder_that_is_gone_in_the_end(places: tuple[Path, Path]) -> None:
    here, temporary = places
    with spilling(here) as process:
        (folder,) = folders(temporary)
        assert list(folder.iterdir())
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert not list(here.iterdir())
        process.communicate("\n", timeout=60)
        assert process.returncode == 0
    assert not list(here.iterdir())
    assert not list(temporary.iterdir())


def test_a_question_that_needs_the_disk_is_answered_from_the_private_folder(places: tuple[Path, Path]) -> None:
    here, _ = places
    rows, people = 600_000, 300_000
    table = pa.table({"id": np.arange(rows) % people, "cost": np.full(rows, 7)})
    pq.write_table(table, here.parent / "visits.parquet")
    told = subprocess.run([sys.executable, "-c", QUESTION], cwd=here, check=True, capture_output=True, text=True)
    assert told.stdout == f"({7 * people}, {people}) [False, True]\n"
    assert not list(here.iterdir())


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one(places: tuple[Path, Path]) -> None:
    here, temporary = places
    with spilling(here) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    (left,) = folders(temporary)
    assert list(left.iterdir())
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with spilling(here):
        assert not left.exists()
        assert len(folders(temporary)) == 1


def test_the_folder_of_a_living_process_stays(places: tuple[Path, Path]) -> None:
    here, temporary = places
    with spilling(here) as one:
        (first,) = folders(temporary)
        with spilling(here) as other:
            remove_abandoned()
            assert len(folders(temporary)) == 2
            assert list(first.iterdir())
            for process in (other, one):
                process.communicate("\n", timeout=60)
                assert process.returncode == 0
    assert not folders(temporary)


def test_a_fork_has_a_folder_of_its_own_and_neither_keeps_nor_removes_the_other(places: tuple[Path, Path]) -> None:
    _, temporary = places
    command = """
import os, sys
from sitr.backends.scratch import scratch
mine = scratch.folder()
if os.fork() == 0:
    assert scratch.folder() != mine
    sys.exit()  # not os._exit: whatever is registered for the end runs in the child too
assert os.wait()[1] == 0
assert mine.is_dir()
heard, says = os.pipe()
if os.fork() == 0:
    os.close(1)
    os.write(says, b"!")
    sys.stdin.read()
    os._exit(0)
os.read(heard, 1)  # before, the child may not have run yet, and hold the lock
print(mine, flush=True)
os.kill(os.getpid(), 9)
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", command], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        mine = Path(process.stdout.readline().strip())
        assert process.wait(60) == -signal.SIGKILL
        assert folders(temporary) == [mine]
        remove_abandoned()  # the child of the dead process lives on, without its lock
        assert not folders(temporary)


def test_a_new_folder_replaces_one_that_somebody_deleted(places: tuple[Path, Path]) -> None:
    scratch = Scratch()
    first = scratch.folder()
    assert scratch.folder() == first
    first.rmdir()
    first.symlink_to(places[0])  # a trap in its place is not followed
    second = scratch.folder()
    assert second != first
    assert second.is_dir()
    scratch.remove()
    assert not second.exists()
    assert places[0].is_dir()


def test_links_files_and_other_names_are_left_alone(places: tuple[Path, Path]) -> None:
    here, temporary = places
    (here / "kept").touch()
    (temporary / f"{PREFIX}link").symlink_to(here)
    (temporary / f"{PREFIX}file").touch()
    (temporary / "other").mkdir()
    remove_abandoned()
    assert len(list(temporary.iterdir())) == 3
    assert (here / "kept").exists()


def test_a_folder_that_is_taken_for_abandoned_before_its_lock_is_made_again(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    real = os.open

    def late(path: Path, flags: int) -> int:
        opened.append(path)
        if len(opened) == 1:
            monkeypatch.setattr(os, "open", real)
            remove_abandoned()
            monkeypatch.setattr(os, "open", late)
        return real(path, flags)

    scratch = Scratch()
    monkeypatch.setattr(os, "open", late)
    folder = scratch.folder()
    assert len(opened) == 2
    assert folders(places[1]) == [folder]
    scratch.remove()


def test_without_a_place_for_the_folder_the_words_say_so(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitr.backends.duckdb import open_source
    from sitr.backends.scratch import scratch

    scratch.remove()
    monkeypatch.setattr("tempfile.tempdir", str(places[0] / "missing"))
    with pytest.raises(SourceError, match=f"Set {VARIABLE} to"):
        open_source(pa.table({"x": [1]}), types={})


def test_the_steward_chooses_the_disk(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go there and not among the temporary files; where a folder was before the setting changed, it stays."""
    here, temporary = places
    scratch, chosen = Scratch(), here / "encrypted"
    before = scratch.folder()
    monkeypatch.setenv(VARIABLE, str(chosen))
    with pytest.raises(SourceError, match=f"{chosen} .No such file or directory"):
        scratch.folder()
    chosen.mkdir()
    with spilling(here):
        assert folders(temporary) == [before]
        (used,) = folders(chosen)
        assert any(used.iterdir())
        assert stat.S_IMODE(used.stat().st_mode) == 0o700
    own = scratch.folder()
    assert (own.parent, own == used, used.exists()) == (chosen, False, False)
    scratch.remove()
    assert folders(temporary) == folders(chosen) == []


@pytest.mark.usefixtures("places")
def test_every_connection_is_limited_and_silent() -> None:
    with connection({}) as engine:
        names = ("memory_limit", "temp_directory", "enable_progress_bar")
        found = {name: engine.execute(f"SELECT current_setting('{name}')").fetchall()[0][0] for name in names}
    assert found["memory_limit"] == "38.1 MiB"
    assert Path(found["temp_directory"]).name.startswith(PREFIX)
    assert not found["enable_progress_bar"]


def test_connections_are_opened_in_one_place() -> None:
    package = Path(sys.modules["sitr"].__file__ or "").parent
    openers = [path.name for path in package.rglob("*.py") if "duckdb.connect" in path.read_text()]
    assert openers == ["spare.py"]
