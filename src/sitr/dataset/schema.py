"""What is public about a data set: its columns, what a person may contribute, bounds, granularity and keys."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from numbers import Real

from sitr.dataset.literals import shown, storable, writable
from sitr.errors import DescriptionError, InvalidParameter, UnknownName, unknown_name
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number, exact

Key = str | int | bool | date | None
"""A value of a grouping column; None is NULL."""

MOST_STEPS = 2**53
"""Bounds may be this many granules away from 0, so that a double holds every quantised value exactly."""


class Kind(Enum):
    """What a column holds, as far as a question must know."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BYTES = "bytes"
    OTHER = "other"


NUMERIC = (Kind.INTEGER, Kind.REAL)
IDENTIFYING = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP, Kind.BYTES)
"""What can identify a person: types in which equal values are the same value, to every operation of every backend. Of
real numbers, 0.0 and -0.0 are equal and yet two; lists and the like can hold real numbers; intervals have 1 month equal
to 30 days."""
GROUPABLE: Mapping[Kind, type] = {Kind.INTEGER: int, Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: date}
"""What can be grouped by, and the Python type of its keys."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """A number on its way into a sum: clamped, then counted in whole granules between two integers."""

    lower: int
    upper: int
    granularity: Fraction


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `bounds` make it summable, `keys` make its groups public."""

    name: str
    kind: Kind
    quantised: Quantised | None = None
    keys: tuple[Key, ...] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A data set's public side."""

    name: str
    columns: tuple[Column, ...]
    unit: Unit
    relation: Relation
    max_groups: int
    max_rows_per_group: int

    def find(self, name: str) -> Column | None:
        """The column of this name: as written, or else in any spelling of upper and lower case if only one fits."""
        exactly = [column for column in self.columns if column.name == name]
        loosely = [column for column in self.columns if column.name.lower() == name.lower()]
        found = exactly or loosely
        return found[0] if len(found) == 1 else None

    def column(self, name: object) -> Column:
        """The column of this name, or the error that suggests another."""
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            raise self.no_column(name)
        return found

    def no_column(self, name: object) -> UnknownName:
        """The error for a name that is not there."""
        names = [column.name for column in self.columns]
        return unknown_name(name, names, lacks=f"The table {self.name} has no column")

    def neighbors(self) -> str:
        """Who is protected, in words.

        >>> Table("t", (), Person("id"), Relation.ADD_REMOVE, 3, 2).neighbors()
        'person (id), add-remove'
        """
        unit = f"person ({self.unit.column})" if isinstance(self.unit, Person) else "row"
        return f"{unit}, {self.relation.value}"


def describe(
    name: str,
    *,
    kinds: Mapping[str, Kind],
    unit: Unit,
    relation: Relation,
    max_groups: int | None,
    max_rows_per_group: int | None,
    bounds: Mapping[str, tuple[Number, Number]],
    granularity: Mapping[str, Number],
    keys: Mapping[str, Sequence[Key]],
) -> Table:
    """A checked description; every mistake in it is a `DescriptionError` before any question is asked."""
    for given in (name, *kinds):
        if not writable(given):
            raise DescriptionError(
                wanted="Names of data sets and columns are text of whole characters.",
                given=f"{shown(given)} was given.",
                do="Rename it; a file can be described under another name.",
            )
    mentioned = [*bounds, *granularity, *keys, *([unit.column] if isinstance(unit, Person) else [])]
    for column in mentioned:
        if column not in kinds:
            raise DescriptionError(
                wanted=f"The data set {name} has the columns {', '.join(kinds)}.",
                given=f"The description names {column!r}.",
                do="Correct the name; upper and lower case matter here.",
            )
    if isinstance(unit, Person) and kinds[unit.column] not in IDENTIFYING:
        real = kinds[unit.column] is Kind.REAL
        raise DescriptionError(
            wanted="A person is identified by a column of integers, text, truth values, dates, timestamps or bytes.",
            given=f"The column {unit.column!r} holds real numbers, where 0.0 and -0.0 are equal but not the same."
            if real
            else f"The column {unit.column!r} holds another type, such as a list, a structure or an interval.",
            do="Convert it to an integer or to text.",
        )
    groups, rows = _caps(unit, max_groups, max_rows_per_group)
    for column in granularity:
        if column not in bounds:
            raise DescriptionError(
                wanted=f"A granularity belongs to a column with bounds, and {column!r} has none.",
                given=f"granularity={{{column!r}: {shown(granularity[column])}}} was given.",
                do=f"Give bounds for {column!r} too, or leave the granularity out.",
            )
    columns = tuple(
        Column(
            column,
            kind,
            quantise(column, kind, bounds[column], granularity.get(column)) if column in bounds else None,
            public_keys(column, kind, keys[column]) if column in keys else None,
        )
        for column, kind in kinds.items()
    )
    return Table(name, columns, unit, relation, groups, rows)


def _caps(unit: Unit, max_groups: int | None, max_rows_per_group: int | None) -> tuple[int, int]:
    """How many groups, and rows in each, one unit may touch; a row touches one of each."""
    if isinstance(unit, Row):
        if any(cap not in (None, 1) for cap in (max_groups, max_rows_per_group)):
            raise DescriptionError(
                wanted="A row is in one group and is one row.",
                given=f"max_groups={max_groups}, max_rows_per_group={max_rows_per_group} were given with unit=Row().",
                do="Leave both out, or name the column that identifies a person as the unit.",
            )
        return 1, 1
    for name, cap in (("max_groups", max_groups), ("max_rows_per_group", max_rows_per_group)):
        if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
            raise DescriptionError(
                wanted=f"{name} says how much one person may contribute: a whole number of at least 1.",
                given=f"{cap!r} was given.",
                do="Choose what most people need; whatever a person has beyond it is left out at random.",
            )
    assert max_groups is not None and max_rows_per_group is not None
    return max_groups, max_rows_per_group


def quantise(name: str, kind: Kind, bounds: tuple[Number, Number], granularity: Number | None) -> Quantised:
    """Bounds and granularity of a column as integers.

    >>> quantise("cost", Kind.REAL, (0, 5_000), 0.01)
    Quantised(lower=0, upper=500000, granularity=Fraction(1, 100))
    """
    if kind not in NUMERIC:
        raise DescriptionError(
            wanted="Only columns of numbers can have bounds.",
            given=f"The column {name!r} holds {kind.value}.",
            do="Give bounds to numeric columns only, or use it as a key.",
        )
    try:
        low, high = map(_double, bounds)
        step = _double(granularity) if granularity is not None else _default_granularity(kind, max(-low, high))
    except (TypeError, ValueError):
        low, high, step = Fraction(1), Fraction(0), Fraction(1)
    if low > high or step < sys.float_info.min:  # below it doubles lose their digits
        raise DescriptionError(
            wanted=f"The column {name!r} wants bounds (low, high) with low ≤ high, and a granularity above 0; "
            "all three are numbers that a double can hold.",
            given=f"bounds {shown(bounds)} and granularity {shown(granularity)} were given.",
            do="Use what is publicly known about the column, such as (0, 5_000); never its observed extremes.",
        )
    lower, upper = math.ceil(low / step), math.floor(high / step)
    if lower > upper or max(-lower, upper) > MOST_STEPS or lower == upper == 0:
        raise DescriptionError(
            wanted=f"The granularity of {name!r} must leave between 1 and 2^53 steps within the bounds.",
            given=f"bounds {shown(bounds)} and granularity {shown(granularity)} were given.",
            do="Choose a granularity like the precision at which the column is recorded, such as 0.01.",
        )
    return Quantised(lower, upper, step)


def _double(number: object) -> Fraction:
    """The exact value of a number within the range of doubles; text and truth values are refused."""
    if isinstance(number, bool) or not isinstance(number, Real):
        raise InvalidParameter(wanted="a number", given=repr(number), do="Write it as 3 or 0.1.")
    value = exact(number)  # type: ignore[arg-type]
    if abs(value) > sys.float_info.max:
        raise InvalidParameter(wanted="a number that a double can hold", given=shown(number), do="Choose another unit.")
    return value


def _default_granularity(kind: Kind, size: Fraction) -> Fraction:
    """1 for integers; for reals a power of two near a millionth of the bounds: public, and finer than any noise."""
    if kind is Kind.INTEGER or size == 0:
        return Fraction(1)
    return Fraction(2) ** math.floor(math.log2(size) - 20)


def public_keys(name: str, kind: Kind, keys: Iterable[Key]) -> tuple[Key, ...]:
    """The keys of a column, checked; they are taken as public knowledge and appear in every answer."""
    wanted = GROUPABLE.get(kind)
    if wanted is None:
        raise DescriptionError(
            wanted=f"Columns of {', '.join(kind.value for kind in GROUPABLE)} can be grouped by.",
            given=f"The column {name!r} holds {kind.value}.",
            do="Give keys to such columns only.",
        )
    values = tuple(keys) if isinstance(keys, Iterable) and not isinstance(keys, str | bytes) else ()
    wrong = [key for key in values if key is not None and (type(key) is not wanted or not _holds(key))]
    if not values or wrong or len(set(values)) < len(values):
        raise DescriptionError(
            wanted=f"The keys of {name!r} are a list of different values of type {wanted.__name__}, at least one.",
            given=f"{shown(wrong[0] if wrong else keys)} was given.",
            do="List what is publicly known, never what the data happen to hold; for the latter leave keys out.",
        )
    return values


def _holds(key: Key) -> bool:
    """Every backend and every answer can hold this key."""
    match key:
        case str():
            return writable(key)
        case int():
            return storable(key)
    return True
