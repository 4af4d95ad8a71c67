"""Every function on rows is total on DuckDB and on PostgreSQL: no value that nobody expects makes it fail.

For each function, expressions that use it are drawn from the whole grammar and run on hostile rows, many in one
statement; where a statement fails, its expressions run one by one, so that the failure names the function. Spark runs
the parts of these expressions in `tests/laws/test_spark.py`: whole ones take too long to compile there.
"""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.expressions import Expressions
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed
from tests import postgres
from tests.laws.test_dialects import ENGINES, HERE, On
from tests.questions.aggregate import strategies
from tests.questions.aggregate.expressions.test_rules import drawn, inf_allowed, inside

EACH, TOGETHER, ROWS = 6, 12, 60
"""Expressions of each function, expressions in one statement, and hostile rows."""

LONG = 1_500
"""Longer expressions are left to the tests of DuckDB."""


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

    def asked(self) -> list[Typed]:
        """All expressions, each once."""
        return list({id(typed): typed for some in expressions().values() for typed in some}.values())


@pytest.mark.parametrize("name", HERE)
def test_no_row_makes_a_function_fail_on_any_engine(name: str) -> None:
    place = Place(name)
    every = place.asked()
    used = {str(each.what) for typed in every for each in inside(typed) if each.parts}
    assert used == set(ROW_FUNCTIONS)
    for first in range(0, len(every), TOGETHER):
        some = every[first : first + TOGETHER]
        try:
            place.check(some)
        except Exception:  # which of them?
            for typed in some:
                try:
                    place.check([typed])
                except Exception as failure:
                    raise AssertionError(typed.text) from failure
            raise


def test_a_function_that_can_fail_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: a cast that every engine refuses for some rows."""
    place = Place("duckdb")
    monkeypatch.setattr(Expressions, "written", lambda *_: "CAST(t AS INTEGER)")
    with pytest.raises(Exception, match="Could not convert"):
        place.check([expressions()["CAST"][0]])
