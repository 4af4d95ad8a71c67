"""What other databases let analysts write over aggregates is read as the question that it means."""

from __future__ import annotations

import pytest

from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import ForbiddenConstruct, QuestionError, SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.nodes import text

KINDS = {"id": Kind.INTEGER, "ward": Kind.TEXT, "age": Kind.INTEGER, "x": Kind.REAL, "d": Kind.TIMESTAMP}


def table(**other: Kind) -> Table:
    return describe(
        "visits", kinds=KINDS | other, unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
        max_rows_per_group=1, bounds={"age": (0, 90), "x": (0, 9), "d": ("2024-01-01", "2024-12-31")},
        granularity={"x": 0.5}, keys={"ward": ["A", "B"]},
    )  # fmt: skip


def bounded(sql: str, **other: Kind) -> BoundedQuery:
    return asked(sql, table(**other))


def selected(column: str, after: str = "") -> str:
    return text(bounded(f"SELECT ward, {column} FROM visits GROUP BY ward {after}").query)


SAME = {
    # names of columns further left
    "SUM(x) AS s, s / COUNT(*) AS m": "SUM(x) AS s, SUM(x) / COUNT(*) AS m",
    "SUM(x) AS s, COUNT(*) AS n, s / n AS m, m * 2 AS z": "SUM(x) AS s, COUNT(*) AS n, SUM(x) / COUNT(*) AS m, "
    "(SUM(x) / COUNT(*)) * 2 AS z",
    "COUNT(*) AS N, 100 * n / SUM(n) OVER () AS p": "COUNT(*) AS N, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS p",
    # casts
    "COUNT(*)::float / 2 AS v": "COUNT(*) / 2 AS v",
    "CAST(SUM(x) AS FLOAT64) AS v": "SUM(x) AS v",
    "CAST(SUM(x) AS NUMERIC) AS v": "SUM(x) AS v",
    "SUM(x)::int AS v": "ROUND(SUM(x)) AS v",
    "AVG(x)::numeric(10, 2) AS v": "ROUND(AVG(x), 2) AS v",
    "ROUND(AVG(x)::numeric, 1) AS v": "ROUND(AVG(x), 1) AS v",
    "CAST(CAST(AVG(x) AS DOUBLE) AS INTEGER) AS v": "ROUND(AVG(x)) AS v",
    "SAFE_CAST(AVG(x::float) AS FLOAT64) AS v": "AVG(CAST(x AS DOUBLE)) AS v",
    # shares, quotients and quantiles
    "RATIO_TO_REPORT(COUNT(*)) OVER () AS v": "COUNT(*) / SUM(COUNT(*)) OVER () AS v",
    "DIV0(SUM(x), COUNT(*)) AS v": "COALESCE(SUM(x) / COUNT(*), 0) AS v",
    "COUNT_IF(DIV0(x, age) > 1) AS v": "COUNT_IF(CASE WHEN age = 0 THEN 0 ELSE x / age END > 1) AS v",
    "COUNT_IF(DIV0NULL(x, age) > 1) AS v": "COUNT_IF(CASE WHEN age = 0 OR age IS NULL THEN 0 "
    "ELSE x / age END > 1) AS v",
    "SUM(x::numeric(10, 1)) AS v": "SUM(ROUND(CAST(x AS DOUBLE), 1)) AS v",
    "SUM(CAST(x AS DECIMAL(10))) AS v": "SUM(ROUND(CAST(x AS DOUBLE), 0)) AS v",
    "SUM(CAST(x AS DECIMAL)) AS v": "SUM(CAST(x AS DOUBLE)) AS v",
    "AVG(x)::numeric(10) AS v": "ROUND(AVG(x)) AS v",
    "APPROX_QUANTILES(x, 4)[OFFSET(1)] AS v": "QUANTILE(x, 0.25) AS v",
    "APPROX_QUANTILES(x, 100)[SAFE_OFFSET(95)] AS v": "QUANTILE(x, 0.95) AS v",
    "APPROX_QUANTILES(x, 2)[ORDINAL(2)] AS v": "QUANTILE(x, 0.5) AS v",
    "APPROX_QUANTILES(x, 2)[OFFSET(0)] AS v": "MIN(x) AS v",
    "APPROX_QUANTILES(x, 2)[OFFSET(2)] AS v": "MAX(x) AS v",
    # names in backticks, and columns of one name
    "SUM(`x`) AS `odd name`": 'SUM(x) AS "odd name"',
    "COUNT(*), COUNT_IF(x > 1), COUNT_IF(x > 2)": "COUNT(*) AS count, COUNT_IF(x > 1) AS count_if, "
    "COUNT_IF(x > 2) AS count_if_2",
}


@pytest.mark.parametrize("written", SAME)
def test_it_is_the_question_that_it_means(written: str) -> None:
    assert selected(written) == selected(SAME[written])


def test_the_place_of_a_column_is_the_one_of_its_own_name() -> None:
    query = bounded("SELECT COUNT(*), COUNT_IF(x > 1), COUNT_IF(x > 2) FROM visits ORDER BY 3").query
    assert [each.name for each in query.aggregates] == ["count", "count_if", "count_if_2"]
    assert query.after == bounded("SELECT COUNT(*), COUNT_IF(x > 2) AS count_if_2 FROM visits ORDER BY 2").query.after


MONTHS = "SELECT DATE_TRUNC('month', d) AS m, MIN(d) AS d FROM visits GROUP BY DATE_TRUNC('month', d)"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(
            (f"SELECT SUM(age) AS age, age // 10 AS decade FROM visits GROUP BY {listed}",
             "SELECT age // 10 AS decade, SUM(age) AS age FROM visits GROUP BY age // 10")
            for listed in ("age // 10", "decade", "2", "ALL")
        ),
        *(
            (f"SELECT MIN(d) AS d, DATE_TRUNC('month', d) AS m FROM visits GROUP BY {listed}", MONTHS)
            for listed in ("DATE_TRUNC('month', d)", "m", "2", "ALL")
        ),
        ("SELECT SUM(age) AS age, age AS k FROM visits GROUP BY ROLLUP (2)",
         "SELECT age AS k, SUM(age) AS age FROM visits GROUP BY ROLLUP (age)"),
        ("SELECT ward, SUM(x) AS s, s / 2 AS m FROM visits GROUP BY ward",
         "SELECT ward, SUM(x) AS s, SUM(x) / 2 AS m FROM visits GROUP BY ward"),
        ("SELECT ward, SUM(x) AS s, s / COUNT(*) AS m FROM visits GROUP BY ALL",
         "SELECT ward, SUM(x) AS s, SUM(x) / COUNT(*) AS m FROM visits GROUP BY ward"),
    ],
)  # fmt: skip
def test_a_key_is_not_computed_from_an_aggregate_of_the_same_name(written: str, meant: str) -> None:
    """DuckDB reads all of these so: the column of the table comes first."""
    assert text(bounded(written).query) == text(bounded(meant).query)


def test_a_name_that_only_an_aggregate_has_is_no_key() -> None:
    with pytest.raises(SitrError, match="'s'"):
        bounded("SELECT SUM(x) AS s, s / 2 AS m FROM visits GROUP BY ALL")


def test_keys_and_names_of_other_columns_are_left_alone() -> None:
    sql = "SELECT ward AS count, COUNT(*), COUNT(*), SUM(x) AS count_2 FROM visits GROUP BY ward"
    assert [each.name for each in bounded(sql).query.aggregates] == ["count_3", "count_4", "count_2"]


def test_order_by_all_is_the_order_of_all_columns() -> None:
    assert selected("COUNT(*) AS n", "ORDER BY ALL DESC") == selected("COUNT(*) AS n", "ORDER BY 1 DESC, 2 DESC")


def test_aggregates_of_having_and_order_by_can_be_cast_too() -> None:
    found = selected("COUNT(*) AS n", "HAVING AVG(x)::numeric(9, 1) > 2 ORDER BY SUM(x)::float")
    assert found == selected("COUNT(*) AS n", "HAVING ROUND(AVG(x), 1) > 2 ORDER BY SUM(x)")


def test_a_key_comes_before_an_aggregate_of_its_name() -> None:
    sql = "SELECT COUNT(*) AS ward, ward AS k FROM visits GROUP BY ward"
    assert bounded(sql).query.group_by[0].name == "k"


OTHER = {
    "s / COUNT(*) AS m, SUM(x) AS s": "outside of an aggregate",  # further right
    "SUM(x) AS s, SUM(s + 1) AS t": "needs bounds",  # inside an aggregate, s is a column of rows
    "SUM(x) AS s, visits.s + 1 AS t": "GROUP BY",  # a column of the table
}


@pytest.mark.parametrize("column", OTHER)
def test_other_names_are_columns_of_rows(column: str) -> None:
    with pytest.raises(SitrError):
        selected(column)
    with pytest.raises(SitrError, match=OTHER[column]):
        bounded(f"SELECT ward, {column} FROM visits GROUP BY ward", s=Kind.INTEGER)


@pytest.mark.parametrize(
    "column",
    [
        "COUNT(*)::text",
        "SUM(x)::date",
        "APPROX_QUANTILES(x, 4)[OFFSET(5)]",
        "APPROX_QUANTILES(x, 4)[ORDINAL(0)]",
        "APPROX_QUANTILES(x, 0)[OFFSET(0)]",
        "APPROX_QUANTILES(x, 4)[age]",
        "CAST(COUNT(*) AS GEOGRAPHY)",
    ],
)
def test_what_has_no_such_meaning_is_refused(column: str) -> None:
    with pytest.raises((ForbiddenConstruct, QuestionError)):
        selected(column)


def test_columns_with_names_of_their_own_must_differ() -> None:
    with pytest.raises(QuestionError, match="the same name"):
        selected("COUNT(*) AS n, SUM(x) AS n")


@pytest.mark.parametrize("key", ["(age / 10) * 10", "age / 10 * 10 + 5", "age / 10"])
def test_a_key_that_divides_whole_numbers_is_whole(key: str) -> None:
    found = bounded(f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k").keys[0]
    assert found == bounded(f"SELECT {key.replace('/', '//')} AS k, COUNT(*) AS n FROM visits GROUP BY k").keys[0]
    assert found.keys is not None
    assert len(found.keys) == 11  # 0, 10, … 90, and no value


@pytest.mark.parametrize("key", ["x / 2", "age * 1.5", "age / 10 + x"])
def test_other_keys_stay_real_and_are_refused(key: str) -> None:
    with pytest.raises(QuestionError, match="type real"):
        bounded(f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k")


def test_the_dates_of_months_are_as_few_as_the_months() -> None:
    months = bounded("SELECT DATE_TRUNC('month', d)::date AS m, COUNT(*) AS n FROM visits GROUP BY m").keys[0]
    times = bounded("SELECT CAST(DATE_TRUNC('month', d::date) AS TIMESTAMP) AS m, COUNT(*) AS n FROM visits GROUP BY m")
    for key in (months, times.keys[0]):
        assert key.keys is not None
        assert [each is None for each in key.keys] == [False] * 12 + [True]
    days = bounded("SELECT d::date AS m, COUNT(*) AS n FROM visits GROUP BY m").keys[0]
    assert days.keys is not None
    assert len(days.keys) == 367
