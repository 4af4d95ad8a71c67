"""In a sub-query that gives columns other names, every aggregate is of the column that the question means."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.functions.registry import FUNCTIONS
from sitr.questions.aggregate.nodes import text

ROWS = DuckDB(ArrowRows(pa.table({"id": [1, 2, 3, 4], "n": [1, 1, 2, None], "m": [5, 7, 9, 3]})))
TABLE = describe(
    "t", kinds=ROWS.kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=2, max_rows_per_group=2,
    bounds={"n": (0, 20), "m": (0, 20)}, granularity={}, keys={},
)  # fmt: skip
CALLS = {
    "COUNT": ("COUNT({m})", "COUNT(DISTINCT {n})"),
    "SUM": ("SUM({m})",),
    "AVG": ("AVG({m})",),
    "COUNT_IF": ("COUNT_IF({m} > 4)",),
    **{
        name: (f"{name}({{m}})",)
        for name in ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "MIN", "MAX", "MEDIAN")
    },
    **{name: (f"{name}({{m}}, {{n}})",) for name in ("COVAR_SAMP", "COVAR_POP", "CORR")},
    "SUM_PER_PERSON": ("SUM_PER_PERSON({m}, 0, 6)",),
    "QUANTILE": ("QUANTILE({m}, 0.25)",),
    "APPROX_QUANTILES": ("APPROX_QUANTILES({m}, 2)",),
    "HISTOGRAM": ("HISTOGRAM({m}, [0, 4, 8])",),
    "FILTER": ("SUM({m}) FILTER (WHERE {n} > 1)", "HISTOGRAM({m}, [0, 4, 8]) FILTER (WHERE {n} > 1)"),
    "arithmetic": ("CASE WHEN COUNT({n}) > 1 THEN VAR_POP({m}) / AVG({m}) END",),
    "an end": ("DP_INTERVAL_LOW(AVG({m}))",),
}
SOURCES = {
    "swapped": ("(SELECT id, n AS m, m AS n FROM t)", {"m": "n", "n": "m", "p": "id"}),
    "renamed": ("(SELECT id AS p, n AS a, m AS b FROM t) AS s", {"m": "s.b", "n": "a", "p": "p"}),
    "odd": ('(SELECT id AS "n", n AS "m n", m AS ID FROM t)', {"m": "id", "n": '"m n"', "p": "n"}),
}
AFTER = ("", " WHERE {n} > 0", " HAVING STDDEV_POP({m}) > 1", " WHERE {p} IN (SELECT id FROM t WHERE m > 4)")


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("source", SOURCES)
def test_every_aggregate_is_of_the_column_that_the_question_means(source: str, after: str) -> None:
    calls = [call for some in CALLS.values() for call in some]
    listed = ", ".join(f"{call} AS c{place}" for place, call in enumerate(calls))
    question = f"SELECT {listed} FROM {{rows}}{after}"
    rows, names = SOURCES[source]
    query = asked(question.format(rows=rows, **names), TABLE)
    plain = asked(question.format(rows="t", m="m", n="n", p="id"), TABLE)
    assert ROWS.read(query, salt=1) == ROWS.read(plain, salt=1)
    assert text(asked(text(query.query), TABLE).query) == text(query.query)


def test_no_aggregate_is_missing() -> None:
    assert FUNCTIONS.keys() <= CALLS.keys()
