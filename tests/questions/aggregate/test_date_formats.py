"""Dates as text: the same texts as Python's strftime writes, with public keys where these follow."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, describe
from sitr.errors import ForbiddenConstruct
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.date_formats import FORMATS, part_of_format

FIRST = datetime(2023, 11, 28, 23, 58, 50)  # noqa: DTZ001
TIMES = [FIRST + timedelta(hours=7 * row, seconds=61 * row) for row in range(200)]
ROWS = pa.table({"id": list(range(200)), "t": TIMES, "d": [time.date() for time in TIMES]})
TABLE = describe(
    "visits",
    kinds={"id": Kind.INTEGER, "t": Kind.TIMESTAMP, "d": Kind.DATE},
    unit=Person("id"),
    relation=Relation.ADD_REMOVE,
    max_groups=1,
    max_rows_per_group=1,
    bounds={},
    granularity={},
    keys={},
)


def grouped(key: str, where: str = "") -> BoundedQuery:
    return asked(f"SELECT {key} AS k, COUNT(*) AS n FROM visits{where} GROUP BY 1", TABLE)


def counts(query: BoundedQuery) -> dict[Any, int]:
    found = open_source(ROWS, types={}).read(query, salt=3)
    return {key: numbers[0] for (key,), numbers in found.items() if numbers[0]}


def plainly(pattern: str, values: list[Any]) -> dict[str, int]:
    texts = [value.strftime(pattern) for value in values]
    return {text: texts.count(text) for text in texts}


@pytest.mark.parametrize("pattern", FORMATS)
def test_the_text_is_that_of_strftime(pattern: str) -> None:
    assert counts(grouped(f"STRFTIME(t, '{pattern}')")) == plainly(pattern, TIMES)


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        ("TO_CHAR(d, 'YYYY-MM')", "%Y-%m"),
        ("TO_CHAR(d, 'YYYY-MM-DD')", "%Y-%m-%d"),
        ("TO_CHAR(d, 'Mon')", "%b"),
        ("TO_CHAR(d, 'FMDay')", "%A"),
        ("DATE_FORMAT(d, '%Y')", "%Y"),
        ("FORMAT_DATE('%m', d)", "%m"),
        ("STRFTIME('%d', d)", "%d"),
        ("DAYNAME(d)", "%A"),
        ("MONTHNAME(d)", "%B"),
    ],
)
def test_other_spellings(call: str, pattern: str) -> None:
    assert counts(grouped(call)) == plainly(pattern, ROWS["d"].to_pylist())


def test_keys_are_public_where_they_follow() -> None:
    assert grouped("TO_CHAR(d, 'MM')").keys[0].keys == (*(f"{month:02}" for month in range(1, 13)), None)
    assert len(grouped("DAYNAME(d)").keys[0].keys or ()) == 8
    months = grouped("TO_CHAR(d, 'YYYY-MM')", " WHERE d BETWEEN '2023-11-01' AND '2024-02-10'")
    assert months.keys[0].keys == ("2023-11", "2023-12", "2024-01", "2024-02")
    assert grouped("TO_CHAR(d, 'YYYY-MM')").keys[0].keys is None


@pytest.mark.parametrize("pattern", ["%d/%m/%Y", "YYYY-Q", "", "%", "month", "%Y%m%d%H%M%S%f%z"])
def test_other_formats_are_refused_with_a_question_that_works(pattern: str) -> None:
    with pytest.raises(ForbiddenConstruct, match="cannot be written in the format") as failure:
        grouped(f"TO_CHAR(d, '{pattern}')")
    assert failure.value.instead is not None
    assert f"DATE_TRUNC('{part_of_format(pattern)}', d)" in failure.value.instead
    asked(failure.value.instead, TABLE)


def test_a_proposal_keeps_a_format_that_is_known() -> None:
    with pytest.raises(Exception, match="no column 'x'") as failure:
        asked("SELECT TO_CHAR(d, 'YYYY-MM') AS k, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY 1", TABLE)
    assert "TO_CHAR(d, 'YYYY-MM')" in (failure.value.instead or "")  # type: ignore[attr-defined]


def test_days_before_and_after_the_calendar_are_missing() -> None:
    odd = pa.array([0, 2**31 - 9, -(2**31) + 9], pa.int32()).view(pa.date32())
    query = grouped("TO_CHAR(d, 'YYYY-MM-DD')")
    source = open_source(pa.table({"id": [1, 2, 3], "t": pa.array([None] * 3, pa.timestamp("us")), "d": odd}), types={})
    assert {key for (key,) in source.read(query, salt=1)} == {"1970-01-01", None}
    assert date(1970, 1, 1).isoformat() == "1970-01-01"
