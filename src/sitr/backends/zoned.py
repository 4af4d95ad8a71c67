"""The rows of a source in DuckDB, with moments as times without a zone: in the declared zone of each column, or UTC."""

from __future__ import annotations

from collections.abc import Mapping

from sitr.backends import zones
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import kind_of
from sitr.backends.relations import FromRows
from sitr.backends.sources import Source
from sitr.dataset.schema import Kind

UTC: Mapping[str, str] = {}
"""Every column in UTC."""


def local_rows(source: Source, declared: Mapping[str, str] = UTC) -> FromRows:
    """What follows FROM, and the types of its columns. `declared` are the zones of columns; all others are in UTC."""
    types = source.types()
    moments = [name for name, type in types.items() if kind_of(type) is Kind.ZONED]
    if not moments:
        return FromRows(source.relation, types)
    in_utc = _replaced(source.relation, {name: DUCKDB.utc(DUCKDB.identifier(name)) for name in moments})
    away = {
        name: found
        for name in moments
        if (found := zones.local(DUCKDB, own := DUCKDB.identifier(name), declared.get(name, "UTC"))) != own
    }
    rows = _replaced(in_utc, away) if away else in_utc
    return FromRows(f"{rows} AS moments", {**types, **dict.fromkeys(moments, "TIMESTAMP")})


def _replaced(relation: str, columns: Mapping[str, str]) -> str:
    changed = ", ".join(f"{found} AS {DUCKDB.identifier(name)}" for name, found in columns.items())
    return f"(SELECT * REPLACE ({changed}) FROM {relation})"
