from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.duckdb import DuckDB

from sitr.errors import QuestionError
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.nodes import And, Compare, Comparison, IsNull, Like, Named, Not, OneOf, Or, Query, text
from sitr.questions.aggregate.sql import parse

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
    st.builds(Compare, names, st.sampled_from(Comparison), values),
    st.builds(OneOf, names, st.lists(values, min_size=1, max_size=4).map(tuple)),
    st.builds(Like, names, st.text(letters, max_size=8)),
    st.builds(IsNull, names),
)


def join(kind, parts):
    """In one spelling an And has no And among its parts, and an Or no Or."""
    return kind(tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, kind) else (part,))))


def joined(parts):
    lists = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(st.builds(Not, parts), st.builds(join, st.sampled_from([And, Or]), lists))


aggregates = st.one_of(
    st.just(Count()), st.builds(Count, names), st.builds(Count, names, st.just(True)), st.builds(Sum, names)
)
queries = st.builds(
    Query,
    names,
    st.lists(st.builds(Named, names, aggregates), min_size=1, max_size=4).map(tuple),
    st.lists(names, max_size=3, unique=True).map(tuple),
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
    conditions = [Compare(name, comparison, 1) for comparison in Comparison]
    where = And((*conditions, Like(name, "a"), OneOf(name, ("a",)), IsNull(name)))
    named = (Named(name, Sum(name)), Named("n", Count(name)), Named(name, Count(name, distinct=True)))
    query = Query(name, named, (name, "k"), where)
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
    assert Sum(name).sql() == f"SUM({name})"


@pytest.mark.parametrize("name", ["select", "SELECT", "case", "lambda", "if", "current_date", "1st", "a-b", "é"])
def test_other_names_stand_in_quotes(name):
    assert Sum(name).sql() == f'SUM("{name}")'


@pytest.mark.parametrize("name", ["", "\ud800", "n\udfff"])
def test_a_column_of_the_answer_has_a_name_that_can_be_written(name):
    with pytest.raises(QuestionError, match="for a column of the answer"):
        Named(name, Count())


def test_one_connective_within_the_same_is_one():
    a, b, c, d = map(IsNull, "abcd")
    assert And((And((a, b)), And((c, d)))) == And((a, And((b, And((c, d)))))) == And((a, b, c, d))
    assert Or((Or((a, b)), c)) == Or((a, b, c))
    assert And((Or((a, b)), c)).parts == (Or((a, b)), c)
    assert Or((And((a, b)), Not(Or((c, d))))).parts == (And((a, b)), Not(Or((c, d))))


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_as_a_name_reads_back_the_same(word):
    query = Query(word, (Named(word, Sum(word)),), ("k",), IsNull(word))
    assert parse(text(query)) == query
    keyed = Query("visits", (Named("n", Count()),), (word,))
    assert parse(text(keyed)) == keyed


@pytest.mark.parametrize(
    ("where", "written"),
    [
        (Compare("a", Comparison.EQUAL, "it's"), "a = 'it''s'"),
        (Compare("a", Comparison.UNEQUAL, True), "a <> TRUE"),
        (Compare("a", Comparison.LESS, -1), "a < -1"),
        (Compare("a", Comparison.AT_MOST, 0.1), "a <= 0.1"),
        (Compare("a", Comparison.GREATER, date(2024, 2, 29)), "a > DATE '2024-02-29'"),
        (
            Compare("a", Comparison.AT_LEAST, datetime.fromisoformat("2024-02-29 01:02:03")),
            "a >= TIMESTAMP '2024-02-29 01:02:03'",
        ),
        (OneOf("a", (1, 2)), "a IN (1, 2)"),
        (Like("a", "x%"), "a LIKE 'x%'"),
        (Not(IsNull("a b")), 'NOT ("a b" IS NULL)'),
        (And((IsNull("a"), Or((IsNull("b"), IsNull("c"))))), "(a IS NULL) AND ((b IS NULL) OR (c IS NULL))"),
    ],
)
def test_conditions_have_one_spelling(where, written):
    query = Query("visits", (Named("n", Count()),), ("المدينة",), where)
    assert text(query) == f'SELECT "المدينة", COUNT(*) AS n FROM visits WHERE {written} GROUP BY "المدينة"'


def test_a_question_without_condition_and_keys():
    assert text(Query('a"b', (Named("n", Count()), Named("x y", Sum("c"))))) == (
        'SELECT COUNT(*) AS n, SUM(c) AS "x y" FROM "a""b"'
    )


@pytest.mark.parametrize(
    ("aggregate", "written"),
    [
        (Count(), "COUNT(*)"),
        (Count("ward"), "COUNT(ward)"),
        (Count("a b", distinct=True), 'COUNT(DISTINCT "a b")'),
        (Sum('a"b'), 'SUM("a""b")'),
    ],
)
def test_aggregates_have_one_spelling(aggregate, written):
    assert aggregate.sql() == written
