"""No value of a question is a part of a statement for PostgreSQL or Spark: all of them are bound parameters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from sitr.backends.bound import Bound
from sitr.backends.postgres_dialect import PostgresDialect
from sitr.backends.reading import tree
from sitr.backends.spark_dialect import SparkDialect
from sitr.backends.statement import statement
from sitr.dataset.schema import Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.sql import parse

MARK = "Xq4711"
"""Every text has it, so that a value in a statement is found whatever is done to it."""
HOSTILE = (
    f"{MARK}' OR 1=1 --",
    f"{MARK}\\' OR 1=1 --",
    f"{MARK}''; DROP TABLE visits; --",
    f'{MARK}" OR ""="',
    f"{MARK}`; /* */",
    f"{MARK}$1 :p0 %s {{}} ?",
    f"{MARK}\\",
    f"{MARK}$$ \u2019 \u0130 \x07",
)
NUMBER, REAL, DAY = 987_654_321, 8765.4321, date(2031, 12, 17)


def table(key: str) -> Table:
    return describe(
        "visits",
        kinds={"id": Kind.TEXT, "ward": Kind.TEXT, "cost": Kind.REAL, "n": Kind.INTEGER, "day": Kind.DATE},
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 10)},
        granularity={"cost": 1},
        keys={"ward": [key, "b"]},
    )


def places(text: str) -> list[str]:
    """A value in every place of a question where one can be."""
    said = "'" + text.replace("'", "''") + "'"
    where = [
        *(f"ward {sign} {said}" for sign in ("=", "<>", "<", ">=")),
        f"ward IN ({said}, 'b', {said})",
        f"ward BETWEEN {said} AND {said}",
        f"ward LIKE {said}",
        f"ward ILIKE {said}",
        *(f"{name}(ward, {said})" for name in ("STARTS_WITH", "ENDS_WITH", "CONTAINS")),
        f"REPLACE(ward, {said}, {said}) = 'b'",
        f"ward || {said} = {said}",
        f"COALESCE(ward, {said}) = NULLIF(ward, {said})",
        f"CASE WHEN ward = {said} THEN {said} ELSE 'b' END = 'b'",
        f"LOWER({said}) = ward",
        f"id = {said}",
        f"id IN (SELECT id FROM visits WHERE ward = {said})",
        f"n = {NUMBER} AND cost < {REAL} AND day = DATE '{DAY}'",
    ]
    selected = "ward, COUNT(*) AS n, SUM(cost) AS s"
    return [f"SELECT {selected} FROM visits WHERE {each} GROUP BY ward" for each in where]


TYPES = {
    "postgres": {"id": "text", "ward": "text", "cost": "double precision", "n": "bigint", "day": "date"},
    "spark": {"id": "string", "ward": "string", "cost": "double", "n": "bigint", "day": "date"},
}
DIALECTS: dict[str, Callable[[], Any]] = {
    "postgres": lambda: PostgresDialect(Bound(), '"default"'),
    "spark": lambda: SparkDialect(Bound()),
}


def spliced(engine: str, dialect: Any, text: str) -> set[str]:
    """The values that are found in the text of a statement, or of a step that is computed before it."""
    found = set()
    for question in places(text):
        say = dialect()
        what = tree(bound(parse(question), table(text)))
        sql = statement(what, dialect=say, source="source_rows", types=TYPES[engine], salt=1)
        written = [sql, *map(repr, getattr(say, "steps_written", ()))]
        values = [str(value) for value in (MARK, MARK.lower(), NUMBER, REAL, DAY)]
        found |= {value for value in values if any(value in each for each in written)}
        found |= set() if any(MARK in str(value) for value in say.bound.values) else {"nothing is bound"}
    return found


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("engine", DIALECTS)
def test_no_value_is_spliced_into_a_statement(engine: str, text: str) -> None:
    assert spliced(engine, DIALECTS[engine], text) == set()


class SplicesPostgres(PostgresDialect):
    def literal(self, value: Any) -> str:
        return "'" + str(value).replace("'", "''") + "'"


class SplicesSpark(SparkDialect):
    def literal(self, value: Any) -> str:
        return "'" + str(value).replace("'", "''") + "'"


def test_a_dialect_that_doubles_quotes_instead_is_caught() -> None:
    assert MARK in spliced("postgres", lambda: SplicesPostgres(Bound(), '"default"'), HOSTILE[1])
    assert MARK in spliced("spark", lambda: SplicesSpark(Bound()), HOSTILE[1])


def test_equal_values_of_different_types_are_different_parameters() -> None:
    values = Bound()
    assert [values.add(each) for each in (1, True, 1.0, "1", 1)] == [0, 1, 2, 3, 0]
