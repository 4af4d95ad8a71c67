"""What every backend must satisfy, with every source and for every kind of reading.

A new source is one entry in `SOURCES`, a new kind of reading one in `READINGS`. The laws are those that
`sitr.backends.reading` proves; the same checks refute backends that are wrong on purpose.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, get_args

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sitr.backends.backend import Backend
from sitr.backends.csv import CsvFile
from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.duckdb_dialect import PORTABLE, DuckDBDialect
from sitr.backends.duckdb_table import DuckDBTable
from sitr.backends.folder import ParquetFolder
from sitr.backends.packed.choose import hashes, lowest
from sitr.backends.postgres import Postgres, open_table
from sitr.backends.postgres_dialect import PortablePostgresDialect
from sitr.backends.reading import FewGroups, FewInTotal, FewRows, Histories, Listing, Reading, Rows, Totals, tree
from sitr.backends.several import SeveralTables
from sitr.backends.sources import ArrowRows, ParquetFile, Source
from sitr.backends.spark import Spark
from sitr.backends.values import CellNumber, EachPerson, EachRow, Flag, Granules, Key
from sitr.dataset.cells import Categories, Even, Grid, Rule
from sitr.dataset.csv_format import CsvFormat
from sitr.dataset.database import located
from sitr.dataset.file_table import FileTable
from sitr.dataset.schema import Column, Kind, Quantised, Table, describe
from sitr.errors import BackendFailure, QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey, bound
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.stability import stability
from sitr.questions.aggregate.term import Term
from sitr.questions.histogram.tally import Tally
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.synthetic.axes import axes
from sitr.questions.synthetic.diary import Diary, diary
from sitr.questions.synthetic.sheet import sheet
from sitr.questions.tables.question import tables_question
from sitr.questions.tables.records import Records
from sitr.sensitivity.bounded import bounded
from sitr.sensitivity.in_total import in_total
from tests import postgres
from tests.laws import walk

SCHEMA = pa.schema([("id", pa.string()), ("ward", pa.string()), ("cost", pa.float64()), ("days", pa.int64())])
KINDS = {"id": Kind.TEXT, "ward": Kind.TEXT, "cost": Kind.REAL, "days": Kind.INTEGER}
NAN, INF = math.nan, math.inf
Part = Sequence[tuple[str | None, float | None, int | None]]
"""The rows of one person: ward, cost, days."""

PEOPLE: dict[str | None, Part] = {
    "many copies": [("A", 4.0, 1)] * 300,
    "many groups": [(ward, cost, days) for ward in "ABCDEFG" for cost in (0.25, 4.0) for days in range(6)],
    "twins but one": [("A", 1.0, 1)] * 40 + [("A", 1.25, 1)],
    "no values": [(None, None, None)] * 9,
    "odd values": [("A", value, 2**62) for value in (NAN, INF, -INF, -0.0, 0.0, 1e308, -1e308, 5e-324, None)],
    "' OR 1=1 --": [("B'", 2.0, -(2**62)), ('B"', 2.0, 0), ("\\", 2.0, 1), ("B'", 2.0, -(2**62))],
    "سِتر": [("Ж", -2.0, 5)] * 5 + [("ж", 5.0, 5)] * 5,
    "one row": [("A", 3.0, 3)],
}


def arrow(people: dict[str | None, Part], *, backwards: bool = False) -> pa.Table:
    rows = [(person, *row) for person, part in people.items() for row in part]
    columns = list(zip(*(rows[::-1] if backwards else rows), strict=True)) or [()] * 4
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def in_memory(table: pa.Table, _: Path) -> DuckDB:
    return DuckDB(ArrowRows(table))


def in_database(table: pa.Table, path: Path) -> DuckDB:
    with duckdb.connect(path) as engine:
        engine.register("given", table)
        engine.execute("CREATE OR REPLACE TABLE visits AS FROM given")
    return DuckDB(DuckDBTable(FileTable(path, "visits")))


def in_parquet(table: pa.Table, path: Path) -> DuckDB:
    pq.write_table(table, path)
    return DuckDB(ParquetFile(path))


def in_folder(table: pa.Table, path: Path) -> DuckDB:
    """Half of the rows in each of two files."""
    if path.is_file():  # the test of a lost file
        path.unlink()
    path.mkdir(exist_ok=True)
    middle = len(table) // 2
    for name, part in (("a.parquet", table.slice(0, middle)), ("b.parquet", table.slice(middle))):
        pq.write_table(part, path / name)
    return DuckDB(ParquetFolder(path))


def in_csv(table: pa.Table, path: Path) -> DuckDB:
    pyarrow.csv.write_csv(table, path)
    return DuckDB(CsvFile(path, CsvFormat(), tuple(KINDS.items())))


def in_postgres(table: pa.Table, _: Path) -> Postgres:
    postgres.load(table, "laws")
    return open_table(located(postgres.server().url(), "laws"))


SOURCES: dict[str, Callable[[pa.Table, Path], Backend]] = {
    "ArrowRows": in_memory,
    "ParquetFile": in_parquet,
    "DuckDBTable": in_database,
    "ParquetFolder": in_folder,
    "CsvFile": in_csv,
    "Postgres": in_postgres,
}
FILES = ("ParquetFile", "CsvFile")
SERVERS = ("Postgres",)
"""Sources that are backends of their own."""


READERS = {"by statement": Reader(packs=False), "in passes": Reader(memory=2_000)}
"""Other ways to read the same rows than the usual one, which packs all of them at once where a tree allows it."""


@pytest.fixture(params=[*SOURCES, *READERS])
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pa.Table], Backend]:
    """Puts rows where the source reads them; the path is always the same."""
    if request.param in READERS:
        return lambda table: replace(in_memory(table, Path()), reader=READERS[request.param])
    return lambda table: SOURCES[request.param](table, tmp_path / "rows")


def described(
    relation: Relation = Relation.ADD_REMOVE, *, known: bool = False, rows: bool = False, total: int | None = None
) -> Table:
    return describe(
        "visits",
        kinds=KINDS,
        unit=Row() if rows else Person("id"),
        relation=relation,
        max_groups=None if rows else 2,
        max_rows_per_group=None if rows else 3,
        max_rows=total,
        bounds={"cost": (-2, 5), "days": (-1, 9)},
        granularity={"cost": 0.25},
        keys={"ward": ["A", "B'", "\\", "Ж", None]} if known else {},
    )


def asked(question: str, **more: Any) -> Callable[[Relation], BoundedQuery]:
    return lambda relation: bound(parse(question), described(relation, **more))


def tallied(relation: Relation, total: int | None = None) -> Tally:
    table = described(relation, total=total)
    cost = Even(table.columns[2], Fraction(-1), Fraction(4), 5, Rule.DROP)
    return Tally.of(table, Grid((cost, Categories(table.columns[1], ("A", "B'", "\\"), Rule.CELL))))


def recorded(relation: Relation) -> Records:
    """Cells on two axes, a number that is added up, and whether there is one."""
    wanted = [("ward", "days"), "ward"]
    return tables_question(
        described(relation, known=True), wanted, bins={"days": 3}, measures=["count", "mean(cost)"]
    ).reading()


def kept_together(relation: Relation, order: str | None = None) -> Diary:
    """At most three rows of each person, one after another."""
    table = described(relation, known=True)
    wanted = axes(table, columns=["ward", "days"], bins={"days": 3})
    return diary(table, sheet(table, wanted, rows_per_person=3), order=order)


def centred(relation: Relation) -> BoundedQuery:
    """Two sums of the same column around different centres, and one that no row can raise."""
    query = bound(parse("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"), described(relation))
    (column,) = query.columns
    (term,) = column.terms
    assert isinstance(term, Term)
    terms = (replace(term, centre=6), replace(term, centre=-3), replace(term, centre=30))
    return replace(query, columns=(replace(column, terms=terms),))


READINGS: dict[str, Callable[[Relation], Reading]] = {
    "centred": centred,
    "count": asked("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
    "sums": asked("SELECT ward, days, SUM(cost) AS s, COUNT(cost) AS n, COUNT(*) AS m FROM visits GROUP BY ward, days"),
    "public keys": asked("SELECT ward, SUM(cost) AS s, SUM(days) AS d FROM visits GROUP BY ward", known=True),
    "people": asked("SELECT ward, COUNT(DISTINCT id) AS p FROM visits WHERE cost > 0 OR days = 1 GROUP BY ward"),
    "one group": asked("SELECT SUM(cost) AS s, COUNT(DISTINCT id) AS p FROM visits WHERE NOT ward LIKE 'B_'"),
    "rows": asked("SELECT ward, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY ward", rows=True),
    "tally": tallied,
    "in total": asked(
        "SELECT ward, SUM(cost) AS s, COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM visits GROUP BY ward", total=4
    ),
    "tally in total": lambda relation: tallied(relation, total=4),
    "categories": lambda relation: Tally.of(described(relation), described(relation).columns[1]),
    "sheet": lambda relation: sheet(
        described(relation, known=True), axes(described(relation, known=True), columns=["ward", "cost"], bins=4)
    ),
    "diary": kept_together,
    "diary in order": lambda relation: kept_together(relation, order="days"),
    "records": recorded,
    "numbers": lambda _: Numbers("cost", 7.5),
}
BOUNDED = [name for name in READINGS if name not in ("rows", "numbers")]
"""Readings in which a person, not a row, is protected."""
SALTS = (0, 12345, 2**63 - 1)

Sums = Counter[tuple[Any, ...]]
"""What was read, as integers by group (or cells) and column, so that parts can be added."""


def summed(found: Any) -> Sums:
    if isinstance(found, dict):
        each = ((key, place, n) for key, row in found.items() for place, n in enumerate(_row(row)))
        return Counter({(key, place): n for key, place, n in each if n})
    return Counter((tuple(row), 0) for row in np.reshape(found, (len(found), -1)).tolist())


def read(backend: Backend, reading: Reading, salt: int) -> Sums:
    """What a backend reads. Of a person's rows together, the steps: the number of a person says nothing."""
    found: Any = backend.read(reading, salt=salt)
    return summed(reading.steps(found) if isinstance(reading, Diary) else found)


def _row(row: Any) -> tuple[int, ...]:
    return row if isinstance(row, tuple) else (row,)


def plus(parts: Sequence[Sums]) -> dict[Any, int]:
    total: Sums = Counter()
    for part in parts:
        total.update(part)
    return {key: n for key, n in total.items() if n}


def reaches(reading: Reading) -> list[tuple[int, int]]:
    """The least and the most that a person adds to a group, for each column, by the caps of the tree."""
    proved = tree(reading)
    assert proved.caps.rows is not None
    if isinstance(proved, Listing | Histories):
        return [(0, proved.caps.rows)]
    found = []
    for value in proved.rows.values:
        match value:
            case Granules(_, to, centre):
                low, high = min(to.lower - centre, 0), max(to.upper - centre, 0)
                found.append((proved.caps.rows * low, proved.caps.rows * high))
            case EachRow() | Flag():
                found.append((0, proved.caps.rows))
            case EachPerson():
                found.append((0, 1))
    return [*found, (0, 1)]


# Nothing is missing


def test_no_source_is_missing() -> None:
    assert {each.__name__ for each in walk.like(Source)} == set(SOURCES) - set(SERVERS)


def test_no_backend_is_missing(tmp_path: Path) -> None:
    """Whatever reads rows and knows their number is a backend, complete or not; `hold` makes each of them."""
    made = {type(make(arrow(dict(PEOPLE)), tmp_path / name)) for name, make in SOURCES.items()}
    made |= {Spark, SeveralTables}  # the laws of Spark are in test_spark.py, and the other one asks the others
    assert made == walk.having(("read", "size")) == walk.like(Backend)


def test_no_kind_of_reading_is_missing() -> None:
    assert {type(make(Relation.ADD_REMOVE)) for make in READINGS.values()} == set(get_args(Reading))


# The caps


@pytest.mark.sampled(22)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_person_exceeds_the_caps(hold: Callable[[pa.Table], Backend], name: str) -> None:
    reading = READINGS[name](Relation.ADD_REMOVE)
    caps, limits, reached = tree(reading).caps, reaches(reading), 0
    assert caps.groups is not None
    for person, part in PEOPLE.items():
        own = read(hold(arrow({person: part})), reading, 77)
        if isinstance(tree(reading), Listing | Histories):
            assert own.total() <= limits[0][1]
            reached += own.total() == limits[0][1]
            continue
        assert len({key for key, _ in own}) <= caps.groups
        for place, value in enumerate(tree(reading).rows.values):
            kept = sum(n for (_, at), n in own.items() if at == place)
            assert caps.total is None or not isinstance(value, EachRow) or kept <= caps.total
        for (_, place), n in own.items():
            low, high = limits[place]
            assert low <= n <= high, (person, place)
            reached += n == high and place < len(limits) - 1
    assert reached  # the caps are as small as they can be


@pytest.mark.sampled(33)
@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("salt", SALTS)
def test_the_reading_is_the_sum_over_people_in_any_order(
    hold: Callable[[pa.Table], Backend], name: str, salt: int
) -> None:
    """No person's rows change what is kept of another, and rows without a person count nowhere."""
    reading, ids = READINGS[name](Relation.ADD_REMOVE), list(PEOPLE)
    halves = [{person: PEOPLE[person] for person in half} for half in (ids[::2], ids[1::2])]
    parts = [read(hold(arrow(dict(half))), reading, salt) for half in halves]
    everybody = arrow({None: PEOPLE["many groups"], **PEOPLE}, backwards=True)
    assert plus([read(hold(everybody), reading, salt)]) == plus(parts)


@pytest.mark.parametrize("name", READINGS)
@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.sampled(13)
def test_engines_read_the_same_integers(name: str, salt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the portable order, what two engines keep of each person is the same, to the last unit."""
    reading, rows = READINGS[name](Relation.ADD_REMOVE), arrow({None: PEOPLE["one row"], **PEOPLE})
    monkeypatch.setattr("sitr.backends.postgres.PostgresDialect", PortablePostgresDialect)
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", PORTABLE)
    server = read(in_postgres(rows, Path()), reading, salt)
    embedded = DuckDB(ArrowRows(rows), reader=Reader(packs=False))  # packed rows have an order of their own
    assert server == read(embedded, reading, salt)


@pytest.mark.parametrize("name", BOUNDED)
def test_the_salt_decides_what_is_kept(name: str) -> None:
    readings = [
        read(in_memory(arrow(dict(PEOPLE)), Path()), READINGS[name](Relation.ADD_REMOVE), salt) for salt in range(8)
    ]
    assert len({tuple(sorted(each.items(), key=repr)) for each in readings}) > 1


# The distances that questions are charged for are those that the tree proves


def distance_of(reading: Reading, place: int) -> Distance:
    if isinstance(reading, BoundedQuery):
        found = stability(reading, reading.terms[place])
        assert found is not None
        return found
    assert not isinstance(reading, Numbers)
    return reading.distance()


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", [name for name in READINGS if name != "numbers"])
def test_questions_and_trees_agree_on_the_distance(name: str, relation: Relation) -> None:
    reading = READINGS[name](relation)
    proved = tree(reading)
    cells = [key.cells for key in proved.rows.keys]
    most = None if None in cells or isinstance(proved, Listing | Histories) else math.prod(filter(None, cells))
    caps, values = proved.caps, (*proved.rows.values, EachPerson())
    assert caps.groups is not None
    assert caps.rows is not None
    for place in range(columns(reading)):
        low, high = reaches(reading)[place + first(reading)]
        expected = bounded(low=low, high=high, groups=caps.groups, cells=most, relation=relation)
        if caps.total is not None and not isinstance(values[place + first(reading)], EachPerson):
            each = {"low": low // caps.rows, "high": high // caps.rows, "each": caps.rows, "total": caps.total}
            expected = in_total(**each, groups=caps.groups, cells=most, relation=relation)
        assert distance_of(reading, place) == expected


def columns(reading: Reading) -> int:
    """How many columns a question measures; the number of people, the last one, is measured by some."""
    return len(reading.terms) if isinstance(reading, BoundedQuery) else 1


def first(reading: Reading) -> int:
    """The first column that is measured: where categories are not listed, people are counted, not rows."""
    return 1 if isinstance(reading, Tally) and reading.grid is None else 0


def moved(one: Sums, other: Sums, place: int) -> Distance:
    keys = [key for key in one.keys() | other.keys() if key[1] == place]
    gaps = [abs(one[key] - other[key]) for key in keys]
    return Distance(l1=sum(gaps), l2_squared=sum(gap**2 for gap in gaps), largest=max(gaps, default=0))


def within(gap: Distance, limit: Distance) -> bool:
    return gap.l1 <= limit.l1 and gap.l2_squared <= limit.l2_squared and gap.largest <= limit.largest


@pytest.mark.sampled(22)
@pytest.mark.parametrize("name", BOUNDED)
def test_neighbors_are_no_farther_apart_than_the_distance(hold: Callable[[pa.Table], Backend], name: str) -> None:
    rest: dict[str | None, Part] = {"one row": PEOPLE["one row"], "سِتر": PEOPLE["سِتر"]}
    variants = [part for who, part in PEOPLE.items() if who not in rest]
    reading = READINGS[name](Relation.ADD_REMOVE)
    found = [read(hold(arrow({**rest, "x": part})), reading, 9) for part in variants]
    without = read(hold(arrow(rest)), reading, 9)
    pairs = {
        Relation.ADD_REMOVE: [(one, without) for one in found],
        Relation.REPLACE_ONE: [(one, other) for one in found for other in found],
    }
    for relation, place in product(Relation, range(columns(reading))):
        limit = distance_of(READINGS[name](relation), place)
        for one, other in pairs[relation]:
            assert within(moved(one, other, place + first(reading)), limit)


# Errors


@pytest.mark.parametrize("name", READINGS)
def test_a_failure_has_one_text_and_quotes_nothing(
    hold: Callable[[pa.Table], Backend], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = hold(arrow(dict(PEOPLE)))
    ways = [f"sitr.backends.{module}" for module in ("duckdb.statement", "packed.passes.scan", "postgres.statement")]
    for way in ways:
        monkeypatch.setattr(way, lambda *_, **__: "SELECT CAST('patient 4711' AS INTEGER)")
    check_failure(lambda: backend.read(READINGS[name](Relation.ADD_REMOVE), salt=1))


@pytest.mark.parametrize("name", READINGS)
@pytest.mark.parametrize("damage", [b"PAR1 patient 4711 PAR1", None])
@pytest.mark.parametrize("source", FILES)
def test_a_lost_file_is_the_same_failure(name: str, damage: bytes | None, source: str, tmp_path: Path) -> None:
    """A CSV file cannot be damaged: whatever stands in it can be read."""
    backend = SOURCES[source](arrow(dict(PEOPLE)), tmp_path / "rows")
    place = tmp_path / "rows"
    place = place / "b.parquet" if place.is_dir() else place
    if damage is None:
        place.unlink()
        if place.parent != tmp_path:  # the files that are left are a table
            (place.parent / "a.parquet").unlink()
    elif source == "CsvFile":
        return
    else:
        place.write_bytes(damage)
    check_failure(lambda: backend.read(READINGS[name](Relation.ADD_REMOVE), salt=1))


def check_failure(read: Callable[[], Any]) -> None:
    with pytest.raises(BackendFailure) as failure:
        read()
    assert str(failure.value) == (
        "The data could not be read; the reason is withheld because it could quote the data. "
        "Check the data set itself; the charge stands, because the data were touched."
    )
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None  # an error that is only suppressed can still be reached


# What is wrong is caught


def test_a_tree_without_caps_cannot_be_built() -> None:
    ward = Key(GroupKey.column(Column("ward", Kind.TEXT)))
    rows = Rows("id", (ward,), (EachRow(),))
    for wrong in (rows, FewRows(rows, 3)):
        for node in (Totals, Listing):
            with pytest.raises(QuestionError, match="does not limit"):
                node(wrong)
    with pytest.raises(QuestionError, match="does not limit"):
        Totals(replace(rows, keys=()))
    assert Totals(FewRows(FewGroups(rows, 2), 3)).caps == Listing(FewRows(FewGroups(rows, 2), 3)).caps
    public = Key(GroupKey.column(Column("ward", Kind.TEXT, keys=("A", None))))
    assert Totals(FewRows(replace(rows, keys=(public, public)), 3)).caps.groups == 4
    assert Totals(FewRows(FewGroups(replace(rows, keys=(public, public)), 3), 3)).caps.groups == 3
    cells = CellNumber(Grid((Even(Column("x", Kind.REAL), Fraction(0), Fraction(1), 5),)))
    assert Totals(FewRows(replace(rows, keys=(cells,)), 3)).caps.groups == 6
    assert Totals(replace(rows, person=None)).caps.groups == 1
    in_all = Totals(FewInTotal(FewRows(rows, 3), 2)).caps  # two rows are in at most two groups
    assert (in_all.groups, in_all.rows, in_all.total) == (2, 2, 2)


class ForgetsThePerson(DuckDBDialect):
    """Chooses among everybody's rows."""

    def lowest(self, most: int, *, source: str, of: Any, by: str, owned: Any = None) -> str:  # noqa: ARG002
        return f"SELECT * FROM {source} QUALIFY count(*) OVER (ORDER BY {by}) <= {9 * most}"


class ForgetsTheCap(DuckDBDialect):
    def lowest(self, most: int, *, source: str, of: Any, by: str, owned: Any = None) -> str:
        return DuckDBDialect.lowest(self, most + 1, source=source, of=of, by=by, owned=owned)


class ForgetsToClamp(DuckDBDialect):
    def granules(self, expression: str, to: Quantised) -> str:
        return DuckDBDialect.granules(self, expression, replace(to, lower=2 * to.lower, upper=2 * to.upper))


@pytest.mark.parametrize(
    ("twin", "check"),
    [
        (ForgetsThePerson(), lambda: test_the_reading_is_the_sum_over_people_in_any_order(memory, "sums", 0)),
        (ForgetsThePerson(), lambda: test_the_reading_is_the_sum_over_people_in_any_order(memory, "sheet", 0)),
        (ForgetsTheCap(), lambda: test_no_person_exceeds_the_caps(memory, "sums")),
        (ForgetsTheCap(), lambda: test_no_person_exceeds_the_caps(memory, "tally")),
        (ForgetsTheCap(), lambda: test_no_person_exceeds_the_caps(memory, "sheet")),
        (
            ForgetsTheCap(),
            lambda: test_neighbors_are_no_farther_apart_than_the_distance(memory, "count"),
        ),
        (ForgetsToClamp(), lambda: test_no_person_exceeds_the_caps(memory, "public keys")),
    ],
)
def test_a_broken_twin_is_caught(
    twin: DuckDBDialect, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    monkeypatch.setattr("sitr.backends.duckdb.DUCKDB", twin)
    with pytest.raises(AssertionError):
        check()


def memory(table: pa.Table) -> Backend:
    return replace(in_memory(table, Path()), reader=READERS["by statement"])


def packed(table: pa.Table) -> Backend:
    return in_memory(table, Path())


def one_more(hashed: Any, sizes: Any, most: int) -> Any:
    """Forgets the cap."""
    return lowest(hashed, sizes, most + 1) if (sizes > most + 1).all() else np.ones(len(hashed), bool)


def by_position(rows: Any, key: Any, keyed: Any) -> Any:
    """Chooses by the place of a cell among those of other people."""
    return hashes(rows, key, keyed) ^ (np.arange(len(key), dtype=np.uint64) << np.uint64(60))


def by_number(self: Any, numbers: Any) -> Any:
    """Chooses by the number of a person in the order in which people were found."""
    del self
    return numbers.copy()


@pytest.mark.parametrize(
    ("where", "twin", "check"),
    [
        ("choose.lowest", one_more, lambda: test_no_person_exceeds_the_caps(packed, "centred")),
        ("choose.lowest", one_more, lambda: test_no_person_exceeds_the_caps(packed, "tally")),
        ("choose.lowest", one_more, lambda: test_neighbors_are_no_farther_apart_than_the_distance(packed, "count")),
        (
            "choose.hashes",
            by_position,
            lambda: test_the_reading_is_the_sum_over_people_in_any_order(packed, "centred", 0),
        ),
        (
            "arrange.People.of",
            by_number,
            lambda: test_the_reading_is_the_sum_over_people_in_any_order(packed, "centred", 0),
        ),
    ],
)
def test_a_broken_twin_of_packed_rows_is_caught(
    where: str, twin: Any, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    check()
    monkeypatch.setattr(f"sitr.backends.packed.{where}", twin)
    with pytest.raises(AssertionError):
        check()
