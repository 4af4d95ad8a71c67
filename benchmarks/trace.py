"""Trace one `sitr ask`: which folders of the package does a question pass on its way, and in which order?

A short way is easy to follow. Two counts measure it, both along one question about a made-up file:

- `files`: files in the order in which they are first entered; how often does the next file lie in another folder?
- `functions`: the same for functions, by first call. Comprehensions and lambdas are parts of the function around them.

`numbers.py`, `precision.py`, `errors.py`, `language.py` and `namespace.py` lie in no folder and are not counted: many
folders use them.

    python -m benchmarks.trace [--list]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from types import FrameType

QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@dataclass(frozen=True, slots=True)
class Stop:
    """A function at its first call."""

    file: str
    function: str

    @property
    def folder(self) -> str:
        return self.file.partition("/")[0]


def stops() -> list[Stop]:
    """Every function of Sitr that answers the question, in the order of first calls."""
    import pyarrow as pa
    from pyarrow.parquet import write_table
    from typer.testing import CliRunner

    import sitr
    from sitr.cli.main import app

    root = str(Path(sitr.__file__).parent) + os.sep
    found: dict[Stop, None] = {}

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        function = code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")  # not a module or a class
        if event == "call" and code.co_filename.startswith(root) and function:
            file = code.co_filename.removeprefix(root)
            if "/" in file:
                found.setdefault(Stop(file, code.co_qualname))

    def run(*arguments: str, trace: bool) -> None:
        sys.setprofile(called if trace else None)
        try:
            result = CliRunner().invoke(app, arguments)
        finally:
            sys.setprofile(None)
        assert result.exit_code == 0, result.output

    with tempfile.TemporaryDirectory() as folder:
        data, description, ledger = (str(Path(folder, name)) for name in ("visits.parquet", "visits.yaml", "sitr.db"))
        write_table(pa.table({"patient": [1, 2, 3, 3], "ward": ["a", "b", "a", "b"]}), data)
        who = ("--unit", "patient", "--max-groups", "2", "--max-rows-per-group", "2", "--keys", "ward=a,b")
        run("protect", data, *who, "--budget", "zcdp(1)", "--ledger", ledger, "-o", description, trace=False)
        run("ask", description, QUESTION, "--price", "zcdp(0.05)", trace=True)
    return list(found)


def changes(folders: Sequence[str]) -> int:
    """How often a folder differs from the one before it.

    >>> changes(["cli", "cli", "session", "cli"])
    2
    """
    return sum(here != there for here, there in pairwise(folders))


def by_file(found: Sequence[Stop]) -> list[Stop]:
    """The stops that enter a file for the first time."""
    first: dict[str, Stop] = {}
    for stop in found:
        first.setdefault(stop.file, stop)
    return list(first.values())


def main() -> None:
    """Print both counts; with `--list`, every stop."""
    functions = stops()
    if "--list" in sys.argv[1:]:
        last = ""
        for stop in functions:
            sys.stdout.write(
                f"{'' if stop.folder == last else stop.folder:14}{stop.file.partition('/')[2]}: {stop.function}\n"
            )
            last = stop.folder
    for name, found in (("files", by_file(functions)), ("functions", functions)):
        sys.stdout.write(f"{len(found):4} {name}, {changes([stop.folder for stop in found])} changes of folder\n")


if __name__ == "__main__":
    main()
