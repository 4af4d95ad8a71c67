"""No part of a file is left out because of the values in it: a question for one id reads as much with and without them.

DuckDB says how many rows each scan read. Beside it, the CPU times of many readings of both files are compared.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection
from sitr.backends.packed.layout import layout
from sitr.backends.packed.scan import scan
from sitr.backends.reading import tree
from sitr.backends.sources import ParquetFile
from sitr.backends.statement import statement, writer
from sitr.dataset.schema import describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse

PEOPLE, EACH = 20_000, 10
WHERE = (
    "id = 7777",
    "id IN (7777, 3)",
    "id BETWEEN 7777 AND 7777",
    "name = 'patient 7777'",
    "name LIKE 'patient 7777%'",
    "id > 19990 AND id < 7",
    "day = DATE '2031-01-01'",
    "id IS NULL",
    "id IN (SELECT id FROM visits WHERE id = 7777)",
)


def written(path: Path, *, without: int | None = None) -> Path:
    """People in order, in row groups of a thousand: most row groups lack any one id."""
    ids = [person for person in range(PEOPLE) if person != without for _ in range(EACH)]
    days = pa.array([18_000 + person % 7 for person in ids], pa.int32()).cast(pa.date32())
    names = pa.array([f"patient {person}" for person in ids])
    pq.write_table(pa.table({"id": ids, "name": names, "day": days}), path, row_group_size=10_000)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("files")
    return written(folder / "with.parquet"), written(folder / "without.parquet", without=7777)


def asked(path: Path, where: str) -> BoundedQuery:
    table = describe(
        "visits",
        kinds=ParquetFile(path).kinds(),
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=2,
        bounds={},
        granularity={},
        keys={"name": [f"patient {person}" for person in (7777, 7, 3)]},
    )
    return bound(parse(f"SELECT name, COUNT(*) AS n FROM visits WHERE {where} GROUP BY name"), table)


def scanned(path: Path, where: str, *, packs: bool) -> int:
    """The rows that DuckDB read from the file."""
    source, what = ParquetFile(path), tree(asked(path, where))
    given = {"dialect": DUCKDB, "source": source.relation, "types": source.types(), "salt": 1}
    if packs:
        own = writer(what, **given)  # type: ignore[arg-type]
        found = layout(what, own.types)
        assert found is not None
        sql = scan(found, own)
    else:
        sql = statement(what, **given)  # type: ignore[arg-type]
    with connection({}) as engine:
        ((_, plan),) = engine.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}").fetchall()
    return int(json.loads(plan)["query"]["total_rows_scanned"])


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("where", WHERE)
def test_every_row_is_read_whatever_the_condition(files: tuple[Path, Path], where: str, packs: bool) -> None:
    there, gone = (scanned(path, where, packs=packs) for path in files)
    times, rest = divmod(there, PEOPLE * EACH)
    assert (times > 0, rest) == (True, 0)
    assert gone == times * (PEOPLE - 1) * EACH


def test_with_statistics_the_difference_is_seen(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: DuckDB as it comes."""
    monkeypatch.setattr("sitr.backends.engine.NO_SKIPPING", ())
    there, gone = (scanned(path, "id = 7777", packs=True) for path in files)
    assert there < PEOPLE * EACH
    assert gone < (PEOPLE - 1) * EACH
