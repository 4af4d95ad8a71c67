"""Parquet, CSV and Arrow sources: one answer from all of them, and clear words about what is none."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sitr.backends.backend import Backend
from sitr.backends.duckdb import open_source
from sitr.errors import DescriptionError, SourceError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.query.rewrite import Cells, bound
from sitr.query.schema import Kind, describe
from sitr.query.sql import parse

VISITS = pa.table(
    {
        "id": pa.array([1, 1, 2, 3, 3, None], pa.int64()),
        "ward": ["A", "B", "A", None, "Ж", "A"],
        "cost": pa.array([10.5, None, 99.999, 3.25, 1e9, 1.0], pa.float64()),
        "urgent": [True, False, True, None, True, False],
        "admitted": pa.array([dt.date(2024, 1, day) for day in (1, 2, 3, 4, 5, 6)]),
        "left": pa.array([f"2024-02-0{day} 12:00:00" for day in range(1, 7)]).cast(pa.timestamp("us")),
    }
)
KINDS = {
    "id": Kind.INTEGER,
    "ward": Kind.TEXT,
    "cost": Kind.REAL,
    "urgent": Kind.BOOLEAN,
    "admitted": Kind.DATE,
    "left": Kind.TIMESTAMP,
}


def ask(
    backend: Backend, question: str = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
) -> Cells:
    described = describe(
        "visits",
        kinds=backend.kinds(),
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=5,
        max_rows_per_group=5,
        bounds={"cost": (0, 100)},
        granularity={"cost": 0.01},
        keys={},
    )
    return backend.cells(bound(parse(question), described), salt=1)


EXPECTED = {("A",): (2, 11050, 2), ("B",): (1, 0, 1), (None,): (1, 325, 1), ("Ж",): (1, 10000, 1)}


def test_every_kind_of_source_gives_the_same_cells(tmp_path: Path) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    pyarrow.csv.write_csv(VISITS, tmp_path / "visits.csv")
    sources = [
        tmp_path / "visits.parquet",
        str(tmp_path / "visits.csv"),
        VISITS,
        VISITS.to_reader(),
        pl.from_arrow(VISITS),
        VISITS.to_pandas(types_mapper=pd.ArrowDtype),
        duckdb.from_arrow(VISITS),
    ]
    for source in sources:
        backend = open_source(source, types={})
        assert backend.kinds() == KINDS, type(source)
        assert ask(backend) == EXPECTED, type(source)


def test_ordinary_pandas_frames_work() -> None:
    frame = pd.DataFrame({"id": [1, 2, 2], "ward": ["A", "B", "B"], "cost": [1.0, 2.0, float("nan")]})
    assert ask(open_source(frame, types={})) == {("A",): (1, 100, 1), ("B",): (2, 200, 1)}


@pytest.mark.parametrize(
    ("condition", "people"),
    [
        ("cost > 3", {1, 2, 3}),
        ("cost >= 3.25 AND cost < 11", {1, 3}),
        ("id = 2", {2}),
        ("id IN (1, 3)", {1, 3}),
        ("id <> 1.0", {2, 3}),
        ("ward LIKE 'A%'", {1, 2}),
        ("ward = 'Ж'", {3}),
        ("ward IS NULL", {3}),
        ("ward IS NOT NULL AND NOT urgent = TRUE", {1}),
        ("admitted >= DATE '2024-01-04'", {3}),
        ("admitted BETWEEN '2024-01-02' AND '2024-01-03'", {1, 2}),
        ("left < TIMESTAMP '2024-02-02 13:00:00'", {1}),
        ("cost IS NULL OR id = 3", {1, 3}),
        ("2 <= id", {2, 3}),
        ("ward = 'it''s'", set()),
    ],
)
def test_conditions_select_what_sql_says(condition: str, people: set[int], tmp_path: Path) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    pyarrow.csv.write_csv(VISITS, tmp_path / "visits.csv")
    for source in (VISITS, tmp_path / "visits.parquet", tmp_path / "visits.csv"):
        cells = ask(
            open_source(source, types={}), f"SELECT id, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY id"
        )
        assert {key[0] for key in cells} == people


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.float32(), [1.5, 200.0], {"1": 150, "2": 10000}),
        (pa.int8(), [1, -5], {"1": 100, "2": 0}),
        (pa.uint64(), [3, 2**64 - 1], {"1": 300, "2": 10000}),
        (pa.decimal128(38, 2), [Decimal("1.25"), Decimal("1e30")], {"1": 125, "2": 10000}),
        (pa.float64(), [float("inf"), float("-inf")], {"1": 10000, "2": 0}),
        (pa.float64(), [float("nan"), 1e308], {"1": 0, "2": 10000}),
        (pa.float64(), [0.005, 99.995], {"1": 1, "2": 10000}),
    ],
)
def test_numbers_are_clamped_and_counted_in_granules(
    kind: pa.DataType, values: list[object], expected: dict[str, int]
) -> None:
    rows = pa.table({"id": [1, 2], "ward": ["1", "2"], "cost": pa.array(values, kind)})
    cells = ask(open_source(rows, types={}))
    assert {key[0]: cell[1] for key, cell in cells.items()} == expected


def test_sums_do_not_overflow() -> None:
    """More than 64 bits of granules."""
    size = 2**53
    rows = pa.table({"id": range(3000), "ward": ["A"] * 3000, "cost": pa.array([2**62] * 3000, pa.int64())})
    backend = open_source(rows, types={})
    described = describe(
        "visits", kinds=backend.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
        max_rows_per_group=1, bounds={"cost": (0, size)}, granularity={}, keys={},
    )  # fmt: skip
    cells = backend.cells(bound(parse("SELECT SUM(cost) AS total FROM visits"), described), salt=1)
    assert cells == {(): (3000 * size, 3000)}
    assert 3000 * size > 2**63


def test_odd_keys_become_null_rather_than_errors() -> None:
    rows = pa.table(
        {
            "id": [1, 2],
            "big": pa.array([2**64 - 1, 5], pa.uint64()),
            "day": pa.array([2**31 - 10, 0], pa.int32()).cast(pa.date32()),
            "tag": pa.array(["x", "y"]).dictionary_encode(),
        }
    )
    backend = open_source(rows, types={})
    described = describe(
        "visits", kinds=backend.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
        max_rows_per_group=1, bounds={}, granularity={}, keys={},
    )  # fmt: skip
    assert backend.kinds()["tag"] is Kind.TEXT
    for column, keys in {"big": {None, 5}, "day": {None, dt.date(1970, 1, 1)}, "tag": {"x", "y"}}.items():
        query = bound(parse(f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}"), described)
        assert {key[0] for key in backend.cells(query, salt=1)} == keys


def test_a_csv_row_that_does_not_fit_is_read_as_null(tmp_path: Path) -> None:
    """A later row cannot cause an error, nor change what another row says."""
    good = "id,ward,cost\n" + "".join(f"{number},A,2.5\n" for number in range(50))
    path = tmp_path / "visits.csv"
    path.write_text(good)
    backend = open_source(path, types={"cost": Kind.REAL})
    assert backend.kinds()["cost"] is Kind.REAL
    clean = ask(backend)
    path.write_text(good + '77,A,not a number\n78\n79,A,1,extra,fields\n80,"A,5\n')
    spoiled = ask(backend)
    assert clean == {("A",): (50, 12500, 50)}
    assert spoiled[("A",)][1] - clean[("A",)][1] in range(301)  # one broken quote may swallow the last line
    path.write_text(good + "77,A,not a number\n")
    assert ask(backend)[("A",)] == (51, 12500, 51)


def test_csv_types_can_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("id;code\n1;7\n2;8\n")
    assert open_source(path, types={}).kinds() == {"id": Kind.INTEGER, "code": Kind.INTEGER}
    declared = open_source(path, types={"code": Kind.TEXT})
    assert declared.kinds() == {"id": Kind.INTEGER, "code": Kind.TEXT}
    with pytest.raises(DescriptionError, match="'cod'"):
        open_source(path, types={"cod": Kind.TEXT}).kinds()


def test_what_is_no_source_is_said_clearly(tmp_path: Path) -> None:
    fake = tmp_path / "fake.parquet"
    fake.write_text("patient 4711, HIV")
    with pytest.raises(SourceError, match="A Parquet file was wanted") as failure:
        open_source(fake, types={}).kinds()
    assert "4711" not in str(failure.value)
    with pytest.raises(SourceError, match="There is none at"):
        open_source(tmp_path / "missing.parquet", types={})
    with pytest.raises(SourceError, match="ending in"):
        open_source(Path(__file__), types={})
    with pytest.raises(SourceError, match="of type list"):
        open_source([1, 2], types={})  # type: ignore[arg-type]
    headless = tmp_path / "headless.csv"
    headless.write_bytes(b"\x00\x01\x02\xff\xfe")
    with pytest.raises(SourceError, match="CSV file with a header"):
        open_source(headless, types={}).kinds()
