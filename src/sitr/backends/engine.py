"""The embedded DuckDB: a new database for every question, and the one way to read data in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sitr.backends.failure import CHARGED, failed
from sitr.backends.memory import memory_limit
from sitr.backends.scratch import scratch
from sitr.backends.spare import spare
from sitr.backends.threads import threads
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.namespace import Later

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
else:  # a preview reads no rows
    duckdb, pa = Later("duckdb"), Later("pyarrow")

Found = TypeVar("Found")


APOSTROPHE = "'"
NO_SKIPPING = (
    "filter_pushdown",
    "cte_filter_pusher",
    "statistics_propagation",
    "row_group_pruner",
    "join_filter_pushdown",
)
"""Optimizers of DuckDB that leave out parts of a file because of the least and largest values in them. With these, a
question for one id was quicker where nobody had it, so that its time was an answer. Without them every question reads
all rows, and evaluates its condition on each of them."""


@contextmanager
def connection(tables: Mapping[str, pa.Table | Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read these tables, and these files, which are databases of DuckDB.

    Threads share nothing, and nothing stays behind. Nobody can write to a file while it is read here.
    """
    with spare.connected(settings()) as made:
        # A cast between times with a time zone and times without one uses the zone of the session, which would be that
        # of the machine: it would decide what an answer is about, and which period a row belongs to.
        made.execute("SET TimeZone = 'UTC'")
        # In an interactive Python, DuckDB draws a progress bar on standard output. In Jupyter without ipywidgets there
        # is no bar, and the setting cannot be changed.
        if made.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            made.execute("SET enable_progress_bar = false")
        files = {_quoted(name): path for name, path in tables.items() if isinstance(path, Path)}
        for name, path in files.items():
            made.execute(f"ATTACH {_quoted(str(path), mark=APOSTROPHE)} AS {name} (TYPE duckdb, READ_ONLY)")
        for name, table in tables.items():
            if not isinstance(table, Path):
                made.register(name, table)
        yield made
        for name in files:
            made.execute(f"DETACH {name}")


def _quoted(text: str, *, mark: str = '"') -> str:
    return mark + text.replace(mark, 2 * mark) + mark


def settings() -> dict[str, str | bool | int | float | list[str]]:
    """How much memory and how many threads DuckDB may use, and where it writes rows beyond that: never into the
    current folder.

    Raises `SourceError` if one of them is set wrongly; call it before anything is charged.
    """
    many = threads()
    return {
        "memory_limit": f"{memory_limit()}B",
        "temp_directory": str(scratch.folder()),
        "enable_external_file_cache": False,  # every question reads the file as it is now
        "disabled_optimizers": ",".join(NO_SKIPPING),
        **({} if many is None else {"threads": many}),
    }


def read(
    prepare: Callable[[], tuple[Mapping[str, pa.Table | Path], str]],
    fetch: Callable[[duckdb.DuckDBPyConnection], Found],
    *,
    charge: str = CHARGED,
) -> Found:
    """What `fetch` takes from the result of the statement that `prepare` gives, with the tables that it reads."""

    def work() -> Found:
        tables, sql = prepare()
        with connection(tables) as engine:
            return fetch(engine.execute(sql))

    return guarded(work, charge=charge)


def guarded(work: Callable[[], Found], *, charge: str = CHARGED) -> Found:
    """What `work` finds in the rows. If it fails, the text of the error is always the same.

    Our error is raised after the database's own error is gone. `raise … from None` would not be enough: that error
    would stay reachable as `__context__`, and it can quote the data. A context manager would not be enough either,
    because it raises while the error is still being handled.
    """
    try:
        return work()
    except (duckdb.Error, OSError, pa.ArrowException, MemoryError, SourceError):  # numpy says how much it wanted
        pass
    raise failed(charge)


def described(engine: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    """The columns of a SELECT with DuckDB's names for their types."""
    return {str(row[0]): str(row[1]) for row in engine.execute(f"DESCRIBE {select}").fetchall()}


def refuse_twins(names: Iterable[str]) -> None:
    """Refuse equal names, and names that DuckDB cannot tell apart: it folds the case of ASCII letters only.

    >>> refuse_twins(["Ж", "ж", "w"])
    >>> refuse_twins(["W", "x", "w"])
    Traceback (most recent call last):
    sitr.errors.SourceError: The columns 'W' and 'w' differ only in upper and lower case. Rename one of them.
    """
    seen: dict[str, str] = {}
    for name in names:
        folded = (
            name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")
        )  # bytes fold ASCII letters only
        if folded in seen:
            both = f"The columns {seen[folded]!r} and {name!r} differ only in upper and lower case."
            raise SourceError(
                given=f"Two columns are named {name!r}." if seen[folded] == name else both,
                do="Rename one of them.",
            )
        seen[folded] = name


def only_this_file(path: Path) -> str:
    """The path with its wildcards escaped, so that DuckDB reads no other file that matches.

    >>> only_this_file(Path("v[12]*.parquet"))
    'v[[]12][*].parquet'
    """
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def kind_of(name: str) -> Kind:
    """The kind of a DuckDB type.

    >>> kind_of("DECIMAL(18,0)"), kind_of("UBIGINT"), kind_of("TIMESTAMP WITH TIME ZONE"), kind_of("TIMESTAMP[]")
    (<Kind.INTEGER: 'integer'>, <Kind.INTEGER: 'integer'>, <Kind.ZONED: 'timestamptz'>, <Kind.OTHER: 'other'>)
    """
    if name.endswith("]"):  # a list of anything
        return Kind.OTHER
    if name.startswith("DECIMAL"):
        return Kind.INTEGER if name.endswith(",0)") else Kind.REAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    if name.startswith("TIMESTAMP"):
        return Kind.ZONED if "ZONE" in name or name.startswith("TIMESTAMPTZ") else Kind.TIMESTAMP
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
