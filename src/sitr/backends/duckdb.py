"""The embedded DuckDB as a backend for files and for tables in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from sitr.backends.csv import CsvFile
from sitr.backends.detection import settle
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, guarded, read, refuse_twins, settings
from sitr.backends.failure import UNCHARGED
from sitr.backends.folder import partitioned
from sitr.backends.formats import PARQUET, check_readable, is_database_file
from sitr.backends.memory import rows_limit
from sitr.backends.packed.layout import layout
from sitr.backends.packed.passes import Passes
from sitr.backends.reading import Reading, Totals, shaped, tree
from sitr.backends.sources import ArrowRows, ParquetFile, Source
from sitr.backends.statement import statement, writer
from sitr.backends.zoned import local_rows
from sitr.dataset.csv_format import NOTHING, CsvFormat, DeclaredFormat
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.namespace import Later
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.view import protected
from sitr.questions.aggregate.view_source import tables

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
else:  # a preview reads no rows
    duckdb, pa = Later("duckdb"), Later("pyarrow")


@dataclass(frozen=True, slots=True)
class Reader:
    """How totals are read: by packed rows where a tree allows it, in `memory` bytes, or all by the statement."""

    packs: bool = True
    memory: int | None = None
    """None for the usual share of the memory limit."""


@dataclass(frozen=True)
class DuckDB:
    """A `Backend`: the rows of one source, read with one statement for each question.

    `public` are the public tables that a question may join, by name, and `beside` the other protected ones.
    """

    source: Source
    public: Mapping[str, Source] = field(default_factory=dict, compare=False)
    beside: Mapping[str, DuckDB] = field(default_factory=dict, compare=False)
    zones: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The declared time zones of columns; all others are read in UTC."""
    reader: Reader = field(default=Reader(), compare=False)

    def kinds(self) -> dict[str, Kind]:
        return self.source.kinds()

    def verify(self) -> None:
        self.source.verify()

    def schema(self) -> pa.Schema:
        """The Arrow types; moments are times without a zone, as they are read."""
        zoned = {name for name, kind in self.kinds().items() if kind is Kind.ZONED}
        found = self.source.schema()
        return pa.schema([each.with_type(pa.timestamp("us")) if each.name in zoned else each for each in found])

    def size(self) -> int:
        def prepare() -> tuple[Mapping[str, pa.Table | Path], str]:
            return self.source.tables(), f"SELECT count(*) FROM {self.source.relation}"

        ((rows,),) = read(prepare, lambda found: found.fetchall(), charge=UNCHARGED)
        return int(rows)

    def read(self, reading: Reading, *, salt: int) -> Any:
        what = tree(reading)
        joined = set(tables(reading.view)) if isinstance(reading, BoundedQuery) else set()
        own = set(protected(reading.view)) if isinstance(reading, BoundedQuery) else set()
        read_too = own & self.beside.keys()
        assert len(own - read_too) <= 1, "a table of the question is missing"

        def work() -> list[Any]:
            public = {name: self.public[name] for name in joined}
            beside = {name: self.beside[name].source for name in read_too}
            held: dict[str, pa.Table | Path] = dict(self.source.tables())
            for each in dict.fromkeys([*public.values(), *beside.values()]):
                more_tables = each.tables()
                twice = [name for name in held.keys() & more_tables.keys() if not isinstance(held[name], Path)]
                assert each == self.source or not twice, "each source has names of its own, but for a database"
                held.update(more_tables)
            more = {
                "public": {name: local_rows(each) for name, each in public.items()},
                "beside": {name: local_rows(each, self.beside[name].zones) for name, each in beside.items()},
            }
            rows = local_rows(self.source, self.zones)
            source, types = rows.source, rows.types
            written = writer(what, dialect=DUCKDB, source=source, types=types, salt=salt, **more)
            packed = layout(what, written.types) if self.reader.packs else None
            with connection(held) as engine:
                if packed is not None:
                    return Passes(packed, written, salt, self.reader.memory or rows_limit()).read(engine)
                found = engine.execute(statement(what, dialect=DUCKDB, source=source, types=types, salt=salt, **more))
                return found.fetchall() if isinstance(what, Totals) else list(found.fetchnumpy().values())

        return shaped(reading, guarded(work))


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: pandas, polars and pyarrow tables, DuckDB relations, …"""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an ArrowArrayStream."""


def open_source(
    source: str | Path | ArrowStream,
    *,
    types: Mapping[str, Kind],
    format: CsvFormat | None = None,
    written: DeclaredFormat = NOTHING,
) -> DuckDB:
    """The backend for a path or an object.

    `types` and `written` fix the types and the format of a CSV file; with a `format` all of this is known, and no row
    is read.
    """
    settings()  # a wrong setting is refused now, before any question is paid for
    return DuckDB(_opened(source, types, format, written))


def _opened(
    source: str | Path | ArrowStream, types: Mapping[str, Kind], format: CsvFormat | None, written: DeclaredFormat
) -> Source:
    if isinstance(source, ArrowStream):
        return ArrowRows(_as_table(source))
    if _is_lazy(source):
        return ArrowRows(_as_table(cast("Any", source).collect()))
    if not isinstance(source, str | Path):
        raise _no_source(source)
    path = Path(source)
    check_readable(path)
    if path.is_dir():
        return partitioned(path, dict(types))
    if is_database_file(path):
        raise SourceError(
            given=f"{path.name} is a database, and a public table of it cannot be declared here.",
            do="Write the table to Parquet, and declare that file.",
        )
    if path.name.lower().endswith(PARQUET):
        return ParquetFile(path)
    if format is None:
        return settle(path, declared=types, written=written)
    return CsvFile(path, format, tuple(types.items()))


def _is_lazy(source: object) -> bool:
    """Whether it is a LazyFrame of polars, which is not imported for this."""
    return type(source).__name__ == "LazyFrame" and type(source).__module__.partition(".")[0] == "polars"


def _no_source(source: object) -> SourceError:
    lazy = callable(getattr(source, "collect", None))
    return SourceError(
        wanted="a path or a table with the Arrow PyCapsule interface (pandas, polars, pyarrow, DuckDB)",
        given=f"an object of type {type(source).__name__}",
        do="Call .collect() on it first." if lazy else "Convert it, for example with pyarrow.table(…).",
    )


def _as_table(source: ArrowStream) -> pa.Table:
    """The object's rows in memory, without a copy where the object can share its own."""
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, duckdb.Error):
        raise _not_a_table(source) from None


def _not_a_table(source: Any) -> SourceError:
    """Why an object could not be converted: it is a single column, or one of its columns has no Arrow type."""
    kind, columns = type(source).__name__, getattr(source, "columns", None)
    if columns is None:
        return SourceError(
            wanted="a table",
            given=f"an object of type {kind}",
            do="Make a table of it, for example with .to_frame()." if hasattr(source, "to_frame") else "Convert it.",
        )
    refuse_twins(map(str, columns))
    mixed = next((name for name in columns if not _has_type(source, name)), None)
    if mixed is None:
        return SourceError(
            given=f"The {kind} cannot be converted to an Arrow table.",
            do="Give every column one type, for example with pyarrow.table(…).",
        )
    return SourceError(
        given=f"The column {mixed!r} of the {kind} holds values of different types.",
        do=f"Give it one type, for example with frame[{mixed!r}].astype(str).",
    )


def _has_type(source: Any, column: Any) -> bool:
    try:
        pa.array(source[column])
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True
