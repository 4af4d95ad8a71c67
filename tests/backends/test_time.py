"""No text of a row can make a question slow: time grows with the length of the texts, and not faster."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest

from sitr.backends.duckdb_dialect import DUCKDB, SHORT
from sitr.backends.expressions import Expressions
from sitr.errors import SitrError
from sitr.questions.aggregate.expressions.expression import COMPARISONS, Call, Expression, Literal, Name
from sitr.questions.aggregate.expressions.patterns import odd
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.view import View
from tests.questions.aggregate import strategies

VIEW = View.of(strategies.table())
LONG, TIMES = 40_000, 8
ANY = "%".join(["a"] * 12)
NESTED: Expression = Name("t")
for _ in range(5):
    NESTED = Call("||", (NESTED, NESTED))


def seconds(expression: Expression, length: int) -> float:
    """The processor's time for texts of this many letters, each made to be searched for long."""
    letters = "a" * length
    rows = pa.table({"t": [letters, letters[:-1] + "b", "b" + letters[1:], "ab" * (length // 2)]})
    written = Expressions(DUCKDB, {"t": "VARCHAR"}).written(VIEW.typed(expression))
    with duckdb.connect(":memory:") as engine:
        engine.execute("SET threads = 1")
        engine.register("rows", rows)
        engine.execute("CREATE TABLE r AS SELECT * FROM rows")
        start = time.process_time()
        engine.execute(f"SELECT count({written}) FROM r").fetchall()
        return time.process_time() - start


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "expression",
    [
        Call("LIKE", (Name("t"), Literal(f"%{ANY}%b"))),
        Call("LIKE", (Name("t"), Literal("%" * 30 + "b"))),
        Call("LIKE", (Name("t"), Literal("_%" * 20 + "b"))),
        Call("ILIKE", (Name("t"), Literal(f"%{ANY}%B"))),
        Call("CONTAINS", (Name("t"), Literal("a" * 1_000 + "b"))),
        Call("CONTAINS", (Name("t"), Call("SUBSTR", (Name("t"), Literal(20_000), Literal(10**6))))),
        Call("STARTS_WITH", (Name("t"), Call("||", (Name("t"), Literal("a"))))),
        Call("LENGTH", (NESTED,)),
        Call("LENGTH", (Call("TRIM", (Call("UPPER", (Name("t"),)),)),)),
    ],
    ids=["like", "percents", "underscores", "ilike", "contains", "contains itself", "starts", "joined", "upper"],
)
def test_time_grows_with_the_length_of_a_text(expression: Expression) -> None:
    """Eight times the letters take about eight times as long; quadratic time would take 64 times as long.

    Whatever else the machine does only adds to a time, so the least of several is compared; 20 milliseconds are the
    noise of the clock and the fixed cost of a statement.
    """
    short = min(seconds(expression, LONG) for _ in range(3))
    long = min(seconds(expression, LONG * TIMES) for _ in range(3))
    assert long < 3 * TIMES * (short + 0.02)


T, A = Name("t"), Literal("a")
HALF = Call("||", (Call("LEFT", (T, Literal(LONG))), Literal("b")))
FAMILIES: dict[str, tuple[Expression, ...]] = {
    **{sign: (Call(sign, (T, Call("||", (T, A)))),) for sign in COMPARISONS},
    "IS NULL": (Call("IS NULL", (Call("||", (T, T)),)),),
    "IN": (Call("IN", (T, A, Literal("a" * 500))),),
    "LIKE": (Call("LIKE", (T, Literal("%a_" * 9 + "%b"))), Call("LIKE", (T, Literal("%" + "a" * 60 + "_b%")))),
    "ILIKE": (Call("ILIKE", (T, Literal("%A_" * 9 + "%B"))),),
    "STARTS_WITH": (Call("STARTS_WITH", (T, HALF)),),
    "ENDS_WITH": (Call("ENDS_WITH", (Call("||", (T, Literal("b"))), HALF)),),
    "CONTAINS": (Call("CONTAINS", (T, HALF)), Call("CONTAINS", (T, Call("||", (Literal("b"), HALF))))),
    "CASE": (Call("LENGTH", (Call("CASE", (Call("=", (T, HALF)), T, HALF)),)),),
    **{name: (Call("LENGTH", (Call(name, (T, HALF)),)),) for name in ("COALESCE", "NULLIF", "||")},
    **{
        name: (Call("LENGTH", (Call(name, (Call("||", (Literal("  "), T)),)),)),)
        for name in ("LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM")
    },
    "LENGTH": (Call("LENGTH", (T,)),),
    "SUBSTR": (Call("SUBSTR", (T, Literal(1_000), Literal(LONG))), Call("SUBSTR", (T, Literal(30_000)))),
    "LEFT": (Call("LEFT", (T, Literal(LONG))),),
    "RIGHT": (Call("RIGHT", (T, Literal(LONG))),),
    "SPLIT_PART": (
        Call("LENGTH", (Call("SPLIT_PART", (T, Literal("aa"), Literal(1_000))),)),
        Call("LENGTH", (Call("SPLIT_PART", (T, Literal("a" * 500 + "b"), Literal(1))),)),
    ),
    "REPLACE": (Call("LENGTH", (Call("REPLACE", (T, Literal("aa"), Literal("b"))),)),),
    **{
        name: (Call(name, (T, Literal("(a|b)*a.{90}c"))), Call(name, (T, Literal(r"(\w*[^c]){20}c"))))
        for name in ("REGEXP_MATCHES", "REGEXP_FULL_MATCH")
    },
    "CAST": tuple(
        Call("CAST", (T, Literal(to))) for to in ("INTEGER", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR")
    ),
}
"""For every function that takes text, calls that would be slow where its time grows faster than the text."""


@pytest.mark.parametrize("function", FAMILIES)
def test_the_time_of_every_function_of_text_grows_with_its_length(function: str) -> None:
    for expression in FAMILIES[function]:
        short = min(seconds(expression, LONG) for _ in range(2))
        long = min(seconds(expression, LONG * TIMES) for _ in range(2))
        assert long < 3 * TIMES * (short + 0.02), expression


def test_no_function_of_text_is_missing() -> None:
    """Whatever takes a column of text, with one, two or three arguments, is timed above."""
    number, word = Literal(1), Literal("INTEGER")
    given: tuple[tuple[Expression, ...], ...] = (
        *((T,), (T, T), (T, A), (T, number), (T, word), (T, A, A), (T, number, number), (Name("ok"), T), (T, T, T)),
    )
    found = set()
    for function in ROW_FUNCTIONS:
        for arguments in given:
            with suppress(SitrError, AssertionError, KeyError):  # no question has a CAST to other words
                VIEW.typed(Call(function, arguments))
                found.add(function)
    assert found <= FAMILIES.keys()
    assert len(found) > 20


def test_a_slow_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight times the letters take 512 times as long."""

    def slow(_: object, expression: str, __: str, ___: str) -> str:
        longer = "repeat('{}', i * i // 1000)".format
        same = f"{longer('a')} = {longer('b')}"
        return f"len(list_filter(range(length({expression}) // 50), lambda i: {same}))"

    monkeypatch.setattr(type(DUCKDB), "replaced", slow)
    expression = Call("REPLACE", (T, Literal("aa"), Literal("b")))
    assert seconds(expression, LONG * TIMES) > 3 * TIMES * (seconds(expression, LONG) + 0.02)


def test_no_expression_is_written_as_a_text_that_grows_without_limit() -> None:
    """Nested as deeply as it is allowed: what a backend writes twice must not double at each level."""
    longest = 0
    for seed in range(300):
        chance = random.Random(seed)
        found = strategies.expression(chance, *strategies.NAMES, depth=9)
        try:
            typed = VIEW.typed(found)
        except ValueError:  # refused: too deep, too many columns, or no type
            continue
        longest = max(longest, len(Expressions(DUCKDB, {}).written(typed)))
    assert longest < 200_000


def test_nested_arithmetic_is_written_in_a_text_that_grows_with_its_depth() -> None:
    """DuckDB plans a statement in a time that grows with its text: a text that doubles at each level would stop it."""
    lengths, found = [], Name("n")
    for _ in range(14):
        found = Call("*", (found, Literal(1.5)))  # type: ignore[assignment]
        lengths.append(len(Expressions(DUCKDB, {"n": "DOUBLE"}).written(VIEW.typed(found))))
    assert max(later - earlier for earlier, later in pairwise(lengths)) <= 2 * SHORT
    with duckdb.connect(":memory:") as engine:
        written = Expressions(DUCKDB, {"n": "DOUBLE"}).written(VIEW.typed(found))
        rows = engine.execute(f"SELECT {written} FROM (VALUES (1.0::DOUBLE), (1e308), ('inf'), (NULL)) r(n)").fetchall()
    assert rows == [(pytest.approx(1.5**14),), (None,), (None,), (None,)]


@pytest.mark.parametrize("pattern", ["|".join([".*a.{190}c"] * 2), "a{150}|b{150}", "(a{150}|b{150})", "a{199}|b|c|d"])
def test_the_parts_of_all_alternatives_of_a_pattern_count(pattern: str) -> None:
    """Each alternative alone is within the limit, and the time for a letter grows with their sum."""
    assert odd(pattern) == "it has more than 200 parts when repetitions are written out"
    assert all(odd(each) is None for each in pattern.strip("()").split("|"))


def test_a_long_list_is_planned_in_a_time_that_grows_with_it() -> None:
    """As a chain of OR, 8,000 numbers took DuckDB twenty times as long as 1,000."""

    def planned(items: int) -> float:
        typed = VIEW.typed(Call("IN", (Name("n"), *(Literal(each) for each in range(items)))))
        written = Expressions(DUCKDB, {"n": "BIGINT"}).written(typed)
        with duckdb.connect(":memory:") as engine:
            start = time.process_time()
            assert engine.execute(f"SELECT count(*) FROM range(10) r(n) WHERE {written}").fetchall() == [(10,)]
            return time.process_time() - start

    short, long = (min(planned(items) for _ in range(2)) for items in (1_000, 8_000))
    assert long < 2 * 8 * (short + 0.02)


def test_a_list_of_values_of_different_types_is_compared_with_each() -> None:
    typed = VIEW.typed(Call("IN", (Name("x"), Literal(1), Literal(2.5), Literal(1))))
    written = Expressions(DUCKDB, {"x": "DOUBLE"}).written(typed)
    rows = "(VALUES (1.0::DOUBLE), (2.5), ('nan'), (NULL), (3.0)) r(x)"
    with duckdb.connect(":memory:") as engine:
        found = engine.execute(f"SELECT x, {written} FROM {rows}").fetchall()
    assert [each for _, each in found] == [True, True, None, None, False]
