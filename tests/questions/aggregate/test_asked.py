"""What does not fit the description is pointed at in the text of the question."""

from __future__ import annotations

from typing import Any

import pytest

from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.sql import parse


@pytest.fixture
def table() -> Table:
    kinds = {"id": Kind.INTEGER, "ward": Kind.TEXT, "cost": Kind.REAL, "days": Kind.INTEGER, "مدينة": Kind.TEXT}
    kinds["hours-per-week"] = Kind.INTEGER
    return describe(
        "visits",
        kinds=kinds,
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=1,
        bounds={"cost": (0, 10)},
        granularity={},
        keys={},
    )


def test_a_question_without_a_mistake_is_the_bounded_one(table: Table) -> None:
    sql = "SELECT ward, SUM(cost) AS total FROM visits WHERE days > 3 GROUP BY ward"
    assert asked(sql, table) == bound(parse(sql), table)


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT COUNT(*) FROM visit", "visit"),
        ("SELECT COUNT(*) AS wardd FROM visits WHERE ward = 'wardd' AND wardd = 'x'", "wardd"),
        ("SELECT COUNT(*) FROM visits WHERE NOT (days = 1 OR (cost > 2 AND dais IS NULL))", "dais"),
        ("SELECT COUNT(*) FROM visits WHERE \"مدينة\" = 'x' AND \"مدينه\" = 'y'", '"مدينه"'),
        ("SELECT SUM(cst) FROM visits", "cst"),
        ("SELECT SUM(ward) AS n FROM visits", "SUM(ward)"),
        ("SELECT COUNT(*), SUM(days) FROM visits", "SUM(days)"),
        ("SELECT COUNT(DISTINCT cost) FROM visits", "COUNT(DISTINCT cost)"),
        ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", "cost"),
        ("SELECT Wrad, COUNT(*) FROM visits GROUP BY Wrad", "Wrad"),
        ("SELECT COUNT(*) FROM visits WHERE days > 3 AND cost > 'a'", "cost > 'a'"),
        ("SELECT COUNT(*) FROM visits WHERE days LIKE 'a%'", "days LIKE 'a%'"),
    ],
)
def test_the_part_that_does_not_fit_is_pointed_at(sql: str, part: str, table: Table) -> None:
    with pytest.raises(SitrError) as plain:
        bound(parse(sql), table)
    with pytest.raises(SitrError) as refused:
        asked(sql, table)
    error = refused.value
    assert (type(error), error.message) == (type(plain.value), str(plain.value))
    assert error.excerpt is not None
    first = error.excerpt.column - 1
    assert error.excerpt.text[first : first + error.excerpt.length] == part


@pytest.mark.parametrize(
    ("sql", "part", "do"),
    [
        ("SELECT SUM(hours-per-week) FROM visits", "hours", 'write it in double quotes: "hours-per-week".'),
        ("SELECT COUNT(*) FROM visits WHERE 1 < hours-per-week", "hours", 'in double quotes: "hours-per-week".'),
        ("SELECT COUNT(*) FROM visits WHERE ward = Cardiology", "Cardiology", "in single quotes: 'Cardiology'."),
        ('SELECT COUNT(*) FROM visits WHERE ward <> "Cardiology"', '"Cardiology"', "in single quotes: 'Cardiology'."),
        ("SELECT COUNT(*) FROM visits WHERE ward = NULL", "ward", "Write ward IS NULL or ward IS NOT NULL."),
        ("SELECT COUNT(*) FROM visits WHERE ward IN (NULL)", "ward", "Write ward IS NULL"),
        ("SELECT COUNT(*) FROM visits WHERE 1 < days < 3", "1 < days < 3", "Write true or false."),
        ("SELECT COUNT(*) FROM visits WHERE days", "days", "Use another function, or CAST it."),
        ("SELECT COUNT(*) FROM visits WHERE other.days > 1", "other.days", "Write visits.days, or days alone."),
        ("SELECT SUM(cost / days) FROM visits", "SUM(cost / days)", "Write SUM(CLAMP(cost / days, low, high))"),
        ("SELECT lower(days), COUNT(*) FROM visits GROUP BY 1", "lower(days)", "Use another function, or CAST it."),
    ],
)
def test_advice_fits_what_was_probably_meant(sql: str, part: str, do: str, table: Table) -> None:
    with pytest.raises(SitrError) as refused:
        asked(sql, table)
    error = refused.value
    assert do in error.do
    assert error.excerpt is not None
    first = error.excerpt.column - 1
    assert error.excerpt.text[first : first + error.excerpt.length] == part


def test_the_place_is_that_of_the_mistake_and_not_of_its_namesake(table: Table) -> None:
    sql = "SELECT COUNT(*) AS wardd FROM visits\nWHERE ward = 'wardd'\n  AND wardd = 'x'"
    with pytest.raises(SitrError) as refused:
        asked(sql, table)
    assert refused.value.excerpt is not None
    assert (refused.value.excerpt.line, refused.value.excerpt.column) == (3, 7)


def test_a_mistake_of_the_whole_question_has_no_place(table: Table) -> None:
    with pytest.raises(SitrError, match="same name") as refused:
        asked("SELECT COUNT(*) AS n, SUM(cost) AS n FROM visits", table)
    assert refused.value.excerpt is None


def refused(sql: str, table: Table) -> SitrError:
    with pytest.raises(SitrError) as found:
        asked(sql, table)
    return found.value


def test_a_function_without_arguments_is_pointed_at(table: Table) -> None:
    error = refused("SELECT COUNT(*) AS n FROM visits WHERE days > CURRENT_DATE - 30", table)
    assert error.excerpt is not None
    assert str(error.excerpt).splitlines()[1].index("^") == str(error.excerpt).splitlines()[0].index("CURRENT_DATE")
    assert str(error.excerpt).count("^") == len("CURRENT_DATE")


@pytest.mark.parametrize("name", ["STRING_AGG", "string_agg", "LISTAGG", "GROUP_CONCAT"])
def test_a_function_is_called_what_the_user_calls_it(name: str, table: Table) -> None:
    error = refused(f"SELECT COUNT(*) AS n, {name}(ward,  ',') AS w FROM visits", table)
    assert f"the function {name.upper()}: {name}(ward, ','" in error.given


def test_a_sub_query_is_shown_as_it_was_written(table: Table) -> None:
    sql = "SELECT ward, COUNT(*) * 1.0 / (SELECT  COUNT(*) FROM visits WHERE days > 3) AS s FROM visits GROUP BY ward"
    error = refused(sql, table)
    assert "(SELECT COUNT(*) FROM visits WHERE days > 3)" in error.given
    assert error.instead is not None
    assert "/ 1 /* replace 1 by the answer to SELECT COUNT(*) FROM visits WHERE days > 3 */" in error.instead


def test_numbers_side_by_side_are_one_question(table: Table) -> None:
    error = refused("SELECT (SELECT COUNT(*) FROM visits) AS n, (SELECT AVG(cost) FROM visits) AS m", table)
    assert error.instead == "SELECT COUNT(*) AS n, AVG(cost) AS m FROM visits"


@pytest.mark.parametrize(
    ("group", "groupings"),
    [
        ("ward, days WITH ROLLUP", ["ward, days", "ward", ""]),
        ("ward, ROLLUP (days)", ["ward, days", "ward"]),
        ("CUBE (ward, days)", ["ward, days", "ward", "days", ""]),
    ],
)
def test_all_groupings_are_written_out(group: str, groupings: list[str], table: Table) -> None:
    error = refused(f"SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY {group}", table)
    questions = [part for part in error.do.split(": ", 2)[2].split("; ") if part.startswith("SELECT")]
    assert [part.partition(" GROUP BY ")[2] for part in questions] == groupings


@pytest.mark.parametrize("condition", ["r <= 2", "RANK() OVER (ORDER BY COUNT(*) DESC) < 3"])
def test_the_first_ranks_are_sorted_and_cut(condition: str, table: Table) -> None:
    ranked = "SELECT ward, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY ward"
    error = refused(f"{ranked} QUALIFY {condition}", table)
    assert error.instead is not None
    assert error.instead.endswith("ORDER BY COUNT(*) DESC LIMIT 2")
    assert "OVER goes after HAVING" in error.do


def test_the_name_of_the_table_before_a_key_does_not_matter(table: Table) -> None:
    plain = asked("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", table)
    for select, group in (("ward", "visits.ward"), ("visits.ward", "ward"), ("visits.ward", "visits.ward")):
        assert asked(f"SELECT {select}, COUNT(*) AS n FROM visits GROUP BY {group}", table) == plain
    upper = asked("SELECT UPPER(v.ward) AS w, COUNT(*) AS n FROM visits v GROUP BY UPPER(ward)", table)
    assert upper == asked("SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w", table)


def test_a_key_of_another_table_is_not_the_same(table: Table) -> None:
    both = "SELECT a.ward, COUNT(*) AS n FROM visits a JOIN visits b ON a.id = b.id GROUP BY b.ward"
    assert "SELECT lists the key a.ward, but GROUP BY lists b.ward" in refused(both, table).given


@pytest.mark.parametrize("keys", ["id", "ward, id", "visits.id"])
def test_groups_of_one_person_are_refused_before_they_are_paid_for(keys: str, table: Table) -> None:
    error = refused(f"SELECT {keys}, COUNT(*) AS n FROM visits GROUP BY {keys} ORDER BY n DESC LIMIT 5", table)
    assert "makes a group of its own for each person" in error.given
    assert error.instead is not None
    assert asked(error.instead, table)
    assert "id" not in error.instead.partition("GROUP BY")[2]


ONE_TO_ONE = (
    *("id + 1", "7 - id", "-id", "id * 2", "id // 1", "CAST(id AS VARCHAR)", "COALESCE(id, 0)"),
    *("'no. ' || CAST(id AS VARCHAR)", "CAST(id + 1 AS BIGINT)", "CONCAT(CAST(id AS VARCHAR), '!')"),
)


@pytest.mark.parametrize("key", ONE_TO_ONE)
@pytest.mark.parametrize("group", ["k", "1"])
def test_people_are_not_groups_under_another_name_either(key: str, group: str, table: Table) -> None:
    error = refused(f"SELECT {key} AS k, ward, COUNT(*) AS n FROM visits GROUP BY {group}, ward ORDER BY k", table)
    assert "makes a group of its own for each person" in error.given
    assert error.instead == "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.mark.parametrize(
    "key",
    [
        *("id // 10", "id % 10", "id * 0", "1 // id", "id - id", "days + 1", "COALESCE(0, id)", "id + 1 // 0"),
        "SUBSTR(CAST(id AS VARCHAR), 1, 1)",
    ],
)
def test_groups_of_several_people_are_not_refused(key: str, table: Table) -> None:
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k"
    assert asked(sql, table) == bound(parse(sql), table)


def test_a_sub_query_may_group_by_person_whatever_else_is_wrong(table: Table) -> None:
    error = refused("SELECT AVG(n) AS m FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id) WHERE nn > 3", table)
    assert not any("a group of its own" in each.given for each in (error, *error.others))


@pytest.mark.parametrize("levels", [50, 300])
def test_deep_nesting_is_refused_in_words(levels: int, table: Table) -> None:
    deep = "CASE WHEN days = 1 THEN 1 ELSE " * levels + "days" + " END" * levels
    assert "nested" in refused(f"SELECT SUM({deep}) AS s FROM visits", table).given


@pytest.mark.parametrize("key", ["id", "id + 1", "CAST(id AS VARCHAR)"])
def test_what_the_refusal_of_such_groups_proposes_can_be_asked(key: str, table: Table) -> None:
    error = refused(f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k", table)
    assert asked(error.do.partition("each person: ")[2].rstrip("."), table)


def test_buckets_of_time_are_parts_of_dates() -> None:
    kinds = {"id": Kind.INTEGER, "seen": Kind.TIMESTAMP}
    caps: dict[str, Any] = {"max_groups": 1, "max_rows_per_group": 1, "bounds": {}, "granularity": {}, "keys": {}}
    readings = describe("readings", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, **caps)
    sql = "SELECT TIME_BUCKET(INTERVAL 1 HOUR, seen) AS h, COUNT(*) AS n FROM readings GROUP BY h"
    assert (
        refused(sql, readings).instead == "SELECT DATE_TRUNC('hour', seen) AS h, COUNT(*) AS n FROM readings GROUP BY h"
    )
    assert "DATE_TRUNC" not in str(refused(sql.replace("1 HOUR", "7 HOUR"), readings).instead)
