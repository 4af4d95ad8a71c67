"""Open the backend of a source, and join the tables of several: the one place that knows which engine holds what."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from sitr.backends import duckdb
from sitr.backends.backend import Backend
from sitr.backends.csv import CsvFile
from sitr.backends.duckdb import ArrowStream, DuckDB
from sitr.backends.duckdb_table import SHOWN, DuckDBTable, tables_in
from sitr.backends.duckdb_table import everything as everything_in
from sitr.backends.engine import settings
from sitr.backends.folder import ParquetFolder
from sitr.backends.formats import check_readable, is_database_file
from sitr.backends.sources import ArrowRows, ParquetFile, Source
from sitr.dataset.csv_format import NOTHING, CsvFormat, DeclaredFormat
from sitr.dataset.database import SPARK, DatabaseTable, is_database, is_spark, located, spark_table
from sitr.dataset.file_table import FileTable
from sitr.dataset.schema import Kind, Table
from sitr.errors import DescriptionError, QuestionError
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.backends import postgres, sent, spark
else:  # most sources are files
    postgres, sent = Later("sitr.backends.postgres"), Later("sitr.backends.sent")
    spark = Later("sitr.backends.spark")


def open_source(
    source: str | Path | ArrowStream | DatabaseTable | FileTable,
    *,
    types: Mapping[str, Kind],
    format: CsvFormat | None = None,
    written: DeclaredFormat = NOTHING,
    table: str | None = None,
    session: Any = None,
) -> Backend:
    """The backend for a path, an object in memory, a `table` in a database, or a table or DataFrame of Spark.

    `types` are the types of a CSV file's columns, or of a described table in a database. `session` is Spark's.
    """
    if isinstance(source, FileTable):
        return _in_file(source)
    if isinstance(source, DatabaseTable) and source.url == SPARK:
        return spark.open_table(source, session=session)
    if isinstance(source, DatabaseTable):
        return postgres.open_table(source, types=types)
    if is_spark(source) or is_frame(source):
        return _on_spark(source, types=types, written=written, table=table, session=session)
    if session is not None:
        raise DescriptionError(
            given="spark=… is a session for a table or a DataFrame of Spark, but the source is none.",
            do='Leave it out, or write protect("spark:catalog.schema.table", spark=spark, …).',
        )
    if not is_database(source) and not is_database_file(source):
        if table is not None:
            raise DescriptionError(
                given=f"table={table!r} names a table in a database, but the source is none.",
                do='Leave table out, or give hospital.duckdb or an address such as "postgresql://reader@host/database".',
            )
        return duckdb.open_source(source, types=types, format=format, written=written)
    assert isinstance(source, str | Path)
    return _in_database(source, table, declared=bool(types or written))


def _in_database(source: str | Path, table: str | None, *, declared: bool) -> Backend:
    """A table of a database, which has an address or is a file."""
    if table is None:
        raise _without_table(source)
    if declared:
        raise DescriptionError(
            given="A database knows the types of its columns, and none can be declared.",
            do="Leave them out, or cast the columns in the database.",
        )
    if is_database(source):
        return postgres.open_table(located(str(source), table))
    check_readable(Path(source))
    return _in_file(FileTable(Path(source), table))


def _without_table(source: str | Path) -> DescriptionError:
    """Which table is protected must be said; the tables of a file are listed."""
    given = "A database has many tables, and nothing says which one is protected."
    if is_database(source):
        return DescriptionError(given=given, do='Add --table visits (in Python: table="visits").')
    check_readable(Path(source))
    found = tables_in(Path(source))
    if not found:
        return DescriptionError(given=f"{Path(source).name} has no table.", do="Make one in it first.")
    listed = ", ".join([*found[:SHOWN], *(["…"] if len(found) > SHOWN else [])])
    return DescriptionError(
        given=given,
        do=f"Its tables are {listed}: add for example --table {shlex.quote(found[0])} (in Python: table={found[0]!r}).",
    )


def _in_file(at: FileTable) -> DuckDB:
    settings()  # a wrong setting is refused now, before any question is paid for
    return DuckDB(DuckDBTable(at))


def is_frame(source: object) -> bool:
    """Whether a source is a DataFrame of Spark, of either kind of client. Nothing is imported to tell."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )


def _on_spark(
    source: Any, *, types: Mapping[str, Kind], written: DeclaredFormat, table: str | None, session: Any
) -> Backend:
    if types or written or table is not None:
        raise DescriptionError(
            given="Spark knows the types of its columns, and the name of a table on Spark is the source itself.",
            do="Leave types, formats and table out, or cast the columns in a view.",
        )
    return spark.open_table(spark_table(source), session=session) if is_spark(source) else spark.open_frame(source)


def file_of(backend: Backend) -> CsvFile | None:
    """The CSV file of a backend; None for every other source."""
    return backend.source if isinstance(backend, DuckDB) and isinstance(backend.source, CsvFile) else None


def source_of(backend: Backend) -> Path | DatabaseTable | FileTable | None:
    """The file, folder or table of a backend, by which a description can name it; None for rows in memory."""
    match backend:
        case DuckDB(ParquetFile(path) | CsvFile(path) | ParquetFolder(path)):
            return path
        case DuckDB(DuckDBTable(at)):
            return at
        case DuckDB():
            return None
    return table_of(backend)


def table_of(backend: Backend) -> DatabaseTable | FileTable | None:
    """The table in a database that a backend reads; None if it reads none."""
    if isinstance(backend, DuckDB):
        return backend.source.at if isinstance(backend.source, DuckDBTable) else None
    at = getattr(backend, "at", None)
    return at if isinstance(at, DatabaseTable) else None


def beside(backend: Backend, others: Mapping[str, Backend]) -> Backend:
    """The backend, which can then read these protected tables too."""
    if isinstance(backend, DuckDB):
        return replace(backend, beside={name: _rows(name, other) for name, other in others.items()})
    if _is_spark(backend):
        on_spark = {}
        for name, other in others.items():
            if not _is_spark(other) or other.source.session != backend.source.session:
                raise _apart(name)
            on_spark[name] = other
        return replace(backend, beside=on_spark)
    assert isinstance(backend, postgres.Postgres)
    tables = {}
    for name, other in others.items():
        if not isinstance(other, postgres.Postgres) or other.at.url != backend.at.url:
            raise _apart(name)
        tables[name] = other
    return replace(backend, beside=tables)


def in_zones(backend: Backend, table: Table) -> Backend:
    """The backend, which reads the moments of each column in the zone that is described for it."""
    assert isinstance(backend, DuckDB | postgres.Postgres) or _is_spark(backend)
    zones = {column.name: column.zone for column in table.columns if column.zone not in (None, "UTC")}
    return replace(backend, zones=zones) if zones else backend


def _is_spark(backend: Backend) -> TypeGuard[spark.Spark]:
    return type(backend).__module__ == "sitr.backends.spark"


def _rows(name: str, other: Backend) -> DuckDB:
    """Where the rows of another table are; rows in memory get a name of their own in statements."""
    if not isinstance(other, DuckDB):
        raise _apart(name)
    source = other.source
    if not isinstance(source, ArrowRows):
        return other
    return replace(other, source=replace(source, name=f"protected {name}"))


def _apart(name: str) -> QuestionError:
    return QuestionError(
        given=f"The table {name} is not in the same database as the table that it is joined with.",
        do="Protect both tables in one database with the same address, or both in files; nothing was spent.",
    )


def everything(table: DatabaseTable | FileTable) -> pa.Table:
    """All rows of a public table in a database."""
    if isinstance(table, FileTable):
        return everything_in(table)
    if table.url == SPARK:
        return spark.open_table(table).everything()
    return postgres.open_table(table).everything()


def same_table(table: DatabaseTable | FileTable, backend: Backend) -> bool:
    """Whether a name means a table that a backend reads, beside another one or not."""
    if isinstance(table, FileTable):
        every = (backend, *backend.beside.values()) if isinstance(backend, DuckDB) else ()
        return any(isinstance(each.source, DuckDBTable) and each.source.at.same(table) for each in every)
    if table.url == SPARK:
        return _is_spark(backend) and spark.same_table(table, backend)
    if not isinstance(backend, postgres.Postgres) or table.url != backend.at.url:
        return False
    return replace(backend, at=table).located() == backend.located()


def with_public(backend: Backend, tables: Mapping[str, Source | DatabaseTable]) -> Backend:
    """The backend, which can then join these public tables. Rows that a server does not have are sent to it."""
    if _is_spark(backend):
        return replace(backend, public=dict(tables))
    if isinstance(backend, DuckDB):
        return replace(backend, public={n: each for n, each in tables.items() if not isinstance(each, DatabaseTable)})
    assert isinstance(backend, postgres.Postgres)
    return replace(
        backend,
        public={
            name: each if isinstance(each, DatabaseTable) else sent.sent(name, each) for name, each in tables.items()
        },
    )
