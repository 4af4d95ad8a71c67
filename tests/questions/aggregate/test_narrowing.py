"""Bounds and keys that follow from WHERE, and that no distance rests on what was concluded."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import DescriptionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate import view as views
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.narrowing import Known
from sitr.questions.aggregate.quantity import Rank
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.term import Term

KINDS = {
    "id": Kind.INTEGER,
    "age": Kind.INTEGER,
    "pay": Kind.REAL,
    "ward": Kind.TEXT,
    "site": Kind.TEXT,
    "day": Kind.DATE,
    "ok": Kind.BOOLEAN,
}
ROWS = pa.table(
    {
        "id": list(range(60)),
        "age": pa.array([None if row % 20 == 7 else row for row in range(60)], pa.int64()),
        "pay": [float("nan") if row == 3 else row * 1.5 for row in range(60)],
        "ward": ["ABC"[row % 3] for row in range(60)],
        "site": ["XYZ"[row % 3] for row in range(60)],
        "day": [date(2024, 1, 1) + timedelta(row) for row in range(60)],
        "ok": [row % 2 == 0 for row in range(60)],
    }
)


def table(**more: Any) -> Table:
    described: dict[str, Any] = {
        "max_groups": 2,
        "max_rows_per_group": 1,
        "bounds": {"pay": (0, 200)},
        "granularity": {},
        "keys": {"site": ["X", "Y"]},
        **more,
    }
    return describe("t", kinds=KINDS, unit=Person("id"), relation=Relation.ADD_REMOVE, **described)


def asked(sql: str, **more: Any) -> BoundedQuery:
    return bound(parse(f"SELECT {sql}"), table(**more))


def ends(query: BoundedQuery) -> tuple[Any, Any]:
    (term,) = query.shown_terms
    assert isinstance(term, Term)
    assert term.quantised is not None
    low, high = term.quantised.ends
    return low, high


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("age BETWEEN 18 AND 65", (18, 65)),
        ("age > 17 AND 65 >= age", (18, 65)),
        ("age >= 17.5 AND age < 65.5", (18, 65)),
        ("(age > 3 AND age < 10) OR (age > 20 AND age < 30)", (4, 29)),
        ("age IN (5, 2, 9)", (2, 9)),
        ("age > 1 AND age < 100 AND ward = 'A' AND age < 8", (2, 7)),
    ],
)
def test_bounds_follow_from_conditions(where: str, expected: tuple[int, int]) -> None:
    assert ends(asked(f"SUM(age) AS s FROM t WHERE {where}")) == expected


def test_bounds_follow_from_the_condition_of_a_filter() -> None:
    assert ends(asked("SUM(age) FILTER (WHERE age BETWEEN 18 AND 65) AS s FROM t")) == (18, 65)
    assert ends(asked("SUM(age) FILTER (WHERE age > 20) AS s FROM t WHERE age BETWEEN 18 AND 65")) == (21, 65)
    apart = asked("SUM(age) FILTER (WHERE age BETWEEN 1 AND 5) AS s, SUM(pay) AS p FROM t").shown_terms
    found = [term.quantised.ends for term in apart if isinstance(term, Term) and term.quantised is not None]
    assert found == [(Fraction(1), Fraction(5)), (Fraction(0), Fraction(200))]  # the other column keeps its own bounds
    with pytest.raises(DescriptionError, match="needs bounds"):
        asked("SUM(age) FILTER (WHERE age BETWEEN 1 AND 5) AS s, SUM(age) AS all_of_them FROM t")


@pytest.mark.parametrize(
    "where",
    [
        "age > 3",
        "age > 3 OR age < 10",
        "NOT (age BETWEEN 1 AND 5)",
        "age > 5 AND age < 3",
        "age = 4",
        "age + 1 > 0 AND age + 1 < 9",
        "age < pay AND age > 0",
        "age > 0 AND COALESCE(age, 3) < 9",
    ],
)
def test_other_conditions_give_no_bounds(where: str) -> None:
    with pytest.raises(DescriptionError, match="needs bounds"):
        asked(f"SUM(age) AS s FROM t WHERE {where}")


def test_declared_bounds_are_intersected() -> None:
    assert ends(asked("SUM(pay) AS s FROM t WHERE pay > 10 AND pay < 1000")) == (10, 200)
    assert ends(asked("SUM(pay) AS s FROM t WHERE pay < 20")) == (0, 20)
    assert ends(asked("SUM(pay) AS s FROM t WHERE pay > 500 AND pay < 600")) == (0, 200)  # no row can be meant


def test_bounds_of_expressions_follow_too() -> None:
    assert ends(asked("SUM(age + 1) AS s FROM t WHERE age BETWEEN 1 AND 5")) == (2, 6)
    assert ends(asked("SUM(age + 1) AS s FROM t WHERE age + 1 BETWEEN 1 AND 5")) == (1, 5)
    assert ends(asked("SUM(x) AS s FROM (SELECT age * 2 AS x FROM t WHERE age BETWEEN 1 AND 5) AS v")) == (2, 10)


@pytest.mark.parametrize(
    ("asks", "keys"),
    [
        ("ward, COUNT(*) AS n FROM t WHERE ward IN ('B', 'A') GROUP BY ward", ("B", "A")),
        ("ward, COUNT(*) AS n FROM t WHERE ward = 'A' OR ward = 'C' GROUP BY ward", ("A", "C")),
        ("site, COUNT(*) AS n FROM t WHERE site = 'X' GROUP BY site", ("X",)),
        ("site, COUNT(*) AS n FROM t WHERE site = 'Q' GROUP BY site", ("X", "Y")),
        ("age, COUNT(*) AS n FROM t WHERE age BETWEEN 3 AND 5 GROUP BY age", (3, 4, 5)),
        ("ok, COUNT(*) AS n FROM t WHERE ok GROUP BY ok", (True,)),
        (
            "DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM t WHERE day >= '2024-01-15' AND day < '2024-03-01' "
            "GROUP BY 1",
            (date(2024, 1, 1), date(2024, 2, 1)),
        ),
    ],
)
def test_keys_follow_from_conditions(asks: str, keys: tuple[object, ...]) -> None:
    found = asked(asks)
    assert found.keys[0].keys == keys
    exact = open_source(ROWS, types={}).read(found, salt=1)
    plain = {key for (key,) in exact}
    assert plain <= set(keys)


def test_no_keys_follow_from_other_conditions() -> None:
    for where in ("ward <> 'A'", "ward = 'A' OR age > 3", "LOWER(ward) = 'a'", "NOT ward IN ('A')"):
        assert asked(f"ward, COUNT(*) AS n FROM t WHERE {where} GROUP BY ward").keys[0].keys is None


def test_the_unit_stays_as_it_is() -> None:
    found = asked("COUNT(DISTINCT id) AS n FROM t WHERE id BETWEEN 1 AND 5")
    (term,) = found.shown_terms
    assert isinstance(term, Term)
    assert term.people


def test_the_sum_is_that_of_the_rows() -> None:
    found = asked("SUM(age) AS s, COUNT(age) AS n FROM t WHERE age BETWEEN 10 AND 30")
    exact = open_source(ROWS, types={}).read(found, salt=1)
    assert exact[()][:2] == (sum(row for row in range(10, 31) if row % 20 != 7), 20)


def test_a_wrong_conclusion_moves_no_value_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance follows from the bounds, so the statement must keep them even if the condition does not."""
    monkeypatch.setattr(views, "known", lambda _: {Name("age"): Known(Fraction(20), Fraction(25), (20, 25))})
    found = asked("SUM(age) AS s, COUNT(age) AS n FROM t WHERE age > 0")
    s, n, *_ = open_source(ROWS, types={}).read(found, salt=1)[()]
    assert 20 * n <= s <= 25 * n
    assert s != sum(row for row in range(1, 60) if row % 20 != 7)
    keyed = asked("age, COUNT(*) AS n FROM t WHERE age > 0 GROUP BY age")
    assert {key for (key,) in open_source(ROWS, types={}).read(keyed, salt=1)} <= {20, 25}


@pytest.mark.parametrize("of", ["age", "age * 2", "age + 10"])
def test_values_between_two_granules_are_not_cut_off(of: str) -> None:
    """37 counts as 40 with a granularity of 10, whether or not WHERE says that no value is above 39."""
    wide: dict[str, Any] = {"bounds": {"age": (0, 100)}, "granularity": {"age": 10}}
    rows = open_source(ROWS, types={})

    def summed(where: str) -> int:
        found = asked(f"SUM({of}) AS s FROM t WHERE {where}", **wide)
        (term,) = found.shown_terms
        return int(rows.read(found, salt=1)[()][0] * term.granularity)

    plainly = "NOT (age < 20 OR age >= 40)"
    assert ends(asked(f"SUM(age) AS s FROM t WHERE {plainly}", **wide)) == (0, 100)
    assert ends(asked("SUM(age) AS s FROM t WHERE age >= 20 AND age < 40", **wide)) == (20, 40)
    assert summed("age >= 20 AND age < 40") == summed(plainly)
    assert summed("age >= 30 AND age < 40") == summed("NOT (age < 30 OR age >= 40)")


def test_moments_within_a_second_have_bounds() -> None:
    where = "at > '1970-01-01 00:00:05.2' AND at < '1970-01-01 00:00:05.8'"
    described = describe(
        "t",
        kinds={"id": Kind.INTEGER, "at": Kind.TIMESTAMP},
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=1,
        max_rows_per_group=1,
        bounds={},
        granularity={},
        keys={},
    )
    (term,) = bound(parse(f"SELECT MEDIAN(at) AS m FROM t WHERE {where}"), described).shown_terms
    assert isinstance(term, Rank)
    assert (term.quantised.lower, term.quantised.upper) == (5, 6)


def test_a_condition_is_about_the_column_of_this_name_alone() -> None:
    """A key of a sub-query was called b further inside, and here b is the number of rows."""
    found = asked(
        "SUM(k) AS s FROM (SELECT id, b AS k, COUNT(*) AS b FROM (SELECT id, age AS b FROM t UNION ALL "
        "SELECT id, age AS b FROM t) AS u GROUP BY id, 2) AS v WHERE b > 1 AND b < 9",
        bounds={"age": (0, 100)},
    )
    assert ends(found) == (0, 100)
    exact = open_source(ROWS, types={}).read(found, salt=1)
    assert exact[()][0] == sum(row for row in range(60) if row % 20 != 7)
