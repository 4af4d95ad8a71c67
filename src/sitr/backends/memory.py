"""How much memory DuckDB may use before it writes rows to disk."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from sitr.errors import SourceError

VARIABLE = "SITR_MEMORY_LIMIT"
SHARE = 4
"""DuckDB may use one quarter of the memory, and the rows that are sorted outside of it a third of that."""

_UNITS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def memory_limit() -> int:
    """The number of bytes in the environment variable, or a quarter of the memory of the machine or container."""
    given = os.environ.get(VARIABLE)
    return _here() // SHARE if given is None else _bytes(given)


def rows_limit() -> int:
    """The bytes of packed rows that are held at a time: a third, because a sorted copy of them is made."""
    return memory_limit() // 3


@lru_cache(1)
def _here() -> int:
    return installed()


def installed(root: Path = Path("/")) -> int:
    """The memory of the machine in bytes, or the limit of its control group (such as a container) if that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *_group_limits(root)])


def _group_limits(root: Path) -> list[int]:
    """The memory limits of the control groups of this process, in both versions of control groups."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        number, controllers, group = line.split(":", 2)
        if number == "0":
            mount, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            mount, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        # In a container the path of the group may be the host's, and only its upper part is mounted.
        inner = mount / group.lstrip("/")
        folders = [folder for folder in (inner, *inner.parents) if folder.is_relative_to(mount)]
        limits += [limit for folder in folders if (limit := _limit(folder / name)) is not None]
    return limits


def _limit(file: Path) -> int | None:
    """The number in a file; None for "max" or no file."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _bytes(text: str) -> int:
    """A size such as 500MB.

    >>> _bytes("1.5 GiB"), _bytes("500MB")
    (1610612736, 500000000)
    """
    found = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([KMGT]?i?B)\s*", text, re.IGNORECASE | re.ASCII)
    size = int(float(found[1]) * _UNITS.get(found[2].upper(), 0)) if found else 0
    if size < 1:
        raise SourceError(
            wanted=f"a size such as 4GB or 500MiB in {VARIABLE}",
            given=repr(text),
            do="Correct the variable or unset it; the default is a quarter of the memory.",
        )
    return size
