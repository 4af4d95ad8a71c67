"""Derived columns of drawn rows, computed by the same expressions as in questions. The rows are no secret."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection
from sitr.backends.expressions import Expressions
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Kind
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.synthetic.structure import Derived, Lookup

PLACE = "place of the row"


def with_derived(rows: pa.Table, derived: tuple[Derived, ...], schema: pa.Schema) -> pa.Table:
    """The rows with their derived columns, in the order and the types of the schema.

    An `ArrowException` if a value does not fit its type.
    """
    for each in derived:
        found = _looked_up(rows, each.of) if isinstance(each.of, Lookup) else _computed(rows, each.of)
        rows = rows.append_column(each.column.name, _typed(found, schema.field(each.column.name).type))
    return rows.select(schema.names).cast(schema) if derived else rows


def _typed(found: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_integer(kind) and pa.types.is_floating(found.type):
        found = pc.round(found)
    if pa.types.is_dictionary(kind):
        return pc.dictionary_encode(found).cast(kind)
    if pa.types.is_decimal(kind):
        found = found.cast(pa.float64())  # Arrow wants room for all digits that an integer could have
    return found.cast(kind)


def _looked_up(rows: pa.Table, of: Lookup) -> pa.ChunkedArray:
    source = rows[of.source]
    plain = source.cast(source.type.value_type) if pa.types.is_dictionary(source.type) else source
    places = pc.index_in(plain, value_set=pa.array(of.keys, from_pandas=False).cast(plain.type))
    return pc.take(pa.chunked_array([pa.array(of.values)]), places)


def _computed(rows: pa.Table, typed: Typed) -> pa.ChunkedArray:
    """The expression for each row, by DuckDB."""
    numbered = rows.append_column(PLACE, pa.array(range(rows.num_rows), pa.int64()))
    source = ArrowRows(numbered)
    writer = Expressions(DUCKDB, source.types())
    written = writer.written(typed) if typed.kind is Kind.REAL else writer.grouped(typed)
    select = f"SELECT {written} AS found FROM {source.relation} ORDER BY {DUCKDB.identifier(PLACE)}"
    with connection(source.tables()) as engine:
        found = engine.sql(select).to_arrow_table()
    return found["found"]
