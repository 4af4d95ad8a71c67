"""The embedded DuckDB: a database of its own for every question, and the one way to run a bounded query in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.backends.memory import memory_limit
from sitr.backends.scratch import scratch
from sitr.backends.statement import identifier, literal, statement
from sitr.dataset.schema import Kind
from sitr.errors import BackendFailure, SourceError
from sitr.questions.aggregate.bind import BoundedQuery, Cells

Found = TypeVar("Found")

CHARGED = "the charge stands, because the data were touched"
UNCHARGED = "nothing was spent"


@contextmanager
def connection(views: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Nothing is shared between threads or left behind."""
    made = duckdb.connect(":memory:", config=settings())
    try:
        # In an interactive Python, DuckDB draws a progress bar on standard output. In Jupyter without ipywidgets there
        # is no bar, and the setting cannot be changed.
        if made.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            made.execute("SET enable_progress_bar = false")
        for name, table in views.items():
            made.register(name, table)
        yield made
    finally:
        made.close()


def settings() -> dict[str, str | bool | int | float | list[str]]:
    """How much memory DuckDB may use, and where it writes rows beyond that: never into the current folder.

    What is wrong with either is a `SourceError`; to be called before anything is charged.
    """
    return {"memory_limit": f"{memory_limit()}B", "temp_directory": str(scratch.folder())}


def exact_cells(
    query: BoundedQuery, *, source: str, types: Mapping[str, str], salt: int, views: Mapping[str, pa.Table]
) -> Cells:
    """The exact integers of each cell; if reading fails, an error whose text is always the same."""
    width = len(query.keys)
    sql = statement(query, source=source, types=types, salt=salt)
    rows = read(views, lambda engine: engine.execute(sql).fetchall())
    return {tuple(row[:width]): tuple(row[width:]) for row in rows}


def exact_size(*, source: str, views: Mapping[str, pa.Table]) -> int:
    """The number of rows, which is asked for before anything is charged."""
    sql = f"SELECT count(*) FROM {source}"
    return int(read(views, lambda engine: engine.execute(sql).fetchall(), after=UNCHARGED)[0][0])


def exact_numbers(column: str, *, source: str, missing: float, views: Mapping[str, pa.Table]) -> NDArray[np.float64]:
    """The numbers of a column, in the order of the rows, which DuckDB keeps; what is none is `missing`."""
    number = f"TRY_CAST({identifier(column)} AS DOUBLE)"
    told = f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {literal(missing)} ELSE {number} END"
    sql = f"SELECT {told} AS number FROM {source}"
    return np.asarray(read(views, lambda engine: engine.execute(sql).fetchnumpy())["number"], np.float64)


def read(
    views: Mapping[str, pa.Table],
    fetch: Callable[[duckdb.DuckDBPyConnection], Found],
    *,
    after: str = CHARGED,
) -> Found:
    """What `fetch` finds in the data; if that fails, an error that is always the same.

    It is raised only when the database's own error is gone. `raise … from None` would not be enough: that error would
    stay reachable as `__context__`, and it can quote the data. A context manager would not be enough either, because it
    raises while the error is still being handled.
    """
    try:
        with connection(views) as engine:
            return fetch(engine)
    except (duckdb.Error, OSError, pa.ArrowException):
        pass
    raise unreadable(after)


def unreadable(after: str = CHARGED) -> BackendFailure:
    """What is said wherever the data cannot be read, and nothing more."""
    return BackendFailure(
        wanted="The data were to be read.",
        given="The database reported an error, which is withheld because it could quote the data.",
        do=f"Check the data set itself; {after}.",
    )


def described(engine: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    """The columns of a SELECT with DuckDB's names for their types."""
    return {str(row[0]): str(row[1]) for row in engine.execute(f"DESCRIBE {select}").fetchall()}


def refuse_twins(names: Iterable[str]) -> None:
    """DuckDB takes W and w for one name, so that one column would answer for the other. Other letters it tells apart.

    >>> refuse_twins(["Ж", "ж", "w"])
    >>> refuse_twins(["W", "x", "w"])
    Traceback (most recent call last):
    sitr.errors.SourceError: ... The columns 'W' and 'w' have the same name. ...
    """
    seen: dict[str, str] = {}
    for name in names:
        folded = name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")  # of bytes: ASCII alone
        if folded in seen:
            raise SourceError(
                wanted="Column names must differ in more than upper and lower case.",
                given=f"The columns {seen[folded]!r} and {name!r} have the same name.",
                do="Rename one of them.",
            )
        seen[folded] = name


def only_this_file(path: Path) -> str:
    """The path with its wildcards taken literally: DuckDB would read other files that match.

    >>> only_this_file(Path("v[12]*.parquet"))
    'v[[]12][*].parquet'
    """
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def kind_of(name: str) -> Kind:
    """What a DuckDB type holds.

    >>> kind_of("DECIMAL(18,0)"), kind_of("UBIGINT"), kind_of("TIMESTAMP WITH TIME ZONE"), kind_of("TIMESTAMP[]")
    (<Kind.INTEGER: 'integer'>, <Kind.INTEGER: 'integer'>, <Kind.OTHER: 'other'>, <Kind.OTHER: 'other'>)
    """
    if name.endswith("]"):  # a list, whatever of
        return Kind.OTHER
    if name.startswith("DECIMAL"):
        return Kind.INTEGER if name.endswith(",0)") else Kind.REAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    if name.startswith("TIMESTAMP") and "ZONE" not in name:
        return Kind.TIMESTAMP
    if name.endswith("INT") or name in ("INTEGER", "UINTEGER"):
        return Kind.INTEGER
    return _NAMED.get(name, Kind.OTHER)


_NAMED = {
    "FLOAT": Kind.REAL,
    "DOUBLE": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "UUID": Kind.BYTES,
    "BLOB": Kind.BYTES,
}
