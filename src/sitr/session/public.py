"""Declared public tables: synthetic rows can be compared with them for free, and with no other tables.

A public table must have another source than the protected rows. Only files and memory are compared, never content:
whether a public row is also a protected one is a membership test, and a refusal that depends on it would be free and
exact. So a copy of the protected file is not recognised, and declaring one publishes it: whoever declares a table
confirms that it is public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from sitr import arguments
from sitr.backends import opening
from sitr.backends.backend import Backend
from sitr.backends.csv import CsvFile
from sitr.backends.duckdb import ArrowStream, DuckDB, open_source
from sitr.backends.folder import ParquetFolder
from sitr.backends.opening import table_of
from sitr.backends.public import public_source, public_table
from sitr.backends.sources import ArrowRows, ParquetFile
from sitr.backends.sources import Source as Rows
from sitr.dataset.database import DatabaseTable, is_database
from sitr.dataset.file_table import FileTable
from sitr.dataset.schema import Table
from sitr.errors import BackendFailure, DescriptionError, QuestionError, UnknownName, nearest
from sitr.namespace import Later
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.catalog import Catalog, PublicTable
from sitr.questions.synthetic.diaries import Found, TableDiary
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.sheet import Sheet

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.questions.synthetic.axes import Codes
else:  # only public tables in memory need it
    pa = Later("pyarrow")

Written = TypeVar("Written", bound=Diary)

Source: TypeAlias = "Path | DatabaseTable | FileTable | pa.Table"
"""A file, which is read when needed, a table in the database of the protected one, or rows in memory."""


def declared(
    public: Mapping[str, str | Path | ArrowStream], *, backend: Backend, protected: object
) -> dict[str, Source]:
    """The declared tables by name, after checking that none of them is the protected one.

    `protected` is the protected source as the user gave it, before it became a `backend`.
    """
    arguments.mapping(public, name="public", example='{"census": "census-2011.parquet"}')
    found: dict[str, Source] = {}
    for name, source in public.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise DescriptionError(
                wanted="a name of letters, digits and underscores for a public table",
                given=f"{name!r}",
                do='Write for example public={"census": "census-2011.parquet"}.',
            )
        if (table := _in_database(source, backend)) is not None:
            opening.open_source(table, types={})  # a wrong name is refused now
            found[name] = table
            continue
        opened = open_source(source, types={}) if isinstance(source, ArrowStream) else None
        if opened is None and not (isinstance(source, str | Path) and Path(source).is_file()):
            raise DescriptionError(
                wanted=f"a file, or a table with the Arrow PyCapsule interface, as the public table {name}",
                given=f"{source}, which is not a file"
                if isinstance(source, str | Path)
                else f"an object of type {type(source).__name__}",
                do="Check the path and the working directory.",
            )
        found[name] = opened.source.table if opened and isinstance(opened.source, ArrowRows) else Path(str(source))
        if source is protected:
            raise _not_public(name)
    check_apart(found, backend)
    return found


def _in_database(source: object, backend: Backend) -> DatabaseTable | FileTable | None:
    """A table in the same database as the protected one, such as "clinic.wards", if the source is no file."""
    protected = table_of(backend)
    if protected is None or not isinstance(source, str) or is_database(source) or Path(source).exists():
        return None
    return replace(protected, table=source)


def catalog(table: Table, public: Mapping[str, Source], *rows: Callable[[], Backend]) -> Catalog:
    """The tables that a question can name; a public one is opened when it is named, if it is no protected one.

    `rows` open the protected tables that a question can read.
    """

    def opened(name: str) -> PublicTable:
        for each in rows:
            check_apart({name: public[name]}, each())  # a file can be replaced by a link after its declaration
        return public_table(name, _opened(name, public[name]))

    return Catalog(table, tuple(public), opened)


def beside(backend: Backend, public: Mapping[str, Source]) -> Backend:
    """The backend, which can then join these public tables."""
    check_apart(public, backend)
    tables = {n: each if isinstance(each, DatabaseTable) else _opened(n, each) for n, each in public.items()}
    return opening.with_public(backend, tables)


def _opened(name: str, source: Source) -> Rows:
    return public_source(name, open_source(_in_memory(source), types={}))


def _in_memory(source: Source) -> Path | pa.Table:
    """A table in a database as rows in memory: it is public."""
    return opening.everything(source) if isinstance(source, DatabaseTable | FileTable) else source


def fingerprint(source: Source) -> str:
    """The SHA-256 of a public file, or of the bytes of rows in memory; empty for a file that cannot be read."""
    if not isinstance(source, Path):
        rows: pa.Table = _in_memory(source)
        with pa.RecordBatchStreamWriter(sink := pa.BufferOutputStream(), rows.schema) as writer:
            writer.write_table(rows.combine_chunks())
        return sha256(sink.getvalue()).hexdigest()
    try:
        with source.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def check_apart(public: Mapping[str, Source], backend: Backend) -> None:
    """Refuse a public table that is a protected file or shares the memory of protected rows, beside it or not."""
    backends = [backend, *backend.beside.values()] if isinstance(backend, DuckDB) else []
    sources = [each.source for each in backends]
    for name, source in public.items():
        in_database = isinstance(source, DatabaseTable | FileTable) and opening.same_table(source, backend)
        if in_database or any(_same(source, each) for each in sources):
            raise _not_public(name)


def public_codes(public: Mapping[str, Source], name: object, sheet: Sheet | Diary, backend: Backend) -> Codes:
    """The rows of a declared table as cells, the same cells as for the protected rows."""
    source = public.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or source is None:
        known = f"declared here: {', '.join(public)}" if public else "none is declared here"
        raise UnknownName(
            wanted=f"the name of a public table that the description declares ({known})",
            given=repr(name) if isinstance(name, str) else f"an object of type {type(name).__name__}",
            do=f"Did you mean {near!r}?"
            if (near := nearest(name, public))
            else "If a table is public, declare it when you protect the data: sitr protect … --public census=FILE, or "
            'sitr.protect(…, public={"census": FILE}).',
        )
    check_apart({name: source}, backend)  # again, because a file can be replaced by a link after its declaration
    columns = [axis.column for axis in sheet.axes]
    # Moments may have an offset here or, as in drawn rows, be the times in their zone.
    rows = open_source(_in_memory(source), types={each.name: each.kind for each in columns if each.zone is None})
    codes = coded(rows, sheet)
    if not len(codes):
        raise QuestionError(
            given=f"The public table {name} has no row with a cell in every column.",
            do="Check that it has the same columns and values as the data set.",
        )
    return codes


def coded(rows: DuckDB, sheet: Sheet | Diary) -> Codes:
    """Public rows as cells; every row counts, or of each person the first ones. Moments are read in the same zones.

    A period says which rows are protected together. It does not matter here: drawn rows may lack its date, and a public
    table may be of another period.
    """
    rows = _zoned(rows, sheet)
    try:
        if isinstance(sheet, Diary):
            return sheet.steps(rows.read(_ever(sheet), salt=0))
        found: Codes = rows.read(Sheet(sheet.axes, Row(), sheet.relation, 1), salt=0)
        return found
    except BackendFailure:
        raise _unlike(rows, sheet) from None


def named(rows: DuckDB, diary: TableDiary) -> Found:
    """Public rows of one of several tables: as cells, with the id of the person of each."""
    rows = _zoned(rows, diary)
    try:
        return rows.read(_ever(diary), salt=0)  # type: ignore[no-any-return]
    except BackendFailure:
        raise _unlike(rows, diary) from None


def _zoned(rows: DuckDB, sheet: Sheet | Diary) -> DuckDB:
    return replace(rows, zones={axis.column.name: axis.column.zone for axis in sheet.axes if axis.column.zone})


def _ever(diary: Written) -> Written:
    """The rows of all periods."""
    return replace(diary, unit=replace(diary.unit, period=None))


def _unlike(rows: DuckDB, sheet: Sheet | Diary) -> QuestionError:
    missing = [name for name in _columns(sheet) if name not in rows.kinds()]
    return QuestionError(
        wanted=f"a table with the columns {', '.join(_columns(sheet))}",
        given=f"one without {', '.join(missing)}" if missing else "one in which some have other types",
        do="Use rows that were drawn here, or a public table like the data set.",
    )


def _columns(sheet: Sheet | Diary) -> tuple[str, ...]:
    return sheet.names if isinstance(sheet, Sheet) else (sheet.unit.column, *sheet.names)


def _same(source: Source, protected: Rows) -> bool:
    match protected:
        case ParquetFile(path) | CsvFile(path):
            return isinstance(source, Path) and source.exists() and path.exists() and source.samefile(path)
        case ParquetFolder(folder):
            return isinstance(source, Path) and source.resolve().is_relative_to(folder.resolve())
        case ArrowRows(table):
            return isinstance(source, pa.Table) and _share_memory(source, table)
    return False


def _share_memory(one: pa.Table, other: pa.Table) -> bool:
    """Does a buffer of one table overlap one of the other, as in slices, selections of columns and views?

    >>> table = pa.table({"age": [1, 2, 3]})
    >>> _share_memory(table.slice(1), table), _share_memory(pa.table({"age": [1, 2, 3]}), table)
    (True, False)
    """
    spans = sorted((*span, of) for of, table in enumerate((one, other)) for span in _spans(table))
    ends = [0, 0]
    for start, end, of in spans:
        if start < ends[1 - of]:
            return True
        ends[of] = max(ends[of], end)
    return False


def _spans(table: pa.Table) -> list[tuple[int, int]]:
    buffers = (buffer for column in table.columns for chunk in column.chunks for buffer in chunk.buffers())
    return [(buffer.address, buffer.address + buffer.size) for buffer in buffers if buffer is not None and buffer.size]


def _not_public(name: str) -> DescriptionError:
    return DescriptionError(
        given=f"The public table {name} is a protected file, or shares memory with protected rows.",
        do="Declare a table that was published independently, such as last year's release, or pay to measure the rows; "
        "nothing was spent.",
    )
