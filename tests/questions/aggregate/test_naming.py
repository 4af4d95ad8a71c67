"""Times keep their zone in the rows that are made from a table, so that no local time is taken for one in UTC."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB, open_source
from sitr.backends.opening import in_zones
from sitr.backends.public import public_table
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Kind, Table, describe
from sitr.dataset.zone import zone
from sitr.errors import QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.catalog import Catalog

# In the last hour of March 30 in UTC it is already March 31 in Paris, where the clocks change an hour later.
MOMENTS = [datetime(2024, 3, 30, 20, 30) + timedelta(hours=hour) for hour in range(12)]  # noqa: DTZ001
UTC = pa.array(MOMENTS, pa.timestamp("us")).cast(pa.int64()).cast(pa.timestamp("us", "UTC"))
PLAIN = pa.array(MOMENTS, pa.timestamp("us"))
ROWS = pa.table({"p": range(12), "q": [row % 3 for row in range(12)], "paris": UTC, "utc": UTC, "plain": PLAIN})
DAYS = pa.table({"n": range(3), "word": ["a", "b", "c"]})
KINDS = {"p": Kind.INTEGER, "q": Kind.INTEGER, "paris": Kind.ZONED, "utc": Kind.ZONED, "plain": Kind.TIMESTAMP}


def table() -> Table:
    return describe(
        "v",
        kinds=KINDS,
        unit=Person("p"),
        relation=Relation.ADD_REMOVE,
        max_groups=12,
        max_rows_per_group=12,
        bounds={},
        granularity={},
        keys={},
        zones={"paris": "Europe/Paris"},
    )


def hours(source: str, moment: str) -> Counter[int]:
    """The number of rows of each hour of a time."""
    described, days = table(), ArrowRows(DAYS, "public days")
    catalog = Catalog(described, ("days",), lambda name: public_table(name, days))
    sql = f"SELECT EXTRACT(hour FROM {moment}) AS h, COUNT(*) AS n FROM {source} GROUP BY 1"
    backend = open_source(ROWS, types={})
    assert isinstance(backend, DuckDB)
    read = in_zones(backend, described)
    assert isinstance(read, DuckDB)
    question = asked(sql, described, catalog=catalog)
    found: dict[Any, Any] = DuckDB(read.source, public={"days": days}, zones=read.zones).read(question, salt=1)
    return Counter({key: numbers[0] for (key,), numbers in found.items() if numbers[0]})


def expected(name: str, *, times: int = 1, since: timedelta = timedelta(0)) -> Counter[int]:
    return Counter({each.hour: 0 for each in MOMENTS}) + Counter(
        (zone(name).local(each) + since).hour for each in MOMENTS for _ in range(times)
    )


VIEWS = {
    "table": "v",
    "sub-query": "(SELECT p, paris, utc FROM v) AS s",
    "join with itself": "v JOIN (SELECT p AS other FROM v) AS o ON v.p = o.other",
    "other side of a join": "(SELECT p AS own FROM v) AS o JOIN v ON o.own = v.p",
    "outer join": "(SELECT p AS own FROM v) AS o LEFT JOIN v ON o.own = v.p",
    "public join": "v JOIN days ON v.q = days.n",
    "those among others": "(SELECT * FROM v WHERE p IN (SELECT p FROM v)) AS s",
    "latest of each person": "(SELECT p, MAX(paris) AS paris, MIN(utc) AS utc FROM v GROUP BY p) AS s",
    "keys of each person": "(SELECT p, paris, utc, COUNT(*) AS n FROM v GROUP BY p, paris, utc) AS s",
    "union": "(SELECT p, paris, utc FROM v WHERE q < 2 UNION ALL SELECT p, paris, utc FROM v WHERE q >= 2) AS s",
    "distinct": "(SELECT DISTINCT p, paris, utc FROM v) AS s",
    "choice": "(SELECT p, COALESCE(paris, TIMESTAMP '2024-01-01 00:00:00') AS paris, "
    "CASE WHEN q > 1 THEN utc ELSE DATE_TRUNC('minute', utc) END AS utc FROM v) AS s",
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_time_in_utc_stays_one(view: str) -> None:
    assert hours(VIEWS[view], "utc AT TIME ZONE 'America/New_York'") == expected("America/New_York")
    assert hours(VIEWS[view], "utc AT TIME ZONE 'UTC'") == expected("UTC")


@pytest.mark.parametrize("view", VIEWS)
def test_a_time_in_paris_is_never_taken_for_one_in_utc(view: str) -> None:
    """It was, after a join: the hours of New York were those of one or two hours later."""
    for wrong in ("paris AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York'", "paris AT TIME ZONE 'America/New_York'"):
        with pytest.raises(QuestionError, match="is read in Europe/Paris, where one time can be two moments"):
            hours(VIEWS[view], wrong)
    assert hours(VIEWS[view], "paris") == hours(VIEWS[view], "paris AT TIME ZONE 'Europe/Paris'")
    assert hours(VIEWS[view], "paris") == expected("Europe/Paris")


IN_A_ZONE = (
    "DATETIME({}, '{}')",
    "CONVERT_TIMEZONE('{1}', {0})",
    "TIMESTAMP_TRUNC({}, HOUR, '{}')",
    "DATE_TRUNC({}, HOUR, '{}')",
    "DATE_TRUNC('hour', {}, '{}')",
    "DATETIME_TRUNC(DATETIME({}, '{}'), HOUR)",
)


@pytest.mark.parametrize("text", IN_A_ZONE)
def test_a_zone_inside_of_a_function_is_the_zone_of_the_clock(text: str) -> None:
    """As BigQuery, PostgreSQL and Snowflake write it. DATE_TRUNC forgot its zone, and gave the hours of another one."""
    assert hours("v", text.format("utc", "America/New_York")) == expected("America/New_York") != expected("UTC")
    assert hours("v", text.format("paris", "Europe/Paris")) == expected("Europe/Paris")
    with pytest.raises(QuestionError, match="is read in Europe/Paris, where one time can be two moments"):
        hours("v", text.format("paris", "America/New_York"))


def test_the_day_in_a_zone() -> None:
    """DATE(at, zone), EXTRACT(DATE FROM …) and a format with a zone; the day begins at midnight there."""
    for day in ("DATE(utc, 'Asia/Tokyo')", "EXTRACT(DATE FROM DATETIME(utc, 'Asia/Tokyo'))"):
        later = hours("v", f"CASE WHEN {day} > DATE '2024-03-30' THEN utc END")
        assert later == expected("UTC") != hours("v", "CASE WHEN DATE(utc) > DATE '2024-03-30' THEN utc END")
    text = "FORMAT_TIMESTAMP('%H', utc, 'Asia/Tokyo')"
    assert hours("v", f"CASE WHEN {text} = '05' THEN utc END")[20] == 1
    assert hours("v", f"CASE WHEN {text} = '20' THEN utc END")[20] == 0


@pytest.mark.parametrize("text", ["DATE(paris, '{}')", "TIMESTAMP_TRUNC(paris, DAY, '{}')"])
def test_no_other_zone_is_proposed(text: str) -> None:
    """The proposal took the clock of Paris for that of UTC, and its days were wrong."""
    with pytest.raises(QuestionError) as refused:
        hours("v", text.format("Asia/Tokyo"))
    assert "UTC" not in str(refused.value.instead)


COMPUTED = (
    "DATE_TRUNC('hour', paris)",
    "(paris + INTERVAL 1 HOUR)",
    "COALESCE(paris, TIMESTAMP '2024-01-01 00:00:00')",
    "NULLIF(paris, TIMESTAMP '2024-01-01 00:00:00')",
    "CASE WHEN q = 1 THEN paris END",
)


@pytest.mark.parametrize("moment", COMPUTED)
def test_what_is_computed_from_a_time_in_paris_is_in_paris(moment: str) -> None:
    with pytest.raises(QuestionError, match="is read in Europe/Paris"):
        hours("v", f"{moment} AT TIME ZONE 'UTC'")
    in_utc = moment.replace("paris", "utc")
    moved = hours("v", f"{in_utc} AT TIME ZONE 'Asia/Kolkata'")
    assert moved == hours("v", f"CAST({in_utc} AS TIMESTAMP) AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Kolkata'")


def test_the_time_of_an_hour_later_is_in_the_same_zone() -> None:
    found = hours("v", "(utc + INTERVAL 1 HOUR) AT TIME ZONE 'Asia/Tokyo'")
    assert found == expected("Asia/Tokyo", since=timedelta(hours=1)) != expected("Asia/Tokyo")


@pytest.mark.parametrize("other", ["utc", "plain", "DATE_TRUNC('hour', utc)", "paris AT TIME ZONE 'Europe/Paris'"])
def test_a_column_has_one_zone(other: str) -> None:
    both = f"(SELECT p, paris AS t FROM v UNION ALL SELECT p, {other} AS t FROM v) AS s"
    for source, moment in ((both, "t"), ("v", f"COALESCE(paris, {other}) AT TIME ZONE 'UTC'")):
        with pytest.raises(QuestionError, match=r"has times in different zones: Europe/Paris, (UTC|without a zone)"):
            hours(source, moment)


def test_what_is_no_time_has_no_zone() -> None:
    """So times can be compared in a sub-query too."""
    compared = "paris > plain AS later, DATE_DIFF('hour', plain, paris) AS apart"
    keys = f"(SELECT p, {compared}, MAX(utc) AS utc FROM v GROUP BY p, later, apart) AS s"
    for source in (keys, f"(SELECT DISTINCT p, utc, {compared} FROM v) AS s"):
        assert hours(source, "utc") == expected("UTC")
        assert not hours(f"{source} WHERE apart > 14", "utc")


@pytest.mark.parametrize(
    "compared",
    [
        "paris = utc",
        "utc BETWEEN DATE_TRUNC('day', paris) AND plain",
        "DATE_DIFF('hour', utc + INTERVAL 1 DAY, paris) > 0",
        "CASE WHEN plain < paris THEN paris END <> plain AT TIME ZONE 'UTC'",
    ],
)
def test_moments_of_different_zones_are_not_compared(compared: str) -> None:
    """The same moment was an hour later in the column that is read in Paris."""
    with pytest.raises(QuestionError, match=r"different zones: (UTC, Europe/Paris|Europe/Paris, UTC)"):
        hours(f"v WHERE {compared}", "utc")


def test_times_on_the_same_clocks_are_compared() -> None:
    same = "v WHERE utc AT TIME ZONE 'Europe/Paris' = paris AND DATE_DIFF('hour', plain, CAST(utc AS TIMESTAMP)) = 0"
    assert hours(same, "paris") == expected("Europe/Paris")


def test_times_without_a_zone_can_be_put_together() -> None:
    """And whoever says that they are in UTC is believed."""
    local = "SELECT p, paris AT TIME ZONE 'Europe/Paris' AS t FROM v UNION ALL SELECT p, plain AS t FROM v"
    assert hours(f"({local}) AS s", "t") == expected("Europe/Paris") + expected("UTC")
    with pytest.raises(QuestionError, match="'t' has no time zone"):
        hours(f"({local}) AS s", "t AT TIME ZONE 'Asia/Tokyo'")
    twice = "(SELECT p, plain AS t FROM v UNION ALL SELECT p, plain AS t FROM v) AS s"
    found = hours(twice, "t AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'")
    assert found == expected("Asia/Tokyo", times=2)


def test_literals_with_an_offset_follow_the_zone_through_a_join() -> None:
    join = "v JOIN (SELECT p AS other FROM v) AS o ON v.p = o.other"
    source = join + " WHERE v.{} >= TIMESTAMPTZ '2024-03-31 00:00:00+00:00'"
    assert sum(hours(source.format("paris"), "paris").values()) == 8
    assert sum(hours(source.format("utc"), "utc").values()) == 8
