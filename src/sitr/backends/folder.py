"""Rows in a folder of Parquet files, as Spark, Hive and object stores write them.

All files that end in .parquet or .pq are read, in folders at any depth, except where the name of a file or a folder
begins with a dot or an underscore. Folders may be named `year=2026`: then `year` is a column. Its type must be
declared, because a single folder could change a type that is detected. A name that does not fit the type gives NULL.

The folder of a table of Delta, Iceberg or Hudi is refused: it also holds files whose rows were deleted or replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sitr.backends.csv import TYPES, moment
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, described, kind_of, only_this_file, refuse_twins
from sitr.backends.formats import PARQUET
from sitr.backends.sources import read_all
from sitr.backends.total import has_odd_times, total, with_zones
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.namespace import Later
from sitr.questions.arrow import arrow_type

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
else:  # a preview reads no rows
    duckdb, pa, pq = Later("duckdb"), Later("pyarrow"), Later("pyarrow.parquet")

FORMATS = {"_delta_log": "Delta", "metadata/*.metadata.json": "Iceberg", ".hoodie": "Hudi"}
"""What the folder of a table has that keeps deleted rows in its files."""

NULL = "__HIVE_DEFAULT_PARTITION__"
"""How a folder says that the value is missing."""


@dataclass(frozen=True)
class ParquetFolder:
    """A folder of Parquet files with the same columns, and the kinds of the columns that the names of folders hold."""

    path: Path
    partitions: tuple[tuple[str, Kind], ...] = ()

    def files(self) -> list[Path]:
        """The files, in the order of their names."""
        found = [file for file in sorted(self.path.rglob("*")) if file.name.lower().endswith(PARQUET)]
        return [file for file in found if not any(part[0] in "._" for part in file.relative_to(self.path).parts)]

    def kinds(self) -> dict[str, Kind]:
        return {name: kind_of(type) for name, type in self.types().items()}

    def types(self) -> dict[str, str]:
        """The types, from the footers of all files, which must agree."""
        schema = self._in_files()
        self._check_partitions()
        try:
            refuse_twins([*schema.names, *(name for name, _ in self.partitions)])
            with connection({}) as engine:
                found = described(engine, f"SELECT * FROM {self._scan('strict')}")
        except (duckdb.Error, OSError):
            pass
        else:
            return with_zones(found, schema)
        raise _unreadable(self.path)

    def schema(self) -> pa.Schema:
        schema = self._in_files()
        for name, kind in self.partitions:
            schema = schema.append(pa.field(name, arrow_type(kind)))
        return schema

    @property
    def relation(self) -> str:
        return DUCKDB.identifier(self._rows) if self._by_arrow else self._scan("replace")

    def tables(self) -> dict[str, pa.Table]:
        if not self._by_arrow:
            return {}
        with connection({}) as engine:
            parts = [self._read(file, engine) for file in self.files()]
        return {self._rows: pa.concat_tables(parts)}

    def verify(self) -> None:
        """Refuse what would be replaced, while the steward can still repair it."""
        read_all(self, {}, self._scan("strict"))

    def _in_files(self) -> pa.Schema:
        """The columns of the files."""
        schema = None
        for file in self.files():
            try:
                own = pq.read_schema(file).remove_metadata()
            except (OSError, pa.ArrowException):
                raise _unreadable(file) from None
            if schema is not None and not own.equals(schema):
                raise SourceError(
                    given=f"{file.relative_to(self.path)} has other columns or types than the other files of "
                    f"{self.path.name}.",
                    do="Write all files with the same columns, in the same order and of the same types.",
                )
            schema = own
        if schema is None:
            raise SourceError(
                given=f"The folder {self.path} has no Parquet files.",
                do="Name a folder with files that end in .parquet.",
            )
        return schema

    def _check_partitions(self) -> None:
        declared = [name for name, _ in self.partitions]
        named = {file: list(_named(file, self.path)) for file in self.files()}
        found = dict.fromkeys(name for own in named.values() for name in own)
        if unknown := [name for name in declared if name not in found]:
            raise SourceError(
                given=f"Neither the files nor the names of the folders in {self.path.name} have {_list(unknown)}, "
                "whose type is declared.",
                do="Correct the name, or leave it out.",
            )
        if missing := [name for name in found if name not in declared]:
            types = ", ".join(f'"{name}": "integer"' for name in missing)
            options = " ".join(f"--type {name}=integer" for name in missing)
            raise SourceError(
                given=f"The names of the folders in {self.path.name} hold {_list(missing)}, without declared types.",
                do=f"Declare them, for example with types={{{types}}} ({options}).",
            )
        for file, own in named.items():
            if sorted(own) != sorted(declared):
                raise SourceError(
                    given=f"The names of the folders of {file.relative_to(self.path)} do not hold {_list(declared)}, "
                    "as those of other files do.",
                    do="Move the file to where it belongs, or out of the folder.",
                )

    def _scan(self, validation: str) -> str:
        """All files in one table; a partition is read as text first, so that no name of a folder fails."""
        files = ", ".join(DUCKDB.literal(only_this_file(file)) for file in self.files())
        hive = "hive_partitioning=true, hive_types_autocast=false" if self.partitions else "hive_partitioning=false"
        scan = f"read_parquet([{files}], {hive}, utf8_validation='{validation}')"
        if not self.partitions:
            return scan
        cast = ", ".join(
            f"{_typed(DUCKDB.identifier(name), kind)} AS {DUCKDB.identifier(name)}" for name, kind in self.partitions
        )
        names = ", ".join(DUCKDB.identifier(name) for name, _ in self.partitions)
        return f"(SELECT * EXCLUDE ({names}), {cast} FROM {scan})"

    def _read(self, file: Path, engine: duckdb.DuckDBPyConnection) -> pa.Table:
        with file.open("rb") as opened:  # Arrow would read the names of folders as columns
            rows = total(pq.read_table(opened))
        named = _named(file, self.path)
        for name, kind in self.partitions:
            text = named[name]
            value = None if text is None else DUCKDB.literal(text)
            ((found,),) = engine.execute(f"SELECT TRY_CAST({value or 'NULL'} AS {TYPES[kind]})").fetchall()
            rows = rows.append_column(pa.field(name, arrow_type(kind)), pa.array([found] * len(rows), arrow_type(kind)))
        return rows

    @property
    def _by_arrow(self) -> bool:
        try:
            return has_odd_times(self._in_files())
        except SourceError:  # it fails in the usual way when it is read
            return False

    @property
    def _rows(self) -> str:
        return f"rows of {sha256(bytes(self.path)).hexdigest()}"


def partitioned(path: Path, types: dict[str, Kind]) -> ParquetFolder:
    """A folder, with those of the declared types that its folders' names have, and not the files."""
    for sign, format in FORMATS.items():
        if any(path.glob(sign)):
            raise SourceError(
                given=f"The folder {path} is a table of {format}, whose files also hold rows that were deleted.",
                do="Protect the table itself on Spark, or write its rows to a folder of plain Parquet files.",
            )
    plain = ParquetFolder(path)
    inside = set(plain._in_files().names)
    return ParquetFolder(path, tuple((name, kind) for name, kind in types.items() if name not in inside))


def _named(file: Path, root: Path) -> dict[str, str | None]:
    """The columns in the names of a file's folders.

    >>> _named(Path("visits/year=2026/ward=A%20B/1.parquet"), Path("visits"))
    {'year': '2026', 'ward': 'A B'}
    """
    parts = (part.partition("=") for part in file.relative_to(root).parts[:-1] if "=" in part)
    return {name: None if value == NULL else unquote(value) for name, _, value in parts}


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _typed(text: str, kind: Kind) -> str:
    """The name of a folder in the type of its column; NULL if it does not fit."""
    return moment(text) if kind is Kind.ZONED else f"TRY_CAST({text} AS {TYPES[kind]})"


def _unreadable(path: Path) -> SourceError:
    return SourceError(
        given=f"{path} cannot be read as a Parquet file.",
        do="Check that it is complete; a CSV file must be named .csv.",
    )
