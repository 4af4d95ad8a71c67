"""Any text is admitted and bounded, or refused in words: mutations of questions, cut and joined at their tokens."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa
import pytest
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError

from sitr.backends.public import public_table
from sitr.backends.reading import tree
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import TableRows
from tests.questions.aggregate import grammar, strategies

STORAGE = grammar.Storage((pa.int64(), [0, 1, 2, 3, 4]), (pa.int64(), [0, 1, 2, 3, 4]), strategies.TYPES)
TABLE = grammar.table(STORAGE, unit=Person("id"), relation=Relation.ADD_REMOVE, groups=2, rows=2, total=None)
READ = public_table("codes", grammar.CODES_ROWS)
CODES = replace(READ, most=lru_cache(READ.most))
CATALOG = Catalog(TABLE, ("codes",), lambda _: CODES, (grammar.stays(STORAGE, TABLE.relation),))
CORPUS = (
    "SELECT w, COUNT(*) AS k, SUM(x) AS total FROM visits WHERE n > 3 AND NOT (t LIKE 'a%' OR t IS NULL) GROUP BY w",
    "SELECT date_trunc('month', d) AS month, COUNT(DISTINCT id) FROM visits WHERE d >= DATE '2024-01-01' GROUP BY 1",
    "SELECT n / 10 AS tens, SUM(x * 2 - n) AS s FROM visits v WHERE v.ok IS TRUE GROUP BY tens",
    "SELECT CASE WHEN n < 5 THEN 'low' WHEN n < 9 THEN 'mid' ELSE 'high' END AS g, COUNT(x) FROM visits GROUP BY g",
    "SELECT SUM(CLAMP(x / y, -1, 1)) AS r, SUM(ABS(x)) FROM visits WHERE s + INTERVAL 3 HOUR < TIMESTAMP '2024-03-01'",
    "SELECT EXTRACT(quarter FROM d), ok, COUNT(*) FROM visits WHERE lower(w) || t <> 'ab' GROUP BY 1, ok",
    "SELECT SUM(CAST(t AS INTEGER) % 7) FROM visits WHERE COALESCE(n, 0) BETWEEN 1 AND 5 OR w IN ('a', 'b') -- why",
    "SELECT COUNT(*) FILTER (WHERE n > 1), AVG(x), MEDIAN(x) FROM visits HAVING COUNT(*) > 5 ORDER BY 1 LIMIT 3",
    "WITH a AS (SELECT id, SUM(x) AS total FROM visits GROUP BY id) SELECT COUNT(*) FROM a JOIN visits USING (id)",
    "SELECT w, SUM(x) OVER (PARTITION BY id ORDER BY d) FROM visits UNION ALL SELECT t, 1 FROM visits",
    "SELECT w, MAX(x) - MIN(x), DP_INTERVAL_LOW(k), COUNT(*) AS k FROM visits WHERE id IN (SELECT id FROM visits WHERE "
    "ok GROUP BY id HAVING COUNT(*) > 1) AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.id = visits.id AND v.n > 9) "
    "GROUP BY ALL",
    "SELECT DISTINCT t, CASE WHEN REGEXP_MATCHES(w, '^[a-z]+$') THEN REPLACE(t, 'ab', 'c') END FROM main.visits",
    "SELECT code, COUNT(*), SUM(size) FROM visits v LEFT JOIN codes c ON v.w = c.code AND c.size > 1 GROUP BY code",
    "SELECT z, AVG(r), MAX(q) - MIN(q) FROM visits JOIN stays ON visits.id = stays.pid WHERE q < n GROUP BY z LIMIT 2",
    "SELECT a.w, COUNT(*) FROM visits a JOIN visits b ON a.id = b.id AND a.n < b.n GROUP BY a.w ORDER BY 2 DESC",
    "SELECT k, SUM(CLAMP(v, 0, 9)) FROM (SELECT id, w AS k, n AS v FROM visits UNION ALL SELECT id, t, m FROM visits) "
    "AS p WHERE k IN (SELECT code FROM codes WHERE size > 0) GROUP BY k HAVING MEDIAN(v) > 1 OR COUNT(*) FILTER "
    "(WHERE v > 2) > 3",
    "SELECT t, w, QUANTILE(x, 0.9), HISTOGRAM(n, [0, 3, 9]), SUM_PER_PERSON(n, 0, 5) FROM visits GROUP BY t, w",
    "SELECT w, SUM(CLAMP(k / m, 0, 1)) FROM (SELECT id, w, COUNT_IF(n > 1) AS k, COUNT(*) AS m, MAX(x) FILTER "
    "(WHERE ok) AS most FROM visits GROUP BY id, w HAVING COUNT(t) FILTER (WHERE n < 9) > 1) GROUP BY w QUALIFY RAN"
    "K() OVER (PARTITION BY w ORDER BY COUNT(*)) < 3",
    "SELECT POWER(n, 2), SUM(LN(EXP(x))), SUBSTR(w, 2, 3), DATE_DIFF('day', d, e) FROM visits GROUP BY 1, 3, 4",
)
SOUP = (
    *[
        "(",
        ")",
        ",",
        ".",
        ";",
        "*",
        "=",
        "<>",
        "<",
        ">",
        "<=",
        ">=",
        "+",
        "-",
        "/",
        "//",
        "%",
        "||",
        "::",
        "[",
        "]",
        "{",
        "}",
        "?",
        "$1",
        "@",
        "#",
        "'",
        '"',
        "--",
        "/*",
        "*/",
        "~",
        "^",
        "!",
        "|",
        "&",
        "\\",
    ],
    *[
        "NULL",
        "TRUE",
        "0",
        "1",
        "-1",
        "1.5",
        "1e308",
        "1e400",
        "99999999999999999999",
        "'a'",
        "''",
        '"w"',
        "'سِتر'",
        "DATE",
        "INTERVAL",
        "CASE",
        "WHEN",
        "END",
    ],
    *[
        "DISTINCT",
        "CAST",
        "AS",
        "INT",
        "DOUBLE",
        "EXTRACT",
        "YEAR",
        "FROM",
        "SELECT",
        "WHERE",
        "GROUP",
        "BY",
        "NOT",
        "IN",
        "LIKE",
        "BETWEEN",
        "AND",
        "OR",
        "IS",
    ],
    *[
        "x",
        "n",
        "w",
        "t",
        "ok",
        "d",
        "e",
        "s",
        "u",
        "id",
        "visits",
        "visits.x",
        "v.n",
        "COUNT",
        "SUM",
        "CLAMP",
        "POWER",
        "LENGTH",
        "DATE_TRUNC",
        "COALESCE",
        "LEAST",
        "NULLIF",
    ],
)


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    """The parser tells its logger of statements that it does not know."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    yield
    logger.disabled = before


def tokens(sql: str) -> list[str]:
    try:
        return [sql[token.start : token.end + 1] for token in DuckDB().tokenize(sql)]
    except SqlglotError:
        return sql.split()


def mutated(chance: random.Random) -> str:
    """A question, or two halves of questions, with a few tokens exchanged, dropped, repeated, wrapped or replaced."""
    if chance.random() < 0.15:
        drawn = chance.choice([strategies.query, grammar.query])
        return text(drawn(chance, depth=chance.randint(1, 3)))
    words = tokens(chance.choice(CORPUS))
    if chance.random() < 0.3:
        others = tokens(chance.choice(CORPUS))
        words = words[: chance.randrange(len(words) + 1)] + others[chance.randrange(len(others) + 1) :]
    for _ in range(chance.randint(0, 4) if words else 0):
        low, high = sorted((chance.randrange(len(words)), chance.randrange(len(words))))
        middle = words[low : high + 1]
        words[low : high + 1] = chance.choice(
            [
                [*middle[-1:], *middle[1:-1], *middle[:1]],
                middle[1:] or middle,
                [*middle[-1:], *middle],
                [chance.choice(SOUP), *middle[1:]],
                [chance.choice(SOUP), *middle],
                ["(", *middle, ")"],
            ]
        )
    return chance.choice([" ", "\n", "  "]).join(words)


def answered(sql: str) -> BoundedQuery | SitrError:
    try:
        return asked(sql, TABLE, catalog=CATALOG)
    except SitrError as refusal:
        return refusal


def reach(quantity: Quantity) -> tuple[int, int]:
    """The least and the most that a row adds to a sum or a count, or that a quantile can be."""
    match quantity:
        case Term():
            return quantity.reach
        case Rank():
            return quantity.quantised.lower, quantity.quantised.upper
        case Distinct() | Bar():
            return 0, 1


def outcome(seed: int) -> str:
    """Whether a text is admitted or refused; anything else is an error of its own type."""
    sql = mutated(random.Random(seed))
    query = answered(sql)
    if isinstance(query, SitrError):
        assert query.given, sql
        assert query.do, sql
        assert "sqlglot" not in str(query), sql
        return "refused"
    caps = tree(query).caps
    assert caps.groups is not None and caps.rows is not None, sql  # noqa: PT018
    assert 1 <= caps.groups <= query.max_groups, sql
    assert 1 <= caps.rows <= query.max_rows_per_group, sql
    for term in query.terms:
        low, high = reach(term)
        assert -(2**54) <= low <= high <= 2**54, sql
    again = asked(text(query.query), TABLE, catalog=CATALOG)
    assert text(again.query) == text(query.query), sql
    assert again == query or not isinstance(query.view.rows, TableRows), sql  # other views keep the names of tables
    return "admitted"


def test_each_of_some_texts_is_admitted_or_refused_in_words() -> None:
    found = Counter(map(outcome, range(300)))
    assert found["admitted"] > 40
    assert found["refused"] > 40


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10**5, 10**4))
def test_each_of_many_texts_is_admitted_or_refused_in_words(first: int) -> None:
    """pytest -m slow tests/questions/aggregate/test_fuzzer.py, about five minutes; -k '[20000]' runs one part."""
    found = Counter(map(outcome, range(first, first + 10**4)))
    assert found.keys() == {"admitted", "refused"}


def test_a_condition_means_the_same_in_a_sub_query_and_beside_the_others() -> None:
    """Found by the long run: a condition of a sub-query narrowed the columns of the condition around it."""
    inner = asked("SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE ok) WHERE CASE WHEN ok THEN ok END", TABLE)
    assert inner == asked("SELECT COUNT(*) AS n FROM visits WHERE ok AND CASE WHEN ok THEN ok END", TABLE)


@pytest.mark.parametrize("columns", ["id, ok, NOT ok AS z", "id, ok AS z, ok"])
def test_a_condition_on_chosen_columns_means_the_same_beside_the_others(columns: str) -> None:
    """Found by the long run: the columns of such a sub-query kept what its condition says, in other conditions, too."""
    sql = f"SELECT COUNT(*) AS n FROM (SELECT {columns} FROM visits WHERE ok) WHERE CASE WHEN z THEN ok ELSE z END"
    inner = asked(sql, TABLE)
    again = asked(text(inner.query), TABLE)
    assert inner == again
    assert inner.view.where is not None and None in (inner.view.where.parts[-1].keys or ())  # noqa: PT018
