"""A refusal says what to ask instead, and what it proposes can be asked."""

from __future__ import annotations

import pytest

from sitr.errors import QuestionError
from sitr.questions.aggregate.sql import parse


def advice(sql: str) -> str:
    with pytest.raises(QuestionError) as refused:
        parse(sql)
    return refused.value.do


@pytest.mark.parametrize(
    ("sql", "instead"),
    [
        ("SELECT AVG(x) FROM a", "SELECT SUM(x), COUNT(x) FROM a"),
        (
            "SELECT w, AVG(x) AS m, COUNT(*) AS n FROM a WHERE y > 3 GROUP BY w",
            "SELECT w, SUM(x), COUNT(x), COUNT(*) AS n FROM a WHERE y > 3 GROUP BY w",
        ),
        ("SELECT AVG(x), SUM(x), AVG(y) FROM a", "SELECT SUM(x), COUNT(x), SUM(y), COUNT(y) FROM a"),
        ('SELECT AVG("a b") FROM "c-d"', 'SELECT SUM("a b"), COUNT("a b") FROM "c-d"'),
    ],
)
def test_a_mean_is_a_sum_and_a_count(sql: str, instead: str) -> None:
    found = advice(sql)
    assert found == f"Ask for the sum and the count, and divide: {instead}"
    assert parse(found.partition(": ")[2]) == parse(instead)


def test_a_long_question_is_not_repeated() -> None:
    assert (
        advice(f"SELECT AVG(x) FROM a WHERE y IN ({', '.join(['1'] * 500)})")
        == "Ask for SUM(x) and COUNT(x), and divide."
    )


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT SUMM(x) FROM a", "Did you mean SUM?"),
        ("SELECT cuont(*) FROM a", "Did you mean COUNT?"),
        ("SELECT my_function(x) FROM a", "Ask for COUNT(*)"),
        ("SELECT MEDIAN(x) FROM a", "histogram of x"),
        ("SELECT COUNT(x, y) FROM a", "Write COUNT(*), COUNT(column)"),
        ("SELECT COUNT(*) FROM a WHERE lowr(x) = 'b'", "Did you mean LOWER?"),
        ("SELECT COUNT(*) FROM a WHERE my_function(x) = 1", "Use arithmetic, CASE, CAST"),
        ("SELECT COUNT(*) FROM a GROUP BY my_function(x)", "Use arithmetic, CASE, CAST"),
        ("SELECT COUNT(*) FROM a WHERE x::INTERVAL = 1", "Cast to one of INTEGER, DOUBLE,"),
        ("SELECT SUM(x) - SUM(y) FROM a", "compute with the answer"),
        ("SELECT COUNT(*) FROM a WHERE ward IN (Cardiology)", "single quotes: 'Cardiology'"),
        ("SELECT COUNT(*) FROM a ORDER BY x", "sort or cut the answer"),
        ("SELECT COUNT(*) FROM a HAVING COUNT(*) > 1", "filter the answer"),
        ("SELECT COUNT(*) FROM a JOIN b USING (x)", "one table"),
        ("SELECT x, COUNT(*) FROM a", "Add GROUP BY x."),
        ("SELECT COUNT(*) FROM a AS t(x)", "Write for example SELECT"),
        ("SELECT COUNT(*) FROM a; SELECT 1", "one by one"),
    ],
)
def test_each_refusal_has_its_own_advice(sql: str, words: str) -> None:
    assert words in advice(sql)
