from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sitr
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.frame import column, when
from sitr.questions.aggregate.functions.count import Count, count
from sitr.questions.aggregate.functions.sum import Sum, sum
from sitr.questions.aggregate.nodes import Named, Query
from sitr.questions.aggregate.sql import parse
from tests.oracles.expressions import keys

SQL = "SELECT COUNT(*) AS n FROM visits"


def where(sql: str):
    return parse(f"{SQL} WHERE {sql}").where


@pytest.mark.parametrize(
    ("call", "sql"),
    [
        (count(), "COUNT(*)"),
        (count("ward"), "COUNT(ward)"),
        (count(distinct="id"), "COUNT(DISTINCT id)"),
        (sum("cost"), "SUM(cost)"),
    ],
)
def test_aggregates_equal_their_sql(call, sql):
    frame = Query("visits", (Named("n", call),), keys("ward", "days"), (column("days") > 3).expression)
    assert frame == parse(f"SELECT ward, days, {sql} AS n FROM visits WHERE days > 3 GROUP BY ward, days")


@pytest.mark.parametrize(
    ("call", "sql"),
    [
        (column("days").count(), "COUNT(days)"),
        (column("id").n_unique(), "COUNT(DISTINCT id)"),
        ((column("cost") / 100).sum(), "SUM(cost / 100)"),
        (column("cost").mean(), "AVG(cost)"),
        (column("cost").median(), "MEDIAN(cost)"),
        (column("cost").quantile(0.9), "QUANTILE(cost, 0.9)"),
        (column("cost").min(), "MIN(cost)"),
        (column("cost").max(), "MAX(cost)"),
        (column("cost").var(), "VAR_SAMP(cost)"),
        (column("cost").std(ddof=0), "STDDEV_POP(cost)"),
        (when(column("days") > 1).then(1).otherwise(0).mean(), "AVG(CASE WHEN days > 1 THEN 1 ELSE 0 END)"),
        (column("cost").mean().filter(column("days") > 1), "AVG(cost) FILTER (WHERE days > 1)"),
    ],
)
def test_methods_of_columns_are_aggregates(call, sql):
    assert Query("visits", (Named("n", call),), (), None) == parse(f"SELECT {sql} AS n FROM visits")


@pytest.mark.parametrize("ddof", [2, -1, True, 1.0, None])
def test_other_divisors_of_a_variance_are_refused(ddof):
    with pytest.raises(QuestionError, match="0 or 1 for ddof"):
        column("cost").std(ddof=ddof)


def test_parts_of_times_have_their_names_in_polars():
    day = column("day")
    assert day.dt.truncate("1mo").text == day.dt.truncate("month").text == "DATE_TRUNC('month', day)"


def test_aggregates_are_told_apart():
    assert len({count(), count("id"), count(distinct="id"), Count(Name("ward")), Sum(Name("id"))}) == 5


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        (column("days") == 3, "days = 3"),
        (column("days") != 3, "days <> 3"),
        (column("days") != 3, "days != 3"),
        (column("days") < 3, "days < 3"),
        (column("days") <= 3, "days <= 3"),
        (column("days") > -3, "days > -3"),
        (column("days") >= 3, "days >= 3"),
        (column("days") > 3, "3 < days"),
        (column("days") <= 3, "3 >= days"),
        (column("days") == 3, "3 = days"),
        (column("cost") == 0.5, "cost = 0.5"),
        (column("urgent") == True, "urgent = TRUE"),  # noqa: E712
        (column("born") < date(2024, 1, 2), "born < DATE '2024-01-02'"),
        (column("seen") < datetime.fromisoformat("2024-01-02 03:04"), "seen < TIMESTAMP '2024-01-02 03:04:00'"),
        (column("ward").is_between("A", "B"), "ward BETWEEN 'A' AND 'B'"),
        (column("ward").is_in(["A", "B"]), "ward IN ('A', 'B')"),
        (column("ward").is_in(letter for letter in "AB"), "ward IN ('A', 'B')"),
        (column("ward").like("A%"), "ward LIKE 'A%'"),
        (column("ward").is_null(), "ward IS NULL"),
        (~column("ward").is_null(), "ward IS NOT NULL"),
        (~column("ward").is_in(["A"]), "ward NOT IN ('A')"),
        (~column("ward").like("A%"), "ward NOT LIKE 'A%'"),
        (~column("ward").is_between("A", "B"), "ward NOT BETWEEN 'A' AND 'B'"),
        (~(column("days") == 3), "NOT days = 3"),
        ((column("days") > 1) & (column("days") < 3), "days > 1 AND days < 3"),
        ((column("days") > 1) | (column("days") < 3), "days > 1 OR days < 3"),
        (column("days").is_between(1, 3) & (column("cost") > 2), "days BETWEEN 1 AND 3 AND cost > 2"),
        ((column("cost") > 2) & column("days").is_between(1, 3), "cost > 2 AND days BETWEEN 1 AND 3"),
        (
            (column("a") == 1) & (column("b") == 2) & (column("c") == 3) & (column("d") == 4),
            "a = 1 AND b = 2 AND c = 3 AND d = 4",
        ),
        (
            (column("a") == 1) | (column("b") == 2) & (column("c") == 3),
            "a = 1 OR b = 2 AND c = 3",
        ),
        (
            ((column("a") == 1) | (column("b") == 2)) & ~((column("c") == 3) | (column("d") == 4)),
            "(a = 1 OR b = 2) AND NOT (c = 3 OR d = 4)",
        ),
        (column("a b").is_null(), '"a b" IS NULL'),
        (column('a"b').is_null(), '"a""b" IS NULL'),
        (column("المدينة") == "مكة", "\"المدينة\" = 'مكة'"),
    ],
)
def test_conditions_equal_their_sql(condition, sql):
    assert condition.expression == where(sql)
    assert repr(condition.expression) == repr(where(sql))


leaves = st.sampled_from(
    [
        (column("days") == 3, "days = 3"),
        (column("ward").is_in(["A", "B"]), "ward IN ('A', 'B')"),
        (column("cost").is_between(1, 2.5), "cost BETWEEN 1 AND 2.5"),
        (column("ward").like("A_"), "ward LIKE 'A_'"),
        (column("born").is_null(), "born IS NULL"),
    ]
)
pairs = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(lambda two: (two[0][0] & two[1][0], f"({two[0][1]}) AND ({two[1][1]})")),
        st.tuples(parts, parts).map(lambda two: (two[0][0] | two[1][0], f"({two[0][1]}) OR ({two[1][1]})")),
        parts.map(lambda one: (~one[0], f"NOT ({one[1]})")),
    ),
    max_leaves=8,
)


@given(pairs)
def test_any_condition_equals_its_sql(pair):
    """Parentheses around the parts of one AND change nothing, neither in SQL nor in calls."""
    condition, sql = pair
    assert condition.expression == where(sql)


@pytest.mark.parametrize("values", ["AB", "", b"AB", 5, None])
def test_one_of_a_text_is_not_one_of_its_letters(values):
    with pytest.raises(QuestionError, match=r"a list of values, got .*is_in\(\[…\]\)"):
        column("ward").is_in(values)


def test_a_count_is_of_one_column():
    with pytest.raises(QuestionError, match="both 'ward' and distinct='id'"):
        count("ward", distinct="id")


def test_python_words_between_conditions_are_refused():
    one, two = column("a") == 1, column("b") == 2
    for wrong in (lambda: one and two, lambda: one or two, lambda: not one, lambda: 1 < column("a") < 3):
        with pytest.raises(TypeError, match="joined with &"):
            wrong()


def test_a_column_cannot_be_looked_up():
    """`==` makes a condition, so a set or a dict would find any column equal to any other."""
    with pytest.raises(TypeError):
        hash(column("a"))


@pytest.mark.parametrize(
    ("given", "got"), [(column("days"), "got days."), (column("days") / 7, "got days / 7."), ("days", "got 'days'.")]
)
def test_what_is_no_aggregate_is_quoted_as_it_was_written(tmp_path, given, got):
    data = sitr.protect(pa.table({"days": [1, 2]}), name="visits", unit=sitr.Row())
    with pytest.raises(QuestionError) as refused:
        data.budget(rho=1.0, ledger=tmp_path / "sitr.db").agg(given)
    assert f"Expected an aggregate, {got} Write agg(n=sitr.count()" in refused.value.message
