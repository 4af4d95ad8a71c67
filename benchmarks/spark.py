"""How long questions take on Spark: `python -m benchmarks.spark [--rows 1000000 …] [--peer tumult=python …]`.

Sitr on Spark and on the embedded DuckDB, Tumult Analytics and PipelineDP count and sum the rows of the same Parquet
file by 200 public groups. People have about ten rows each, at most 10 rows in each of 5 groups count, and the session
has two threads and was started before. The least of a few times is shown, with the CPU time, which other programs on
the machine hardly change, and with the load of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PEERS = {"tumult": "tmlt.analytics==0.21.0", "pipeline_dp": "pipeline-dp==0.3.1 pyspark==3.5.9"}
"""The peers, and what was installed for each."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The least time and CPU time of some answers in seconds; or why there is none."""

    seconds: float | None
    trouble: str = ""
    cpu: float = 0.0

    def __str__(self) -> str:
        return self.trouble if self.seconds is None else f"{self.seconds:.1f} ({self.cpu:.1f} CPU)"


def write(path: Path, rows: int) -> None:
    """A seeded table: a person for ten rows, 200 groups of different sizes, values from 0 to 120."""
    import duckdb

    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT CAST(hash(i) % {max(1, rows // 10)} AS BIGINT) AS person, "
            "CAST(floor(200 * pow((hash(i + 1) % 1000003) / 1000003.0, 2)) AS INTEGER) AS grp, "
            "CAST(hash(i + 2) % 121 AS INTEGER) AS x "
            f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 500000)"
        )


def ask(name: str, interpreter: str, path: Path, what: str, *, repeat: int, limit: float) -> Timed:
    """How long a library takes, in a process of its own."""
    known = [str(ROOT), *([str(ROOT / "src")] if name in ("sitr", "duckdb") else [])]
    command = [interpreter, "-W", "ignore", "-m", "benchmarks.peers.on_spark", name, str(path), what, str(repeat)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(known)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Timed(None, f"more than {limit:.0f} s")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = [line for line in done.stderr.splitlines() if "Error" in line or "Exception" in line] or ["no output"]
        return Timed(None, last[-1][:160])
    if found["groups"] != 200:
        return Timed(None, f"{found['groups']} groups instead of 200")
    return Timed(min(found["seconds"]), cpu=min(found["cpu"]))


def growth(small: tuple[int, Timed], large: tuple[int, Timed]) -> float | None:
    """How much more CPU time each row takes in the larger table.

    >>> growth((10, Timed(2.0, cpu=2.0)), (100, Timed(9.0, cpu=10.0)))
    0.5
    """
    (few, one), (many, other) = small, large
    if one.seconds is None or other.seconds is None:
        return None
    return other.cpu / one.cpu * few / many


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--what", nargs="+", default=["count", "sum"], choices=["count", "sum", "both"])
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help=" ".join(PEERS))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="the most seconds of one process")
    chosen = parser.parse_args(arguments)
    subjects = {"sitr": sys.executable, "duckdb": sys.executable, **dict(each.split("=", 1) for each in chosen.peer)}
    table = Table("rows", "question", *subjects, "load", title="seconds for one answer")
    found: dict[tuple[str, str], list[tuple[int, Timed]]] = {}
    out = Console(width=160)
    with TemporaryDirectory(prefix="sitr-spark-benchmark-") as folder:
        for rows in chosen.rows:
            write(path := Path(folder) / f"{rows}.parquet", rows)
            for what in chosen.what:
                times = []
                for name, interpreter in subjects.items():
                    able = what != "both" or name in ("sitr", "duckdb")
                    timed = (
                        ask(name, interpreter, path, what, repeat=chosen.repeat, limit=chosen.limit)
                        if able
                        else Timed(None, "not asked")
                    )
                    found.setdefault((name, what), []).append((rows, timed))
                    times.append(str(timed))
                    out.print(f"{rows:,} rows, {what}, {name}: {timed}")  # so that a run that is stopped is not lost
                table.add_row(f"{rows:,}", what, *times, f"{os.getloadavg()[0]:.1f}")
    out.print(table)
    for (name, what), times_of in found.items():
        ratio = growth(times_of[0], times_of[-1]) if len(times_of) > 1 else None
        if ratio is not None:
            out.print(
                f"{name}, {what}: a row of the largest table takes {ratio:.2f} times the CPU of one of the smallest"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
