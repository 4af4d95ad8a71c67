"""What is known about the columns of a public table: everything, because everybody may see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sitr.backends.duckdb import DuckDB
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import read
from sitr.backends.failure import UNCHARGED
from sitr.backends.relations import FromRows
from sitr.backends.sources import ArrowRows, Source
from sitr.backends.zoned import local_rows
from sitr.dataset.schema import GROUPABLE, NUMERIC, Column, Key, Kind, Quantised, quantise
from sitr.errors import DescriptionError
from sitr.questions.aggregate.catalog import Compared, PublicTable
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, TEMPORAL


def public_source(name: str, backend: DuckDB) -> Source:
    """The source of a public table; rows in memory get a name of their own in statements."""
    source = backend.source
    return replace(source, name=f"public {name}") if isinstance(source, ArrowRows) else source


def public_table(name: str, source: Source) -> PublicTable:
    """Its columns with the values that they hold as keys, and their least and largest as bounds."""
    rows = local_rows(source)
    columns = tuple(_column(source, rows, column, kind) for column, kind in source.kinds().items())

    kinds = {column.name: column.kind for column in columns}

    def most(compared: tuple[Compared, ...]) -> int:
        values = [_compared(each, kinds[each.column]) for each in compared]
        known = f" WHERE {' AND '.join(f'({value}) IS NOT NULL' for value in values)}" if values else ""
        grouped = f" GROUP BY {', '.join(values)}" if values else ""
        counted = f"SELECT count(*) AS n FROM {rows.source}{known}{grouped}"
        ((found,),) = rows_of(source, f"SELECT coalesce(max(n), 0) FROM ({counted})")
        return int(found)

    return PublicTable(name, columns, most)


def _compared(each: Compared, kind: Kind) -> str:
    """What a comparison sees of a column: different values may be the same double, or the same microsecond."""
    name = DUCKDB.identifier(each.column)
    if each.exactly:
        return name
    return DUCKDB.in_calendar(name, kind) if kind in TEMPORAL else DUCKDB.number(name)


def _column(source: Source, rows: FromRows, name: str, stored: Kind) -> Column:
    column = Column(name, stored) if stored is not Kind.ZONED else Column(name, Kind.TIMESTAMP, zone="UTC")
    if column.kind not in (*GROUPABLE, *NUMERIC):
        return column
    keys = _keys(source, rows, column) if column.kind in GROUPABLE else None
    return replace(column, quantised=_bounds(source, rows, column), keys=keys)


def _keys(source: Source, rows: FromRows, column: Column) -> tuple[Key, ...] | None:
    """All different values, NULL last; None if there are too many."""
    key = DUCKDB.key(column)
    found = rows_of(source, f"SELECT DISTINCT {key} AS k FROM {rows.source} ORDER BY k LIMIT {MOST_KEYS + 1}")
    values = tuple(row[0] for row in found)
    return None if len(values) > MOST_KEYS else tuple(sorted(values, key=lambda value: value is None)) or None


def _bounds(source: Source, rows: FromRows, column: Column) -> Quantised | None:
    if column.kind not in (*NUMERIC, *TEMPORAL):
        return None
    name = DUCKDB.identifier(column.name)
    value = DUCKDB.in_calendar(name, column.kind) if column.kind in TEMPORAL else DUCKDB.number(name)
    finite = "" if column.kind in TEMPORAL else f" WHERE isfinite({value})"
    ((low, high),) = rows_of(source, f"SELECT min({value}), max({value}) FROM {rows.source}{finite}")
    try:
        return None if low is None else quantise(column.name, column.kind, (low, high), None)
    except DescriptionError:  # all values are 0, or too far apart
        return None


def rows_of(source: Source, select: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over a public table."""

    def prepare() -> tuple[Mapping[str, pa.Table | Path], str]:
        return source.tables(), select

    def fetch(found: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
        return found.fetchall()

    return read(prepare, fetch, charge=UNCHARGED)
