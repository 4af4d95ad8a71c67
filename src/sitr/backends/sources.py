"""How rows get into the embedded DuckDB. A CSV file, which needs more care, has its own module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, described, kind_of, only_this_file, refuse_twins
from sitr.backends.total import has_odd_times, total, with_zones
from sitr.dataset.schema import Kind
from sitr.errors import SourceError
from sitr.namespace import Later

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
else:  # a preview reads no rows
    duckdb, pa, pq = Later("duckdb"), Later("pyarrow"), Later("pyarrow.parquet")


class Source(Protocol):
    """Where the rows of one table are. Only `tables` and `verify` read any row."""

    def kinds(self) -> dict[str, Kind]:
        """The columns and what they hold."""

    def types(self) -> dict[str, str]:
        """The columns with DuckDB's names for their types."""

    def schema(self) -> pa.Schema:
        """The columns with their Arrow types."""

    @property
    def relation(self) -> str:
        """What follows FROM."""

    def tables(self) -> Mapping[str, pa.Table | Path]:
        """The tables in memory, and the databases in files, that `relation` names."""

    def verify(self) -> None:
        """Read every value once; `SourceError` if one cannot be read."""


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, read again for every question.

    It may change after it was protected, and still no value in it may make a question fail that was paid for. So bytes
    that are not UTF-8 are replaced, and a file with columns of times that DuckDB could refuse is read by Arrow. A
    person is an id as it is read: people whose ids differ in replaced bytes only count as one person.
    """

    path: Path

    def kinds(self) -> dict[str, Kind]:
        return {name: kind_of(type) for name, type in self.types().items()}

    def types(self) -> dict[str, str]:
        """The types, from the file's footer."""
        try:
            schema = self.schema()
            refuse_twins(schema.names)
            with connection({}) as engine:
                found = described(engine, f"SELECT * FROM {self._scan('strict')}")
            return with_zones(found, schema)
        except (duckdb.Error, OSError, pa.ArrowException):
            pass  # the database's error must be gone when ours is raised: it can quote the data
        raise SourceError(
            given=f"{self.path} cannot be read as a Parquet file.",
            do="Check that it is complete; a CSV file must be named .csv.",
        )

    def schema(self) -> pa.Schema:
        return pq.read_schema(self.path)

    @property
    def relation(self) -> str:
        return DUCKDB.identifier(self._rows) if self._by_arrow else self._scan("replace")

    def tables(self) -> dict[str, pa.Table]:
        if not self._by_arrow:
            return {}
        with self.path.open("rb") as file:  # Arrow would read the names of folders as columns
            return {self._rows: total(pq.read_table(file))}

    def verify(self) -> None:
        """Refuse what would be replaced, while the steward can still repair it."""
        read_all(self, {}, self._scan("strict"))

    def _scan(self, validation: str) -> str:
        path = DUCKDB.literal(only_this_file(self.path))
        return f"read_parquet({path}, hive_partitioning=false, utf8_validation='{validation}')"

    @property
    def _by_arrow(self) -> bool:
        try:
            return has_odd_times(self.schema())
        except (OSError, pa.ArrowException):  # it fails in the usual way when it is read
            return False

    @property
    def _rows(self) -> str:
        """The name of the rows in statements, which may read several files; DuckDB ignores the case of names."""
        return f"rows of {sha256(bytes(self.path)).hexdigest()}"


@dataclass(frozen=True)
class ArrowRows:
    """A table in memory, and its name in statements."""

    table: pa.Table = field(repr=False, compare=False)
    name: str = "arrow_rows"

    def kinds(self) -> dict[str, Kind]:
        return {name: kind_of(type) for name, type in self.types().items()}

    def types(self) -> dict[str, str]:
        return self._types

    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def relation(self) -> str:
        return DUCKDB.identifier(self.name)

    def tables(self) -> dict[str, pa.Table]:
        return {self.name: self.table}

    def verify(self) -> None:
        for name in self.table.column_names:
            try:
                self.table[name].validate(full=True)  # DuckDB takes the memory as it is, invalid text included
            except pa.ArrowInvalid:
                raise _unreadable(name) from None
        read_all(self, self.tables(), self.relation)

    @cached_property
    def _types(self) -> dict[str, str]:
        refuse_twins(self.table.column_names)
        try:
            with connection(self.tables()) as engine:
                return described(engine, f"SELECT * FROM {self.relation}")
        except duckdb.Error:
            pass
        raise SourceError(
            wanted="a table of types that DuckDB knows",
            given=f"the types {', '.join(sorted({str(field.type) for field in self.table.schema}))}",
            do="Cast or drop the unusual ones.",
        )


def read_all(source: Source, tables: Mapping[str, pa.Table | Path], relation: str) -> None:
    """Read every value of every column once, so that a bad one is found now and not by a question that was paid for."""
    with connection(tables) as engine:
        for name in source.types():
            try:
                engine.execute(f"SELECT count(hash({DUCKDB.identifier(name)})) FROM {relation}").fetchall()
            except duckdb.Error:
                raise _unreadable(name) from None


def _unreadable(column: str) -> SourceError:
    return SourceError(
        given=f"The column {column!r} has values that cannot be read, such as text that is not UTF-8.",
        do="Repair or drop the column before you protect the data set.",
    )
