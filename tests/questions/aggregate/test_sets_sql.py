"""Groupings are read as databases read them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from sitr.errors import SitrError
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.sets_sql import MOST, groupings
from sitr.questions.aggregate.sql import parse


def keys(group: str) -> list[list[str]]:
    select: Any = exp.maybe_parse(f"SELECT 1 FROM t GROUP BY {group}")
    return [[key.sql() for key in each] for each in groupings(select.args["group"])]


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        ("CUBE (a, b)", [["a", "b"], ["a"], ["b"], []]),
        ("CUBE ((a, b), c)", [["a", "b", "c"], ["a", "b"], ["c"], []]),
        ("ROLLUP (a, (b, c))", [["a", "b", "c"], ["a"], []]),
        ("a, b WITH ROLLUP", [["a", "b"], ["a"], []]),
        ("a, b WITH CUBE", [["a", "b"], ["a"], ["b"], []]),
        ("GROUPING SETS ((a, b), a, ())", [["a", "b"], ["a"], []]),
        ("GROUPING SETS (a, b), GROUPING SETS (c, ())", [["a", "c"], ["a"], ["b", "c"], ["b"]]),
        ("GROUPING SETS (ROLLUP (a, b), CUBE (c))", [["a", "b"], ["a"], [], ["c"]]),
        ("CUBE (a, b), a", [["a", "b"], ["a"]]),
    ],
)
def test_groupings_are_all_combinations_each_once(group: str, wanted: list[list[str]]) -> None:
    assert keys(group) == wanted


@pytest.mark.parametrize("many", [7, 70, 3000])
def test_too_many_groupings_are_refused_quickly(many: int) -> None:
    with pytest.raises(SitrError, match=f"at most {MOST}"):
        keys(f"CUBE ({', '.join(f'k{place}' for place in range(many))})")
    with pytest.raises(SitrError, match=f"at most {MOST}"):
        keys(", ".join(["CUBE (a, b, c)"] * many))


def test_keys_and_marks_have_places() -> None:
    query = parse(
        "SELECT a, b, GROUPING(b, a) AS g, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b) HAVING GROUPING(b, a) < 3"
    )
    assert query.sets == ((0, 1), (0,), ())
    assert [(mark.name, mark.places) for mark in query.marks] == [("g", (1, 0))]
    assert text(query) == (
        "SELECT a, b, GROUPING(b, a) AS g, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a, b), (a), ()) HAVING g < 3"
    )


def test_one_empty_grouping_is_no_grouping() -> None:
    assert parse("SELECT COUNT(*) AS n FROM t GROUP BY GROUPING SETS (())") == parse("SELECT COUNT(*) AS n FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT GROUPING(a) AS g, COUNT(*) AS n FROM t GROUP BY a",
        "SELECT GROUPING(b) AS g, COUNT(*) AS n FROM t GROUP BY CUBE (a)",
        "SELECT a, COUNT(*) AS n FROM t GROUP BY CUBE (a) ORDER BY GROUPING(a)",
        "SELECT a, b, COUNT(*) AS n FROM t GROUP BY CUBE (a)",
    ],
)
def test_marks_and_keys_that_no_grouping_has_are_refused(sql: str) -> None:
    with pytest.raises(SitrError) as refused:
        parse(sql)
    assert refused.value.excerpt is not None
