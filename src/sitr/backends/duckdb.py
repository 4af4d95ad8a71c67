"""The embedded DuckDB as a backend for files and for tables in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from sitr.backends.csv import CsvFile, settle
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import UNCHARGED, read, settings
from sitr.backends.reading import Reading, Totals, shaped, tree
from sitr.backends.sources import ArrowRows, ParquetFile, Source
from sitr.backends.statement import statement
from sitr.dataset.csv_format import CsvFormat
from sitr.dataset.schema import Kind
from sitr.errors import SourceError, no_source

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst")


@dataclass(frozen=True)
class DuckDB:
    """A `Backend`: the rows of one source, read with one statement for each question."""

    source: Source

    def kinds(self) -> dict[str, Kind]:
        return self.source.kinds()

    def verify(self) -> None:
        self.source.verify()

    def schema(self) -> pa.Schema:
        return self.source.schema()

    def size(self) -> int:
        def prepare() -> tuple[dict[str, pa.Table], str]:
            return self.source.tables(), f"SELECT count(*) FROM {self.source.relation}"

        ((rows,),) = read(prepare, lambda found: found.fetchall(), charge=UNCHARGED)
        return int(rows)

    def read(self, reading: Reading, *, salt: int) -> Any:
        what = tree(reading)

        def prepare() -> tuple[dict[str, pa.Table], str]:
            source, types = self.source.relation, self.source.types()
            return self.source.tables(), statement(what, dialect=DUCKDB, source=source, types=types, salt=salt)

        def fetch(found: duckdb.DuckDBPyConnection) -> list[Any]:
            return found.fetchall() if isinstance(what, Totals) else list(found.fetchnumpy().values())

        return shaped(reading, read(prepare, fetch))


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: pandas, polars and pyarrow tables, DuckDB relations, …"""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an ArrowArrayStream."""


def open_source(
    source: str | Path | ArrowStream, *, types: Mapping[str, Kind], format: CsvFormat | None = None
) -> DuckDB:
    """The backend for a path or an object.

    `types` fixes the types of CSV columns; with a `format` they are all known, and no row is read.
    """
    settings()  # a wrong setting is refused now, before any question is paid for
    return DuckDB(_opened(source, types, format))


def _opened(source: str | Path | ArrowStream, types: Mapping[str, Kind], format: CsvFormat | None) -> Source:
    if isinstance(source, ArrowStream):
        return ArrowRows(_as_table(source))
    if not isinstance(source, str | Path):
        raise SourceError(
            wanted="a path or a table with the Arrow PyCapsule interface (pandas, polars, pyarrow, DuckDB)",
            given=f"an object of type {type(source).__name__}",
            do="Convert it, for example with pyarrow.table(…).",
        )
    path = Path(source)
    name = path.name.lower()
    if not path.is_file():
        raise no_source(path)
    if name.endswith(PARQUET):
        return ParquetFile(path)
    if name.endswith(CSV):
        return settle(path, declared=types) if format is None else CsvFile(path, format, tuple(types.items()))
    raise SourceError(
        wanted=f"a file ending in {', '.join(PARQUET + CSV)}",
        given=repr(path.name),
        do="Convert it, or rename it if it is such a file.",
    )


def _as_table(source: ArrowStream) -> pa.Table:
    """The object's rows in memory, without a copy where the object can share its own."""
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, duckdb.Error) as error:
        raise SourceError(
            given=f"The {type(source).__name__} cannot be converted to an Arrow table ({type(error).__name__}).",
            do="Give every column one type, for example with pyarrow.table(…).",
        ) from None
