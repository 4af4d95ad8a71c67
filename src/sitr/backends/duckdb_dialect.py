"""The expressions of DuckDB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sitr.dataset.schema import Column, Key, Kind, Quantised
from sitr.questions.aggregate.spelling import Value

PLAIN_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""Types whose values compare with 64-bit integers without a cast."""


@dataclass(frozen=True, slots=True)
class DuckDBDialect:
    """A `Dialect`. DuckDB's least and greatest skip NULL, and isnan(NULL) is NULL."""

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Value) -> str:
        match value:
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return f"CAST({value} AS BIGINT)"  # not -n::BIGINT, which casts n before it negates: 2^63 does not fit
            case float():
                return f"{value!r}::DOUBLE" if math.isfinite(value) else f"'{value}'::DOUBLE"
            case datetime():
                return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
            case date():
                return f"DATE '{value.isoformat()}'"
            case str():
                return "'" + value.replace("'", "''") + "'"

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def number(self, expression: str) -> str:
        return f"TRY_CAST({expression} AS DOUBLE)"

    def number_or(self, expression: str, missing: float) -> str:
        number = self.number(expression)
        return f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {self.literal(missing)} ELSE {number} END"

    def integer(self, expression: str, type: str) -> str:
        return expression if type in PLAIN_INTEGERS else f"TRY_CAST({expression} AS HUGEINT)"

    def moment(self, expression: str) -> str:
        return f"TRY_CAST({expression} AS TIMESTAMP)"

    def granules(self, expression: str, to: Quantised) -> str:
        """Clamped as a double, so that no cast can overflow; then as an integer, so that rounding stays inside."""
        low, high = float(to.lower * to.granularity), float(to.upper * to.granularity)
        number = self.number(expression)
        clamped = f"least(greatest({number}, {low!r}::DOUBLE), {high!r}::DOUBLE)"
        rounded = f"round({clamped} / {float(to.granularity)!r}::DOUBLE)::BIGINT"
        return f"CASE WHEN NOT isnan({number}) THEN least(greatest({rounded}, {to.lower}), {to.upper}) END"

    def key(self, column: Column) -> str:
        name = self.identifier(column.name)
        match column.kind:
            case Kind.INTEGER:
                return f"TRY_CAST({name} AS BIGINT)"
            case Kind.DATE:
                return f"CASE WHEN {name} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {name} END"
            case Kind.BOOLEAN:
                return name
            case _:
                return self.text(name)

    def comparable(self, expression: str, type: str, value: Value) -> str:
        match value:
            case bool():
                return expression
            case int() if type.endswith(("INT", "INTEGER")):
                return self.integer(expression, type)
            case int() | float():
                return self.number(expression)
            case str():
                return expression if type == "VARCHAR" else self.text(expression)
            case datetime():
                return expression if type == "TIMESTAMP" else self.moment(expression)
            case date():
                return expression

    def like(self, expression: str, pattern: str) -> str:
        return f"{self.text(expression)} LIKE {self.literal(pattern)}"

    def same(self, one: str, other: str) -> str:
        return f"{one} IS NOT DISTINCT FROM {other}"

    def order(self, salt: int, names: Sequence[str]) -> str:
        # DuckDB's hash of several values ends in an XOR with the last one's own hash, which every salt shares: hashed
        # once more, the order of the groups is a fresh one for each person.
        return f"hash(hash({salt}::UBIGINT, {', '.join(names)}))"

    def lowest(self, most: int, *, source: str, of: Sequence[str], by: str) -> str:
        # Without a frame, DuckDB counts all rows with an equal hash: the rank of both is the larger one.
        rank = f"count(*) OVER (PARTITION BY {', '.join(of)} ORDER BY {by})"
        return f"SELECT * FROM {source} QUALIFY {rank} <= {most}"

    def semi_join(self, source: str, other: str, *, on: str) -> str:
        return f"{source} r SEMI JOIN {other} f ON {on}"

    def step(self, name: str, select: str, *, once: bool) -> str:
        return f"{name} AS {'' if once else 'NOT '}MATERIALIZED ({select})"

    def total(self, expression: str) -> str:
        return f"sum({expression})"  # of BIGINT it is HUGEINT, and of HUGEINT too

    def whole(self, expression: str) -> str:
        return f"CAST({expression} AS BIGINT)"

    def wide(self, expression: str) -> str:
        return f"CAST({expression} AS HUGEINT)"

    def quotient(self, expression: str, by: int) -> str:
        return f"({expression}) // {by}"

    def days(self, first: date, expression: str) -> str:
        return f"date_diff('day', {self.literal(first)}, {expression})"

    def seconds(self, first: datetime, expression: str) -> str:
        return f"date_diff('second', {self.literal(first)}, {expression})"

    def position(self, expression: str, keys: Sequence[Key]) -> str:
        """By the text of a key, which is different for different keys of one type.

        DuckDB makes one hash join of the sub-query, so that a row costs the same however many keys there are, and
        whether or not it has one of them. The sub-query has one row, whatever the keys, so that it cannot fail.
        """
        name = "k"
        while name in expression.lower():  # a column of this name would be taken for a key inside the sub-query
            name += "k"
        texts = ", ".join(self.literal(str(key).lower() if isinstance(key, bool) else str(key)) for key in keys)
        listed = f"SELECT unnest([{texts}]) AS {name}_key, unnest(range({len(keys)})) AS {name}_place"
        matching = f"{name}_key = {self.text(expression)}"
        return f"(SELECT min({name}_place) FROM ({listed}) AS {name} WHERE {matching})"


DUCKDB = DuckDBDialect()
