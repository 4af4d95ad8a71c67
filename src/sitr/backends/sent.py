"""Public rows that are sent to a server together with a statement, because they are not in its database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sitr.backends.bound import Bound
from sitr.backends.dialect import Dialect
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.public import rows_of
from sitr.backends.relations import FromRows
from sitr.backends.sources import Source
from sitr.backends.zoned import local_rows
from sitr.dataset.schema import Column, Kind
from sitr.errors import QuestionError

MOST_ROWS = 10_000
"""The most rows of a public table that are sent."""

TYPES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp without time zone",
}
"""PostgreSQL's types of the columns that are sent; other kinds of columns cannot be asked about and are left out."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A public table as columns of plain values."""

    columns: tuple[tuple[str, Kind, tuple[Any, ...]], ...] = field(repr=False)

    def rows(self, dialect: Dialect, bound: Bound) -> FromRows:
        """What follows FROM in PostgreSQL: each column is one bound array."""
        arrays, named = [], []
        for name, kind, values in self.columns:
            plain = [value.replace("\0", "\ufdd0") if isinstance(value, str) else value for value in values]
            arrays.append(f"CAST(${bound.add(plain) + 1} AS {TYPES[kind]}[])")  # type: ignore[arg-type]
            own = dialect.identifier(name)
            named.append((own, f'{own} COLLATE "C" AS {own}' if kind is Kind.TEXT else own))
        columns, selected = (", ".join(each[place] for each in named) for place in (0, 1))
        source = f"(SELECT {selected} FROM unnest({', '.join(arrays)}) AS sent ({columns})) AS source_rows"
        return FromRows(source, {name: TYPES[kind] for name, kind, _ in self.columns})


def sent(name: str, source: Source) -> Sent:
    """The rows of a public file or of rows in memory, if they are few."""
    rows = local_rows(source)
    kinds = {name: Kind.TIMESTAMP if kind is Kind.ZONED else kind for name, kind in source.kinds().items()}
    known = [(column, kind) for column, kind in kinds.items() if kind in TYPES]
    values = [
        DUCKDB.number(DUCKDB.identifier(column)) if kind is Kind.REAL else DUCKDB.key(Column(column, kind))
        for column, kind in known
    ]
    found = rows_of(source, f"SELECT {', '.join(values) or '1'} FROM {rows.source} LIMIT {MOST_ROWS + 1}")
    if len(found) > MOST_ROWS or not known:
        raise QuestionError(
            given=f"The public table {name} has more than {MOST_ROWS:,} rows, or no columns that can be sent to the "
            "database.",
            do="Load it into the database of the protected table, and declare it by its name there; nothing was spent.",
        )
    columns = zip(*found, strict=True) if found else ((),) * len(known)
    return Sent(tuple((column, kind, each) for (column, kind), each in zip(known, columns, strict=True)))
