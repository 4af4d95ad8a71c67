"""Invented rows: the columns, types, keys and bounds of a description, and nothing else.

No row of the data is read, so the rows tell nothing about anybody and cost nothing. They are a function of the public
description, their number and a seed: the same everywhere, with no randomness but that of a hash.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sitr.dataset.schema import Column, Kind, Table
from sitr.dataset.zone import zone
from sitr.namespace import Later
from sitr.neighbors.unit import Person
from sitr.questions.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a description needs no rows
    pa = Later("pyarrow")

SELDOM = 50
"""One value in SELDOM is missing."""

MOST = 12
"""The most rows of one invented person, unless a description's caps are larger than that."""

FIRST = datetime(2024, 1, 1)  # noqa: DTZ001
"""The first day of columns of dates and times without bounds."""

_UNLISTED: dict[Kind, Callable[[Column, int], Any]] = {
    Kind.INTEGER: lambda _, drawn: drawn % 100,
    Kind.REAL: lambda _, drawn: drawn % 10_000 / 100,
    Kind.TEXT: lambda column, drawn: f"{column.name} {'ABCDEFGHIJ'[drawn % 10]}",
    Kind.BOOLEAN: lambda _, drawn: bool(drawn % 2),
    Kind.DATE: lambda _, drawn: FIRST.date() + timedelta(days=drawn % 366),
    Kind.TIMESTAMP: lambda _, drawn: FIRST + timedelta(seconds=drawn % (366 * 86_400)),
    Kind.BYTES: lambda _, drawn: drawn.to_bytes(16, "big")[:4],
    Kind.OTHER: lambda _, drawn: [drawn % 10, drawn // 10 % 10],
}
"""Values where nothing but the type is public."""

_PERSONS: dict[Kind, Callable[[Column, int], Any]] = {
    Kind.INTEGER: lambda _, number: number,
    Kind.TEXT: lambda column, number: f"{column.name} {number}",
    Kind.BOOLEAN: lambda _, number: bool(number % 2),
    Kind.DATE: lambda _, number: date(1900, 1, 1) + timedelta(days=number % 2_000_000),
    Kind.TIMESTAMP: lambda _, number: FIRST + timedelta(seconds=number),
    Kind.BYTES: lambda _, number: number.to_bytes(8, "big"),
}
"""Values that identify a person, by the person's number."""


def invented(table: Table, *, rows: int, seed: int) -> pa.Table:
    """Rows with the columns of a described table. People have several rows, some more than the caps allow."""
    chance = _Chance(seed)
    people = list(_people(table, rows, chance))
    columns = {
        column.name: pa.array(
            [_person(column, people[row], row, chance) for row in range(rows)]
            if isinstance(table.unit, Person) and column.name == table.unit.column
            else [_value(column, chance.drawn(column.name, row)) for row in range(rows)],
            _type(column),
        )
        for column in table.columns
    }
    return pa.table(columns)


@dataclass(frozen=True, slots=True)
class _Chance:
    """Numbers that look random: a hash of the seed, a name and a place."""

    seed: int

    def drawn(self, name: str, place: int) -> int:
        """A number of 128 bits."""
        text = f"invented rows {self.seed} {place} {name}"
        return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16], "big")


def _people(table: Table, rows: int, chance: _Chance) -> Iterator[int]:
    """The number of the person of each row, in no order."""
    most = max(2, min(table.most_rows + 2, max(MOST, table.max_rows_per_group + 2)))
    found: list[int] = []
    person = 0
    while len(found) < rows:
        person += 1
        found += [person] * (1 + chance.drawn("rows of a person", person) % most)
    order = sorted(range(rows), key=lambda row: chance.drawn("order of rows", row))
    return (found[place] for place in order)


def _person(column: Column, number: int, row: int, chance: _Chance) -> Any:
    """Who a row belongs to; of a few rows it is not known."""
    return None if chance.drawn(column.name, row) % SELDOM == 0 else _PERSONS[column.kind](column, number)


def _value(column: Column, drawn: int) -> Any:
    drawn, seldom = divmod(drawn, SELDOM)
    if seldom == 0:
        return None
    found = _known(column, drawn)
    return found if found is None or column.zone is None else zone(column.zone).moment(found)


def _known(column: Column, drawn: int) -> Any:
    if column.keys is not None:
        return column.keys[drawn % len(column.keys)]
    if column.quantised is not None:
        return _within(column, drawn)
    return _UNLISTED[column.kind](column, drawn)


def _within(column: Column, drawn: int) -> Any:
    """A value between the bounds: a whole number of granules, of days or of seconds."""
    assert column.quantised is not None
    lower, upper = column.quantised.lower, column.quantised.upper
    granules = lower + drawn % (upper - lower + 1)
    match column.kind:
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=granules)
        case Kind.TIMESTAMP:
            return datetime(1970, 1, 1) + timedelta(seconds=granules)  # noqa: DTZ001
        case Kind.INTEGER:
            return math.floor(granules * column.quantised.granularity)
    return float(granules * column.quantised.granularity)


def _type(column: Column) -> pa.DataType:
    if column.zone is not None:
        return pa.timestamp("us", column.zone)
    if column.kind is Kind.BYTES:
        return pa.binary()
    return pa.list_(pa.int64()) if column.kind is Kind.OTHER else arrow_type(column.kind)
