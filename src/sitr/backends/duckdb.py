"""Rows in Parquet and CSV files and in Arrow memory, read by an embedded DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from sitr.backends.backend import Backend
from sitr.backends.statement import statement
from sitr.errors import BackendFailure, DescriptionError, SourceError
from sitr.query.rewrite import BoundedQuery, Cells
from sitr.query.schema import Kind

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst")

_TYPES: Mapping[Kind, str] = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""The type in which a CSV column is read."""

_NO_MARK = ("", "\0", "(empty)", None)
"""How DuckDB's sniffer says that it saw no quotes or no escapes."""


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: pandas, polars and pyarrow tables, DuckDB relations, …"""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an ArrowArrayStream."""


def open_source(source: str | Path | ArrowStream, *, types: Mapping[str, Kind]) -> Backend:
    """The backend for a path or an object; `types` fixes the types of CSV columns."""
    if isinstance(source, ArrowStream):
        return ArrowRows(_as_table(source))
    if not isinstance(source, str | Path):
        raise SourceError(
            wanted="A path or a table with the Arrow PyCapsule interface (pandas, polars, pyarrow, DuckDB) was wanted.",
            given=f"An object of type {type(source).__name__} was given.",
            do="Convert it to one of those, for example with pyarrow.table(…).",
        )
    path = Path(source)
    name = path.name.lower()
    if not path.is_file():
        raise SourceError(
            wanted="A file was wanted.",
            given=f"There is none at {path}.",
            do="Check the path and the working directory.",
        )
    if name.endswith(PARQUET):
        return ParquetFile(path)
    if name.endswith(CSV):
        return CsvFile(path, tuple(types.items()))
    raise SourceError(
        wanted=f"A file ending in {', '.join(PARQUET + CSV)} was wanted.",
        given=f"{path.name} was given.",
        do="Convert it, or rename it if it is such a file.",
    )


def _as_table(source: ArrowStream) -> pa.Table:
    """The object's rows in memory, without a copy where it shares its own."""
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, duckdb.Error) as error:
        raise SourceError(
            wanted="A table that Arrow can hold was wanted.",
            given=f"The {type(source).__name__} cannot be converted ({type(error).__name__}).",
            do="Give every column one type, for example with pyarrow.table(…).",
        ) from None


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, read anew for every question."""

    path: Path

    def kinds(self) -> dict[str, Kind]:
        return {name: _kind(kind) for name, kind in self._columns().items()}

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        return _cells(query, source=self._source, types=self._columns(), salt=salt, views={})

    @property
    def _source(self) -> str:
        return f"read_parquet({_text(self.path)})"

    def _columns(self) -> dict[str, str]:
        """The columns with DuckDB's types, from the file's footer."""
        try:
            with _connection({}) as connection:
                return _described(connection, f"SELECT * FROM {self._source}")
        except (duckdb.Error, OSError):
            raise SourceError(
                wanted="A Parquet file was wanted.",
                given=f"{self.path} cannot be read as one.",
                do="Check that it is complete; a CSV file must be named .csv.",
            ) from None


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header.

    How it is written and which type each column has are settled once, from the whole file and `declared`. From then on
    every field is read as text and cast leniently, so that no row can cause an error: what does not fit becomes NULL.
    """

    path: Path
    declared: tuple[tuple[str, Kind], ...]

    def kinds(self) -> dict[str, Kind]:
        return self._settled[1]

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        reader, kinds = self._settled
        types = {name: _TYPES.get(kind, "VARCHAR") for name, kind in kinds.items()}
        columns = ", ".join(
            f"TRY_CAST({_identifier(name)} AS {kind}) AS {_identifier(name)}" for name, kind in types.items()
        )
        return _cells(query, source=f"(SELECT {columns} FROM {reader})", types=types, salt=salt, views={})

    @cached_property
    def _settled(self) -> tuple[str, dict[str, Kind]]:
        try:
            with _connection({}) as connection:
                delimiter, quote, escape, header = connection.execute(
                    f"SELECT Delimiter, Quote, Escape, HasHeader FROM sniff_csv({_text(self.path)}, sample_size=-1)"
                ).fetchall()[0]
                columns = _described(connection, f"SELECT * FROM read_csv({_text(self.path)}, sample_size=-1)")
                reader = self._reader(delimiter, quote, escape, list(columns))
                _described(connection, f"SELECT * FROM {reader}")
        except (duckdb.Error, OSError):
            header, columns, reader = False, {}, ""
        if not header:
            raise SourceError(
                wanted="A CSV file with a header line was wanted.",
                given=f"{self.path} cannot be read as one.",
                do="Put the names of the columns in the first line, separated like the rows.",
            )
        settled = {name: _kind(kind) for name, kind in columns.items()}
        if unknown := [name for name, _ in self.declared if name not in settled]:
            raise DescriptionError(
                wanted=f"{self.path.name} has the columns {', '.join(settled)}.",
                given=f"A type was declared for {unknown[0]!r}.",
                do="Correct the name; upper and lower case matter here.",
            )
        settled.update(self.declared)
        return reader, settled

    def _reader(self, delimiter: str, quote: str, escape: str, names: list[str]) -> str:
        """The file as text, with nothing left to detect."""
        marked = '"' if quote in _NO_MARK else quote  # a file without quotes so far may get some
        escaped = marked if escape in _NO_MARK else escape
        columns = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in names)
        return (
            f"read_csv({_text(self.path)}, auto_detect=false, header=true, columns={{{columns}}}, "
            f"delim={_literal(delimiter)}, quote={_literal(marked)}, escape={_literal(escaped)}, "
            "null_padding=true, ignore_errors=true, strict_mode=false)"
        )


@dataclass(frozen=True)
class ArrowRows:
    """A table in memory."""

    table: pa.Table

    def kinds(self) -> dict[str, Kind]:
        return {name: _kind(kind) for name, kind in self._columns.items()}

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        return _cells(query, source="arrow_rows", types=self._columns, salt=salt, views={"arrow_rows": self.table})

    @cached_property
    def _columns(self) -> dict[str, str]:
        try:
            with _connection({"arrow_rows": self.table}) as connection:
                return _described(connection, "SELECT * FROM arrow_rows")
        except duckdb.Error:
            raise SourceError(
                wanted="A table of types that DuckDB knows was wanted.",
                given=f"The table has the types {', '.join(sorted({str(field.type) for field in self.table.schema}))}.",
                do="Cast or drop the unusual ones.",
            ) from None


def _cells(
    query: BoundedQuery, *, source: str, types: Mapping[str, str], salt: int, views: Mapping[str, pa.Table]
) -> Cells:
    width = len(query.keys)
    sql = statement(query, source=source, types=types, salt=salt)
    try:
        with _connection(views) as connection:
            rows = connection.execute(sql).fetchall()
    except (duckdb.Error, OSError, pa.ArrowException):
        raise BackendFailure(
            wanted="The data were to be read.",
            given="The database reported an error, which is withheld because it could quote the data.",
            do="Check the data set itself; the charge stands, because the data were touched.",
        ) from None
    return {tuple(row[:width]): tuple(row[width:]) for row in rows}


@contextmanager
def _connection(views: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of its own for every question: nothing is shared between threads or left behind."""
    connection = duckdb.connect(":memory:")
    try:
        for name, table in views.items():
            connection.register(name, table)
        yield connection
    finally:
        connection.close()


def _described(connection: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    return {str(row[0]): str(row[1]) for row in connection.execute(f"DESCRIBE {select}").fetchall()}


def _kind(name: str) -> Kind:
    """What a DuckDB type holds."""
    if name.startswith("DECIMAL"):
        return Kind.INTEGER if name.endswith(",0)") else Kind.REAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    if name.startswith("TIMESTAMP") and "ZONE" not in name:
        return Kind.TIMESTAMP
    if name.endswith("INT") or name == "INTEGER" or name == "UINTEGER":
        return Kind.INTEGER
    named = {"FLOAT": Kind.REAL, "DOUBLE": Kind.REAL, "VARCHAR": Kind.TEXT, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE}
    return named.get(name, Kind.OTHER)


def _text(path: Path) -> str:
    return _literal(str(path))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
