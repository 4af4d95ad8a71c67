from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from sitr.errors import ForbiddenConstruct
from sitr.questions.aggregate.refusals import called, forbidden, refuse_other_parts


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (exp.Add(), "arithmetic"),
        (exp.Select(), "a sub-query"),
        (exp.Command(this="vacuum"), "VACUUM"),
        (exp.Union(), "UNION"),
        (exp.IgnoreNulls(), "IGNORE NULLS"),
        (exp.SimilarTo(), "SIMILAR TO"),
        (exp.GroupConcat(), "the function GROUP_CONCAT"),
        (exp.Anonymous(this="f"), "the function F"),
    ],
)
def test_constructs_are_called_by_their_names(item, name):
    assert called(item) == name


def test_a_refusal_shows_the_construct_in_short():
    error = forbidden(sqlglot.parse_one("x + 1 /* why */ + '" + "a\n" * 100 + "'"))
    assert error.given.startswith("A question cannot contain arithmetic: x + 1 + 'a a a")
    assert len(error.given) < 100


def test_what_cannot_be_shown_is_named():
    assert forbidden(True, part="only").given == forbidden(exp.Lock(update=True), part="only").given
    assert forbidden(True, part="only").given == "A question cannot contain ONLY."


def test_nothing_is_said_twice():
    assert forbidden(exp.Star()).given == "A question cannot contain *."


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT 1 LIMIT 5", "LIMIT"),
        ("SELECT 1 ORDER BY x", "ORDER BY"),
        ("WITH a AS (SELECT 1) SELECT 1", "WITH"),
        ("SELECT 1 FROM a JOIN b", "a join"),
        ("SELECT 1 FROM a FOR UPDATE", "FOR UPDATE or FOR SHARE"),
    ],
)
def test_other_parts_are_refused_by_name(sql, name):
    select = sqlglot.parse_one(sql)
    refuse_other_parts(sqlglot.parse_one("SELECT 1 FROM a"), "expressions", "from_")
    with pytest.raises(ForbiddenConstruct) as refusal:
        refuse_other_parts(select, "expressions", "from_")
    assert refusal.value.given.startswith(f"A question cannot contain {name}")
