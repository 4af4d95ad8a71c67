"""Every function on rows is total on DuckDB, PostgreSQL and Spark: no value that nobody expects makes it fail.

For each function, expressions that use it are drawn from the whole grammar and run on hostile rows, many in one
statement; where a statement fails, its expressions run one by one, so that the failure names the function. Spark takes
minutes to compile all of them, so that a build runs the shortest of each function there; all of them run with
`bash dev/test -m slow tests/laws/test_functions.py`.
"""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.dialect import Dialect
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.expressions import Expressions
from sitr.backends.postgres_dialect import PostgresDialect
from sitr.backends.spark_dialect import SparkDialect
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed
from sitr.questions.aggregate.sql import parse_condition
from tests import postgres
from tests.laws.test_dialects import ENGINES, HERE, On
from tests.questions.aggregate import strategies
from tests.questions.aggregate.expressions.test_rules import VIEW, drawn, inf_allowed, inside

EACH, TOGETHER, ROWS = 6, 12, 60
"""Expressions of each function, expressions in one statement, and hostile rows."""

LONG = 1_500
"""Longer expressions are left to the tests of DuckDB."""

REFUSED_BY_SPARK = {"REGEXP_MATCHES", "REGEXP_FULL_MATCH"}
"""Before anything is charged: `tests/laws/test_spark.py`."""


@cache
def rows() -> pa.Table:
    chance = random.Random(4)
    return strategies.arrow([strategies.hostile(chance, place % 7) for place in range(ROWS)])


@cache
def expressions() -> dict[str, list[Typed]]:
    """A few expressions of each function, the first that are drawn."""
    found: dict[str, list[Typed]] = {name: [] for name in ROW_FUNCTIONS}
    seed = 0
    while any(len(some) < EACH for some in found.values()):
        typed, seed = drawn(seed, *strategies.NAMES), seed + 1
        if typed is None or len(typed.text) > LONG:
            continue
        for name in {str(each.what) for each in inside(typed) if each.parts}:
            if len(found[name]) < EACH:
                found[name].append(typed)
    return found


def _shown(written: str, typed: Typed) -> str:
    """Moments that Python cannot hold stay on the engine."""
    return f"CASE WHEN ({written}) IS NOT NULL THEN 1 END" if typed.kind in TEMPORAL else f"({written})"


class Place:
    """The hostile rows on one engine."""

    def __init__(self, name: str) -> None:
        self.engine = ENGINES[name]
        self.rows = postgres.storable(rows()) if name == "postgres" else rows()
        self.types = {each.name: On(self.engine.make(), self.engine).type_of(each.type) for each in self.rows.schema}

    def values(self, some: list[Typed]) -> list[tuple[Any, ...]]:
        """What these expressions are, on every row."""
        on = On(self.engine.make(), self.engine)
        writer = Expressions(on.say, self.types)
        listed = ", ".join(f"{_shown(writer.written(typed), typed)} AS e{place}" for place, typed in enumerate(some))
        return on.run(self.rows, f"SELECT {listed} FROM t")

    def check(self, some: list[Typed]) -> None:
        """No row makes one of them fail; NULL only where it can be, and nothing infinite where it was computed."""
        for found, typed in zip(zip(*self.values(some), strict=True), some, strict=True):
            assert len(found) == ROWS, typed.text
            assert typed.nullable or None not in found, typed.text
            numbers = [value for value in found if isinstance(value, float)]
            assert all(map(math.isfinite, numbers)) or inf_allowed(typed), typed.text

    def check_all(self, every: list[Typed], together: int) -> None:
        """The same for many expressions, some of them in one statement."""
        for first in range(0, len(every), together):
            some = every[first : first + together]
            try:
                self.check(some)
            except Exception:  # which of them?
                for typed in some:
                    try:
                        self.check([typed])
                    except Exception as failure:
                        raise AssertionError(typed.text) from failure
                raise


def functions(typed: Typed) -> set[str]:
    return {str(each.what) for each in inside(typed) if each.parts}


def asked() -> list[Typed]:
    """All expressions, each once."""
    return list({id(typed): typed for some in expressions().values() for typed in some}.values())


@pytest.mark.parametrize("name", [name for name in HERE if name != "portable postgres"])
def test_no_row_makes_a_function_fail_on_any_engine(name: str) -> None:
    assert set().union(*map(functions, asked())) == set(ROW_FUNCTIONS)
    Place(name).check_all(asked(), TOGETHER)


NESTED = {
    "n": [
        *(
            "{} + 1",
            "{} - n",
            "{} * 2",
            "{} / 3",
            "{} // 3",
            "{} % 3",
            "ROUND({}, 1)",
            "FLOOR({})",
            "-({})",
            "SIGN({})",
        ),
        *(
            "POWER({}, 2)",
            "SQRT({})",
            "EXP({})",
            "CLAMP({}, 0, 10)",
            "LEAST({}, 4)",
            "COALESCE({}, 0)",
            "NULLIF({}, 3)",
        ),
        *(
            "CASE WHEN {} > 3 THEN 1 ELSE 2 END",
            "CASE WHEN {} IN (1, 2, 3) THEN 1 ELSE 2 END",
            "CAST({} / 2 AS INTEGER)",
        ),
        *("EXTRACT(day FROM d + {})", "DATE_DIFF('day', d, d + {})", "DATE_DIFF('hour', s, d + {})"),
        "CAST(CAST({} AS VARCHAR) AS INTEGER)",
    ],
    "d": [
        *("{} + INTERVAL 3 DAY", "{} + INTERVAL 3 MONTH", "CAST({} + INTERVAL 3 HOUR AS DATE)", "{} - 3"),
        *("DATE_TRUNC('month', {})", "CAST(CAST({} AS VARCHAR) AS DATE)", "COALESCE({}, DATE '2020-01-01')"),
    ],
    "s": [
        "DATE_TRUNC('hour', {})",
        "{} + INTERVAL 3 MINUTE",
        "{} + INTERVAL 3 MONTH",
        "CAST(CAST({} AS DATE) AS TIMESTAMP)",
        "{} AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Paris'",
    ],
    "t": [
        *("LOWER({})", "SUBSTR({}, 2)", "LEFT({}, 3)", "TRIM({})", "REPLACE({}, 'a', 'b')", "{} || 'a'"),
        "SPLIT_PART({}, 'a', 2)",
        *("CASE WHEN {} LIKE 'a%' THEN 'a' ELSE 'b' END", "CASE WHEN ENDS_WITH({}, 'a') THEN 'a' ELSE 'b' END"),
    ],
    "ok": ["NOT ({})", "({}) AND ok", "CAST(CAST({} AS VARCHAR) AS BOOLEAN)", "CASE WHEN {} THEN TRUE ELSE ok END"],
}
"""Functions around an expression, by the column inside all of them."""


@pytest.mark.parametrize("say", [DUCKDB, PostgresDialect(), SparkDialect()], ids=["duckdb", "postgres", "spark"])
def test_the_text_of_nested_functions_grows_with_their_number(say: Dialect) -> None:
    """Each one adds as much as the one before it: written twice, eight of them would be 256 times as long."""
    for column, around in NESTED.items():
        for one in around:
            text, lengths = column, []
            for _ in range(7):
                text = one.replace("{}", f"({text})")
                typed = VIEW.typed(parse_condition(f"({text}) IS NULL")).parts[0]
                lengths.append(len(Expressions(say, {}).written(typed)))
            added = [after - before for before, after in pairwise(lengths[3:])]
            assert max(added) <= min(added) + 5, (one, lengths)


ON_SPARK = [name for name in ROW_FUNCTIONS if name not in REFUSED_BY_SPARK]
PARTS = 10
"""Statements of Spark with the shortest expressions."""


def asked_of_spark(place: Place) -> list[Typed]:
    """All expressions that Spark does not refuse, those first that are short as Spark reads them."""
    writer = Expressions(On(place.engine.make(), place.engine).say, place.types)
    allowed = [typed for typed in asked() if not functions(typed) & REFUSED_BY_SPARK]
    assert set().union(*map(functions, allowed)) == set(ON_SPARK)
    return sorted(allowed, key=lambda typed: len(writer.written(typed)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_row_makes_a_function_fail_on_spark(part: int) -> None:
    """The shortest expression of each function."""
    place = Place("spark")
    every = asked_of_spark(place)
    shortest = [next(typed for typed in every if name in functions(typed)) for name in ON_SPARK[part::PARTS]]
    place.check_all(shortest, len(shortest))


@pytest.mark.slow
def test_no_row_makes_any_expression_fail_on_spark() -> None:
    place = Place("spark")
    place.check_all(asked_of_spark(place), 6)


@pytest.mark.parametrize(("name", "because"), [("duckdb", "Could not convert")])
def test_a_function_that_can_fail_is_noticed(name: str, because: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: a cast that every engine refuses for some rows."""
    place = Place(name)
    monkeypatch.setattr(Expressions, "written", lambda *_: "CAST(t AS INTEGER)")
    with pytest.raises(Exception, match=because):
        place.check([expressions()["CAST"][0]])
