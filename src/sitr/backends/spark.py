"""Spark as a backend, for tables that are too large for one machine.

The bounded query runs on the executors, and only its exact integers reach the driver, where the noise is drawn. Every
reading is collected once: evaluating a frame again cannot draw anything again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from sitr.backends import zones
from sitr.backends.bound import Bound
from sitr.backends.expressions import Expressions
from sitr.backends.failure import UNCHARGED
from sitr.backends.reading import Reading, Totals, Tree, shaped, tree
from sitr.backends.relations import FromRows
from sitr.backends.spark_dialect import SparkDialect, no_patterns
from sitr.backends.spark_engine import asked, bounded_batches, check_session, collected, new_name, read, started, views
from sitr.backends.statement import statement, writer
from sitr.backends.total import total
from sitr.dataset.database import DatabaseTable, spark_names
from sitr.dataset.schema import Kind
from sitr.errors import QuestionError, SourceError
from sitr.namespace import Later
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.view import protected
from sitr.questions.aggregate.view_source import tables

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.backends import engine, spark_packed, zoned
    from sitr.backends.sources import Source
    from sitr.backends.spark_packed import Ordered
else:  # only joins with public tables need DuckDB, and a preview reads no rows
    engine, zoned, pa = Later("sitr.backends.engine"), Later("sitr.backends.zoned"), Later("pyarrow")
    spark_packed = Later("sitr.backends.spark_packed")

LONGEST = 20_000
"""The most letters of all expressions of a statement, without their values. An expression of 17,583 letters took 34
seconds with a driver of 1 GB on a busy machine, and one of 35,599 letters 198 seconds."""

EVERY_ROW = "TABLESAMPLE (100 PERCENT) REPEATABLE (0)"
"""A sample of all rows, through which Spark takes no condition to the files (decision 0135). Otherwise it would skip
parts of files whose least and largest values do not satisfy it, and the time of an answer would say who is there."""

MOST_PUBLIC = 1_000_000
"""The most rows of a public table, whose values are read before a question is planned."""


class SparkSource(Protocol):
    """Where the rows of one table are."""

    @property
    def session(self) -> Any:
        """The session that reads them."""

    def frame(self) -> Any:
        """The rows as a DataFrame; reads none."""


@dataclass(frozen=True)
class SparkFrame:
    """A DataFrame, which Spark computes again for every question."""

    rows: Any = field(repr=False, compare=False)

    @property
    def session(self) -> Any:
        return self.rows.sparkSession

    def frame(self) -> Any:
        return self.rows


@dataclass(frozen=True)
class SparkTable:
    """A table or view of the catalogue by its name, looked up again for every question."""

    session: Any = field(repr=False, compare=False)
    at: DatabaseTable

    def frame(self) -> Any:
        try:
            found = self.session.table(self.at.table)
            found.schema  # noqa: B018 - Spark Connect looks the table up only now
        except Exception:  # noqa: BLE001 - the catalogue, its permissions and the network have many errors
            pass
        else:
            return found
        raise SourceError(
            given=f"Spark has no table {self.at.table!r} that this session may read.",
            do="Write it as in SQL, such as catalog.schema.table, and check the permissions.",
        )


@dataclass(frozen=True)
class Spark:
    """A `Backend`: the rows of one table, read with one statement for each question.

    `public` are the public tables that a question may join, by name, and `beside` the other protected ones.
    """

    source: SparkSource
    public: Mapping[str, Source | DatabaseTable] = field(default_factory=dict, compare=False)
    beside: Mapping[str, Spark] = field(default_factory=dict, compare=False)
    zones: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The declared time zones of columns; all others are read in UTC."""
    dialect: Callable[[], SparkDialect] = field(default=SparkDialect, repr=False, compare=False)
    order: Ordered | None = field(default=None, repr=False, compare=False)
    """The order in which packed groups and rows are chosen; None for the usual one."""

    @property
    def at(self) -> DatabaseTable | None:
        """The table in the catalogue; None for a DataFrame."""
        return self.source.at if isinstance(self.source, SparkTable) else None

    def kinds(self) -> dict[str, Kind]:
        check_session(self.source.session)
        return {name: kind_of(name, type) for name, type in types(self.source.frame()).items()}

    def schema(self) -> pa.Schema:
        return pa.schema([(name, arrow_type(type)) for name, type in types(self.source.frame()).items()])

    def verify(self) -> None:
        """Read every value once, so that a file that cannot be read is found now."""
        frame, say = self.source.frame(), SparkDialect()
        readable = [name for name, type in types(frame).items() if kind_of(name, type) is not Kind.OTHER]
        hashed = ", ".join(f"count(xxhash64({say.identifier(name)}))" for name in readable) or "count(*)"
        view = new_name()

        def work() -> None:
            with views(self.source.session, {view: frame}):
                self.source.session.sql(f"SELECT {hashed} FROM {view}").collect()

        read(work, charge=UNCHARGED)

    def size(self) -> int:
        return int(read(lambda: self.source.frame().count(), charge=UNCHARGED))

    def read(self, reading: Reading, *, salt: int) -> Any:
        what = tree(reading)
        joined = set(tables(reading.view)) if isinstance(reading, BoundedQuery) else set()
        own = set(protected(reading.view)) if isinstance(reading, BoundedQuery) else set()
        read_too = own & self.beside.keys()
        assert len(own - read_too) <= 1, "a table of the question is missing"

        def work() -> list[Any]:
            say, session, frames = self.dialect(), self.source.session, dict[str, Any]()

            def named(frame: Any, zones: Mapping[str, str]) -> FromRows:
                frames[view := new_name()] = frame
                return FromRows(*relation(view, frame, say, zones))

            source = named(self.source.frame(), self.zones)
            public = {name: named(_public(session, self.public[name]), {}) for name in joined}
            beside = {name: named(self.beside[name].source.frame(), self.beside[name].zones) for name in read_too}
            rows: dict[str, Any] = {"source": source.source, "types": source.types, "public": public, "beside": beside}
            with views(session, frames):
                if (packed := self.packed_rows(what, say, rows, salt)) is not None:
                    return packed
                found = collected(session, statement(what, dialect=say, salt=salt, **rows), say)
            if isinstance(what, Totals):
                columns = [list(map(_plain, column.to_pylist())) for column in found.columns]
                return list(zip(*columns, strict=True))
            return [column.to_numpy() for column in found.columns]

        return shaped(reading, read(work))

    def packed_rows(self, what: Tree, say: SparkDialect, rows: Mapping[str, Any], salt: int) -> list[Any] | None:
        """The totals by packed rows; None where the statement reads them, as public facts decide."""
        own = replace(say, bound=Bound([*say.bound.values]), steps_written=[])
        written = writer(what, dialect=own, salt=salt, **rows)
        packed = spark_packed.packing(what, written.types)
        if packed is None or own.steps_written or not spark_packed.able(self.source.session):
            return None  # steps that are computed once are the statement's
        scan = asked(self.source.session, spark_packed.scan(packed, written), own)
        return spark_packed.read(packed, scan, (self.order or spark_packed.salted)(packed, salt))

    def refuse(self, function: str) -> None:
        """Refuse a function that Spark cannot compute in a time that grows with the text and not faster."""
        if function in ("REGEXP_MATCHES", "REGEXP_FULL_MATCH"):
            raise no_patterns()

    def refuse_long(self, expressions: Iterable[Typed]) -> None:
        """Refuse expressions that Spark's driver could not plan in its memory, or only in minutes."""
        writes = Expressions(self.dialect(), {})
        letters = sum(map(_letters, map(writes.written, expressions)))
        if letters > LONGEST:
            raise QuestionError(
                given=f"The expressions of the question have {letters:,} letters as Spark reads them, more than "
                f"{LONGEST:,}: its driver could run out of memory while it plans them.",
                do="Nest fewer functions, ask for fewer columns at once, or compute them in a view and protect that; "
                "nothing was spent.",
            )

    def texts(self) -> list[tuple[Any, ...]]:
        """All values as texts, in memory, for the steward's own digest of the rows."""
        frame, say, view = self.source.frame(), SparkDialect(), new_name()
        known = types(frame)
        readable = sorted(name for name, type in known.items() if kind_of(name, type) is not Kind.OTHER)
        columns = ", ".join(say.identity(say.identifier(name), known[name]) for name in readable) or "'1'"

        def work() -> list[tuple[Any, ...]]:
            with views(self.source.session, {view: frame}):
                return [tuple(row) for row in self.source.session.sql(f"SELECT {columns} FROM {view}").collect()]

        return read(work, charge=UNCHARGED)

    def everything(self) -> pa.Table:
        """All rows of a public table, in memory."""
        found: pa.Table = read(lambda: self.source.frame().limit(MOST_PUBLIC + 1).toArrow(), charge=UNCHARGED)
        if found.num_rows > MOST_PUBLIC:
            raise QuestionError(
                given=f"The public table {self.at} has more than {MOST_PUBLIC:,} rows.",
                do="Declare a smaller table or view; nothing was spent.",
            )
        return found


def _letters(written: str) -> int:
    """The length of an expression without its values: a long list of values takes little memory."""
    return len(re.sub(r"CAST\(:p\d+ AS \w+\)|:p\d+", "", written))


def open_table(at: DatabaseTable, *, session: Any = None) -> Spark:
    """The backend of a table in the catalogue of a session, or of the session that the environment names."""
    made = Spark(SparkTable(started() if session is None else session, at))
    made.kinds()
    return made


def open_frame(frame: Any) -> Spark:
    """The backend of a DataFrame."""
    made = Spark(SparkFrame(frame))
    made.kinds()
    return made


def same_table(table: DatabaseTable, backend: Spark) -> bool:
    """Whether a name can mean the table that a backend reads: names without a schema may mean any."""
    if backend.at is None:
        return False
    one, other = ([part.lower() for part in spark_names(each.table)] for each in (table, backend.at))
    shorter = min(len(one), len(other))
    return one[-shorter:] == other[-shorter:]


def types(frame: Any) -> dict[str, str]:
    """The columns with Spark's names for their types."""
    fields = frame.schema.fields
    refuse_twins([each.name for each in fields])
    return {each.name: each.dataType.simpleString() for each in fields}


def refuse_twins(names: Sequence[str]) -> None:
    """Refuse names that Spark cannot tell apart, whatever the session's setting: it folds the case of all letters."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.get(name.lower())
        if other is not None:
            both = f"The columns {other!r} and {name!r} differ only in upper and lower case."
            raise SourceError(
                given=f"Two columns are named {name!r}." if other == name else both, do="Rename one of them."
            )
        seen[name.lower()] = name


def relation(view: str, frame: Any, say: SparkDialect, declared: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What follows FROM, and the types of its columns: a moment is its time in the column's zone, or in UTC."""
    found = types(frame)

    def selected(name: str, type: str) -> str:
        own = say.identifier(name)
        if type != "timestamp":
            return own
        utc, to = say.utc(own), declared.get(name, "UTC")
        # In a sub-query of its own, Spark would copy the time in UTC to each of its places.
        return f"{utc if to == 'UTC' else say.once(utc, lambda x: zones.local(say, x, to), always=True)} AS {own}"

    zoned = "timestamp" in found.values()
    columns = ", ".join(selected(name, type) for name, type in found.items()) if zoned else "*"
    rows = f"(SELECT {columns} FROM {view} {EVERY_ROW}) AS {view}"
    return rows, {name: "timestamp_ntz" if type == "timestamp" else type for name, type in found.items()}


def kind_of(name: str, type: str) -> Kind:
    """The kind of a Spark type.

    >>> kind_of("n", "decimal(20,0)"), kind_of("at", "timestamp"), kind_of("tags", "array<string>")
    (<Kind.INTEGER: 'integer'>, <Kind.ZONED: 'timestamptz'>, <Kind.OTHER: 'other'>)
    """
    if type.startswith("decimal("):
        return Kind.INTEGER if type.endswith(",0)") else Kind.REAL
    if type.startswith("string "):
        raise SourceError(
            given=f"The column {name!r} has the type {type}, which takes different texts for equal ones.",
            do="Cast it to STRING COLLATE UTF8_BINARY in a view, and protect the view.",
        )
    return _KINDS.get(type, Kind.OTHER)


_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.REAL),
    "timestamp": Kind.ZONED,
    "timestamp_ntz": Kind.TIMESTAMP,
    "string": Kind.TEXT,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "binary": Kind.BYTES,
}


def _public(session: Any, source: Source | DatabaseTable) -> Any:
    """A public table of the catalogue, or one that is sent to Spark."""
    if isinstance(source, DatabaseTable):
        return SparkTable(session, source).frame()
    with engine.connection(source.tables()) as database:
        rows = database.sql(f"SELECT * FROM {zoned.local_rows(source).source}").to_arrow_table()
    return sent(session, rows)


def sent(session: Any, rows: pa.Table) -> Any:
    """Rows in memory as a DataFrame. A time without a zone stays one, whatever the session's setting is.

    Columns of types that no question uses are left out.
    """
    able, say = sendable(rows), SparkDialect()
    types = {each.name: _spark_type(each.type) for each in able.schema}
    kept = [name for name, type in types.items() if type is not None]
    schema = ", ".join(f"{say.identifier(name)} {types[name]}" for name in kept)
    with bounded_batches(session):
        return session.createDataFrame(able.select(kept), schema=schema)


def sendable(rows: pa.Table) -> pa.Table:
    """The same rows in types that Spark has: no unsigned integers, no dictionaries, and times in microseconds."""

    def cast(column: pa.ChunkedArray) -> pa.ChunkedArray:
        type = column.type
        if pa.types.is_dictionary(type):
            return column.cast(type.value_type)
        if pa.types.is_timestamp(type):
            return column.cast(pa.timestamp("us", type.tz), safe=False)
        wider = {pa.uint64(): pa.decimal128(20, 0), pa.uint32(): pa.int64(), pa.uint16(): pa.int32()}
        kind = {**wider, pa.uint8(): pa.int16(), pa.large_string(): pa.string()}.get(type, type)
        return column.cast(kind)

    return pa.table([cast(column) for column in total(rows).columns], names=rows.column_names)


def _plain(value: Any) -> Any:
    """Python's integers for Spark's decimals, which are all whole."""
    return int(value) if isinstance(value, Decimal) else value


def arrow_type(type: str) -> pa.DataType:
    """The Arrow type of a Spark type; NULL for types that no question uses.

    >>> arrow_type("decimal(20,2)"), arrow_type("bigint")
    (Decimal128Type(decimal128(20, 2)), DataType(int64))
    """
    if type.startswith("decimal("):
        precision, scale = map(int, type.removeprefix("decimal(").removesuffix(")").split(","))
        return pa.decimal128(precision, scale)
    return pa.type_for_alias(_ARROW[type]) if type in _ARROW else pa.null()


def _spark_type(type: pa.DataType) -> str | None:
    """The Spark type of an Arrow type that `sendable` leaves."""
    if pa.types.is_decimal128(type):
        return f"decimal({type.precision},{type.scale})"
    if pa.types.is_timestamp(type) and type.tz is not None:
        return "timestamp"
    return next((name for name, alias in _ARROW.items() if pa.type_for_alias(alias) == type), None)


_ARROW = {
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float",
    "double": "double",
    "boolean": "bool",
    "string": "string",
    "binary": "binary",
    "date": "date32",
    "timestamp_ntz": "timestamp[us]",
    "timestamp": "timestamp[us]",
}
