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
    ("sql", "words"),
    [
        ("SELECT SUMM(x) FROM a", "Did you mean SUM?"),
        ("SELECT cuont(*) FROM a", "Did you mean COUNT?"),
        ("SELECT my_function(x) FROM a", "Ask for COUNT(*)"),
        ("SELECT COUNT(x, y) FROM a", "Write COUNT(*), COUNT(column)"),
        ("SELECT COUNT(*) FROM a WHERE lowr(x) = 'b'", "Did you mean LOWER?"),
        ("SELECT COUNT(*) FROM a WHERE my_function(x) = 1", "Use arithmetic, CASE, CAST"),
        ("SELECT COUNT(*) FROM a GROUP BY my_function(x)", "Use arithmetic, CASE, CAST"),
        ("SELECT my_function(x) AS k, COUNT(*) FROM a GROUP BY K", "Use arithmetic, CASE, CAST"),
        ("SELECT COUNT(*), my_function(x) FROM a GROUP BY 2", "Use arithmetic, CASE, CAST"),
        ("SELECT k, my_function(x) FROM a GROUP BY k", "Ask for COUNT(*)"),
        ("SELECT COUNT(*) FROM a WHERE x::INTERVAL = 1", "Cast to one of INTEGER, DOUBLE,"),
        ("SELECT COUNT(*) FROM a WHERE ward IN (Cardiology)", "single quotes: 'Cardiology'"),
        ("SELECT COUNT(*) FROM a CROSS JOIN b", "Add ON and what the tables have in common."),
        ("SELECT STRING_AGG(x) FROM a", "histogram of x"),
        ("SELECT x, COUNT(*) FROM a", "Add GROUP BY x."),
        ("SELECT COUNT(*) FROM a AS t(x)", "Write for example SELECT"),
        ("SELECT COUNT(*) FROM a; SELECT 1", "one by one"),
        ("SELECT x, COUNT(*) FROM a GROUP BY x UNION ALL SELECT y, COUNT(*) FROM a GROUP BY y", "budget.batch"),
    ],
)
def test_each_refusal_has_its_own_advice(sql: str, words: str) -> None:
    assert words in advice(sql)
