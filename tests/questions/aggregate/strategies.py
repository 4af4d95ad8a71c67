"""Random questions of the whole grammar about one described table, and rows with values that nobody expects.

Everything is drawn from a `random.Random`, so that a seed says which question failed. A new function is one line in the
lists below, and a test fails until it is there. A new aggregate is one line in `aggregate`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

from sitr.dataset.schema import Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.aggregate.expressions.expression import (
    COMPARISONS,
    PARTS,
    Aggregated,
    Call,
    Expression,
    Literal,
    Name,
)
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.count_if import CountIf
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.operators import Filtered, IntervalEnd
from sitr.questions.aggregate.functions.person_sum import PersonSum
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.nodes import Named, NamedKey, Query
from sitr.questions.aggregate.sources import Among, PersonCall, Select, Selected, Source

INTEGER, REAL, TEXT, BOOLEAN, DATE, TIMESTAMP = (
    Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP,
)  # fmt: skip
NAMES: dict[Kind, tuple[str, ...]] = {
    INTEGER: ("n", "m"),
    REAL: ("x", "y"),
    TEXT: ("w", "t"),
    BOOLEAN: ("ok",),
    DATE: ("d", "e"),
    TIMESTAMP: ("s", "u"),
}
"""The columns of each type: the first one has public bounds or keys, the second one has none."""
WARDS = ("a", "B c", "", None)
FIRST, LAST = date(2023, 12, 25), date(2024, 3, 5)
BEGIN, END = datetime.fromisoformat("2024-02-28T22:00:00"), datetime.fromisoformat("2024-03-01T03:00:00")


def table(
    *,
    unit: Unit | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    groups: int | None = 2,
    rows: int | None = 2,
    total: int | None = None,
) -> Table:
    """The description: half of the columns have bounds or keys."""
    return describe(
        "visits",
        kinds={"id": INTEGER} | {name: kind for kind, names in NAMES.items() for name in names},
        unit=unit or Person("id"),
        relation=relation,
        max_groups=groups,
        max_rows_per_group=rows,
        max_rows=total,
        bounds={"n": (-3, 12), "x": (-5, 100), "d": (FIRST, LAST), "s": (BEGIN, END)},
        granularity={"x": 0.5},
        keys={"w": WARDS},
    )


HOSTILE: dict[str, list[Any]] = {
    "n": [None, 0, 1, -3, 12, 13, -(2**63), 2**63 - 1],
    "m": [None, 0, -1, 7, 2**53 + 1, -(2**63), 2**63 - 1],
    "x": [None, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, -1e308, -5.0, 100.0, 99.99, 0.25],
    "y": [None, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, -1e308, 1.5, -2.0, 1e-300],
    "w": [None, "", "a", "A", "B c", "سِتر", "\U0001f512", "a" * 1_000, "'", "%", "\\", "\x00"],
    "t": [None, "", "a", "12", "-1e400", "nan", "2024-02-30", "infinity", "true", "سِتر", "\U0001f512", "_" * 1_000],
    "ok": [None, True, False],
    "d": [None, date.min, date.max, FIRST, LAST, date(1969, 12, 31), date(2024, 2, 29), 2**31 - 10, -(2**31) + 10],
    "e": [None, date.min, date.max, date(1970, 1, 1), date(2100, 3, 1), 2**31 - 10, -(2**31) + 10, 2_932_897],
    "s": [None, datetime.min, datetime.max, BEGIN, END, 2**63 - 1, -(2**63) + 1, 0],  # noqa: DTZ901
    "u": [None, datetime.min, datetime.max, BEGIN, 2**63 - 2, -(2**63) + 2, 253_402_300_800_000_000],  # noqa: DTZ901
}
"""Values that the engine can hold; dates beyond Python's calendar are written in days or microseconds since 1970."""
TAME: dict[str, Callable[[random.Random], Any]] = {
    "n": lambda chance: chance.choice([-3, 12, 0, chance.randint(-3, 12)]),
    "m": lambda chance: chance.choice([-7, 0, 1, 1000, chance.randint(-50, 50)]),
    "x": lambda chance: chance.choice([-5.0, 100.0, 0.0, chance.randint(-10, 200) / 2]),
    "y": lambda chance: chance.choice([-2.5, 0.0, 64.0, chance.randint(-100, 100) / 4]),
    "w": lambda chance: chance.choice(WARDS),
    "t": lambda chance: chance.choice(["", "a", "12", "2024-02-29", "false", "مكة", " b "]),
    "ok": lambda chance: chance.choice([True, False]),
    "d": lambda chance: chance.choice([FIRST, LAST, FIRST + timedelta(chance.randint(0, 71))]),
    "e": lambda chance: date(1970, 1, 1) + timedelta(chance.randint(-40_000, 40_000)),
    "s": lambda chance: chance.choice([BEGIN, END, BEGIN + timedelta(seconds=chance.randint(0, 104_400))]),
    "u": lambda chance: datetime(2000, 1, 1) + timedelta(seconds=chance.randint(-(10**9), 10**9)),  # noqa: DTZ001
}
"""Values within the declared bounds and keys, or missing ones, and numbers whose sums and products are exact."""
TYPES = {
    "id": pa.int64(), "n": pa.int64(), "m": pa.int64(), "x": pa.float64(), "y": pa.float64(), "w": pa.string(),
    "t": pa.string(), "ok": pa.bool_(), "d": pa.date32(), "e": pa.date32(), "s": pa.timestamp("us"),
    "u": pa.timestamp("us"),
}  # fmt: skip

Row = dict[str, Any]


def arrow(rows: list[Row]) -> pa.Table:
    """The rows as a table that an engine reads."""
    return pa.table({name: pa.array([_stored(row[name], kind) for row in rows], kind) for name, kind in TYPES.items()})


def _stored(value: Any, kind: pa.DataType) -> Any:
    beyond = type(value) is int and (pa.types.is_date(kind) or pa.types.is_timestamp(kind))
    return pa.scalar(value, pa.int32() if pa.types.is_date(kind) else pa.int64()).cast(kind) if beyond else value


def hostile(chance: random.Random, person: int | None) -> Row:
    return {"id": person} | {name: chance.choice(values) for name, values in HOSTILE.items()}


def tame(chance: random.Random, person: int) -> Row:
    found = {name: draw(chance) if chance.random() < 0.85 or name == "w" else None for name, draw in TAME.items()}
    return {"id": person} | found


# Expressions

LITERALS: dict[Kind, tuple[Any, ...]] = {
    INTEGER: (0, 1, -1, 2, 3, 10, -4, 64),
    REAL: (0.5, -0.25, 2.0, 1.5, -8.0, 0.0, 3.0),
    TEXT: ("", "a", "B", "%a_", "it's", "سِتر", "12"),
    BOOLEAN: (True, False),
    DATE: (FIRST, LAST, date(2024, 2, 29), date.min, date.max),
    TIMESTAMP: (BEGIN, END, datetime.fromisoformat("2024-02-29T12:30:15.5")),
}
PATTERNS = ("a", "^$", "[^a-c ]+", "(a|B).*", "\\d{1,3}", "^\\w+\\s?", "[س-ي]", "a{2,9}$")
"""Regular expressions; a few texts match each of them."""
ZONES = ("Asia/Tokyo", "Asia/Kathmandu", "America/Sao_Paulo", "Europe/Paris", "UTC")
"""Zones with few changes, with many, and with a rule for all later years."""
_DAY_PARTS = ("year", "quarter", "month", "week", "day")
_TIMES = ("hour", "minute", "second")

Choice = Callable[["Writer"], Expression]


class Writer:
    """Draws expressions, at most so many calls deep. A few of them are refused, such as a cast to the wrong type."""

    def __init__(self, chance: random.Random, depth: int) -> None:
        self.chance, self.depth = chance, depth

    def one(self, *kinds: Kind) -> Expression:
        """An expression of one of these types."""
        kind = self.chance.choice(kinds)
        if self.depth <= 0 or self.chance.random() < 0.2:
            return self.leaf(kind)
        deeper = Writer(self.chance, self.depth - 1)
        return self.chance.choice(CALLS[kind])(deeper)

    def leaf(self, kind: Kind) -> Expression:
        return Name(self.chance.choice(NAMES[kind])) if self.chance.random() < 0.7 else self.literal(kind)

    def computed(self, *kinds: Kind) -> Expression:
        """Anything but a literal."""
        found = self.one(*kinds)
        return Name(self.chance.choice(NAMES[kinds[0]])) if isinstance(found, Literal) else found

    def literal(self, kind: Kind) -> Literal:
        return Literal(self.chance.choice(LITERALS[kind]))

    def word(self, *words: str) -> Literal:
        return Literal(self.chance.choice(words))

    def whole(self, low: int, high: int) -> Literal:
        return Literal(self.chance.randint(low, high))

    def several(self, *kinds: Kind) -> tuple[Expression, ...]:
        return tuple(self.one(*kinds) for _ in range(self.chance.randint(2, 3)))


def _call(function: str, *parts: Callable[[Writer], Expression]) -> Choice:
    return lambda at: Call(function, tuple(part(at) for part in parts))


def _of(*kinds: Kind) -> Choice:
    return lambda at: at.one(*kinds)


def _computed(*kinds: Kind) -> Choice:
    return lambda at: at.computed(*kinds)


def _word(*words: str) -> Choice:
    return lambda at: at.word(*words)


def _whole(low: int, high: int) -> Choice:
    return lambda at: at.whole(low, high)


def _some(function: str, kind: Kind) -> Choice:
    return lambda at: Call(function, at.several(kind))


def _chosen(kind: Kind) -> list[Choice]:
    """What values of any type can be chosen by."""

    def case(at: Writer) -> Expression:
        pairs = [part for _ in range(at.chance.randint(1, 2)) for part in (at.one(BOOLEAN), at.one(kind))]
        return Call("CASE", (*pairs, *([at.one(kind)] if at.chance.random() < 0.6 else [])))

    return [_some("COALESCE", kind), _call("NULLIF", _of(kind), _of(kind)), case]


def _numbers(kind: Kind) -> list[Choice]:
    of = _of(kind)

    def clamp(at: Writer) -> Expression:
        low, high = sorted((at.literal(kind), at.literal(kind)), key=lambda end: end.value)  # type: ignore[arg-type, return-value]
        return Call("CLAMP", (at.one(kind), low, high))

    return [
        *(_call(operator, of, of) for operator in ("+", "-", "*", "%")),
        _call("NEGATE", _computed(kind)),
        _call("ABS", of),
        _call("POWER", of, _whole(0, 4)),
        *(_some(function, kind) for function in ("LEAST", "GREATEST")),
        *_chosen(kind),
        clamp,
    ]


def _listed(at: Writer) -> Expression:
    kind = at.chance.choice(list(LITERALS))
    return Call("IN", (at.computed(kind), *(at.literal(kind) for _ in range(at.chance.randint(1, 3)))))


def _compared(comparison: str) -> Choice:
    def compare(at: Writer) -> Expression:
        kinds = at.chance.choice([(INTEGER, REAL), (TEXT,), (BOOLEAN,), (DATE,), (TIMESTAMP,)])
        return Call(comparison, (at.computed(*kinds), at.one(*kinds)))

    return compare


_EITHER = _of(INTEGER, REAL)
CALLS: dict[Kind, list[Choice]] = {
    INTEGER: [
        *_numbers(INTEGER),
        _call("//", _EITHER, _EITHER),
        *(_call(function, _EITHER) for function in ("FLOOR", "CEIL", "SIGN", "ROUND")),
        _call("ROUND", _EITHER, _whole(-3, 0)),
        _call("LENGTH", _of(TEXT)),
        _call("CAST", _of(INTEGER, REAL, TEXT, BOOLEAN), _word("INTEGER")),
        _call("-", _of(DATE), _of(DATE)),
        _call("EXTRACT", _word(*(part for part in PARTS if part not in _TIMES)), _of(DATE)),
        _call("EXTRACT", _word(*PARTS), _of(TIMESTAMP)),
        _call("DATE_DIFF", _word(*_DAY_PARTS), _of(DATE), _of(DATE)),
        _call("DATE_DIFF", _word(*_DAY_PARTS, *_TIMES), _of(TIMESTAMP), _of(TIMESTAMP)),
    ],
    REAL: [
        *_numbers(REAL),
        _call("/", _EITHER, _EITHER),
        *(_call(function, _EITHER) for function in ("SQRT", "LN", "LOG10", "EXP")),
        _call("ROUND", _of(REAL), _whole(1, 4)),
        _call("CAST", _of(INTEGER, REAL, TEXT, BOOLEAN), _word("DOUBLE")),
    ],
    TEXT: [
        *(_call(function, _of(TEXT)) for function in ("LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM")),
        _call("SUBSTR", _of(TEXT), _whole(1, 4), _whole(0, 4)),
        _call("SUBSTR", _of(TEXT), _whole(1, 4)),
        *(_call(function, _of(TEXT), _whole(0, 4)) for function in ("LEFT", "RIGHT")),
        _call("||", _of(TEXT), _of(TEXT)),
        _call("REPLACE", _of(TEXT), _word("a", "B c", "_"), _word("", "x")),
        _call("SPLIT_PART", _of(TEXT), _word("a", "B c", "_", " "), _whole(1, 3)),
        _call("CAST", _of(INTEGER, BOOLEAN, DATE, TEXT), _word("VARCHAR")),
        *_chosen(TEXT),
    ],
    BOOLEAN: [
        *map(_compared, COMPARISONS),
        *(_some(function, BOOLEAN) for function in ("AND", "OR")),
        _call("NOT", _of(BOOLEAN)),
        _call("IS NULL", _computed(*NAMES)),
        _listed,
        *(_call(function, _of(TEXT), lambda at: at.literal(TEXT)) for function in ("LIKE", "ILIKE")),
        *(_call(function, _of(TEXT), _of(TEXT)) for function in ("STARTS_WITH", "ENDS_WITH", "CONTAINS")),
        *(_call(function, _of(TEXT), _word(*PATTERNS)) for function in ("REGEXP_MATCHES", "REGEXP_FULL_MATCH")),
        _call("CAST", _of(TEXT), _word("BOOLEAN")),
        *_chosen(BOOLEAN),
    ],
    DATE: [
        *(_call(sign, _of(DATE), _of(INTEGER)) for sign in "+-"),
        _call("DATE_TRUNC", _word(*_DAY_PARTS), _of(DATE)),
        _call("DATE_ADD", _of(DATE), _whole(-50, 50), _word(*_DAY_PARTS)),
        _call("DATE_ADD", _of(DATE), _whole(-(10**6), 10**6), _word(*_DAY_PARTS)),
        _call("CAST", _computed(TIMESTAMP, TEXT), _word("DATE")),
        *_chosen(DATE),
    ],
    TIMESTAMP: [
        _call("DATE_TRUNC", _word(*_DAY_PARTS, *_TIMES), _of(TIMESTAMP)),
        _call("DATE_ADD", _of(TIMESTAMP), _whole(-50, 50), _word(*_DAY_PARTS, *_TIMES)),
        _call("DATE_ADD", _of(DATE), _whole(-(10**6), 10**6), _word(*_TIMES)),
        _call("CAST", _computed(DATE, TEXT), _word("TIMESTAMP")),
        _call("AT TIME ZONE", _call("AT TIME ZONE", _computed(TIMESTAMP), _word("UTC")), _word(*ZONES)),
        *_chosen(TIMESTAMP),
    ],
}


def expression(chance: random.Random, *kinds: Kind, depth: int = 3) -> Expression:
    """An expression of one of these types."""
    return Writer(chance, depth).one(*kinds)


# Questions

GROUPED = (INTEGER, TEXT, BOOLEAN, DATE, TIMESTAMP)


def aggregate(chance: random.Random, depth: int = 2) -> Aggregate:
    """An aggregate; one that needs bounds is often clamped."""
    at = Writer(chance, depth)
    filtered: list[Aggregate] = [Count(), Sum(Name("x")), Count(Name("id"), distinct=True)]
    estimated: list[Aggregate] = [Count(), Mean(Name("x"))]
    choices: list[Callable[[], Aggregate]] = [
        Count,
        lambda: Count(at.computed(*NAMES)),
        lambda: Count(Name("id"), distinct=True),
        lambda: Sum(at.one(INTEGER, REAL)),
        lambda: Sum(Call("CLAMP", (at.one(INTEGER, REAL), Literal(-3), Literal(7)))),
        lambda: Sum(Name(chance.choice(["x", "n"]))),
        lambda: Count(at.computed(*GROUPED), distinct=True),
        lambda: CountIf(at.one(BOOLEAN)),
        lambda: Mean(Name(chance.choice(["x", "n"]))),
        lambda: Filtered(chance.choice(filtered), at.one(BOOLEAN)),
        lambda: PersonSum(Name("n"), Literal(-2), Literal(9)),
        lambda: Combined(Call("/", (Aggregated(Sum(Name("x"))), Aggregated(Count())))),
        lambda: Combined(_choice(Aggregated(Filtered(Count(), at.one(BOOLEAN))))),
        lambda: IntervalEnd(chance.choice(estimated), upper=chance.random() < 0.5),
    ]
    return chance.choice(choices)()


def _choice(of: Aggregated) -> Expression:
    """CASE WHEN n > 2 THEN n ELSE -1 END."""
    return Call("CASE", (Call(">", (of, Literal(2))), of, Literal(-1)))


def source(chance: random.Random, at: Writer) -> Source:
    """The table, or rows of people that a sub-query lists, or one row for each person."""
    where = at.one(BOOLEAN) if chance.random() < 0.5 else None
    listed = Select("visits", (Selected("id", Name("id")),), where)
    often = Select("visits", (Selected("id", Name("id")), Selected("many", PersonCall("COUNT"))), where, (Name("id"),))
    frequent = Select(often, (Selected("id", Name("id")),), Call(">", (Name("many"), Literal(1))))
    people = chance.choice([listed, frequent])
    among = Among("visits", Name("id"), people, chance.random() < 0.5)
    choices: list[Source] = ["visits", "visits", "visits", among]
    return chance.choice(choices)


def query(chance: random.Random, depth: int = 2) -> Query:
    """A question. Some are refused, such as a sum without bounds."""
    at = Writer(chance, depth)
    columns = [aggregate(chance, depth) for _ in range(chance.randint(1, 3))]
    keys = dict.fromkeys(at.one(*GROUPED) for _ in range(chance.choice([0, 1, 1, 1, 2])))
    return Query(
        source(chance, at),
        tuple(Named(f"column_{place}", each) for place, each in enumerate(columns)),
        tuple(NamedKey(f"key_{place}", each) for place, each in enumerate(keys)),
        at.one(BOOLEAN) if chance.random() < 0.5 else None,
    )
