"""The memory and the threads that DuckDB may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitr.backends import threads
from sitr.backends.duckdb import open_source
from sitr.backends.engine import connection
from sitr.backends.memory import VARIABLE, installed, memory_limit
from sitr.errors import SourceError

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def write(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def test_a_quarter_of_the_memory_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert memory_limit() == installed() // 4
    assert 0 < installed() <= MACHINE


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, MACHINE),
        ({"proc/self/cgroup": "0::/\n"}, MACHINE),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, MACHINE),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{10 * MACHINE}\n"}, MACHINE),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/memory.max": "2000\n",
                "sys/fs/cgroup/a/b/memory.max": "3000\n",
            },
            2000,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/1:2\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "4000\n",
            },
            4000,
        ),
        ({"proc/self/cgroup": "5:cpu:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "4000\n"}, MACHINE),
    ],
)
def test_a_control_group_can_lower_it(files: dict[str, str], expected: int, tmp_path: Path) -> None:
    assert installed(write(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("1GB", 10**9), ("1 gib", 2**30), ("0.5TB", 5 * 10**11), (" 700 B ", 700)]
)
def test_the_environment_decides(text: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert memory_limit() == expected


@pytest.mark.parametrize("text", ["", "4", "-1GB", "0MB", "0.1B", "1iB", "4GB; SET x", "٤GB", "1e3MB", "unlimited"])
def test_what_is_no_size_is_refused_before_anything_is_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(SourceError, match=VARIABLE):
        open_source("missing.parquet", types={})


def running(monkeypatch: pytest.MonkeyPatch, text: str | None) -> int:
    """The threads of a DuckDB with this setting."""
    monkeypatch.setenv(threads.VARIABLE, text) if text else monkeypatch.delenv(threads.VARIABLE, raising=False)
    with connection({}) as engine:
        return int(engine.execute("SELECT current_setting('threads')").fetchall()[0][0])


def test_the_steward_limits_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = running(monkeypatch, None)
    assert usual >= 1
    assert [running(monkeypatch, text) for text in ("1", " 3 ", "7")] == [1, 3, 7]
    assert running(monkeypatch, None) == usual


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "2; SET x", "٢", "many", "10000"])
def test_what_is_no_number_of_threads_is_refused_before_anything_is_read(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(threads.VARIABLE, text)
    with pytest.raises(SourceError, match=threads.VARIABLE):
        open_source("missing.parquet", types={})
