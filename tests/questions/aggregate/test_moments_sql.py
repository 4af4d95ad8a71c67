"""Functions of other databases are read as the expressions that they mean, and give the numbers of those databases."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, describe
from sitr.errors import ForbiddenConstruct, QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.nodes import text

FIRST = datetime(2024, 1, 30, 22, 15)  # noqa: DTZ001
TIMES = [FIRST + timedelta(hours=5 * row) for row in range(60)]
DAYS = [date(2024, 2, 27) + timedelta(row % 7) for row in range(60)]
X = [None if row % 4 == 0 else row for row in range(60)]
ROWS = pa.table({"id": list(range(60)), "t": TIMES, "d": DAYS, "x": pa.array(X, pa.int64())})
TABLE = describe(
    "visits",
    kinds={"id": Kind.INTEGER, "t": Kind.TIMESTAMP, "d": Kind.DATE, "x": Kind.INTEGER},
    unit=Person("id"),
    relation=Relation.ADD_REMOVE,
    max_groups=1,
    max_rows_per_group=1,
    bounds={"x": (0, 60)},
    granularity={},
    keys={},
)


def counts(key: str) -> dict[Any, int]:
    query = asked(f"SELECT {key} AS k, COUNT(*) AS n FROM visits v GROUP BY 1", TABLE)
    assert asked(text(query.query), TABLE).query == query.query  # the text that is kept says the same
    found = open_source(ROWS, types={}).read(query, salt=3)
    return {key: numbers[0] for (key,), numbers in found.items() if numbers[0]}


def tallied(values: list[Any]) -> dict[Any, int]:
    return {value: values.count(value) for value in values}


MEANT: dict[str, list[Any]] = {
    "DATE_TRUNC(d, MONTH)": [day.replace(day=1) for day in DAYS],
    "DATE_TRUNC(DATE(t), MONTH)": [time.date().replace(day=1) for time in TIMES],
    "DATE_DIFF(d, DATE(t), DAY)": [(day - time.date()).days for day, time in zip(DAYS, TIMES, strict=True)],
    "DATE_DIFF(DATE(t), d, DAY)": [(time.date() - day).days for day, time in zip(DAYS, TIMES, strict=True)],
    "DATE_TRUNC('month', t)::date": [time.date().replace(day=1) for time in TIMES],
    "CAST(DATE_TRUNC('month', d) AS TIMESTAMP)": [
        datetime(day.year, day.month, 1)  # noqa: DTZ001
        for day in DAYS
    ],
    "DATE_TRUNC(v.d, MONTH)": [day.replace(day=1) for day in DAYS],
    "DATE_TRUNC('month', d)": [day.replace(day=1) for day in DAYS],
    "DATE_DIFF(d, DATE '2024-02-01', DAY)": [(day - date(2024, 2, 1)).days for day in DAYS],
    "TIMESTAMPDIFF(DAY, t, d)": [(day - time.date()).days for day, time in zip(DAYS, TIMES, strict=True)],
    "DATE_DIFF('day', d, t)": [(time.date() - day).days for day, time in zip(DAYS, TIMES, strict=True)],
    "DATEDIFF(month, t, d)": [day.month - time.month for day, time in zip(DAYS, TIMES, strict=True)],
    "DATEADD(day, -3, d)": [day - timedelta(3) for day in DAYS],
    "DATE_PART(month, d)": [day.month for day in DAYS],
    "LAST_DAY(d)": [date(2024, 2, 29) if day.month == 2 else date(2024, 3, 31) for day in DAYS],
    "IFF(x > 9, 'many', 'few')": ["many" if x is not None and x > 9 else "few" for x in X],
    "NVL2(x, 'known', 'unknown')": ["unknown" if x is None else "known" for x in X],
    "ZEROIFNULL(x)": [x or 0 for x in X],
    "DATEDIFF(d, DATE '2024-02-01')": [(day - date(2024, 2, 1)).days for day in DAYS],
    "DATEDIFF(t, d)": [(time.date() - day).days for day, time in zip(DAYS, TIMES, strict=True)],
    "ISNULL(x)": [x is None for x in X],
    "ISNULL(x, 0)": [x or 0 for x in X],
    "DECODE(x, NULL, 'none', 3, 'three', 'other')": [
        "none" if x is None else "three" if x == 3 else "other" for x in X
    ],
    "DECODE(x, 3, 'three')": ["three" if x == 3 else None for x in X],
}


@pytest.mark.parametrize("call", MEANT)
def test_a_function_of_another_database_means_the_same_here(call: str) -> None:
    assert counts(call) == tallied(MEANT[call])


@pytest.mark.parametrize(
    "call", ["TIMESTAMP_DIFF(t, t, HOUR)", "IFF(x > 9, 'many')", "DATEADD(day, x, d)", "NVL2(x, 1)", "DECODE(x, 3)"]
)
def test_what_would_mean_something_else_is_refused(call: str) -> None:
    with pytest.raises((ForbiddenConstruct, QuestionError)):
        counts(call)


def test_a_column_with_the_name_of_a_part_is_that_column() -> None:
    """DATE_TRUNC(day, month) is DuckDB's: the first is the part."""
    kinds = {"id": Kind.INTEGER, "month": Kind.DATE}
    table = describe(
        "t", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1, max_rows_per_group=1,
        bounds={}, granularity={}, keys={},
    )  # fmt: skip
    written = text(asked("SELECT DATE_TRUNC('year', month) AS k, COUNT(*) AS n FROM t GROUP BY 1", table).query)
    assert text(asked("SELECT DATE_TRUNC(year, month) AS k, COUNT(*) AS n FROM t GROUP BY 1", table).query) == written


def test_moments_in_a_question_need_an_offset_and_a_column_of_moments() -> None:
    zoned = describe(
        "visits",
        kinds={"id": Kind.INTEGER, "t": Kind.ZONED},
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=1,
        max_rows_per_group=1,
        bounds={},
        granularity={},
        keys={},
        zones={"t": "Europe/Paris"},
    )
    sql = "SELECT COUNT(*) AS n FROM visits WHERE t >= {}"
    found = asked(sql.format("TIMESTAMPTZ '2024-06-30 22:30:00+00:00'"), zoned)
    assert found == asked(sql.format("TIMESTAMP '2024-06-30 22:30:00+00:00'"), zoned)
    assert found.where == asked(sql.format("TIMESTAMP '2024-07-01 00:30:00'"), zoned).where
    assert found.where != asked(sql.format("TIMESTAMP '2024-06-30 22:30:00'"), zoned).where
    assert asked(text(found.query), zoned).query == found.query
    with pytest.raises(ForbiddenConstruct):
        asked(sql.format("TIMESTAMPTZ '2024-06-30 22:30:00'"), zoned)
    with pytest.raises(QuestionError, match="without a time zone"):
        asked(sql.format("TIMESTAMPTZ '2024-06-30 22:30:00+00:00'"), TABLE)
