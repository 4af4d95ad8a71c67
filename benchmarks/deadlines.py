"""How long answers take beside their deadlines: `python -m benchmarks.deadlines [--rows 1000000] [--repeat 20]`.

The first table has several shapes of questions, with the deadline that public numbers fix, and the seconds and CPU
seconds that the embedded engine needs. The second compares the CPU times of a question for one id on a table with this
person and on one without, as Sitr reads them and as DuckDB would with its statistics: how often the one with the person
takes longer (0.5 where the times tell nothing) and the p-value of a rank test.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb
from rich.console import Console
from rich.table import Table
from scipy.stats import mannwhitneyu

import sitr
from sitr.session.cost import cost
from sitr.session.deadline import Declared, seconds

ONE = 777
SHAPES = {
    "COUNT by ward": "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward",
    "COUNT, SUM and AVG by ward": "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM t GROUP BY ward",
    "MEDIAN by ward": "SELECT ward, MEDIAN(cost) AS m FROM t GROUP BY ward",
    "LIKE '%fever%'": "SELECT COUNT(*) AS n FROM t WHERE note LIKE '%fever%'",
    "regular expression fever|cough": "SELECT COUNT(*) AS n FROM t WHERE REGEXP_MATCHES(note, 'fever|cough')",
    "ten conditions": "SELECT COUNT(*) AS n FROM t WHERE " + " OR ".join(f"c{n} + cost > {n}" for n in range(10)),
}


def write(path: Path, rows: int, *, without: int = -1) -> Path:
    """A seeded table in the order of its people, so that most row groups lack any one id."""
    wide = ", ".join(f"CAST(hash(i + {n}) % 50 AS BIGINT) AS c{n}" for n in range(20))
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT i // 10 AS id, 'w' || hash(i) % 5 AS ward, CAST(hash(i + 1) % 100 AS BIGINT) AS cost, "
            f"concat('patient ', i, ' was seen again with some fever and an old cough ', hash(i)) AS note, {wide} "
            f"FROM range({rows}) t(i) WHERE i // 10 <> {without}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 20480)"
        )
    return path


def opened(path: Path, folder: Path) -> Any:
    return sitr.protect(
        path,
        name="t",
        unit="id",
        max_groups=5,
        max_rows_per_group=10,
        bounds={"cost": (0, 100)} | {f"c{n}": (0, 50) for n in range(20)},
        keys={"ward": [f"w{n}" for n in range(5)]},
    ).budget(rho=1e6, ledger=folder / f"{path.stem}.db", keep=False)


def spent(backend: Any, reading: Any) -> tuple[float, float]:
    """The seconds and the CPU seconds of one reading."""
    start, before = time.perf_counter(), time.process_time()
    for each in reading if isinstance(reading, tuple) else (reading,):
        backend.read(each, salt=5)
    return time.perf_counter() - start, time.process_time() - before


def compared(backends: Sequence[Any], reading: Any, repeat: int) -> tuple[list[float], list[float]]:
    """The CPU seconds of both, taken in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for backend, times in zip(backends, found, strict=True):
            times.append(spent(backend, reading)[1])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=20)
    chosen = parser.parse_args(arguments)
    out, public = Console(width=140), Declared(chosen.rows)
    with TemporaryDirectory(prefix="sitr-deadlines-") as folder:
        root = Path(folder)
        there = opened(write(root / "there.parquet", chosen.rows), root)
        gone = opened(write(root / "gone.parquet", chosen.rows, without=ONE), root)
        asked: dict[str, Any] = {name: there.sql(text, bias="off") for name, text in SHAPES.items()}
        asked["synthetic rows of 10 columns"] = there.synthesize(columns=[f"c{n}" for n in range(10)], bins=5)
        grid = Table("question", "deadline s", "of 10 million rows", "taken s", "CPU s", title=f"{chosen.rows:,} rows")
        for name, request in asked.items():
            plan, reading = request.question.plan(sitr.ZeroConcentratedDP(0.1)), request.question.reading()
            count, work = len(plan.measurements), cost(reading)
            taken = spent(there._at.backend, reading)
            whole = [seconds(each, count, work) for each in (public, Declared(10_000_000))]
            grid.add_row(name, *(f"{each:.1f}" for each in whole), *(f"{each:.2f}" for each in taken))
        out.print(grid)
        reading = there.sql(f"SELECT COUNT(*) AS n FROM t WHERE id = {ONE}", bias="off").question.reading()
        both = [each._at.backend for each in (there, gone)]
        times = Table("", "median with, CPU ms", "median without, CPU ms", "with takes longer", "p-value")
        usual = compared(both, reading, chosen.repeat)
        with mock.patch("sitr.backends.engine.NO_SKIPPING", ()):
            skipping = compared(both, reading, chosen.repeat)
        for name, (one, other) in {"as Sitr reads": usual, "with statistics": skipping}.items():
            test = mannwhitneyu(one, other)
            medians = (f"{1000 * statistics.median(each):.1f}" for each in (one, other))
            longer = test.statistic / (len(one) * len(other))
            times.add_row(name, *medians, f"{longer:.2f}", f"{test.pvalue:.2g}")
        out.print(times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
