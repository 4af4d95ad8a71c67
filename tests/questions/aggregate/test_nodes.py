from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.duckdb import DuckDB

from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import COMPARISONS, Call, Literal, Name
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.nodes import Named, NamedKey, Query, text
from sitr.questions.aggregate.sql import parse
from tests.oracles.expressions import compare, is_null, keys, like, negated, one_of

WORDS = """
ALL AND ANY AS ASC BETWEEN CASE CAST COUNT CURRENT_DATE CURRENT_TIMESTAMP DATE DESC DISTINCT ELSE END EXISTS FALSE
FILTER FROM GROUP HAVING IF IN INTERVAL IS JOIN LIKE LIMIT MAP NOT NULL OFFSET ON OR ORDER OVER PIVOT QUALIFY ROWID
SELECT STRUCT SUM TABLE THEN TIMESTAMP TRUE UNION USER USING VALUES WHEN WHERE WINDOW WITH
"""
RESERVED = WORDS.split()

letters = st.characters(exclude_categories=["Cs"])
names = st.one_of(
    st.sampled_from(["ward", "Ward", "a b", 'a"b', "المدينة", "1st", "a.b", "a;--", *RESERVED]),
    st.text(letters, min_size=1, max_size=8),
)
values = st.one_of(
    st.text(letters, max_size=8),
    st.sampled_from(["it's", "'; DROP TABLE visits; --", "\\", "\\'", "%", "NULL"]),
    st.integers(-(10**300), 10**300),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(),
    st.datetimes().map(lambda moment: moment.replace(fold=0)),
)
leaves = st.one_of(
    st.builds(compare, names, st.sampled_from(COMPARISONS), values),
    st.builds(one_of, names, st.lists(values, min_size=1, max_size=4).map(tuple)),
    st.builds(like, names, st.text(letters, max_size=8)),
    st.builds(is_null, names),
)


def joined(parts):
    lists = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(st.builds(negated, parts), st.builds(Call, st.sampled_from(["AND", "OR"]), lists.map(tuple)))


aggregates = st.one_of(
    st.just(Count()),
    st.builds(Count, names.map(Name)),
    st.builds(Count, names.map(Name), st.just(True)),
    st.builds(Sum, names.map(Name)),
)
queries = st.builds(
    Query,
    names,
    st.lists(st.builds(Named, names, aggregates), min_size=1, max_size=4).map(tuple),
    st.lists(names, max_size=3, unique_by=str.lower).map(lambda found: keys(*found)),
    st.none() | st.recursive(leaves, joined, max_leaves=8),
)


@settings(max_examples=400)
@given(queries)
def test_what_is_written_reads_back_the_same(query):
    read = parse(text(query))
    assert read == query
    assert repr(read) == repr(query)  # 1, 1.0 and True are equal, and yet not the same question
    assert text(read) == text(query)


def read_alike(name: str) -> bool:
    """The name reads back in every place of a question, whatever follows it."""
    conditions = [compare(name, comparison, 1) for comparison in COMPARISONS]
    where = Call("AND", (*conditions, like(name, "a"), one_of(name, ("a",)), is_null(name)))
    named = (Named(name, Sum(Name(name))), Named("n", Count(Name(name))), Named(name, Count(Name(name), distinct=True)))
    query = Query(name, named, keys(name, "k"), where)
    return parse(text(query)) == query


def test_every_word_that_the_parser_knows_reads_back_as_a_name():
    parser, tokenizer = DuckDB.parser_class, DuckDB.tokenizer_class
    known = (tokenizer.KEYWORDS, parser.FUNCTIONS, parser.FUNCTION_PARSERS, parser.NO_PAREN_FUNCTION_PARSERS)
    words = {word.lower() for table in known for key in table for word in key.split()} | {"lambda", "columns", "k_"}
    assert len(words) > 800
    assert not [word for word in sorted(words) if not read_alike(word)]


@pytest.mark.parametrize(
    "name", ["ward", "cost", "visits", "n", "total", "count", "sum", "days", "id", "Ward", "x_1", "_n"]
)
def test_ordinary_names_stand_without_quotes(name):
    assert Sum(Name(name)).sql() == f"SUM({name})"


@pytest.mark.parametrize("name", ["select", "SELECT", "case", "lambda", "if", "current_date", "1st", "a-b", "é"])
def test_other_names_stand_in_quotes(name):
    assert Sum(Name(name)).sql() == f'SUM("{name}")'


@pytest.mark.parametrize("name", ["", "\ud800", "n\udfff"])
def test_a_column_of_the_answer_has_a_name_that_can_be_written(name):
    with pytest.raises(QuestionError, match="for a column of the answer"):
        Named(name, Count())


def test_one_connective_within_the_same_is_one():
    a, b, c, d = map(is_null, "abcd")
    whole = Call("AND", (a, b, c, d))
    assert Call("AND", (Call("AND", (a, b)), Call("AND", (c, d)))) == whole
    assert Call("AND", (a, Call("AND", (b, Call("AND", (c, d)))))) == whole
    assert Call("OR", (Call("OR", (a, b)), c)) == Call("OR", (a, b, c))
    assert Call("AND", (Call("OR", (a, b)), c)).arguments == (Call("OR", (a, b)), c)
    other = (Call("AND", (a, b)), negated(Call("OR", (c, d))))
    assert Call("OR", other).arguments == other


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_as_a_name_reads_back_the_same(word):
    query = Query(word, (Named(word, Sum(Name(word))),), keys("k"), is_null(word))
    assert parse(text(query)) == query
    keyed = Query("visits", (Named("n", Count()),), keys(word))
    assert parse(text(keyed)) == keyed


@pytest.mark.parametrize(
    ("where", "written"),
    [
        (compare("a", "=", "it's"), "a = 'it''s'"),
        (compare("a", "<>", True), "a <> TRUE"),
        (compare("a", "<", -1), "a < -1"),
        (compare("a", "<=", 0.1), "a <= 0.1"),
        (compare("a", ">", date(2024, 2, 29)), "a > DATE '2024-02-29'"),
        (
            compare("a", ">=", datetime.fromisoformat("2024-02-29 01:02:03")),
            "a >= TIMESTAMP '2024-02-29 01:02:03'",
        ),
        (one_of("a", (1, 2)), "a IN (1, 2)"),
        (like("a", "x%"), "a LIKE 'x%'"),
        (negated(is_null("a b")), 'NOT ("a b" IS NULL)'),
        (
            Call("AND", (is_null("a"), Call("OR", (is_null("b"), is_null("c"))))),
            "(a IS NULL) AND ((b IS NULL) OR (c IS NULL))",
        ),
    ],
)
def test_conditions_have_one_spelling(where, written):
    query = Query("visits", (Named("n", Count()),), keys("المدينة"), where)
    assert text(query) == f'SELECT "المدينة", COUNT(*) AS n FROM visits WHERE {written} GROUP BY "المدينة"'


@pytest.mark.parametrize(
    ("group_by", "written"),
    [
        (keys("a", "b"), "SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b"),
        ((NamedKey("b", Name("a")),), "SELECT a AS b, COUNT(*) AS n FROM t GROUP BY a"),
        (
            (NamedKey("b", Name("a")), NamedKey("a", Name("b"))),
            "SELECT a AS b, b AS a, COUNT(*) AS n FROM t GROUP BY 1, 2",
        ),
        (
            (NamedKey("n1", Name("a")), NamedKey("n2", Literal(1))),
            "SELECT a AS n1, 1 AS n2, COUNT(*) AS n FROM t GROUP BY a, 2",
        ),
        (
            (NamedKey("a", Call("+", (Name("b"), Literal(1)))), NamedKey("c", Name("a"))),
            "SELECT b + 1 AS a, a AS c, COUNT(*) AS n FROM t GROUP BY b + 1, 2",
        ),
    ],
)
def test_keys_with_any_names_read_back_the_same(group_by, written):
    query = Query("t", (Named("n", Count()),), group_by)
    assert text(query) == written
    assert parse(written) == query


def test_a_question_without_condition_and_keys():
    assert text(Query('a"b', (Named("n", Count()), Named("x y", Sum(Name("c")))))) == (
        'SELECT COUNT(*) AS n, SUM(c) AS "x y" FROM "a""b"'
    )


@pytest.mark.parametrize(
    ("aggregate", "written"),
    [
        (Count(), "COUNT(*)"),
        (Count(Name("ward")), "COUNT(ward)"),
        (Count(Name("a b"), distinct=True), 'COUNT(DISTINCT "a b")'),
        (Sum(Name('a"b')), 'SUM("a""b")'),
    ],
)
def test_aggregates_have_one_spelling(aggregate, written):
    assert aggregate.sql() == written
