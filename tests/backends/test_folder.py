"""Folders of Parquet files: what is read, and what is refused before anything is paid for."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.backends.duckdb import open_source
from sitr.backends.engine import connection
from sitr.backends.folder import ParquetFolder
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

ROWS = pa.table({"id": [1, 2, 3], "cost": [1.0, 2.0, 4.0]})


def put(root: Path, name: str, rows: pa.Table = ROWS) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)


def all_of(source: ParquetFolder) -> list[tuple[Any, ...]]:
    with connection(source.tables()) as engine:
        return sorted(engine.execute(f"SELECT * FROM {source.relation}").fetchall(), key=repr)


def test_all_files_are_read_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("a.parquet", "deep/er/b.PARQUET", "c[1]*.pq", "_temporary/x.parquet", ".hidden.parquet", "_x.parquet"):
        put(tmp_path, name)
    (tmp_path / "_SUCCESS").write_text("")
    source = open_source(tmp_path, types={}).source
    assert isinstance(source, ParquetFolder)
    assert len(all_of(source)) == 9
    assert source.kinds() == {"id": Kind.INTEGER, "cost": Kind.REAL}
    source.verify()


def test_the_names_of_folders_are_columns_of_the_declared_types(tmp_path: Path) -> None:
    for name in ("year=2025/ward=A", "year=2026/ward=B%20c", "year=odd/ward=__HIVE_DEFAULT_PARTITION__"):
        put(tmp_path, f"{name}/1.parquet", ROWS.slice(0, 1))
    source = open_source(tmp_path, types={"year": Kind.INTEGER, "ward": Kind.TEXT}).source
    assert isinstance(source, ParquetFolder)
    assert source.kinds() == {"id": Kind.INTEGER, "cost": Kind.REAL, "year": Kind.INTEGER, "ward": Kind.TEXT}
    assert all_of(source) == [(1, 1.0, 2025, "A"), (1, 1.0, 2026, "B c"), (1, 1.0, None, None)]
    assert source.schema().names == ["id", "cost", "year", "ward"]


def test_times_that_duckdb_may_refuse_are_read_by_arrow(tmp_path: Path) -> None:
    moment = dt.datetime(2026, 1, 2)  # noqa: DTZ001 - without a zone
    rows = pa.table({"id": [1], "at": pa.array([moment], pa.timestamp("ms"))})
    put(tmp_path, "year=2026/1.parquet", rows)
    put(tmp_path, "year=x/1.parquet", rows)
    source = ParquetFolder(tmp_path, (("year", Kind.INTEGER),))
    assert source.tables()
    assert all_of(source) == [(1, moment, 2026), (1, moment, None)]


@pytest.mark.parametrize(
    ("files", "types", "message"),
    [
        ({}, {}, "has no Parquet files"),
        ({"a.parquet": ROWS, "b.parquet": ROWS.drop_columns("cost")}, {}, "b.parquet has other columns or types"),
        ({"year=1/a.parquet": ROWS}, {}, "hold 'year', without declared types"),
        (
            {"year=1/ward=A/a.parquet": ROWS},
            {},
            "'ward', without .*--type year=integer --type ward=",
        ),
        ({"year=1/a.parquet": ROWS}, {"yeer": Kind.INTEGER}, "have 'yeer', whose type is declared"),
        ({"a.parquet": ROWS}, {"year": Kind.INTEGER}, "have 'year', whose type is declared"),
        ({"year=1/a.parquet": ROWS, "b.parquet": ROWS}, {"year": Kind.INTEGER}, "b.parquet do not hold 'year'"),
    ],
)
def test_what_is_odd_is_refused_at_once(
    tmp_path: Path, files: dict[str, pa.Table], types: dict[str, Kind], message: str
) -> None:
    for name, rows in files.items():
        put(tmp_path, name, rows)
    with pytest.raises(SourceError, match=message):
        open_source(tmp_path, types=types).kinds()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 patient 4711 PAR1")
    with pytest.raises(SourceError, match=r"b\.parquet cannot be read") as refused:
        open_source(tmp_path, types={}).kinds()
    assert "4711" not in str(refused.value)


def test_a_folder_is_protected_and_described(tmp_path: Path) -> None:
    for year in (2025, 2026):
        put(tmp_path, f"visits/year={year}/1.parquet", ROWS)
    declared: dict[str, Any] = {"unit": "id", "max_groups": 2, "max_rows_per_group": 1, "keys": {"year": [2025, 2026]}}
    made = sitr.protect(tmp_path / "visits", types={"year": "integer"}, bounds={"cost": (0, 5)}, **declared)
    path = made.save(tmp_path / "visits.sitr.yaml", promise=ZeroConcentratedDP(1e6), ledger=tmp_path / "l.db")
    budget = sitr.open(path).budget()
    sql = "SELECT year, COUNT(*) AS n FROM visits GROUP BY year"
    answer = budget.sql(sql).release(ZeroConcentratedDP(1e5))
    assert answer.table.to_pydict() == {"year": [2025, 2026], "n": [3, 3]}


def test_a_lazy_frame_is_collected() -> None:
    lazy = pl.DataFrame({"id": [1, 2], "cost": [1.0, 2.0]}).lazy().filter(pl.col("id") > 1)
    source = open_source(lazy, types={}).source  # type: ignore[arg-type]
    assert source.kinds() == {"id": Kind.INTEGER, "cost": Kind.REAL}
    with connection(source.tables()) as engine:
        assert engine.execute(f"SELECT * FROM {source.relation}").fetchall() == [(2, 2.0)]


@pytest.mark.parametrize("sign", ["_delta_log/0.json", "metadata/v1.metadata.json", ".hoodie/hoodie.properties"])
def test_a_table_whose_files_hold_deleted_rows_is_refused(tmp_path: Path, sign: str) -> None:
    put(tmp_path, "part-0.parquet")
    (tmp_path / sign).parent.mkdir()
    (tmp_path / sign).write_text("{}")
    with pytest.raises(SourceError, match="also hold rows that were deleted"):
        open_source(tmp_path, types={})
