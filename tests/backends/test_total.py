"""No value of a Parquet file that changed after it was protected can make a question fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.backends.duckdb import open_source
from sitr.backends.engine import kind_of
from sitr.backends.sources import ParquetFile
from sitr.backends.total import has_odd_times, total
from sitr.errors import SourceError

FAR = 2**63 - 9
BAD_TEXT = pa.array([b"A", b"\xff\xfe", None, b"caf\xc3\xa9"], pa.binary()).view(pa.string())
"""Written by Arrow as it is."""


def _times(type: pa.DataType, *values: int) -> pa.Array:
    whole = pa.int32() if pa.types.is_time32(type) else pa.int64()
    return pa.array(values, whole).view(type)


HOSTILE: dict[str, pa.Array] = {
    "text": BAD_TEXT,
    "dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0]), pa.array([b"A", b"\xff"], pa.binary()).view(pa.string())
    ),
    "milliseconds": _times(pa.timestamp("ms"), 0, FAR, -FAR, 1),
    "zoned milliseconds": _times(pa.timestamp("ms", "UTC"), 0, FAR, -FAR, 1),
    "microseconds": _times(pa.timestamp("us"), 0, FAR, -FAR, 1),
    "nanoseconds": _times(pa.timestamp("ns"), 0, FAR, -FAR, 1),
    "hours": _times(pa.time64("us"), 0, FAR, -FAR, 1),
    "short hours": _times(pa.time32("ms"), 0, 2**31 - 1, -5, 1),
    "days": pa.array([0, 2**31 - 1, -(2**31), 1], pa.int32()).view(pa.date32()),
    "list of text": pa.ListArray.from_arrays([0, 1, 2, 3, 4], BAD_TEXT),
    "list of times": pa.ListArray.from_arrays([0, 1, 2, 3, 4], _times(pa.timestamp("ms"), 0, FAR, -FAR, 1)),
}


def _rows(column: pa.Array) -> pa.Table:
    return pa.table({"id": pa.array([1, 2, 3, 4]), "x": column, "cost": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("name", HOSTILE)
def test_every_column_can_be_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(_rows(HOSTILE[name]), path)
    source = ParquetFile(path)
    engine = duckdb.connect()
    for held, table in source.tables().items():
        engine.register(held, table)
    asked = f"SELECT count(*), count(x), count(DISTINCT hash(x)), sum(id) FROM {source.relation}"
    ((rows, _, _, ids),) = engine.execute(asked).fetchall()
    assert (rows, ids) == (4, 10)
    found = engine.execute(f"DESCRIBE SELECT * FROM {source.relation}").fetchall()
    assert {column: kind_of(type) for column, type, *_ in found} == source.kinds()


FAILING = ["text", "milliseconds", "zoned milliseconds", "hours", "short hours", "list of times"]


@pytest.mark.parametrize("name", FAILING)
def test_duckdb_alone_would_fail(name: str, tmp_path: Path) -> None:
    """The broken twin: without care, the same files make the statement fail."""
    path = tmp_path / "rows.parquet"
    pq.write_table(_rows(HOSTILE[name]), path)
    with pytest.raises(duckdb.Error):
        duckdb.execute(f"SELECT count(hash(x)) FROM read_parquet('{path}')").fetchall()
    with pytest.raises(SourceError, match="'x'"):
        open_source(path, types={}).verify()  # the steward still hears of it


@pytest.mark.parametrize("type", [pa.duration("ms"), pa.float16(), pa.decimal256(60, 0), pa.uint64(), pa.date64()])
def test_other_columns_of_a_file_that_arrow_reads_keep_their_types(type: pa.DataType, tmp_path: Path) -> None:
    """The types of a statement are those of the file as DuckDB reads it."""
    path, day = tmp_path / "rows.parquet", 86_400_000
    numbers = pa.array([0, day, None, 2 * day] if type == pa.date64() else [1, 2, None, 4], pa.int64())
    values = numbers.cast(pa.float32()).cast(type) if type == pa.float16() else numbers.cast(type)
    pq.write_table(_rows(_times(pa.timestamp("ms"), 0, FAR, -FAR, 1)).append_column("y", values), path)
    source = ParquetFile(path)
    engine = duckdb.connect()
    for held, table in source.tables().items():
        engine.register(held, table)
    types = {name: type for name, type, *_ in engine.execute(f"DESCRIBE SELECT * FROM {source.relation}").fetchall()}
    assert types == source.types()
    assert engine.execute(f"SELECT count(y), count(DISTINCT y) FROM {source.relation}").fetchall() == [(3, 3)]


def test_files_whose_names_differ_in_case_stay_apart(tmp_path: Path) -> None:
    paths = [tmp_path / "rows.parquet", tmp_path / "ROWS.parquet"]
    engine = duckdb.connect()
    for many, path in enumerate(paths, start=1):
        pq.write_table(pa.table({"at": _times(pa.timestamp("ms"), *range(many))}), path)
        for held, table in ParquetFile(path).tables().items():
            engine.register(held, table)
    counted = [engine.execute(f"SELECT count(*) FROM {ParquetFile(path).relation}").fetchall() for path in paths]
    assert counted == [[(1,)], [(2,)]]


def test_times_that_can_be_read_stay_as_they_are() -> None:
    table = _rows(_times(pa.timestamp("ms"), 86_400_000, FAR, -FAR, -1))
    assert has_odd_times(table.schema)
    assert not has_odd_times(_rows(_times(pa.timestamp("us"), 0, 1, 2, 3)).schema)
    found = total(table)["x"]
    assert found.type == pa.timestamp("us")
    assert [None if each.value is None else each.value for each in found] == [86_400_000_000, None, None, -1_000]


@pytest.mark.parametrize("name", ["text", "milliseconds", "dictionary", "zoned milliseconds"])
def test_a_changed_file_is_answered(name: str, tmp_path: Path) -> None:
    """Neither an error nor its absence says anything about a value that came after the file was protected."""
    path, column = tmp_path / "visits.parquet", HOSTILE[name]
    tame: Any = pa.array([None] * 4, column.type)
    if pa.types.is_dictionary(column.type):  # a part of the hostile column would keep its whole dictionary
        tame = pa.array(["A"] * 4).dictionary_encode().cast(column.type)
    pq.write_table(_rows(tame), path)
    data = sitr.protect(path, unit="id", max_groups=1, max_rows_per_group=1, bounds={"cost": (0, 10)})
    budget = data.budget(epsilon=1e6, ledger=tmp_path / "ledger.db")
    pq.write_table(_rows(column), path)
    condition = "x <> 'Q' AND LOWER(x) LIKE '%a%'" if name in ("text", "dictionary") else "x IS NOT NULL"
    found = budget.sql(f"SELECT COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE {condition} OR id > 0").release(
        epsilon=1e4
    )
    assert found.table["n"].to_pylist() == [4]
