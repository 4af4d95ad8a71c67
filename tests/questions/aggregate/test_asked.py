"""What does not fit the description is pointed at in the text of the question."""

from __future__ import annotations

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
