"""The public side of a data set: columns, caps on one person's contribution, bounds, granularity and keys."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from enum import Enum
from fractions import Fraction

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.dataset.literals import shown, storable, writable
from sitr.dataset.zone import zone
from sitr.errors import DescriptionError, InvalidParameter, UnknownName, suggestion, unknown_name
from sitr.neighbors.period import Length, Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number, finite

Key = str | int | bool | date | None
"""A value of a grouping column; None is NULL."""

Bound = Number | date | str
"""A bound of a column: a number, or a date, which may be written as text."""

MOST_STEPS = 2**53
"""Bounds lie at most this many granules from 0, so that a double holds every quantised value exactly."""


class Kind(Enum):
    """The type of a column, as far as a question needs it."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    ZONED = "timestamptz"
    """A timestamp with a time zone in its source. In a `Column` it is a timestamp, the time in the column's zone."""
    BYTES = "bytes"
    OTHER = "other"


NUMERIC = (Kind.INTEGER, Kind.REAL)
IDENTIFYING = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP, Kind.BYTES)
"""The types that can identify a person: equal values are the same value in every operation of every backend. Among real
numbers 0.0 and -0.0 are equal but different; lists can hold real numbers; an interval of 1 month equals 30 days."""
GROUPABLE: Mapping[Kind, type] = {
    Kind.INTEGER: int,
    Kind.TEXT: str,
    Kind.BOOLEAN: bool,
    Kind.DATE: date,
    Kind.TIMESTAMP: datetime,
}
"""The types that can be grouped by, and the Python type of their keys."""
KEYS_OF_TYPE: Mapping[Kind, tuple[Key, ...]] = {Kind.BOOLEAN: (False, True, None)}
"""The keys of types whose values are all public, because there are no others."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """How values enter a sum: clamped, then counted in whole granules between two integers.

    A date counts as days since 1970, and a timestamp as seconds.
    """

    lower: int
    upper: int
    granularity: Fraction

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both bounds in the unit of the column."""
        return self.lower * self.granularity, self.upper * self.granularity


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `quantised` makes it summable; `keys` make its groups public."""

    name: str
    kind: Kind
    quantised: Quantised | None = None
    keys: tuple[Key, ...] | None = None
    zone: str | None = None
    """The public time zone in which moments are read; None where the source has no moments with a time zone."""

    @property
    def stored(self) -> Kind:
        """The type in the source."""
        return self.kind if self.zone is None else Kind.ZONED

    @property
    def bounds(self) -> tuple[Bound, Bound] | None:
        """Both bounds, as numbers or as dates; None if there are none."""
        if self.quantised is None:
            return None
        low, high = self.quantised.ends
        match self.kind:
            case Kind.DATE:
                day = date(1970, 1, 1)
                return day + timedelta(days=int(low)), day + timedelta(days=int(high))
            case Kind.TIMESTAMP:
                start = datetime(1970, 1, 1)  # noqa: DTZ001
                return start + timedelta(seconds=int(low)), start + timedelta(seconds=int(high))
        return low, high

    @property
    def granularity(self) -> Fraction | None:
        """The step of its numbers; None for dates, and where there are no bounds."""
        return self.quantised.granularity if self.quantised is not None and self.kind in NUMERIC else None


@dataclass(frozen=True, slots=True)
class Table:
    """The public side of a data set."""

    name: str
    columns: tuple[Column, ...]
    unit: Unit
    relation: Relation
    max_groups: int
    max_rows_per_group: int
    max_rows: int | None = None
    """The most rows of a person in a whole question; None where the other two caps alone limit them."""

    @property
    def most_rows(self) -> int:
        """The most rows of a person in a whole question, by all caps together.

        >>> Table("t", (), Person("id"), Relation.ADD_REMOVE, 3, 2, max_rows=4).most_rows
        4
        """
        product = self.max_groups * self.max_rows_per_group
        return product if self.max_rows is None else min(product, self.max_rows)

    def find(self, name: str) -> Column | None:
        """The column of this name as written, or else the only column that matches when case is ignored."""
        exactly = [column for column in self.columns if column.name == name]
        loosely = [column for column in self.columns if column.name.lower() == name.lower()]
        found = exactly or loosely
        return found[0] if len(found) == 1 else None

    def column(self, name: object) -> Column:
        """The column of this name, or an error that suggests another name."""
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            raise self.no_column(name)
        return found

    def no_column(self, name: object) -> UnknownName:
        """The error for a name that no column has."""
        names = [column.name for column in self.columns]
        return unknown_name(name, names, lacks=f"The table {self.name} has no column")

    def neighbors(self) -> str:
        """Who is protected, in words.

        >>> Table("t", (), Person("id"), Relation.ADD_REMOVE, 3, 2).neighbors()
        'person (id), add-remove'
        >>> unit = Person("id", Period("day", Length.MONTH))
        >>> Table("t", (), unit, Relation.ADD_REMOVE, 3, 2).neighbors()
        'person (id) in each month (day), add-remove'
        """
        unit = f"person ({self.unit.column})" if isinstance(self.unit, Person) else "row"
        each = "" if self.period is None else f" in each {self.period.length.value} ({self._dated(self.period.column)})"
        return f"{unit}{each}, {self.relation.value}"

    def _dated(self, name: str) -> str:
        """The column that says to which period a row belongs. Its zone moves rows from one period into another."""
        zone = next((column.zone for column in self.columns if column.name == name), None)
        return name if zone in (None, "UTC") else f"{name}, {zone}"

    @property
    def period(self) -> Period | None:
        """The periods of the unit, or the one that a question names; None if the unit has none."""
        return self.unit.period if isinstance(self.unit, Person) else None

    @property
    def called(self) -> str:
        """The name with the period that a question names, such as visits@2026-03."""
        return self.name if self.period is None or not self.period.name else f"{self.name}@{self.period.name}"

    @property
    def account(self) -> str:
        """The name of the data set in a ledger, with its period. Questions ignore case, so budgets must too."""
        return self.called.casefold()


ZONES = '{"admitted": "Europe/Paris"}'
BOUNDS, KEYS = '{"cost": (0, 5000)}', '{"ward": ["A", "B"]}'
"""Examples, for messages."""


def describe(
    name: str,
    *,
    kinds: Mapping[str, Kind],
    unit: Unit,
    relation: Relation,
    max_groups: int | None,
    max_rows_per_group: int | None,
    bounds: Mapping[str, tuple[Bound, Bound]],
    granularity: Mapping[str, Number],
    keys: Mapping[str, Sequence[Key]],
    max_rows: int | None = None,
    zones: Mapping[str, str] | None = None,
) -> Table:
    """A checked description. Every mistake in it raises a `DescriptionError` before any question is asked."""
    arguments.mapping(bounds, name="bounds", example=BOUNDS)
    arguments.mapping(granularity, name="granularity", example='{"cost": 0.01}')
    arguments.mapping(keys, name="keys", example=KEYS)
    arguments.mapping(zones or {}, name="zones", example=ZONES)
    for given in (name, *kinds):
        if not writable(given):
            raise DescriptionError(
                wanted="a name of valid Unicode text for each data set and column",
                given=shown(given),
                do="Rename it; a file can be described under another name.",
            )
    mentioned = [*bounds, *granularity, *keys, *(zones or {}), *([unit.column] if isinstance(unit, Person) else [])]
    for column in mentioned:
        if column not in kinds:
            raise DescriptionError(
                given=f"The data set {name} has no column {column!r}.",
                do=suggestion(column, kinds),
            )
    if isinstance(unit, Person) and kinds[unit.column] not in IDENTIFYING:
        real = kinds[unit.column] is Kind.REAL
        reason = (
            "it holds real numbers, where 0.0 and -0.0 are equal but not the same"
            if real
            else "its type is none of integer, text, boolean, date, timestamp and bytes"
        )
        raise DescriptionError(
            given=f"The column {unit.column!r} cannot identify a person: {reason}.",
            do="Convert it to an integer or to text.",
        )
    read, kinds = _zones(kinds, zones or {}), {name: _read(kind) for name, kind in kinds.items()}
    _check_period(name, kinds, unit, relation)
    caps = _caps(unit, max_groups, max_rows_per_group, max_rows)
    for column in granularity:
        if column not in bounds:
            raise DescriptionError(
                given=f"The column {column!r} has the granularity {shown(granularity[column])} but no bounds.",
                do=f"Give bounds for {column!r} too, or leave the granularity out.",
            )
    columns = tuple(
        Column(
            column,
            kind,
            quantise(column, kind, bounds[column], granularity.get(column)) if column in bounds else None,
            public_keys(column, kind, keys[column]) if column in keys else KEYS_OF_TYPE.get(kind),
            read.get(column),
        )
        for column, kind in kinds.items()
    )
    return Table(name, columns, unit, relation, *caps)


def _read(kind: Kind) -> Kind:
    """The type of a column as questions see it: a moment is the time in the column's zone."""
    return Kind.TIMESTAMP if kind is Kind.ZONED else kind


def _zones(kinds: Mapping[str, Kind], zones: Mapping[str, str]) -> dict[str, str]:
    """The zone of each column of moments: the declared one, or UTC. Never one of a session or a machine."""
    for column in zones:
        if kinds[column] is not Kind.ZONED:
            raise DescriptionError(
                given=f"The column {column!r} has type {kinds[column].value}, which has no time zone.",
                do="Leave its zone out: its times are read as they are written. In a CSV file, times with an offset "
                f"such as +02:00 have the type {Kind.ZONED.value}.",
            )
    return {column: zone(zones.get(column, "UTC")).name for column, kind in kinds.items() if kind is Kind.ZONED}


def _check_period(name: str, kinds: Mapping[str, Kind], unit: Unit, relation: Relation) -> None:
    """Refuse periods without dates, and those that neighbours could not differ in."""
    period = unit.period if isinstance(unit, Person) else None
    if period is None or not isinstance(unit, Person):
        return
    if not isinstance(period, Period) or not isinstance(period.length, Length) or period.name:
        raise DescriptionError(
            wanted="a period such as admitted:month",
            given=shown(period),
            do="Each question names one of the periods: budget.period(…), or --period.",
        )
    if period.column not in kinds:
        raise DescriptionError(
            given=f"The data set {name} has no column {period.column!r}.", do=suggestion(period.column, kinds)
        )
    if kinds[period.column] not in (Kind.DATE, Kind.TIMESTAMP) or period.column == unit.column:
        raise DescriptionError(
            given=f"The column {period.column!r} has no dates, so it cannot say to which period a row belongs.",
            do="Name a column of type date or timestamp, or convert it to one.",
        )
    if relation is not Relation.ADD_REMOVE:
        raise DescriptionError(
            wanted=f"add-remove neighbours where the unit is a person in {period.length.one}",
            given=relation.value,
            do="Leave the relation out: who is replaced could be in another period.",
        )
    if "@" in name:
        raise DescriptionError(
            given=f"The name {name!r} has an @, which separates a data set from its period.",
            do="Choose another name.",
        )


def adjusted(
    table: Table,
    *,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_rows: int | None = None,
    bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
) -> Table:
    """The same data set with other caps and bounds for one question. They are public choices too.

    A column keeps its granularity, if it has one.
    """
    if (max_groups, max_rows_per_group, max_rows) != (None, None, None):
        groups, rows, total = _caps(
            table.unit,
            table.max_groups if max_groups is None else max_groups,
            table.max_rows_per_group if max_rows_per_group is None else max_rows_per_group,
            table.max_rows if max_rows is None else max_rows,
        )
        table = replace(table, max_groups=groups, max_rows_per_group=rows, max_rows=total)
    if bounds is None:
        return table
    arguments.mapping(bounds, name="bounds", example=BOUNDS)
    changed = {table.column(name).name: ends for name, ends in bounds.items()}
    columns = tuple(_bounded(column, changed.get(column.name)) for column in table.columns)
    return replace(table, columns=columns)


def _bounded(column: Column, bounds: tuple[Bound, Bound] | None) -> Column:
    if bounds is None:
        return column
    temporal = column.kind in (Kind.DATE, Kind.TIMESTAMP)
    step = column.quantised.granularity if column.quantised is not None and not temporal else None
    return replace(column, quantised=quantise(column.name, column.kind, bounds, step))


def _caps(
    unit: Unit, max_groups: int | None, max_rows_per_group: int | None, max_rows: int | None
) -> tuple[int, int, int | None]:
    """The caps on groups, on rows in each group, and on all rows of one unit; 1, 1 and none where the unit is a row.

    Whoever has at most N rows is in at most N groups, with at most N rows in each: a cap on all rows is enough.
    """
    if isinstance(unit, Row):
        if any(cap not in (None, 1) for cap in (max_groups, max_rows_per_group, max_rows)):
            total = "" if max_rows is None else f", and max_rows={shown(max_rows)}"
            raise DescriptionError(
                wanted="no caps, or caps of 1, where the unit is a row",
                given=f"max_groups={shown(max_groups)} and max_rows_per_group={shown(max_rows_per_group)}{total}",
                do="Leave both out, or use the column that identifies a person as the unit.",
            )
        return 1, 1, None
    groups, rows = (max_rows if cap is None else cap for cap in (max_groups, max_rows_per_group))
    caps = {"max_rows": max_rows} if max_rows is not None else {}
    for name, cap in {**caps, "max_groups": groups, "max_rows_per_group": rows}.items():
        if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
            raise DescriptionError(
                wanted=f"a whole number of at least 1 for {name}, which caps one person's contribution",
                given=shown(cap),
                do="Choose what most people need; whatever a person has beyond it is left out at random.",
            )
    assert groups is not None and rows is not None
    return groups, rows, max_rows


def quantise(name: str, kind: Kind, bounds: tuple[Bound, Bound], granularity: Number | None) -> Quantised:
    """The bounds of a column in whole granules.

    >>> quantise("cost", Kind.REAL, (0, 5_000), 0.01)
    Quantised(lower=0, upper=500000, granularity=Fraction(1, 100))
    """
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return _days(name, kind, bounds, granularity)
    if kind not in NUMERIC:
        raise DescriptionError(
            given=f"The column {name!r} has type {kind.value}, so it cannot have bounds.",
            do="Give bounds to columns of numbers and dates only, or declare keys for it.",
        )
    try:
        low, high = map(_double, bounds)
        step = _double(granularity) if granularity is not None else _default_granularity(kind, max(-low, high))
    except (TypeError, ValueError):
        low, high, step = Fraction(1), Fraction(0), Fraction(1)
    if low > high or step < sys.float_info.min:  # smaller doubles lose digits
        raise DescriptionError(
            wanted=f"bounds (low, high) with low ≤ high and a granularity above 0 for {name!r}, as numbers that a "
            "double can hold",
            given=f"bounds {shown(bounds)} and granularity {shown(granularity)}",
            do="Use what is publicly known about the column, such as (0, 5_000), never its observed extremes.",
        )
    lower, upper = math.ceil(low / step), math.floor(high / step)
    if lower > upper or max(-lower, upper) > MOST_STEPS or lower == upper == 0:
        raise DescriptionError(
            wanted=f"a granularity that leaves between 1 and 2^53 steps within the bounds of {name!r}",
            given=f"bounds {shown(bounds)} and granularity {shown(granularity)}",
            do="Choose the precision at which the column is recorded, such as 0.01.",
        )
    return Quantised(lower, upper, step)


def _days(name: str, kind: Kind, bounds: object, granularity: object) -> Quantised:
    """The bounds of a column of dates or times, in days or seconds.

    >>> quantise("d", Kind.DATE, (date(1970, 1, 1), "1970-01-31"), None)
    Quantised(lower=0, upper=30, granularity=Fraction(1, 1))
    """
    try:
        low, high = (datetime.fromisoformat(str(end)) for end in bounds)  # type: ignore[attr-defined]
        if low.tzinfo is not None or high.tzinfo is not None:
            raise ValueError
        first, last = (end - datetime(1970, 1, 1) for end in (low, high))  # noqa: DTZ001
    except (TypeError, ValueError):
        first, last = timedelta(1), timedelta(0)
    if first > last or granularity is not None:
        raise DescriptionError(
            wanted=f"bounds (first, last) for {name!r}, dates such as '2024-01-31', without a granularity",
            given=f"bounds {shown(bounds)} and granularity {shown(granularity)}",
            do="Use what is publicly known about the column, never its observed extremes.",
        )
    unit = timedelta(days=1) if kind is Kind.DATE else timedelta(seconds=1)
    return Quantised(-(-first // unit), last // unit, Fraction(1))


def _double(number: object) -> Fraction:
    """The exact value of a number within the range of doubles; text and booleans are refused."""
    value = finite(number)
    if value is None or abs(value) > sys.float_info.max:
        raise InvalidParameter(wanted="a number that a double can hold", given=shown(number), do="Choose another unit.")
    return value


def _default_granularity(kind: Kind, size: Fraction) -> Fraction:
    """1 for integers; for reals, a power of two near a millionth of the bounds: public, and finer than any noise."""
    if kind is Kind.INTEGER or size == 0:
        return Fraction(1)
    return Fraction(2) ** math.floor(math.log2(size) - 20)


def public_keys(name: str, kind: Kind, keys: Iterable[Key]) -> tuple[Key, ...]:
    """The checked keys of a column. They count as public knowledge and appear in every answer."""
    wanted = GROUPABLE.get(kind)
    if kind is Kind.REAL:
        raise DescriptionError(
            given=f"The column {name!r} has type real, so it cannot have keys: two numbers that look equal may differ.",
            do=f"If it holds codes such as 1.0, declare it as an integer (in a CSV file --type {name}=integer), or "
            f"give it bounds instead (--bounds {name}=0:9 --granularity {name}=1), and then "
            f"group by CAST({name} AS INTEGER).",
        )
    if wanted is None:
        raise DescriptionError(
            given=f"The column {name!r} has type {kind.value}, so it cannot have keys.",
            do=f"Give keys only to columns of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )
    values = tuple(keys) if isinstance(keys, Iterable) and not isinstance(keys, str | bytes) else ()
    wrong = [key for key in values if key is not None and (type(key) is not wanted or not _holds(key))]
    if not values or wrong or len(set(values)) < len(values):
        if wrong and type(wrong[0]) is not wanted:
            raise DescriptionError(
                given=f"The column {name!r} has type {kind.value}, so {shown(wrong[0])} cannot be one of its keys.",
                do=f"Give keys of type {wanted.__name__}; in a CSV file, types={{{name!r}: 'text'}} makes it text.",
            )
        if wrong and isinstance(wrong[0], datetime):
            raise DescriptionError(
                given=f"The key {shown(wrong[0])} of the column {name!r} has an offset from UTC.",
                do="Write keys as the times in the zone of the column, without an offset.",
            )
        raise DescriptionError(
            wanted=f"a list of distinct keys of type {wanted.__name__} for {name!r}, at least one",
            given=shown(wrong[0] if wrong else keys),
            do="List what is publicly known, never what the data happen to hold; if nothing is, leave the keys out.",
        )
    return values


def _holds(key: Key) -> bool:
    """Whether every backend and every answer can hold this key."""
    match key:
        case str():
            return writable(key)
        case int():
            return storable(key)
        case datetime():
            return key.tzinfo is None
    return True
