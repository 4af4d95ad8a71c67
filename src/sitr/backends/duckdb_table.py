"""Rows in a table of a DuckDB database: a file that is opened for each question, and only to read it.

A view is refused. Its text is a program: it can give other rows each time it is read, so that a person could count in
more groups than the caps allow, it can fail on one row and be quick on another, and it can read any file. The same
holds for columns that are computed when they are read. A collation that takes different texts for equal ones is refused
too: it would change who a person is in one part of a statement, and not in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, described, kind_of, refuse_twins
from sitr.backends.sources import read_all
from sitr.dataset.file_table import FileTable, folded
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.namespace import Later

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
else:  # a preview reads no rows
    duckdb, pa = Later("duckdb"), Later("pyarrow")

SHOWN = 10
"""The most tables that an error lists."""
_PLAIN = re.compile(r"\w+")
_QUOTED = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'""")


@dataclass(frozen=True)
class DuckDBTable:
    """A table in a database file, as it is when a question is asked."""

    at: FileTable

    def kinds(self) -> dict[str, Kind]:
        return {name: kind_of(type) for name, type in self.types().items()}

    def types(self) -> dict[str, str]:
        """The types, from the catalog of the database. Refuses whatever is no plain table by then."""
        try:
            with connection(self.tables()) as engine:
                self._check(engine)
                found = described(engine, f"SELECT * FROM {self.relation}")
        except (duckdb.Error, OSError):
            pass  # the database's error must be gone when ours is raised: it can quote the data
        else:
            refuse_twins(found)
            return found
        raise self.unreadable()

    def unreadable(self) -> SourceError:
        """The error of a file that is no database, or is in use."""
        return SourceError(
            given=f"{self.at.path} cannot be read as a DuckDB database, or another program has it open for writing.",
            do="Close the other program; check that the file is complete and not newer than this version of DuckDB.",
        )

    def schema(self) -> pa.Schema:
        with connection(self.tables()) as engine:
            return engine.sql(f"SELECT * FROM {self.relation} LIMIT 0").to_arrow_table().schema

    @property
    def relation(self) -> str:
        return ".".join(map(DUCKDB.identifier, (self.database, *self.at.parts)))

    def tables(self) -> dict[str, pa.Table | Path]:
        return {self.database: self.at.path.resolve()}

    def verify(self) -> None:
        read_all(self, self.tables(), self.relation)

    @property
    def database(self) -> str:
        """The name of the database in statements: the same one for all tables of a file."""
        return f"database {sha256(bytes(self.at.path.resolve())).hexdigest()}"

    def _check(self, engine: duckdb.DuckDBPyConnection) -> None:
        where = "FROM duckdb_{}s() WHERE database_name = ? AND NOT internal"
        views = engine.execute(f"SELECT schema_name, view_name {where.format('view')}", [self.database]).fetchall()
        if self._named(views):
            raise SourceError(
                given=f"{self.at.table} in {self.at.path.name} is a view, and a view can compute anything, also from "
                "other files.",
                do="Make a table of it: CREATE TABLE … AS SELECT * FROM the view; protect that table.",
            )
        tables = engine.execute(
            f"SELECT schema_name, table_name, sql {where.format('table')}", [self.database]
        ).fetchall()
        found = self._named(tables)
        if not found:
            raise self._missing([(schema, name) for schema, name, _ in tables])
        generated = engine.execute(
            f"SELECT schema_name, table_name, column_name {where.format('column')} AND is_generated", [self.database]
        ).fetchall()
        for _, _, column in self._named(generated):
            raise SourceError(
                given=f"The column {column!r} of {self.at.table} is computed whenever it is read.",
                do="Make a table of the values: CREATE TABLE … AS SELECT * FROM the table; protect that one.",
            )
        ((_, _, sql),) = found
        if re.search(r"\bCOLLATE\b", _QUOTED.sub("", sql), re.IGNORECASE):
            raise SourceError(
                given=f"{self.at.table} has a collation, which can take different texts for equal ones.",
                do='Make a table without it: CREATE TABLE … AS SELECT name COLLATE "binary" AS name, …; protect that '
                "one.",
            )

    def _named(self, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The rows of the catalog that are about this table."""
        return [row for row in rows if (folded(row[0]), folded(row[1])) == self.at.parts]

    def _missing(self, known: list[tuple[str, str]]) -> SourceError:
        listed = sorted(_written(schema, name) for schema, name in known)
        return SourceError(
            given=f"{self.at.path.name} has no table {self.at.table!r}.",
            do=f"It has these: {', '.join(listed[:SHOWN])}." if listed else "Make the table first: there is none.",
        )


def tables_in(path: Path) -> list[str]:
    """The tables of a database file, as `FileTable` names them; views are left out."""
    file = DuckDBTable(FileTable(path, "main"))
    query = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal"
    try:
        with connection(file.tables()) as engine:
            found = engine.execute(query, [file.database]).fetchall()
    except (duckdb.Error, OSError):
        pass  # as above
    else:
        return sorted(_written(schema, name) for schema, name in found)
    raise file.unreadable()


def _written(schema: str, name: str) -> str:
    """A name as `FileTable` reads it, in quotes only where it must be."""
    parts = (name,) if schema == "main" else (schema, name)
    return ".".join(part if _PLAIN.fullmatch(part) else DUCKDB.identifier(part) for part in parts)


def everything(at: FileTable) -> pa.Table:
    """All rows of a public table."""
    source = DuckDBTable(at)
    source.types()  # refuses views
    with connection(source.tables()) as engine:
        return engine.sql(f"SELECT * FROM {source.relation}").to_arrow_table()
