from __future__ import annotations

import math
from datetime import UTC, date, datetime
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sitr.dataset.schema import Column, Kind, Quantised, describe
from sitr.errors import DescriptionError, QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.expressions.expression import COMPARISONS, Call, Expression, Literal, Name
from sitr.questions.aggregate.expressions.typed import column_typed
from sitr.questions.aggregate.frame import column as frame_column
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.nodes import Named, Query, text
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import DEEPEST
from tests.oracles.expressions import compare, is_null, like, negated, one_of

COUNT = "SELECT COUNT(*) AS n FROM visits"


# Names


def test_names_are_resolved_in_any_case(visits):
    table = visits(keys={"ward": ["A"]})
    sql = """SELECT WARD, COUNT(Days) AS N, COUNT(DISTINCT ID) AS people, SUM(Cost) FROM VISITS
        WHERE NOT (Ward = 'a' OR WARD IS NULL) AND warD IN ('b') AND wArd LIKE 'c' GROUP BY WARD"""
    found = bound(parse(sql), table)
    same = parse(
        """SELECT ward, COUNT(days) AS N, COUNT(DISTINCT id) AS people, SUM(cost) AS "sum_Cost" FROM visits
        WHERE NOT (ward = 'a' OR ward IS NULL) AND ward IN ('b') AND ward LIKE 'c' GROUP BY ward"""
    )
    assert found.query == same
    assert found == bound(same, table)
    assert found.where is not None
    assert found.where.expression == same.where


def test_difficult_names_are_found():
    names = ["select", "a b", 'a"b', "المدينة", "a.b", "1", "*"]
    kinds = {"id": Kind.INTEGER} | dict.fromkeys(names, Kind.TEXT)
    described: dict[str, Any] = {"bounds": {}, "granularity": {}, "keys": {}, "max_groups": 1, "max_rows_per_group": 1}
    table = describe("my visits", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, **described)
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        sql = f'SELECT {quoted}, COUNT({quoted}) AS "n" FROM "my visits" WHERE {quoted} <> \'x\' GROUP BY {quoted}'
        found = bound(parse(sql), table)
        assert [key.name for key in found.keys] == [name]
        assert found.where is not None
        assert found.where.expression == compare(name, "<>", "x")
        assert found.columns[0].aggregate == Count(Name(name))
        assert [term.of for term in found.terms] == [column_typed(table.column(name))]


@pytest.mark.parametrize("where", ["FROM", "SELECT", "SUM", "GROUP BY", "WHERE"])
def test_two_columns_that_differ_in_case_want_the_exact_name(where):
    kinds = {"id": Kind.INTEGER, "city": Kind.INTEGER, "City": Kind.INTEGER}
    described: dict[str, Any] = {"granularity": {}, "keys": {}, "max_groups": 1, "max_rows_per_group": 1}
    bounds = {"city": (0, 1), "City": (0, 2)}
    table = describe("t", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, bounds=bounds, **described)
    forms = {
        "FROM": "SELECT COUNT({}) AS n FROM T",
        "SELECT": "SELECT COUNT({}) AS n FROM t",
        "SUM": "SELECT SUM({}) AS n FROM t",
        "GROUP BY": "SELECT {0}, COUNT(*) AS n FROM t GROUP BY {0}",
        "WHERE": "SELECT COUNT(*) AS n FROM t WHERE {} = 1",
    }
    assert bound(parse(forms[where].format("city")), table) != bound(parse(forms[where].format("City")), table)
    with pytest.raises(UnknownName, match="'CITY'"):
        bound(parse(forms[where].format("CITY")), table)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT wards, COUNT(*) FROM visits GROUP BY wards",
        "SELECT COUNT(wards) FROM visits",
        "SELECT COUNT(DISTINCT wards) FROM visits",
        "SELECT SUM(wards) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE wards = 'A'",
        "SELECT COUNT(*) FROM visits WHERE NOT (id = 1 AND (wards IN ('A') OR id = 2))",
        "SELECT COUNT(*) FROM visits WHERE wards LIKE 'A'",
        "SELECT COUNT(*) FROM visits WHERE wards IS NULL",
    ],
)
def test_unknown_columns_are_named(ask, sql):
    with pytest.raises(UnknownName, match=r"The table visits has no column 'wards'\. Did you mean 'ward'\?$"):
        ask(sql)


@pytest.mark.parametrize(
    "table", ["visit", "'visits.parquet'", '"visits.csv"', "'/data/visits'", "'https://host/visits'", '" visits"', '""']
)
def test_other_tables_and_files_are_unknown(ask, table):
    with pytest.raises(UnknownName, match=r"This budget knows no table '.*', only visits\. Write FROM visits\."):
        ask(f"SELECT COUNT(*) FROM {table}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n, SUM(days) AS n FROM visits",
        "SELECT COUNT(*) AS count, COUNT(*) AS count FROM visits",
        "SELECT ward, COUNT(*) AS ward FROM visits GROUP BY ward",
        "SELECT ward, Ward, COUNT(*) AS n FROM visits GROUP BY ward, Ward",
        "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS n_low FROM visits",
        "SELECT COUNT(*) AS n_high, COUNT(DISTINCT id) AS n FROM visits",
    ],
)
def test_names_of_the_answer_and_of_its_intervals_are_different(ask, sql):
    with pytest.raises(QuestionError, match="Several columns of the answer have the same name"):
        ask(sql)


def test_of_two_equal_names_those_of_their_intervals_go_without_saying(ask):
    with pytest.raises(
        QuestionError, match=r"the same name: n\. Name the columns, in SQL with AS and in Python with agg"
    ):
        ask("SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS n FROM visits")
    with pytest.raises(QuestionError, match=r"the same name: n_low\. "):
        ask("SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS n_low FROM visits")


def test_a_question_wants_an_aggregate(visits):
    with pytest.raises(QuestionError, match="no aggregate"):
        bound(Query("visits", ()), visits())


# Aggregates and keys


def test_terms(ask):
    found = ask("SELECT COUNT(*) AS a, COUNT(ward) AS b, COUNT(DISTINCT id) AS c, SUM(cost) AS d FROM visits")
    granules = Quantised(0, 20, Fraction(1, 2))
    ward, cost = column_typed(Column("ward", Kind.TEXT)), column_typed(Column("cost", Kind.REAL, granules))
    assert found.terms == (
        Term(),
        Term(ward),
        Term(column_typed(Column("id", Kind.INTEGER)), people=True),
        Term(cost, granules),
    )
    assert [column.aggregate for column in found.columns] == [
        Count(),
        Count(Name("ward")),
        Count(Name("id"), True),
        Sum(Name("cost")),
    ]
    assert [term.name for term in found.terms] == [column.aggregate.sql() for column in found.columns]


def test_equal_terms_are_measured_once(ask):
    found = ask("SELECT COUNT(*) AS a, SUM(Cost) AS b, COUNT(1) AS c, SUM(cost) AS d, COUNT(cost) AS e FROM visits")
    assert [term.name for term in found.terms] == ["COUNT(*)", "SUM(cost)", "COUNT(cost)"]
    assert [named.name for named in found.query.aggregates] == list("abcde")


def test_real_numbers_are_not_counted_distinct(ask):
    with pytest.raises(QuestionError, match=r"cannot count cost.*COUNT\(DISTINCT id\)"):
        ask("SELECT COUNT(DISTINCT cost) FROM visits")
    assert ask("SELECT COUNT(DISTINCT ward) FROM visits").terms != ask("SELECT COUNT(DISTINCT id) FROM visits").terms


@pytest.mark.parametrize("column", ["ward", "born", "seen", "urgent", "scan"])
def test_only_numbers_are_summed(ask, column):
    with pytest.raises(QuestionError, match="SUM needs a column of numbers"):
        ask(f"SELECT SUM({column}) FROM visits")


def test_a_sum_wants_bounds(ask):
    with pytest.raises(DescriptionError, match=r"SUM\(days\) needs bounds"):
        ask("SELECT SUM(days) FROM visits", bounds={}, granularity={})


@pytest.mark.parametrize("column", ["cost", "scan"])
def test_some_columns_are_no_keys(ask, column):
    with pytest.raises(QuestionError, match="a column of type integer, text, boolean, date"):
        ask(f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}")


def test_keys_are_known_if_all_are_described(ask):
    sql = "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ward, urgent"
    known = ask(sql, keys={"ward": ["A", "B", None], "urgent": [True, False]})
    assert (known.known, known.cells) == (True, 6)
    typed = ask(sql, keys={"ward": ["A", "B", None]})  # and truth values have keys by type: false, true and NULL
    assert (typed.known, typed.cells) == (True, 9)
    whole_numbers = ask(sql.replace("urgent", "days"), keys={"ward": ["A", "B", None]})
    low, high = (int(end) for end in whole_numbers.view.column(Name("days")).what.quantised.ends)  # bounds and NULL
    assert (whole_numbers.known, whole_numbers.cells) == (True, 3 * (high - low + 2))
    half = ask(sql.replace("urgent", "born"), keys={"ward": ["A", "B", None]})
    assert (half.known, half.cells) == (False, None)
    whole = ask(COUNT)
    assert (whole.known, whole.cells) == (True, 1)


def test_caps_come_from_the_description(ask):
    whole = ask(COUNT, max_groups=7, max_rows_per_group=5)
    assert (whole.max_groups, whole.max_rows_per_group) == (1, 35)
    grouped = ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", max_groups=7, max_rows_per_group=5)
    assert (grouped.max_groups, grouped.max_rows_per_group) == (7, 5)
    assert (grouped.unit, grouped.relation) == (Person("id"), Relation.ADD_REMOVE)


# Literals

DAY, MOMENT = date(2024, 2, 29), datetime.fromisoformat("2024-02-29 01:02:03")
GOOD: dict[str, list[Any]] = {
    "days": [0, -1, 2.5, 2**63 - 1, -(2**63)],
    "cost": [0, -1, 2.5, 1e18, 5e-324],
    "ward": ["", "it's", "2024-02-29", "مكة"],
    "urgent": [True, False],
    "born": [DAY],
    "seen": [MOMENT],
    "scan": [],
}
BAD = [2**63, -(2**63) - 1, 10**400, 1e19, -1e19, math.nan, math.inf, -math.inf]
OTHERS = [0, 2.5, "A", True, DAY, MOMENT, None, b"A", 1j, [1], frame_column("id")]


def asked(visits, predicate):
    where = bound(Query("visits", (Named("n", Count()),), (), predicate), visits()).where
    assert where is not None
    return where.expression


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in GOOD.items() for value in values])
def test_literals_of_the_columns_type_are_kept(visits, name, value):
    for comparison in COMPARISONS:
        assert asked(visits, compare(name, comparison, value)) == compare(name, comparison, value)
    assert asked(visits, one_of(name, (value, value))) == one_of(name, (value, value))


WRONG = [(name, value) for name in GOOD for value in OTHERS if type(value) not in set(map(type, GOOD[name]))]
WRONG += [(name, value) for name in GOOD for value in BAD]
WRONG += [("seen", MOMENT.replace(tzinfo=UTC))]
WRONG.remove(("seen", DAY))  # the beginning of the day


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_literals_of_another_type_or_range_are_refused(visits, name, value):
    good = GOOD[name][0] if GOOD[name] else value
    for predicate in (
        compare(name, "=", value),
        one_of(name, (good, value)),
        negated(Call("OR", (is_null("id"), Call("AND", (is_null("id"), compare(name, "<", value)))))),
    ):
        with pytest.raises(QuestionError, match=f"'{name}' (has type|is compared with NULL)"):
            asked(visits, predicate)


@pytest.mark.parametrize("value", [math.nan, math.inf, b"A", 1j, 10**400, MOMENT.replace(tzinfo=UTC), pd.NaT, "\ud800"])
def test_values_that_no_table_can_hold_are_refused_in_any_place(visits, value):
    choices = (
        Call("COALESCE", (Name("cost"), Literal(value))),
        Call("COALESCE", (Literal(value), Literal(value))),
        Call("CASE", (is_null("id"), Literal(value))),
        Call("+", (Name("cost"), Literal(value))),
        Literal(value),
    )
    for choice in choices:
        with pytest.raises(QuestionError):
            asked(visits, Call("IS NULL", (choice,)))


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("born", "2024-02-29", DAY),
        ("seen", "2024-02-29 01:02:03", MOMENT),
        ("seen", "2024-02-29T01:02:03", MOMENT),
        ("seen", "2024-02-29", datetime.fromisoformat("2024-02-29")),
    ],
)
def test_text_is_read_as_a_date_where_dates_are(visits, name, written, value):
    assert asked(visits, compare(name, "<", written)) == compare(name, "<", value)
    assert asked(visits, one_of(name, (written,))) == one_of(name, (value,))


def test_a_date_is_read_as_the_beginning_of_its_day_where_times_are(visits):
    beginning = datetime.fromisoformat("2024-02-29")
    assert asked(visits, compare("seen", "<", DAY)) == compare("seen", "<", beginning)


@pytest.mark.parametrize("written", ["", "yesterday", "2024-02-30", "29.2.2024", "2024-02-29 25:00", "0000-01-01"])
@pytest.mark.parametrize("name", ["born", "seen"])
def test_text_that_is_no_date_is_refused(visits, name, written):
    with pytest.raises(QuestionError, match=f"'{name}' has type"):
        asked(visits, compare(name, "<", written))


def test_a_refused_date_says_how_dates_are_written(visits):
    with pytest.raises(QuestionError, match="like '2024-01-31'"):
        asked(visits, compare("born", "<", "29.2.2024"))


def test_a_moment_with_a_zone_is_refused(visits):
    with pytest.raises(QuestionError, match="'seen' has type timestamp"):
        asked(visits, compare("seen", "<", "2024-02-29 01:02:03+02:00"))


@pytest.mark.parametrize("name", [name for name in GOOD if name != "ward"])
def test_only_text_is_like_a_pattern(visits, name):
    with pytest.raises(QuestionError, match=f"'{name}' has type"):
        asked(visits, like(name, "A%"))


@pytest.mark.parametrize("pattern", [5, None, True, b"A"])
def test_a_pattern_is_text(visits, pattern):
    """Anything else would fail in the backend, after the charge."""
    with pytest.raises(QuestionError, match="LIKE needs a pattern of valid text"):
        asked(visits, like("ward", pattern))


def test_text_that_no_table_can_hold_is_refused(visits):
    """Half a character cannot be sent to a backend: it would fail after the charge."""
    for predicate in (compare("ward", "=", "\ud800"), one_of("ward", ("\ud800",)), like("ward", "\ud800")):
        with pytest.raises(QuestionError):
            asked(visits, predicate)


def test_in_needs_values(visits):
    with pytest.raises(QuestionError, match="IN needs at least one value"):
        asked(visits, one_of("ward", ()))


@pytest.mark.parametrize("name", GOOD)
def test_every_column_may_be_null(visits, name):
    assert asked(visits, is_null(name)) == is_null(name)


def test_deep_nesting_is_refused(visits):
    """As in SQL: a question that calls build can be nested without end, too."""
    predicate: Expression = is_null("id")
    for _ in range(100_000):
        predicate = negated(predicate)
    with pytest.raises(QuestionError):
        asked(visits, predicate)


@pytest.mark.parametrize(
    ("deeper", "levels"),
    [
        (negated, 1),
        (lambda part: negated(Call("AND", (is_null("ward"), part))), 2),
        (lambda part: Call("OR", (Call("AND", (part, is_null("id"))), is_null("id"))), 2),
    ],
)
def test_what_is_not_too_deep_reads_back(visits, deeper, levels):
    """The ledger keeps the text of every question that is admitted, however it was made."""
    predicate: Expression = is_null("id")
    for _ in range(DEEPEST // levels):
        predicate = deeper(predicate)
    query = Query("visits", (Named("n", Count()),), (), predicate)
    assert parse(text(bound(query, visits()).query)) == query
    with pytest.raises(QuestionError, match=f"more deeply than {DEEPEST} levels"):
        asked(visits, deeper(predicate))


class Grade(IntEnum):
    GOOD = 1


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [("cost", np.float64(2.5), 2.5), ("days", np.float64(2.5), 2.5), ("days", Grade.GOOD, 1), ("cost", Grade.GOOD, 1)],
)
def test_literals_are_plain_python(visits, name, value, plain):
    """A backend is sent what a number prints as, and a NumPy float prints as np.float64(2.5)."""
    found = asked(visits, compare(name, "=", value))
    assert repr(found) == repr(compare(name, "=", plain))
    assert repr(asked(visits, one_of(name, (value,)))) == repr(one_of(name, (plain,)))


def test_a_number_too_long_to_be_written_is_refused(visits):
    with pytest.raises(QuestionError, match="a number with thousands of digits"):
        asked(visits, compare("days", "=", 10**5_000))


def test_no_moment_is_no_literal(visits):
    missing: Any = pd.NaT  # a kind of datetime to Python
    for name in ("born", "seen"):
        with pytest.raises(QuestionError, match=f"'{name}' has type"):
            asked(visits, compare(name, "<", missing))
    (_, literal) = asked(visits, compare("seen", "<", pd.Timestamp(MOMENT))).arguments
    assert isinstance(literal, Literal)
    assert type(literal.value) is datetime


GROUPED = "(SELECT id, w FROM (SELECT id, {grown} AS w FROM {rows}) GROUP BY id, w)"
AMONG = "(SELECT id, {grown} AS w FROM {rows} WHERE id IN (SELECT id FROM visits))"
TWICE = "(SELECT id, {grown} AS w FROM {rows} UNION ALL SELECT id, ward AS w FROM visits)"


@pytest.mark.parametrize("step", [GROUPED, AMONG, TWICE])
def test_text_that_grows_in_one_sub_query_after_the_other_has_a_limit(ask, step):
    """Eight times as long in each of them: 64 times is fine, and 512 times is not."""
    rows, name = "visits", "ward"
    for steps in range(3):
        rows, name = step.format(grown=" || ".join([name] * 8), rows=rows), "w"
        sql = f"SELECT COUNT(*) AS n FROM {rows} WHERE w = 'A'"
        if steps < 2:
            ask(sql)
        else:
            with pytest.raises(QuestionError, match="more than 500 times"):
                ask(sql)


def test_numbers_of_sub_queries_do_not_grow(ask):
    rows, name = "visits", "days"
    for _ in range(4):
        grown = " + ".join([name] * 8)
        rows, name = f"(SELECT id, w FROM (SELECT id, {grown} AS w FROM {rows}) GROUP BY id, w)", "w"
    assert ask(f"SELECT COUNT(*) AS n FROM {rows}").columns
