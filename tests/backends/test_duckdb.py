"""Parquet, CSV and Arrow sources: all give the same answer, and clear errors refuse everything else."""

from __future__ import annotations

import datetime as dt
import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sitr.backends.backend import Backend
from sitr.backends.csv import CsvFile
from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, describe
from sitr.errors import BackendFailure, DescriptionError, SourceError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.bind import Cells, bound
from sitr.questions.aggregate.sql import parse
from sitr.questions.statistic.numbers import Numbers
from sitr.session.dataset import protect

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
        bounds={"cost": (0, 100)} if "cost" in backend.kinds() else {},
        granularity={"cost": 0.01} if "cost" in backend.kinds() else {},
        keys={},
    )
    return backend.read(bound(parse(question), described), salt=1)


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
            open_source(source, types={}),
            f"SELECT ABS(id) AS who, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY who",
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
    """The sum of the granules needs more than 64 bits."""
    size = 2**53
    rows = pa.table({"id": range(3000), "ward": ["A"] * 3000, "cost": pa.array([2**62] * 3000, pa.int64())})
    backend = open_source(rows, types={})
    described = describe(
        "visits", kinds=backend.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
        max_rows_per_group=1, bounds={"cost": (0, size)}, granularity={}, keys={},
    )  # fmt: skip
    cells = backend.read(bound(parse("SELECT SUM(cost) AS total FROM visits"), described), salt=1)
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
        assert {key[0] for key in backend.read(query, salt=1)} == keys


def test_no_line_of_a_csv_file_changes_what_another_says(tmp_path: Path) -> None:
    """Whatever one line contains, there is no error, and the other lines count as before."""
    good = "id,ward,cost\n" + "".join(f"{number},A,2.5\n" for number in range(50))
    path = tmp_path / "visits.csv"
    path.write_text(good)
    backend = open_source(path, types={"cost": Kind.REAL})
    assert backend.kinds()["cost"] is Kind.REAL
    clean = ask(backend)
    assert clean == {("A",): (50, 12500, 50)}
    odd: list[bytes] = [
        b"77,A,not a number\n", b"78\n", b"79,A,1,extra,fields\n", b'80,"A,5\n', b'81,A",5\n', b'"82,A,5\n', b"\n",
        b"83,\xe9\xff,1\n", b"84,A,1\r\n", b"85,A\x00,1\n", b"86," + b"x" * 3_000_000 + b",1\n", b'""",,"\n', b",,,\n",
    ]  # fmt: skip
    lines = good.encode().splitlines(keepends=True)
    for line in odd:
        path.write_bytes(b"".join([*lines[:20], line, *lines[20:]]))
        spoiled = ask(backend)
        gaps = [
            abs(spoiled.get(key, (0, 0, 0))[2] - clean.get(key, (0, 0, 0))[2]) for key in spoiled.keys() | clean.keys()
        ]
        assert sum(gaps) <= 1, line[:20]
    path.write_text(good + "77,A,not a number\n")
    assert ask(backend)[("A",)] == (51, 12500, 51)


def test_open_quotes_are_refused_when_a_csv_file_is_protected(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text('id,note\n1,"fine"\n2,"two\nlines"\n3,"fine, too"\n')
    with pytest.raises(SourceError, match="a quote is not closed"):
        open_source(path, types={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",ward,cost\n0,A,1\n1,B,2\n", "Column 1 of visits.csv has no name"),
        ("id,ward,\n1,A,\n2,B,\n", "Column 3 of visits.csv has no name"),
        ("id,,\n1,A,2\n2,B,3\n", "Column 2 of visits.csv has no name"),
        ("id, ward\n1, A\n2, B\n", "column 2 of visits.csv, ' ward', has spaces"),
        ("id,cost\n1,2\n2\n3,4\n", "the same fields in every line"),
        ("id;cost\n1;2\n2;3;4\n3\n", "the same fields in every line"),
    ],
)
def test_a_csv_file_that_is_read_as_other_columns_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Row numbers without a name, spaces after commas and short lines would each give another table."""
    path = tmp_path / "visits.csv"
    path.write_text(text)
    with pytest.raises(SourceError, match=message):
        open_source(path, types={})


def test_a_csv_file_is_settled_once(tmp_path: Path) -> None:
    """When the format is known, no row is read before a question, and a changed header is refused."""
    path = tmp_path / "visits.csv"
    path.write_text("id;day;at\n1;31/12/2023;31/12/2023 10:00:00\n2;01/02/2024;01/02/2024 11:30:00\n")
    settled = open_source(path, types={})
    assert isinstance(settled.source, CsvFile)
    assert settled.source.format.delimiter == ";"
    assert settled.kinds() == {"id": Kind.INTEGER, "day": Kind.DATE, "at": Kind.TIMESTAMP}
    cells = ask(
        settled, "SELECT day, COUNT(*) AS n FROM visits WHERE at > TIMESTAMP '2024-01-01 00:00:00' GROUP BY day"
    )
    assert cells == {(dt.date(2024, 2, 1),): (1, 1)}
    path.write_bytes(b"id;day;at\n\xff\xfe\n")
    again = open_source(path, types=dict(settled.source.columns), format=settled.source.format)
    assert again.kinds() == settled.kinds()
    path.write_text("day;id;at\n31/12/2023;1;\n")
    with pytest.raises(SourceError, match="another order"):
        again.kinds()


def test_csv_fields_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text('"id","ward"\n1,"A, b"\n2,"say ""hi"""\n3,""\n4,\n')
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert set(ask(open_source(path, types={}), question)) == {("A, b",), ('say "hi"',), (None,)}


def test_compressed_csv(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv.gz"
    path.write_bytes(gzip.compress(b"id,ward,cost\n1,A,2.5\n"))
    assert ask(open_source(path, types={})) == {("A",): (1, 250, 1)}


def test_csv_types_can_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("id;code\n1;7\n2;8\n")
    assert open_source(path, types={}).kinds() == {"id": Kind.INTEGER, "code": Kind.INTEGER}
    declared = open_source(path, types={"code": Kind.TEXT})
    assert declared.kinds() == {"id": Kind.INTEGER, "code": Kind.TEXT}
    with pytest.raises(DescriptionError, match="'cod'"):
        open_source(path, types={"cod": Kind.TEXT})


def test_only_the_named_file_is_read(tmp_path: Path) -> None:
    """A path is neither a pattern nor a partition."""
    for name, rows in {"v[12].parquet": 3, "v1.parquet": 1, "v*.parquet": 2, "ward=Z/id=7/v.parquet": 4}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"id": range(rows), "ward": ["A"] * rows, "cost": [1.0] * rows})
        pq.write_table(table, path)
        assert ask(open_source(path, types={})) == {("A",): (rows, 100 * rows, rows)}
    for name, rows in {"c[12].csv": 3, "c1.csv": 1}.items():
        (tmp_path / name).write_text("id,ward,cost\n" + "".join(f"{row},A,1.0\n" for row in range(rows)))
        assert ask(open_source(tmp_path / name, types={})) == {("A",): (rows, 100 * rows, rows)}


def test_values_that_cannot_be_read_are_found_at_admission(tmp_path: Path) -> None:
    bad = pa.array([b"fine", b"\xff\xfe"], pa.binary()).view(pa.string())
    table = pa.table({"id": [1, 2], "ward": bad})
    pq.write_table(table, tmp_path / "bad.parquet")
    for source in (table, tmp_path / "bad.parquet"):
        with pytest.raises(SourceError, match="'ward'"):
            open_source(source, types={}).verify()
    open_source(VISITS, types={}).verify()


def test_rows_are_never_printed() -> None:
    assert "Ж" not in repr(open_source(VISITS, types={}))


def test_other_objects_and_files_are_refused(tmp_path: Path) -> None:
    fake = tmp_path / "fake.parquet"
    fake.write_text("patient 4711, HIV")
    with pytest.raises(SourceError, match="cannot be read as a Parquet file") as failure:
        open_source(fake, types={}).kinds()
    assert "4711" not in str(failure.value)
    with pytest.raises(SourceError, match="There is no file at"):
        open_source(tmp_path / "missing.parquet", types={})
    with pytest.raises(SourceError, match=r"does not read; it reads Parquet \(\.parquet, \.pq\), CSV .*rename it"):
        open_source(Path(__file__), types={})
    with pytest.raises(SourceError, match="of type list"):
        open_source([1, 2], types={})  # type: ignore[arg-type]
    headless = tmp_path / "headless.csv"
    headless.write_bytes(b"\x00\x01\x02\xff\xfe")
    with pytest.raises(SourceError, match="CSV file in UTF-8 with a header"):
        open_source(headless, types={})


@pytest.mark.parametrize(
    ("name", "reader"), [("a.xlsx", "read_excel"), ("a.XLS", "read_excel"), ("a.json", "read_json")]
)
def test_files_of_other_programs_are_refused_with_a_way_to_convert_them(tmp_path: Path, name: str, reader: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(SourceError, match=rf"{name} is in a format.*pandas\.{reader}\('{name}'\)\.to_parquet"):
        open_source(tmp_path / name, types={})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            pd.DataFrame({"id": [1, 2], "x": [1, "a"]}),
            "The column 'x' of the DataFrame holds values of different types",
        ),
        (pd.DataFrame([[1, 2, 3]], columns=["id", "a", "a"]), "Two columns are named 'a'"),
        (pd.Series([1, 2]), r"Expected a table, got an object of type Series.*\.to_frame\(\)"),
        (pl.Series([1, 2]), r"Expected a table, got an object of type Series.*\.to_frame\(\)"),
        ({"id": [1]}, r"of type dict\. Convert it, for example with pyarrow\.table"),
    ],
)
def test_what_is_wrong_with_a_table_in_memory_is_named(source: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(source, types={})


@pytest.mark.parametrize("header", ["id,age,age", "id,age,Age"])
def test_a_header_with_the_same_name_twice_is_refused_by_that_name(tmp_path: Path, header: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(f"{header}\n1,2,3\n2,3,4\n")
    wrong = (
        "Two columns are named 'age'" if header.endswith("age") else "'age' and 'Age' differ only in upper and lower"
    )
    with pytest.raises(SourceError, match=wrong):
        open_source(path, types={})


# One column as numbers


NUMBERS = pa.table(
    {
        "id": pa.array(range(6), pa.int64()),
        "cost": pa.array([10.5, None, float("nan"), float("inf"), -1e300, 0.1], pa.float64()),
    }
)


@pytest.fixture(params=["parquet", "csv", "arrow"])
def numbers(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    match request.param:
        case "parquet":
            pq.write_table(NUMBERS, tmp_path / "numbers.parquet")
            return open_source(tmp_path / "numbers.parquet", types={})
        case "csv":
            pyarrow.csv.write_csv(NUMBERS, tmp_path / "numbers.csv")
            return open_source(tmp_path / "numbers.csv", types={})
    return open_source(NUMBERS, types={})


def test_a_column_in_the_order_of_its_rows(numbers: Backend) -> None:
    assert numbers.size() == 6
    assert numbers.read(Numbers("cost", 7.5), salt=0).tolist() == [10.5, 7.5, 7.5, float("inf"), -1e300, 0.1]
    assert numbers.read(Numbers("id", 0.0), salt=0).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_many_rows_stay_in_their_order() -> None:
    many = pa.table({"x": pa.array(range(500_000), pa.int64())})
    found = open_source(many, types={}).read(Numbers("x", 0.0), salt=0)
    assert (found[1:] > found[:-1]).all()


def test_reading_a_column_fails_in_one_way_only(tmp_path: Path) -> None:
    pq.write_table(NUMBERS, tmp_path / "numbers.parquet")
    backend = open_source(tmp_path / "numbers.parquet", types={})
    (tmp_path / "numbers.parquet").write_bytes(b"PAR1")
    with pytest.raises(BackendFailure, match=r"withheld.*nothing was spent"):
        backend.size()  # before the charge
    with pytest.raises(BackendFailure, match=r"withheld.*the charge stands"):
        backend.read(Numbers("cost", 0.0), salt=0)


def test_a_damaged_csv_file_fails_in_the_same_way(tmp_path: Path) -> None:
    """The header is read before the charge; the damage is after the header."""
    path = tmp_path / "numbers.csv.gz"
    path.write_bytes(gzip.compress(b"cost,id\n1.5,1\n"))
    backend = open_source(path, types={})
    path.write_bytes(gzip.compress(b"cost,id\n1.5,1\n")[:-8] + bytes(8))  # a wrong checksum
    with pytest.raises(BackendFailure, match=r"withheld.*nothing was spent"):
        backend.size()
    with pytest.raises(BackendFailure, match=r"withheld.*the charge stands") as failure:
        backend.read(Numbers("cost", 0.0), salt=0)
    assert failure.value.__context__ is None


# Names that DuckDB takes for one


def as_source(table: pa.Table, form: str, folder: Path) -> pa.Table | Path:
    match form:
        case "parquet":
            pq.write_table(table, folder / "t.parquet")
            return folder / "t.parquet"
        case "csv":
            pyarrow.csv.write_csv(table, folder / "t.csv")
            return folder / "t.csv"
    return table


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize(("one", "other"), [("w", "w"), ("W", "w"), ("ward é", "WARD é"), ("\u00c4x", "\u00c4X")])
def test_names_that_differ_in_case_alone_are_refused(form: str, one: str, other: str, tmp_path: Path) -> None:
    table = pa.table([[1, 2], [3, 4], [5, 6]], names=["id", one, other])
    wrong = "Two columns are named 'w'" if one == other else "upper and lower case"
    with pytest.raises(SourceError, match=wrong):
        open_source(as_source(table, form, tmp_path), types={}).kinds()
    with pytest.raises(SourceError, match=wrong):
        protect(as_source(table, form, tmp_path), unit=Row(), name="t", accept_types=True)


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize(
    ("one", "other"), [("Ж", "ж"), ("É", "é"), ("K", "\u212a"), ("ſ", "s"), ("ß", "SS"), ("İ", "i")]
)
def test_names_that_duckdb_tells_apart_answer_for_themselves(form: str, one: str, other: str, tmp_path: Path) -> None:
    """DuckDB folds the case of ASCII letters only. If that changes, one column would answer for the other."""
    backend = open_source(
        as_source(pa.table([[1, 2], [3, 4], [5, 6]], names=["id", one, other]), form, tmp_path), types={}
    )
    assert list(backend.kinds()) == ["id", one, other]
    for name, people in ((one, 2), (other, 0)):
        assert ask(backend, f'SELECT COUNT(*) AS n FROM visits WHERE "{name}" < 5')[()][0] == people


# Who can be a person

REALS = pa.array([0.0, -0.0, 1.5], pa.float64())
REAL_UNITS = {
    "float": REALS,
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), REALS),
    "run-end": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), REALS),
    "list": pa.array([[0.0], [-0.0], [1.5]]),
    "large list": pa.array([[0.0], [-0.0], [1.5]], pa.large_list(pa.float64())),
    "fixed-size list": pa.array([[0.0], [-0.0], [1.5]], pa.list_(pa.float32(), 1)),
    "list of lists": pa.array([[[0.0]], [[-0.0]], [[1.5]]]),
    "list of structs": pa.array([[{"a": 0.0}], [{"a": -0.0}], [{"a": 1.5}]]),
    "struct": pa.array([{"a": 0.0}, {"a": -0.0}, {"a": 1.5}]),
    "map": pa.array([[("a", 0.0)], [("a", -0.0)], [("a", 1.5)]], pa.map_(pa.string(), pa.float64())),
    "union": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [REALS]),
    "decimal": pa.array([Decimal("0.5")] * 3, pa.decimal128(5, 1)),
}
OTHER_UNITS = {
    "list of integers": pa.array([[1], [2], [3]]),
    "list of decimals": pa.array([[Decimal(1)]] * 3, pa.list_(pa.decimal128(5, 0))),
    "list of timestamps": pa.array([[dt.datetime.fromisoformat("2024-01-01")]] * 3),
    "interval": pa.array([dt.timedelta(1)] * 3),
}
GOOD_UNITS = {
    "integer": pa.array([1, 1, 2]),
    "text": pa.array(["a", "a", "b"]),
    "dictionary of text": pa.array(["a", "a", "b"]).dictionary_encode(),
    "decimal without fraction": pa.array([Decimal(1), Decimal(1), Decimal(2)], pa.decimal128(20, 0)),
    "bytes": pa.array([b"a", b"a", b"b"]),
    "bytes of one length": pa.array([b"a", b"a", b"b"], pa.binary(1)),
    "uuid": pa.array([bytes(16), bytes(16), bytes(range(16))], pa.uuid()),
}


@pytest.mark.parametrize("what", [*REAL_UNITS, *OTHER_UNITS])
def test_a_unit_that_can_hold_a_real_number_is_refused(what: str) -> None:
    table = pa.table({"id": (REAL_UNITS | OTHER_UNITS)[what]})
    with pytest.raises(DescriptionError, match="cannot identify a person"):
        protect(table, name="t", unit="id", max_groups=1, max_rows_per_group=1)
    assert protect(table, name="t", unit=Row()).table.columns[0].name == "id"  # as an ordinary column it may stay


@pytest.mark.parametrize("what", GOOD_UNITS)
def test_other_units_are_people(what: str, tmp_path: Path) -> None:
    table = pa.table({"id": GOOD_UNITS[what]})
    for source in (table, as_source(table, "parquet", tmp_path)):
        protect(source, name="t", unit="id", max_groups=1, max_rows_per_group=1)
        assert ask(open_source(source, types={}), "SELECT COUNT(DISTINCT id) AS n FROM visits")[()] == (2, 2)
