"""The columns of a table in PostgreSQL, each in one of a few types.

A column may have many types, and a type may have surprises: a collation for which "A" equals "a", numbers that no
double can hold, 0 and −0, 1.0 and 1.00. Statements read a sub-query in which every column has a type without them:
bigint, numeric without a fraction, double precision, text compared by bytes, boolean, date or timestamp. PostgreSQL
computes it together with the rest of the statement, so this costs a cast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sitr.backends import zones
from sitr.backends.engine import refuse_twins
from sitr.backends.postgres_arithmetic import INFINITY, LARGEST
from sitr.backends.postgres_dialect import C, PostgresDialect
from sitr.backends.postgres_engine import rows
from sitr.backends.relations import FromRows
from sitr.dataset.database import DatabaseTable, names
from sitr.dataset.schema import Kind
from sitr.errors import SourceError

if TYPE_CHECKING:
    import psycopg

_WIDEST = 300
"""The most digits of a decimal number that fits into a double."""

_FOUND = """
SELECT a.attname::text, b.typname::text, b.typtype::text, b.typnamespace = 'pg_catalog'::regnamespace,
  CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, coalesce(c.collisdeterministic, true)
FROM pg_attribute a
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""

_PLACED = """
SELECT c.oid::bigint, n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = $1 AND {} ORDER BY array_position($2, n.nspname::text)
"""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column: what it holds, the type in which statements read it, and the expression that gives this type."""

    name: str
    kind: Kind
    type: str
    expression: str


@dataclass(frozen=True, slots=True)
class Columns:
    """A table with its schema, and its columns."""

    schema: str
    table: str
    columns: tuple[TypedColumn, ...]

    def kinds(self) -> dict[str, Kind]:
        return {column.name: column.kind for column in self.columns}

    def rows(self, declared: Mapping[str, str] | None = None, *, public: bool = False) -> FromRows:
        """What follows FROM. The values of a `public` table are those that are known in Python before a question.

        `declared` are the zones of columns of moments; all others are in UTC.
        """
        say = PostgresDialect()
        name = say.identifier
        columns = [_known(column) for column in self.columns] if public else self.columns
        selected = ", ".join(f"{column.expression} AS {name(column.name)}" for column in columns)
        source = f"(SELECT {selected} FROM {name(self.schema)}.{name(self.table)}) AS source_rows"
        away = {
            column.name: zones.local(say, name(column.name), (declared or {}).get(column.name, "UTC"))
            if column.kind is Kind.ZONED
            else name(column.name)
            for column in columns
        }
        if any(found != name(column) for column, found in away.items()):
            selected = ", ".join(f"{found} AS {name(column)}" for column, found in away.items())
            source = f"(SELECT {selected} FROM {source}) AS source_rows"
        return FromRows(source, {column.name: column.type for column in columns})


def _known(column: TypedColumn) -> TypedColumn:
    """Numbers of 64 bits and dates of the calendar; NULL for all others."""
    if column.kind is Kind.INTEGER:
        own = column.expression
        fits = f"{own} BETWEEN CAST('{-(2**63)}' AS bigint) AND CAST('{2**63 - 1}' AS bigint)"
        return replace(column, type="bigint", expression=f"CASE WHEN {fits} THEN CAST({own} AS bigint) END")
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        return replace(column, expression=PostgresDialect().in_calendar(column.expression, column.kind))
    return column


def found(made: psycopg.Connection[Any], at: DatabaseTable, path: list[str]) -> Columns:
    """The columns now. The table is locked against changes of its columns until the transaction ends.

    `path` are the schemas in which a name without a schema is looked up.
    """
    *schema, table = names(at.table)
    named = rows(made, _PLACED.format("n.nspname = ANY($2)"), [table, list(schema) or path])
    if not named:
        raise SourceError(
            given=f"There is no table {at.table} in {at.url}, or its schema is hidden from the role.",
            do="Write its name with the schema, such as clinic.visits, and grant USAGE on the schema.",
        )
    oid, schema_name, table_name = named[0]
    quoted = ".".join(map(PostgresDialect().identifier, (schema_name, table_name)))
    rows(made, f"SELECT 1 FROM {quoted} LIMIT 0")
    columns = tuple(_typed(*each) for each in rows(made, _FOUND, [oid]))
    refuse_twins(column.name for column in columns)
    return Columns(schema_name, table_name, columns)


def _typed(name: str, type: str, sort: str, builtin: bool, modifier: int, plain: bool) -> TypedColumn:
    own = PostgresDialect().identifier(name)
    text = f"CAST({own} AS text) {C}"
    if sort == "e":
        return TypedColumn(name, Kind.TEXT, "text", text)
    if not builtin or not plain:
        return TypedColumn(name, Kind.OTHER, "text", text)
    if type == "numeric":
        return _decimal(name, own, modifier)
    if type == "timestamptz":
        return TypedColumn(name, Kind.ZONED, "timestamp without time zone", PostgresDialect().utc(own))
    kind, found, expression = _BUILT_IN.get(type, (Kind.OTHER, "text", f"CAST({{}} AS text) {C}"))
    return TypedColumn(name, kind, found, expression.format(own))


_BUILT_IN = {
    "bool": (Kind.BOOLEAN, "boolean", "{}"),
    **dict.fromkeys(("int2", "int4", "int8"), (Kind.INTEGER, "bigint", "CAST({} AS bigint)")),
    # 0 and −0 are equal, and their texts are not.
    **dict.fromkeys(("float4", "float8"), (Kind.REAL, "double precision", "CAST({} AS double precision) + 0")),
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), (Kind.TEXT, "text", f"CAST({{}} AS text) {C}")),
    "date": (Kind.DATE, "date", "{}"),
    "timestamp": (Kind.TIMESTAMP, "timestamp without time zone", "{}"),
    "uuid": (Kind.BYTES, "text", f"CAST({{}} AS text) {C}"),
    "bytea": (Kind.BYTES, "text", f"encode({{}}, 'hex') {C}"),
}
"""What the types of PostgreSQL hold; whatever is not here cannot be asked about."""


def _decimal(name: str, own: str, modifier: int) -> TypedColumn:
    """A decimal number: whole numbers stay exact, and all others are doubles."""
    precision, scale = (modifier - 4) >> 16 & 0xFFFF, ((modifier - 4 & 0x7FF) ^ 1024) - 1024
    if modifier >= 0 and scale <= 0 and precision - scale <= _WIDEST:
        return TypedColumn(name, Kind.INTEGER, "numeric", f"nullif({own}, CAST('NaN' AS numeric))")
    if modifier >= 0 and 0 < scale <= _WIDEST and precision <= _WIDEST:
        return TypedColumn(name, Kind.REAL, "double precision", f"CAST({own} AS double precision)")
    sized = (
        f"CASE WHEN {own} = CAST('NaN' AS numeric) THEN CAST('NaN' AS double precision) "
        f"WHEN abs({own}) > {int(LARGEST)} THEN CAST(sign({own}) AS double precision) * {INFINITY} "
        f"WHEN abs({own}) < 1e-300 THEN 0 ELSE CAST({own} AS double precision) END"
    )
    return TypedColumn(name, Kind.REAL, "double precision", sized)
