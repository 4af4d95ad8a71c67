"""Random questions of the whole grammar: what `strategies` has, and rank terms, joins, sub-queries and parts.

Every source has all columns of the table under their own names, so that any expression can be asked of it, and sources
are built from each other. Rows can be stored in types that nobody expects.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.public import public_table
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Column, Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.covariance import Correlation, Covariance
from sitr.questions.aggregate.functions.extremes import Maximum, Minimum
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.histogram import Histogram
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.operators import Filtered
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.quantile import ApproxQuantiles, Median, Quantile
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.functions.variance import StandardDeviation, Variance
from sitr.questions.aggregate.nodes import Named, NamedKey, Query
from sitr.questions.aggregate.sources import (
    Aliased,
    Among,
    Join,
    PersonCall,
    Select,
    Selected,
    Source,
    UnionAll,
    from_text,
)
from tests.questions.aggregate import strategies
from tests.questions.aggregate.strategies import BOOLEAN, GROUPED, INTEGER, REAL, Row, Writer

CODES = pa.table(
    {
        "code": ["a", "a", "B c", "", None],
        "size": pa.array([0, 1, 12, 2**53, None], pa.int64()),
        "price": [0.5, -0.0, math.nan, math.inf, None],
    }
)
"""A public table, with values that match several rows, none, or everything that is a double."""
CODES_ROWS = ArrowRows(CODES, "public codes")
ZONES = {"s": "Europe/Paris", "u": "UTC"}
"""The zones in which moments are read, where these columns are stored with one."""
COLUMNS = tuple(name for names in strategies.NAMES.values() for name in names)
TEXT_KEYS = ("w", "t", "ok")
"""Columns of which no sub-query per person has a number."""


def table(
    storage: Storage, *, unit: Unit, relation: Relation, groups: int | None, rows: int | None, total: int | None
) -> Table:
    """The description of `strategies.table`, for rows that are stored like this."""
    usual = strategies.table(unit=unit, relation=relation, groups=groups, rows=rows, total=total)
    kinds = storage.backend([]).kinds()
    zones = {name: zone for name, zone in ZONES.items() if kinds[name] is Kind.ZONED}
    kinds |= dict.fromkeys(zones, Kind.TIMESTAMP)
    more = tuple(Column(name, kinds[name]) for name in ("nested", "zoned"))
    columns = (*(replace(each, kind=kinds[each.name], zone=zones.get(each.name)) for each in usual.columns), *more)
    return replace(usual, columns=columns)


def stays(storage: Storage, relation: Relation) -> Table:
    """Another protected table about the same people."""
    return describe(
        "stays", kinds=ArrowRows(storage.stays([])).kinds(), unit=Person("pid"), relation=relation, max_groups=2,
        max_rows_per_group=2, bounds={"q": (-1, 4), "r": (-2, 2)}, granularity={"r": 0.25},
        keys={"z": ("a", "b", None)},
    )  # fmt: skip


def catalog(storage: Storage, described: Table) -> Catalog:
    """The tables that a question may join."""
    beside = (stays(storage, described.relation),) if isinstance(described.unit, Person) else ()
    return Catalog(described, ("codes",), lambda name: public_table(name, CODES_ROWS), beside)


# Sources

Wrapped = Callable[[random.Random, Writer, Source], Source]


def _named(source: Source, name: str = "v") -> Source:
    return source if isinstance(source, str | Join) else Aliased(source, name)


def _among_people(chance: random.Random, at: Writer, of: Source) -> Source:
    where = at.one(BOOLEAN) if chance.random() < 0.5 else None
    listed = Select("visits", (Selected("id", Name("id")),), where)
    often = Select("visits", (Selected("id", Name("id")), Selected("many", PersonCall("COUNT"))), where, (Name("id"),))
    frequent = Select(often, (Selected("id", Name("id")),), Call(">", (Name("many"), Literal(1))))
    return Among(_named(of), Name("id"), chance.choice([listed, frequent]), chance.random() < 0.5)


def _among_codes(chance: random.Random, at: Writer, of: Source) -> Source:
    by, column = chance.choice([("w", "code"), ("t", "code"), ("n", "size"), ("m", "size"), ("x", "price")])
    where = Call(">", (Name("size"), Literal(0))) if chance.random() < 0.3 else None
    value: Expression = at.computed(INTEGER) if column == "size" and chance.random() < 0.3 else Name(by)
    return Among(_named(of), value, Select("codes", (Selected(column, Name(column)),), where), chance.random() < 0.5)


def _joined(chance: random.Random, at: Writer, of: Source) -> Source:
    conditions: list[Expression] = [
        Call("=", (Name("w"), Name("code"))),
        Call("=", (Name("n"), Name("size"))),
        Call("=", (Name("y"), Name("price"))),
        Call("AND", (Call("=", (Name("t"), Name("code"))), Call("<", (Name("m"), Name("size"))))),
        Call("=", (at.computed(INTEGER), Name("size"))),
        Call(">", (Name("x"), Name("price"))),
    ]
    return Join(_named(of), "codes", chance.choice(conditions), outer=chance.random() < 0.5)


def _per_person(chance: random.Random, at: Writer, of: Source) -> Source:
    """One row for each person and a few keys; the other columns are numbers of the person's rows."""
    keys = [*TEXT_KEYS, *chance.sample(["n", "d", "s"], chance.randint(0, 1))]
    columns = [Selected("id", Name("id")), *(Selected(name, Name(name)) for name in keys)]
    for name in COLUMNS:
        if name in keys:
            continue
        functions = ["MIN", "MAX"] + (["SUM", "AVG"] if name in ("n", "x") else [])
        function = chance.choice(functions)
        columns.append(Selected(name, PersonCall(function, Name(name))))
    if chance.random() < 0.5:
        counted = chance.choice(
            [PersonCall("COUNT"), PersonCall("COUNT", Name("t"), True), PersonCall("COUNT", Name("y"))]
        )
        columns = [each if each.name != "m" else Selected("m", counted) for each in columns]
    where = at.one(BOOLEAN) if chance.random() < 0.4 else None
    return Select(_named(of), tuple(columns), where, (Name("id"), *map(Name, keys)))


def _one_row_each(chance: random.Random, at: Writer, of: Source) -> Source:
    """One row for each person; columns that no aggregate makes are computed from its numbers."""
    made = {"w": "a", "t": "B c"}
    numbers = [name for name in COLUMNS if name not in TEXT_KEYS]
    columns = [Selected(name, PersonCall(chance.choice(["MIN", "MAX"]), Name(name))) for name in numbers]
    columns[numbers.index("n")] = Selected("n", PersonCall("COUNT"))
    where = at.one(BOOLEAN) if chance.random() < 0.4 else None
    each = Select(_named(of), (Selected("id", Name("id")), *columns), where, (Name("id"),))
    often = Call(">", (Name("n"), Literal(1)))
    texts = [Selected(name, Call("CASE", (often, Literal(text), Literal("")))) for name, text in made.items()]
    rest = [Selected(name, Name(name)) for name in ("id", *numbers)]
    return Select(_named(each, "p"), (*rest, *texts, Selected("ok", often)))


def _all_columns(of: Source, where: Expression | None, swapped: bool = False) -> Select:
    other = {"n": "m", "m": "n", "x": "y", "y": "x"} if swapped else {}
    columns = [Selected("id", Name("id")), *(Selected(name, Name(other.get(name, name))) for name in COLUMNS)]
    return Select(_named(of), tuple(columns), where)


def _renamed(chance: random.Random, at: Writer, of: Source) -> Source:
    """All columns, of which some change their names."""
    return _all_columns(of, at.one(BOOLEAN) if chance.random() < 0.5 else None, chance.random() < 0.5)


def _together(chance: random.Random, at: Writer, of: Source) -> Source:
    first = _all_columns(of, at.one(BOOLEAN) if chance.random() < 0.5 else None)
    second = _all_columns("visits", at.one(BOOLEAN), chance.random() < 0.5)
    return UnionAll((first, second) if chance.random() < 0.8 else (first, second, first))


def _with_itself(chance: random.Random, at: Writer, of: Source) -> Source:
    """Each row beside other rows of the same person; the other columns have names of their own."""
    del at
    right = Select("visits", (Selected("i2", Name("id")), Selected("n2", Name("n")), Selected("t2", Name("t"))))
    same: Expression = Call("=", (Name("id"), Name("i2")))
    if chance.random() < 0.5:
        same = Call("AND", (same, Call("<", (Name("n"), Name("n2")))))
    return Join(_named(of), Aliased(right, "o"), same, outer=chance.random() < 0.4)


def _with_stays(chance: random.Random, at: Writer, of: Source) -> Source:
    """Each row beside those of the same person in another protected table, or in a sub-query of it."""
    del at
    columns = [Selected(name, Name(name)) for name in ("pid", "q", "z", "r")]
    some = Select("stays", tuple(columns), Call(">", (Name("q"), Literal(0))))
    numbers = [Selected("q", PersonCall("COUNT")), Selected("r", PersonCall("MAX", Name("r")))]
    each = Select("stays", (columns[0], columns[2], *numbers), None, (Name("pid"), Name("z")))
    rights: list[Source] = ["stays", "stays", Aliased(some, "o"), Aliased(each, "o")]
    right = chance.choice(rights)
    same: Expression = Call("=", (Name("id"), Name("pid")))
    if chance.random() < 0.4:
        same = Call("AND", (same, Call(chance.choice(["<", "<>", "="]), (Name("n"), Name("q")))))
    return Join(_named(of), right, same, outer=chance.random() < 0.4)


WRAPPED: tuple[Wrapped, ...] = (
    _among_people, _among_codes, _joined, _per_person, _one_row_each, _together, _renamed, _with_itself, _with_stays,
)  # fmt: skip


def source(chance: random.Random, at: Writer) -> Source:
    """The table, or what one or two steps make of it. A few of them are refused."""
    found: Source = "visits"
    for wrap in chance.sample(WRAPPED, chance.choice([0, 1, 1, 1, 2])):
        found = wrap(chance, at, found)
    return found


# Aggregates

LEVELS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(99, 100), Fraction(1))


def aggregate(chance: random.Random, depth: int) -> Aggregate:
    """An aggregate of any kind; quantiles, extremes and histograms are drawn as often as all others together."""
    at = Writer(chance, depth)
    of = Name(chance.choice(["x", "n"]))
    when = Name(chance.choice(["d", "s"]))
    clamped: Expression = Call("CLAMP", (at.one(INTEGER, REAL), Literal(-3), Literal(7)))
    ordered: list[Expression] = [of, when, clamped]
    choices: list[Callable[[], Aggregate]] = [
        lambda: Median(of, interval=chance.random() < 0.3),
        lambda: Quantile(chance.choice(ordered[::2]), (chance.choice(LEVELS),)),
        lambda: ApproxQuantiles(of, chance.randint(1, 3)),
        lambda: Minimum(chance.choice(ordered)),
        lambda: Maximum(chance.choice(ordered)),
        lambda: Histogram(of, tuple(Literal(edge) for edge in (-2, 0, 3, 7))),
        lambda: Filtered(Median(of), at.one(BOOLEAN)),
        lambda: Filtered(Maximum(of), at.one(BOOLEAN)),
        lambda: Filtered(Histogram(of, tuple(Literal(edge) for edge in (0, 5))), at.one(BOOLEAN)),
        lambda: Filtered(Count(at.computed(*GROUPED), distinct=True), at.one(BOOLEAN)),
        lambda: Filtered(PersonSum(Name("n"), Literal(-2), Literal(9)), at.one(BOOLEAN)),
        lambda: Filtered(Mean(of), at.one(BOOLEAN)),
        lambda: Variance(of),
        lambda: StandardDeviation(of),
        lambda: Covariance(Name("x"), Name("n")),
        lambda: Correlation(Name("x"), Name("n")),
        lambda: Combined(Call("-", (Aggregated(Maximum(of)), Aggregated(Minimum(of))))),
        lambda: Combined(Call("/", (Aggregated(Median(of)), Aggregated(Mean(of))))),
        lambda: Count(Name(chance.choice(["nested", "zoned"]))),
    ]
    return chance.choice(choices)() if chance.random() < 0.5 else strategies.aggregate(chance, depth)


def query(chance: random.Random, depth: int = 2) -> Query:
    """A question of the whole grammar. Some are refused."""
    at = Writer(chance, depth)
    rows = source(chance, at)
    columns = [aggregate(chance, depth) for _ in range(chance.randint(1, 2))]
    keys = [_key(chance, at) for _ in range(chance.choice([0, 1, 1, 2]))]
    for table, (key, number) in JOINED.items():
        if table in from_text(rows) and chance.random() < 0.6:
            more: list[Aggregate] = [Sum(Name(number)), Count(Name(number)), Maximum(Name(number))]
            columns.append(chance.choice(more))
            keys = [Name(key), *keys[1:]]
    return Query(
        rows,
        tuple(Named(f"column_{place}", each) for place, each in enumerate(columns)),
        tuple(NamedKey(f"key_{place}", each) for place, each in enumerate(dict.fromkeys(keys))),
        at.one(BOOLEAN) if chance.random() < 0.3 else None,
    )


JOINED = {"stays": ("z", "q"), "codes": ("code", "size"), "AS o ON": ("t2", "n2")}
"""A key and a number of what is joined."""


def _key(chance: random.Random, at: Writer) -> Expression:
    """Plain columns half of the time, so that public and unknown keys are often mixed."""
    return Name(chance.choice(["w", "t", "n", "m", "ok", "d"])) if chance.random() < 0.5 else at.one(*GROUPED)


# Rows in types that nobody expects

IDS: dict[str, list[tuple[pa.DataType, list[Any]]]] = {
    "whole": [
        (pa.int64(), [0, 5, 7, 1, 4]),
        (pa.uint64(), [0, 5, 7, 1, 4]),
        (pa.decimal128(38, 0), [Decimal(0), Decimal(5), Decimal(7), Decimal(1), Decimal(4)]),
        (pa.int8(), [0, 5, 7, 1, 4]),
    ],
    "unsigned": [(pa.uint64(), [2**64 - 1, 2**63, 0, 1, 2**63 - 1])],
    "wide": [(pa.decimal128(38, 0), [Decimal(each) for each in (10**37, -(10**37), 0, 1, 2**64)])],
    "ends": [(pa.int64(), [0, -(2**63), 2**63 - 1, 1, -1])],
    "text": [
        (kind, ["", "a", "A", "a\x00", "سِ"])
        for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()))
    ],
    "date": [(pa.date32(), [date.min, date.max, date(1970, 1, 1), date(2024, 2, 29), date(1969, 12, 31)])],
    "time": [
        (pa.timestamp(unit), [datetime(2024, 1, 1) + timedelta(day) for day in range(5)])  # noqa: DTZ001
        for unit in ("us", "ns", "s")
    ],
    "bytes": [(pa.binary(), [b"\xff", b"", b"\x00", b"a", b"\xff\xfe"])],
}
"""Types of the unit that can stand beside each other, and the ids of five people in each."""

VARIANTS: dict[str, list[pa.DataType]] = {
    "n": [pa.int8(), pa.uint64(), pa.decimal128(38, 0), pa.int64()],
    "m": [pa.int16(), pa.uint32(), pa.decimal128(20, 0), pa.int64()],
    "x": [pa.float32(), pa.decimal128(38, 10), pa.float64()],
    "y": [pa.float32(), pa.decimal128(9, 2), pa.float64()],
    "w": [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.string()],
    "t": [pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.string()],
    "d": [pa.date32()],
    "s": [pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("us", "UTC")],
    "u": [pa.timestamp("ns"), pa.timestamp("us"), pa.timestamp("ns", "Asia/Tokyo"), pa.timestamp("us", "UTC")],
}


@dataclass(frozen=True)
class Storage:
    """The types in which the rows are stored, and the ids of people here and beside."""

    here: tuple[pa.DataType, list[Any]]
    beside: tuple[pa.DataType, list[Any]]
    types: dict[str, pa.DataType]

    @classmethod
    def drawn(cls, chance: random.Random) -> Storage:
        alike = IDS[chance.choice(list(IDS))]
        types = {name: chance.choice(VARIANTS.get(name, [kind])) for name, kind in strategies.TYPES.items()}
        return cls(chance.choice(alike), chance.choice(alike), types)

    def table(self, rows: list[Row]) -> pa.Table:
        """The rows; a value that a type cannot hold is NULL."""
        columns = {"id": _ids(self.here, [row["id"] for row in rows])}
        for name in COLUMNS:
            columns[name] = self._column(name, [row[name] for row in rows])
        columns["nested"] = pa.array([{"a": [1, None]}] * len(rows), pa.struct([("a", pa.list_(pa.int64()))]))
        away = pa.timestamp("us", "America/New_York")
        columns["zoned"] = pa.array([_held(row["u"], strategies.TYPES["u"], away) for row in rows], away)
        return pa.table(columns)

    def stays(self, rows: list[tuple[int | None, Any, Any, Any]]) -> pa.Table:
        return pa.table(
            {
                "pid": _ids(self.beside, [row[0] for row in rows]),
                "q": pa.array([row[1] for row in rows], pa.int16()),
                "z": pa.array([row[2] for row in rows], pa.string()),
                "r": pa.array([row[3] for row in rows], pa.float32()),
            }
        )

    def _column(self, name: str, values: list[Any]) -> pa.Array:
        kind = self.types[name]
        if pa.types.is_dictionary(kind):
            return pa.array(values, pa.string()).dictionary_encode().cast(kind)
        return pa.array([_held(value, strategies.TYPES[name], kind) for value in values], kind)

    def backend(
        self,
        rows: list[Row],
        others: list[tuple[int | None, Any, Any, Any]] | None = None,
        reader: Reader = Reader(),  # noqa: B008 - it is frozen
    ) -> DuckDB:
        beside = {"stays": DuckDB(ArrowRows(self.stays(others or []), "protected stays"))}
        return DuckDB(ArrowRows(self.table(rows)), {"codes": CODES_ROWS}, beside, reader=reader)


def _ids(of: tuple[pa.DataType, list[Any]], people: list[int | None]) -> pa.Array:
    kind, ids = of
    found = [None if each is None else ids[each] for each in people]
    return (
        pa.array(found, pa.string()).dictionary_encode().cast(kind)
        if pa.types.is_dictionary(kind)
        else pa.array(found, kind)
    )


def _held(value: Any, usual: pa.DataType, kind: pa.DataType) -> Any:
    """A value as an element of a column of this type, or None if it has none."""
    if value is None or (kind == usual and not _beyond(value, kind)):
        return value
    try:
        if pa.types.is_decimal(kind):
            return pa.scalar(Decimal(str(value)), kind)
        scalar = pa.scalar(value, usual) if not _beyond(value, usual) else pa.scalar(value, _whole(usual)).cast(usual)
        return scalar.cast(kind)
    except (pa.ArrowException, ArithmeticError, ValueError, OverflowError):
        return None


def _beyond(value: Any, kind: pa.DataType) -> bool:
    return type(value) is int and (pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _whole(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if pa.types.is_date(kind) else pa.int64()
