"""Where the unit is a person in a period, no backend reads a row of another period, for any kind of reading.

Neighbouring tables differ in the rows of one person in one period. So for a question about another period both must be
the same table: its exact numbers are compared, with the same salt. The same check refutes readings that are wrong on
purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends import statement
from sitr.backends.backend import Backend
from sitr.backends.duckdb import DuckDB
from sitr.backends.reading import Reading, tree
from sitr.backends.spark import Spark, SparkFrame, sent
from sitr.dataset.cells import Categories, Grid, Rule
from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import QuestionError
from sitr.neighbors.period import Length, Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.expressions.expression import Call, Literal, Name
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.view import both
from sitr.questions.histogram.tally import Tally
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.synthetic.axes import axes
from sitr.questions.synthetic.diary import Diary, diary
from sitr.questions.synthetic.sheet import sheet
from sitr.questions.tables.question import tables_question
from tests import spark
from tests.laws import test_backends as backends

Rows = list[tuple[str | None, date | None, str, int]]

MARCH: Rows = [
    *[("a", date(2026, 3, day), "A", day) for day in (1, 2, 31)],
    ("b", date(2026, 3, 15), "B", 7),
    *[("c", date(2026, 3, 20), ward, 9) for ward in "ABCDE"],
    (None, date(2026, 3, 3), "A", 1),
]
OTHERS: Rows = [
    *[("a", date(2026, 4, 1), "A", 5)] * 9,
    *[("b", date(2026, 2, 28), ward, 3) for ward in "ABCDE"],
    ("d", date(2025, 3, 15), "A", 9),
    ("d", None, "B", 9),
    ("e", date(9999, 12, 31), "B", 9),
    ("e", date(1, 1, 1), "B", 9),
]
"""The same people before and after March, others, and rows without a date."""


def arrow(rows: Rows, *, timed: bool) -> pa.Table:
    names, days, wards, costs = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    when = pa.timestamp("us") if timed else pa.date32()
    late = timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999)
    at = [None if day is None else datetime.combine(day, datetime.min.time()) + late if timed else day for day in days]
    return pa.table(
        {
            "id": pa.array(names, pa.string()),
            "day": pa.array(at, when),
            "ward": wards,
            "cost": pa.array(costs, pa.int64()),
        }
    )


def described(*, timed: bool = False, period: str = "2026-03") -> Table:
    unit = Person("id", Period("day", Length.MONTH))
    found = describe(
        "visits",
        kinds={
            "id": Kind.TEXT,
            "day": Kind.TIMESTAMP if timed else Kind.DATE,
            "ward": Kind.TEXT,
            "cost": Kind.INTEGER,
        },
        unit=unit,
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 9)},
        granularity={},
        keys={},
    )
    return replace(found, unit=replace(unit, period=unit.period and unit.period.named(period)))


SQL = {
    "a count": "SELECT COUNT(*) AS n FROM visits",
    "by key": "SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward",
    "people": "SELECT COUNT(DISTINCT id) AS n FROM visits",
    "others": "SELECT COUNT(DISTINCT cost) AS n, MEDIAN(cost) AS m FROM visits",
    "by date": "SELECT COUNT(*) AS n FROM visits WHERE day < DATE '2027-01-01'",
    "a list of people": "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM visits WHERE cost = 3)",
    "without a list": "SELECT COUNT(*) AS n FROM visits WHERE id NOT IN (SELECT id FROM visits WHERE cost = 3)",
    "per person": "SELECT SUM(CLAMP(n, 0, 20)) AS n FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id)",
    "put together": "SELECT COUNT(*) AS n FROM (SELECT id, cost FROM visits UNION ALL SELECT id, cost FROM visits)",
}


def readings(table: Table) -> dict[str, Reading]:
    grid = Grid((Categories(table.columns[2], ("A", "B"), Rule.CELL),))
    found: dict[str, Reading] = {name: bound(parse(sql), table) for name, sql in SQL.items()}
    drawn = axes(table, columns=["ward", "cost"], bins=4, keys={"ward": ["A", "B"]})
    many = tables_question(table, ["ward"], measures=["sum(cost)"], keys={"ward": ["A", "B"]}, rows_per_person=3)
    return found | {
        "a tally": Tally.of(table, grid),
        "a sheet": sheet(table, drawn, rows_per_person=3),
        "a diary": diary(table, sheet(table, drawn, rows_per_person=3), order="cost"),
        "tables": many.reading(),
    }


def plain(found: Any) -> Any:
    """What was read, in no order."""
    return sorted(map(tuple, found.tolist())) if isinstance(found, np.ndarray) else found


def in_spark(table: pa.Table, _: Path) -> Spark:
    return Spark(SparkFrame(sent(spark.session(), table)))


PLACES: dict[str, Callable[[pa.Table, Path], Backend]] = {
    "memory": backends.in_memory,
    "by statement": lambda table, path: replace(
        backends.in_memory(table, path), reader=backends.READERS["by statement"]
    ),
    "in passes": lambda table, path: replace(backends.in_memory(table, path), reader=backends.READERS["in passes"]),
    "Parquet": backends.in_parquet,
    "DuckDB": backends.in_database,
    "PostgreSQL": backends.in_postgres,
}
EVERY = [*SQL, "a tally", "a sheet", "a diary", "tables"]


@pytest.fixture(params=PLACES)
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pa.Table], Backend]:
    return lambda table: PLACES[request.param](table, tmp_path / "rows")


def refuted(hold: Callable[[pa.Table], Backend], reading: Reading, *, timed: bool = False) -> bool:
    """Whether rows of other periods change what is read."""

    def found(rows: Rows) -> Any:
        read: Any = hold(arrow(rows, timed=timed)).read(reading, salt=7)
        return plain(reading.steps(read) if isinstance(reading, Diary) else read)

    return bool(found(MARCH) != found(MARCH + OTHERS))


@pytest.mark.parametrize("timed", [False, True])
def test_no_row_of_another_period_is_read(hold: Callable[[pa.Table], Backend], timed: bool) -> None:
    for name, reading in readings(described(timed=timed)).items():
        assert not refuted(hold, reading, timed=timed), name


@pytest.mark.slow
def test_no_row_of_another_period_is_read_on_spark(tmp_path: Path) -> None:
    for name in ("by key", "a list of people", "a sheet", "a diary", "tables"):
        assert not refuted(lambda table: in_spark(table, tmp_path), readings(described())[name]), name


def test_rows_of_the_period_itself_are_read(hold: Callable[[pa.Table], Backend]) -> None:
    """The law alone would hold for a reading of nothing."""
    few = {"2026-02": 2, "2026-03": 3 + 1 + 2, "2026-04": 4, "2025-03": 1, "2027-01": 0}  # at most four of each person
    for period, kept in few.items():
        reading = bound(parse("SELECT COUNT(*) AS n FROM visits WHERE ward <= 'B'"), described(period=period))
        everybody = hold(arrow(MARCH + OTHERS, timed=False)).read(reading, salt=7)
        assert next(iter(everybody.values()), (0,))[0] == kept, period


@pytest.mark.parametrize("name", EVERY)
def test_a_reading_of_all_rows_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(statement, "_within", lambda _, source, *__: source)
    assert refuted(lambda table: backends.in_memory(table, Path()), readings(described())[name])


def test_a_condition_on_the_outer_rows_alone_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of people would be made of all periods, so that somebody's rows of April decide about those of March."""
    monkeypatch.setattr(statement, "_within", lambda _, source, *__: source)

    def outer(name: str) -> bool:
        query = readings(described())[name]
        assert isinstance(query, BoundedQuery)
        first, after = described().period.ends  # type: ignore[union-attr]
        limits = (Call(">=", (Name("day"), Literal(first))), Call("<", (Name("day"), Literal(after))))
        view = query.view
        where = both(view.where, view.condition(Call("AND", limits)))
        return refuted(lambda table: backends.in_memory(table, Path()), replace(query, view=replace(view, where=where)))

    assert not outer("by key")
    assert outer("a list of people")


@pytest.mark.parametrize("name", EVERY)
def test_a_reading_without_a_named_period_has_no_tree(name: str) -> None:
    table = described()
    unnamed = replace(table, unit=Person("id", Period("day", Length.MONTH)))
    with pytest.raises(QuestionError, match="does not say which period it reads"):
        tree(readings(unnamed)[name])


def test_every_place_is_here() -> None:
    assert set(backends.READERS) <= PLACES.keys()
    assert isinstance(backends.in_memory(arrow(MARCH, timed=False), Path()), DuckDB)


def test_every_kind_of_reading_is_here() -> None:
    """A new kind must be read within a period too. Statistics are of data sets whose unit is a row, without periods."""
    assert {type(each) for each in readings(described()).values()} == {*get_args(Reading)} - {Numbers}
    assert sorted(readings(described())) == sorted(EVERY)
