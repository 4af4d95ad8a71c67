from __future__ import annotations

import pytest

from sitr.errors import QuestionError
from sitr.questions.aggregate.sql import parse
from sitr.questions.aggregate.top_keys import spelled_out

SPELLED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 3"


@pytest.mark.parametrize(
    ("sql", "same"),
    [
        ("SELECT APPROX_TOP_COUNT(ward, 3) FROM visits", SPELLED),
        ("SELECT APPROX_TOP_K(ward, 3) FROM visits", SPELLED),
        ("SELECT TOP_K(ward, 3) FROM visits", SPELLED),
        ("select approx_top_count(ward, 3) as n from visits;", SPELLED),
        ("SELECT APPROX_TOP_COUNT(ward, 3) AS many FROM visits", SPELLED.replace(" n ", " many ")),
        (
            "SELECT APPROX_TOP_COUNT(SUBSTR(ward, 1, 2), 3) FROM (SELECT * FROM visits LIMIT 1) WHERE cost > 2",
            "SELECT SUBSTR(ward, 1, 2), COUNT(*) AS n FROM (SELECT * FROM visits LIMIT 1) WHERE cost > 2 GROUP BY 1 "
            "ORDER BY 2 DESC LIMIT 3",
        ),
        (
            "SELECT APPROX_TOP_SUM(ward, cost * 2, 3) AS total FROM visits",
            "SELECT ward, SUM(cost * 2) AS total FROM visits GROUP BY ward ORDER BY total DESC LIMIT 3",
        ),
        ("SELECT COUNT(*) AS n FROM visits WHERE ward = 'APPROX_TOP_COUNT'", None),
        ("SELECT 'APPROX_TOP_COUNT(' FROM", None),
    ],
)
def test_the_most_frequent_keys_are_groups_sorted_and_cut(sql, same):
    if same is None:
        assert spelled_out(sql) == sql
    elif "LIMIT 1" in sql:
        assert spelled_out(sql) == same
    else:
        assert parse(spelled_out(sql)) == parse(same)


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT ward, APPROX_TOP_COUNT(ward, 3) FROM visits GROUP BY ward", "GROUP BY ward ORDER BY n DESC LIMIT 3"),
        ("SELECT APPROX_TOP_COUNT(ward, 3), COUNT(*) FROM visits", "must be the only column"),
        ("SELECT APPROX_TOP_COUNT(ward, 3) FROM visits LIMIT 2", "without GROUP BY, ORDER BY and LIMIT"),
        ("SELECT APPROX_TOP_COUNT(ward, 3)", "must be the only column"),
        ("SELECT APPROX_TOP_COUNT(ward) FROM visits", "needs a key and a number of keys"),
        ("SELECT APPROX_TOP_COUNT(ward, 0) FROM visits", "needs a key and a number of keys"),
        ("SELECT APPROX_TOP_COUNT(ward, days) FROM visits", r"Write APPROX_TOP_COUNT\(ward, 10\)"),
        ("SELECT APPROX_TOP_SUM(ward, 3) FROM visits", r"Write APPROX_TOP_SUM\(ward, y, 10\)"),
        ("SELECT APPROX_TOP_COUNT(ward, 3 FROM visits", "is not closed"),
    ],
)
def test_other_forms_are_refused_with_the_question_that_works(sql, because):
    with pytest.raises(QuestionError, match=because):
        spelled_out(sql)
