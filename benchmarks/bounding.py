"""The price of bounding: `python -m benchmarks.bounding [--rows 10000000] [--folder tables] [--json figures.json]`.

Seeded tables of 10 million rows, a million people and 200 groups are written once as Parquet files. Each question is
read with caps, and DuckDB's own COUNT(DISTINCT user) by the same key is timed beside it, in the same process. Figures
are ratios of CPU time, best of three of each. Noise is not drawn: it takes the same time for any number of rows.

In the table `zipf` few people have most rows, and in `uniform` everybody has about ten. Ids are small numbers, texts,
or (`wide`) numbers that are spread over 64 bits. The caps are 5 groups of 10 rows, 1 of 1 (most people are over them)
and 200 of a million (nobody is).

`--alone` leaves the plain count out, which takes memory of its own: then the peak is that of the question.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.sources import ParquetFile
from sitr.dataset.schema import describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse

GROUPS = 200
TABLES = ("zipf", "uniform", "zipf text", "uniform text", "zipf wide", "uniform wide")
CAPS = ((5, 10), (1, 1), (200, 10**6))
QUESTIONS = {
    "count": ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", 0.7),
    "sum": ("SELECT city, SUM(cost) AS s FROM visits GROUP BY city", 1.2),
    "count, sum and mean": (
        "SELECT city, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY city",
        1.3,
    ),
    "median": ("SELECT city, MEDIAN(cost) AS m FROM visits GROUP BY city", 2.5),
}
TEXT = 2.3
"""The target for ids that are texts or spread over 64 bits, whatever the question but the median."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One question: CPU seconds of the plain distinct count and of the bounded question, and its ratio."""

    table: str
    caps: tuple[int, int]
    question: str
    base: float
    seconds: float
    target: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.base if self.base > 1e-4 else math.nan


def people(name: str, rows: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """A tenth as many people as rows."""
    most = max(rows // 10, 1)
    if name.startswith("uniform"):
        return chance.integers(0, most, rows)
    # A power law by inversion, over a range that has few people for most of the rows.
    rank = np.floor((1 - chance.random(rows)) ** -5).clip(1, 50 * most).astype(np.int64)
    return np.asarray(chance.permutation(most)[rank % most])


def written(name: str, rows: int, folder: Path) -> Path:
    """The file of a table; it is written if it is not there."""
    path = folder / f"{name.replace(' ', '_')}_{rows}.parquet"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    step, chance = 10_000_000, np.random.default_rng(7)
    cities, writer = pa.array([f"city {place}" for place in range(GROUPS)]), None
    who = people(name, min(rows, step), chance)
    for first in range(0, rows, step):
        many = min(step, rows - first)
        own = chance.permutation(who)[:many] + first // 10
        ids = pa.array(own)
        if name.endswith("wide"):  # different ids stay different: the factor is odd
            ids = pa.array((own.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64))
        if name.endswith("text"):
            ids = pa.array([f"patient-{each:08d}" for each in range(int(own.max()) + 1)]).take(ids)
        city = np.floor((1 - chance.random(many)) ** -3).clip(0, 1e15).astype(np.int64) % GROUPS
        even = chance.integers(0, GROUPS, many)
        cost = np.round(chance.gamma(2, 100, many), 2)
        city = city if name.startswith("zipf") else even
        table = pa.table({"id": ids, "city": cities.take(pa.array(city)), "cost": cost})
        writer = pq.ParquetWriter(path, table.schema) if writer is None else writer
        writer.write_table(table, row_group_size=1_000_000)
    assert writer is not None
    writer.close()
    return path


def question(path: Path, caps: tuple[int, int], sql: str) -> BoundedQuery:
    """A question about costs from 0 to 1,000 in hundredths, by public cities."""
    table = describe(
        "visits",
        kinds=ParquetFile(path).kinds(),
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds={"cost": (0, 1000)},
        granularity={"cost": 0.01},
        keys={"city": [f"city {place}" for place in range(GROUPS)]},
    )
    return bound(parse(sql), table)


def cpu(works: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """The least CPU time of each, in turns, so that whatever else the machine does meets all of them alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for own, work in zip(times, works, strict=True):
            start = time.process_time()
            work()
            own.append(time.process_time() - start)
    return [min(own) for own in times]


def measured(
    name: str,
    path: Path,
    *,
    repeat: int,
    reader: Reader,
    only: tuple[str, ...],
    every: Sequence[tuple[int, int]] = CAPS,
    alone: bool = False,
) -> Iterator[Figure]:
    backend = DuckDB(ParquetFile(path), reader=reader)
    plain = f"SELECT city, count(DISTINCT id) FROM read_parquet('{path}') GROUP BY city"
    with duckdb.connect(":memory:") as engine:
        engine.execute("SET enable_progress_bar = false")

        def base() -> object:
            return None if alone else engine.execute(plain).fetchall()

        for caps in every:
            for kind, (sql, most) in QUESTIONS.items():
                if only and kind not in only:
                    continue
                asked = question(path, caps, sql)
                plainly, bounded = cpu([base, partial(backend.read, asked, salt=5)], repeat)
                target = max(most, TEXT) if name.endswith(("text", "wide")) else most
                yield Figure(name, caps, kind, plainly, bounded, target)


def _caps(text: str) -> tuple[int, int]:
    groups, _, rows = text.partition("x")
    return int(groups), int(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("tables"))
    parser.add_argument("--table", action="append", choices=TABLES)
    parser.add_argument("--question", action="append", choices=QUESTIONS)
    parser.add_argument("--caps", type=_caps, action="append", help="such as 5x10: 5 groups of 10 rows")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--statement", action="store_true", help="read by the SQL statement instead")
    parser.add_argument("--alone", action="store_true", help="without the plain count, for the peak of memory")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console, found = Console(), []
    for name in given.table or TABLES:
        # In a process of its own: making the rows takes more memory than reading them.
        making = multiprocessing.get_context("spawn").Process(target=written, args=(name, given.rows, given.folder))
        making.start()
        making.join()
        path = written(name, given.rows, given.folder)
        settings = {"repeat": given.repeat, "every": given.caps or CAPS, "alone": given.alone}
        reader, only = Reader(packs=not given.statement), tuple(given.question or ())
        for figure in measured(name, path, reader=reader, only=only, **settings):
            groups, rows = figure.caps
            console.print(
                f"{name}, {groups} × {rows:,}, {figure.question}: {figure.seconds:.2f} s "
                f"({figure.base:.2f} s), ratio {figure.ratio:.2f}, "
                f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB"
            )
            found.append(figure)
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(figure) for figure in found], indent=1))
    if not given.statement and not given.alone:
        each = (
            Target(
                f"{figure.table}, {figure.caps[0]} × {figure.caps[1]:,}, {figure.question}", figure.ratio, figure.target
            )
            for figure in found
        )
        console.print(targets_table(list(each)))


if __name__ == "__main__":
    main()
