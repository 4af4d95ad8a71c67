from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError, TokenError

from sitr.errors import ForbiddenConstruct
from sitr.questions.aggregate.refusals import ALLOWED, called, forbidden, refuse_other_parts, unreadable


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (exp.Add(), "arithmetic"),
        (exp.Select(), "a sub-query"),
        (exp.Command(this="vacuum"), "VACUUM"),
        (exp.Union(), "UNION"),
        (exp.IgnoreNulls(), "IGNORE NULLS"),
        (exp.ILike(), "ILIKE"),
        (exp.Avg(), "the function AVG"),
        (exp.Anonymous(this="f"), "a function of your own"),
    ],
)
def test_constructs_are_called_by_their_names(item, name):
    assert called(item) == name


def test_a_refusal_shows_the_construct_in_short():
    error = forbidden(sqlglot.parse_one("x + 1 /* why */ + '" + "a\n" * 100 + "'"))
    assert error.given.startswith("A question cannot contain arithmetic: x + 1 + 'a a a")
    assert len(error.given) < 100
    assert error.do == ALLOWED


def test_what_cannot_be_shown_is_named():
    assert forbidden(True, what="ONLY").given == forbidden(exp.Lock(update=True), what="ONLY").given
    assert forbidden(True, what="ONLY").given == "A question cannot contain ONLY."


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


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("SELECT 1 FROM a WHERE", ParseError, "near 'WHERE'"),
        ("SELECT x = --1", ParseError, "near '='"),
        ("SELECT COUNT(* FROM a", ParseError, "near 'FROM'"),
        ("SELECT 'a", TokenError, "a quote or a comment is not closed"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(sql, kind, words):
    with pytest.raises(SqlglotError) as failure:
        sqlglot.parse(sql, dialect="duckdb")
    assert isinstance(failure.value, kind)
    error = unreadable(failure.value)
    assert words in error.given
    assert "<class" not in str(error)
    assert "\x1b" not in str(error)
