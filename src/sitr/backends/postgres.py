"""PostgreSQL as a backend: the bounded query runs in the server, and only its exact integers leave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitr.backends.backend import changed
from sitr.backends.bound import Bound
from sitr.backends.failure import UNCHARGED
from sitr.backends.postgres_columns import Columns, found
from sitr.backends.postgres_dialect import PostgresDialect
from sitr.backends.postgres_engine import asked, raw, read, rows
from sitr.backends.reading import Reading, Totals, shaped, tree
from sitr.backends.relations import FromRows
from sitr.backends.sent import TYPES, Sent
from sitr.backends.statement import statement
from sitr.dataset.database import DatabaseTable
from sitr.dataset.schema import Kind
from sitr.errors import BackendFailure, QuestionError, SourceError
from sitr.namespace import Later
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.view import protected
from sitr.questions.aggregate.view_source import tables

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    import pyarrow as pa
else:
    np, pa = Later("numpy"), Later("pyarrow")

_ARROW = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.BOOLEAN: "bool",
    Kind.DATE: "date32",
    Kind.TIMESTAMP: "timestamp[us]",
    Kind.ZONED: "timestamp[us]",
}
"""Arrow's types of what is read into memory; all other columns are text."""

MOST_PUBLIC = 1_000_000
"""The most rows of a public table, whose values are read before a question is planned."""

_BATCH = 50_000
"""The number of rows of a listing that are converted at once."""


@dataclass(frozen=True)
class Place:
    """What is known about a database when a table is opened."""

    path: tuple[str, ...]
    """The schemas in which a name without a schema is looked up."""
    letters: str
    """A collation that knows upper and lower case of all alphabets."""


@dataclass(frozen=True)
class Postgres:
    """A `Backend`: one table or view, read in one transaction for each question.

    `columns` are those that were described. If the table has other ones when a question is read, the question fails
    before any row is read. `public` are the public tables that a question may join, by name: tables of the same
    database, or rows that are sent with the statement. `beside` are other protected tables of the same database.
    """

    at: DatabaseTable
    place: Place
    columns: Mapping[str, Kind]
    public: Mapping[str, DatabaseTable | Sent] = field(default_factory=dict, compare=False)
    beside: Mapping[str, Postgres] = field(default_factory=dict, compare=False)
    zones: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The declared time zones of columns; all others are read in UTC."""

    def kinds(self) -> dict[str, Kind]:
        return asked(self.at, self._found).kinds()

    def schema(self) -> pa.Schema:
        return pa.schema([(name, _arrow(kind)) for name, kind in self.kinds().items()])

    def verify(self) -> None:
        """Compute every value once, so that a view that fails on a row is found now."""
        for column in self.kinds():
            name = PostgresDialect().identifier(column)
            try:
                self._read(lambda made, name=name: self._count(made, f"count(md5(CAST({name} AS text)))"))
            except BackendFailure:
                pass
            else:
                continue
            raise SourceError(
                given=f"The column {column!r} of {self.at.table} cannot be read to the end.",
                do="Check that the role may SELECT it, and that no row makes a view fail.",
            )

    def size(self) -> int:
        return self._read(lambda made: self._count(made, "count(*)"))

    def read(self, reading: Reading, *, salt: int) -> Any:
        what = tree(reading)
        joined = set(tables(reading.view)) if isinstance(reading, BoundedQuery) else set()
        own = set(protected(reading.view)) if isinstance(reading, BoundedQuery) else set()
        read_too = own & self.beside.keys()
        assert len(own - read_too) <= 1, "a table of the question is missing"

        def fetch(made: psycopg.Connection[Any]) -> list[Any]:
            dialect = PostgresDialect(Bound(), self.place.letters)
            mine = self._found(made)
            if changed(mine.kinds(), self.columns):
                raise SourceError(given="The columns have changed.", do="")
            public = {name: self._joined(made, self.public[name], dialect) for name in joined}
            beside = {name: self.beside[name]._found(made).rows(self.beside[name].zones) for name in read_too}
            more = {"public": public, "beside": beside}
            table = mine.rows(self.zones)
            sql = statement(what, dialect=dialect, source=table.source, types=table.types, salt=salt, **more)
            bound = dialect.bound.values
            return (
                rows(made, sql, bound)
                if isinstance(what, Totals)
                else _listed(made, sql, bound, named=getattr(what, "named", False))
            )

        return shaped(reading, read(self.at, fetch))

    def located(self) -> tuple[str, str]:
        """The schema and the name of the table now."""
        columns = asked(self.at, self._found)
        return columns.schema, columns.table

    def texts(self) -> list[tuple[Any, ...]]:
        """All values as texts, in memory, for the steward's own digest of the rows."""
        say = PostgresDialect()

        def fetch(made: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
            table, kinds = self._found(made).rows(), self._found(made).kinds()
            readable = sorted(name for name, kind in kinds.items() if kind is not Kind.OTHER)
            columns = ", ".join(say.identity(say.identifier(name), table.types[name]) for name in readable)
            return rows(made, f"SELECT {columns or '1'} FROM {table.source}")

        return read(self.at, fetch, charge=UNCHARGED)

    def everything(self) -> pa.Table:
        """All rows of a public table, in memory."""
        name = PostgresDialect().identifier

        def fetch(made: psycopg.Connection[Any]) -> pa.Table:
            table = self._found(made)
            known = [(column, kind) for column, kind in table.kinds().items() if kind in (*TYPES, Kind.ZONED)]
            selected = ", ".join(name(column) for column, _ in known) or "1"
            every = rows(made, f"SELECT {selected} FROM {table.rows(public=True).source} LIMIT {MOST_PUBLIC + 1}")
            columns = list(zip(*every, strict=True)) or [()] * len(known)
            return pa.table(
                {column: pa.array(values, _arrow(kind)) for (column, kind), values in zip(known, columns, strict=True)}
            )

        found = read(self.at, fetch, charge=UNCHARGED)
        if found.num_rows > MOST_PUBLIC:
            raise QuestionError(
                given=f"The public table {self.at.table} has more than {MOST_PUBLIC:,} rows.",
                do="Declare a smaller table or view; nothing was spent.",
            )
        return found

    def _found(self, made: psycopg.Connection[Any]) -> Columns:
        return found(made, self.at, list(self.place.path))

    def _joined(
        self, made: psycopg.Connection[Any], public: DatabaseTable | Sent, dialect: PostgresDialect
    ) -> FromRows:
        if isinstance(public, DatabaseTable):
            return found(made, public, list(self.place.path)).rows(public=True)
        return public.rows(dialect, dialect.bound)

    def _read(self, fetch: Any) -> int:
        return int(read(self.at, fetch, charge=UNCHARGED))

    def _count(self, made: psycopg.Connection[Any], what: str) -> int:
        return int(rows(made, f"SELECT {what} FROM {self._found(made).rows().source}")[0][0])


def _arrow(kind: Kind) -> pa.DataType:
    return pa.type_for_alias(_ARROW.get(kind, "string"))


def _listed(made: psycopg.Connection[Any], sql: str, bound: list[Any], *, named: bool) -> list[Any]:
    """The columns of a listing; if it is `named`, the last one holds texts."""
    cursor = raw(made).execute(sql, bound)
    width = len(cursor.description or ()) - named
    parts, names = [np.empty((0, width))], [np.empty(0, object)]
    while batch := cursor.fetchmany(_BATCH):
        parts.append(np.array([row[:width] for row in batch], np.float64))  # cell numbers are below 2^53
        if named:
            names.append(np.array([row[width] for row in batch], object))
    return [*np.concatenate(parts).T, *([np.concatenate(names)] if named else [])]


def open_table(at: DatabaseTable, *, types: Mapping[str, Kind] | None = None) -> Postgres:
    """The backend of a table. `types` are the columns as they were described; without them, they are read now."""
    place, columns = asked(at, lambda made: _placed(made, at, types))
    return Postgres(at, place, columns)


def _placed(
    made: psycopg.Connection[Any], at: DatabaseTable, types: Mapping[str, Kind] | None
) -> tuple[Place, dict[str, Kind]]:
    ((encoding, icu),) = rows(
        made,
        "SELECT current_setting('server_encoding'), "
        "EXISTS (SELECT 1 FROM pg_collation "
        "WHERE collname = 'und-x-icu' AND collnamespace = 'pg_catalog'::regnamespace)",
    )
    if encoding != "UTF8":
        raise SourceError(
            wanted="a database in the encoding UTF8", given=f"{encoding}", do="Make a copy of the table in such a one."
        )
    made.execute("SELECT set_config('search_path', reset_val, true) FROM pg_settings WHERE name = 'search_path'")
    ((path,),) = rows(made, "SELECT CAST(current_schemas(false) AS text[])")
    made.execute("SELECT set_config('search_path', 'pg_catalog', true)")
    place = Place(tuple(path), 'pg_catalog."und-x-icu"' if icu else '"default"')
    return place, dict(types) if types else found(made, at, list(path)).kinds()
