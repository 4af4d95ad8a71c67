"""Rows in Parquet files and in Arrow memory, and the door to all sources that the embedded DuckDB reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sitr.backends.backend import Backend
from sitr.backends.codes import exact_codes
from sitr.backends.csv import CsvFile, settle
from sitr.backends.engine import (
    connection,
    described,
    exact_cells,
    exact_numbers,
    exact_size,
    kind_of,
    only_this_file,
    refuse_twins,
    settings,
)
from sitr.backends.statement import identifier, literal
from sitr.backends.tally import exact_counts
from sitr.dataset.csv_format import CsvFormat
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.histogram.tally import Tally
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.sheet import Sheet

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst")


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: pandas, polars and pyarrow tables, DuckDB relations, …"""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an ArrowArrayStream."""


def open_source(
    source: str | Path | ArrowStream, *, types: Mapping[str, Kind], format: CsvFormat | None = None
) -> Backend:
    """The backend for a path or an object.

    `types` fixes the types of CSV columns; with a `format` they are all known, and no row is read.
    """
    settings()  # a wrong setting is refused now, before any question is paid for
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
        return settle(path, declared=types) if format is None else CsvFile(path, format, tuple(types.items()))
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
        return {name: kind_of(kind) for name, kind in self._columns().items()}

    def verify(self) -> None:
        _read_all(f"SELECT * FROM {self._source}", list(self._columns()), {})

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        return exact_cells(query, source=self._source, types=self._columns(), salt=salt, views={})

    def size(self) -> int:
        return exact_size(source=self._source, views={})

    def numbers(self, column: str, *, missing: float) -> NDArray[np.float64]:
        return exact_numbers(column, source=self._source, missing=missing, views={})

    def counts(self, tally: Tally, *, salt: int) -> dict[int, int]:
        return exact_counts(tally, source=self._source, types=self._columns(), salt=salt, views={})

    def schema(self) -> pa.Schema:
        return pq.read_schema(self.path)

    def codes(self, sheet: Sheet, *, salt: int) -> Codes:
        return exact_codes(sheet, source=self._source, salt=salt, views={})

    @property
    def _source(self) -> str:
        return f"read_parquet({literal(only_this_file(self.path))}, hive_partitioning=false)"

    def _columns(self) -> dict[str, str]:
        """The columns with DuckDB's types, from the file's footer."""
        try:
            refuse_twins(pq.read_schema(self.path).names)
            with connection({}) as engine:
                return described(engine, f"SELECT * FROM {self._source}")
        except (duckdb.Error, OSError, pa.ArrowException):
            pass  # questions ask for the types after the charge too: the database's error must be gone by then
        raise SourceError(
            wanted="A Parquet file was wanted.",
            given=f"{self.path} cannot be read as one.",
            do="Check that it is complete; a CSV file must be named .csv.",
        )


@dataclass(frozen=True)
class ArrowRows:
    """A table in memory."""

    table: pa.Table = field(repr=False, compare=False)

    def kinds(self) -> dict[str, Kind]:
        return {name: kind_of(kind) for name, kind in self._columns.items()}

    def verify(self) -> None:
        for name in self.table.column_names:
            try:
                self.table[name].validate(full=True)  # DuckDB takes the memory as it is, text that is no text included
            except pa.ArrowInvalid:
                raise _unreadable(name) from None
        _read_all("SELECT * FROM arrow_rows", list(self._columns), {"arrow_rows": self.table})

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        return exact_cells(query, source="arrow_rows", types=self._columns, salt=salt, views={"arrow_rows": self.table})

    def size(self) -> int:
        return exact_size(source="arrow_rows", views={"arrow_rows": self.table})

    def numbers(self, column: str, *, missing: float) -> NDArray[np.float64]:
        return exact_numbers(column, source="arrow_rows", missing=missing, views={"arrow_rows": self.table})

    def counts(self, tally: Tally, *, salt: int) -> dict[int, int]:
        views = {"arrow_rows": self.table}
        return exact_counts(tally, source="arrow_rows", types=self._columns, salt=salt, views=views)

    def schema(self) -> pa.Schema:
        return self.table.schema

    def codes(self, sheet: Sheet, *, salt: int) -> Codes:
        return exact_codes(sheet, source="arrow_rows", salt=salt, views={"arrow_rows": self.table})

    @cached_property
    def _columns(self) -> dict[str, str]:
        refuse_twins(self.table.column_names)
        try:
            with connection({"arrow_rows": self.table}) as engine:
                return described(engine, "SELECT * FROM arrow_rows")
        except duckdb.Error:
            pass
        raise SourceError(
            wanted="A table of types that DuckDB knows was wanted.",
            given=f"The table has the types {', '.join(sorted({str(field.type) for field in self.table.schema}))}.",
            do="Cast or drop the unusual ones.",
        )


def _read_all(select: str, columns: list[str], views: Mapping[str, pa.Table]) -> None:
    """Read every value of every column once, so that a bad one is found now and not by a question that was paid for."""
    with connection(views) as engine:
        for name in columns:
            try:
                engine.execute(f"SELECT count(hash({identifier(name)})) FROM ({select})").fetchall()
            except duckdb.Error:
                raise _unreadable(name) from None


def _unreadable(column: str) -> SourceError:
    return SourceError(
        wanted="A data set was wanted in which every value can be read.",
        given=f"The column {column!r} has values that cannot, such as text that is not UTF-8.",
        do="Repair or drop the column before you protect the data set.",
    )
