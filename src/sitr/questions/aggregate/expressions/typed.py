"""An expression that was checked against a description: its type, its range and its possible values are public."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.dataset.literals import writable
from sitr.dataset.schema import Column, Key, Kind
from sitr.errors import QuestionError
from sitr.numbers import exact
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, spelled
from sitr.questions.aggregate.expressions.multiples import progression
from sitr.questions.aggregate.spelling import Value

MOST_KEYS = 10_000
"""An expression with more possible values than this has no list of them."""

LARGEST_KEY = 2**63 - 1
"""The largest whole number that engines have as a key."""

TEMPORAL = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Typed:
    """A column, a literal or a call, with what is known about its values before any row is read.

    `low` and `high` bound its numbers: a date counts as days since 1970, a timestamp as seconds. A value beyond them
    counts as the nearest of the two wherever it is summed or grouped by. `step` says that numbers are recorded in
    multiples of it. `keys` are all values that it can have, if they are public; NULL is one of them if it can occur.
    """

    what: Column | Literal | str
    """A name of a function in `registry` if it is a call."""
    kind: Kind
    parts: tuple[Typed, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None
    nullable: bool = True
    keys: tuple[Key, ...] | None = None
    shown: Name | None = None
    """How a question names a column that several tables have."""

    @property
    def expression(self) -> Expression:
        """The same expression without types, with the names of the description."""
        match self.what:
            case Column():
                return self.shown or Name(self.what.name)
            case Literal():
                return self.what
        return Call(self.what, tuple(part.expression for part in self.parts))

    @property
    def text(self) -> str:
        """The expression as SQL."""
        return spelled(self.expression)

    @property
    def column(self) -> Column | None:
        """The column, if it is nothing else."""
        return self.what if isinstance(self.what, Column) else None

    @property
    def value(self) -> Value | None:
        """The value of a literal."""
        assert isinstance(self.what, Literal)
        return self.what.value

    @property
    def is_literal(self) -> bool:
        return isinstance(self.what, Literal)

    @property
    def is_null(self) -> bool:
        """Whether it is NULL itself."""
        return self.what == Literal(None)

    @property
    def called(self) -> str:
        """What messages call it at the beginning of a sentence."""
        return f"The column {self.what.name!r}" if isinstance(self.what, Column) else f"The expression {self.text}"

    @property
    def mentioned(self) -> str:
        """What messages call it inside a sentence."""
        return f"the column {self.what.name!r}" if isinstance(self.what, Column) else f"the expression {self.text}"

    @property
    def whole_ends(self) -> tuple[int, int]:
        """The least and the greatest whole number that it can be, between its bounds; the first may be above the last.

        >>> Typed("LENGTH", Kind.INTEGER, low=Fraction(-5, 2), high=Fraction(7, 2)).whole_ends
        (-2, 3)
        """
        assert self.low is not None
        assert self.high is not None
        return progression(self).between(math.ceil(self.low), math.floor(self.high))

    @property
    def possible(self) -> tuple[Key, ...] | None:
        """All values that it can have when it is grouped by, NULL last; None if they are not public or too many."""
        if self.keys is not None:
            return self.keys
        if self.kind not in (Kind.INTEGER, Kind.DATE) or self.low is None or self.high is None:
            return None
        step, (first, last) = progression(self).step or 1, self.whole_ends
        if not 0 <= (last - first) // step < MOST_KEYS or max(-first, last) > LARGEST_KEY:
            return None
        numbers = range(first, last + 1, step)
        keys = numbers if self.kind is Kind.INTEGER else (calendar(Fraction(day), Kind.DATE) for day in numbers)
        return (*keys, *((None,) if self.nullable else ()))


def zone_of(moment: Typed) -> str | None:
    """The zone in which an expression gives moments; None for times without a zone.

    The beginning of a month, an hour later, or the first of two values is in the zone of what it is computed from. A
    cast gives a time without a zone.
    """
    if moment.column is not None:
        return moment.column.zone
    if moment.what == "AT TIME ZONE":
        return "UTC" if zone_of(moment.parts[0]) is None else None
    if moment.kind is not Kind.TIMESTAMP or moment.what == "CAST":
        return None
    return one_zone(moment.parts, moment.called)


def one_zone(moments: Sequence[Typed], called: str) -> str | None:
    """The zone that all of these times have; a literal has any."""
    times = [each for each in moments if each.kind is Kind.TIMESTAMP and not each.is_literal]
    found = list(dict.fromkeys(map(zone_of, times)))
    if len(found) > 1:
        raise _different_zones(called, [each or "without a zone" for each in found])
    return found[0] if found else None


def refuse_zones(function: str, parts: Sequence[Typed]) -> None:
    """Refuse moments that are read in different zones: the same moment would be another time in each of them."""
    found = list(dict.fromkeys(zone for part in parts for zone in _zones(part)))
    if len(found) > 1:
        text = spelled(Call(function, tuple(part.expression for part in parts)))
        raise _different_zones(f"The expression {text}", found)


def _zones(moment: Typed) -> list[str]:
    """The zones of the moments in a time; none of times without a zone."""
    if moment.column is not None:
        return [] if moment.column.zone is None else [moment.column.zone]
    if moment.kind is not Kind.TIMESTAMP or moment.what == "CAST":
        return []
    if moment.what == "AT TIME ZONE":
        return [] if (found := zone_of(moment)) is None else [found]
    return [zone for part in moment.parts for zone in _zones(part)]


def _different_zones(called: str, found: Sequence[str]) -> QuestionError:
    return QuestionError(
        given=f"{called} has times in different zones: {', '.join(found)}.",
        do="Make them times without a zone in one zone, with AT TIME ZONE.",
    )


def column_typed(column: Column) -> Typed:
    """A column as the description has it. Public keys that are whole numbers also bound what is summed.

    >>> column_typed(Column("ward", Kind.TEXT, keys=("a", None))).keys
    ('a', None)
    >>> column_typed(Column("floor", Kind.INTEGER, keys=(3, 1, None))).high
    Fraction(3, 1)
    """
    low, high = column.quantised.ends if column.quantised is not None else _outermost(column)
    step = column.quantised.granularity if column.quantised is not None else None
    if column.kind is Kind.INTEGER and step is None:
        step = Fraction(1)
    return Typed(column, column.kind, (), low, high, step, keys=column.keys)


def _outermost(column: Column) -> tuple[Fraction | None, Fraction | None]:
    """The least and the greatest public key, if keys are whole numbers and there are several."""
    numbers = [key for key in column.keys or () if type(key) is int] if column.kind is Kind.INTEGER else []
    return (Fraction(min(numbers)), Fraction(max(numbers))) if len(set(numbers)) > 1 else (None, None)


def literal_typed(value: Value | None) -> Typed:
    """A literal. NULL has no type of its own, and neither has a value that no question can hold.

    A number is what it is as a double, because it is computed with as one.

    >>> literal_typed(5).possible, literal_typed(None).kind, literal_typed(math.inf).kind
    ((5,), <Kind.OTHER: 'other'>, <Kind.OTHER: 'other'>)
    """
    found = _kind(value)
    number: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    match value:
        case int() if found is Kind.INTEGER:
            number = Fraction(float(value))
            keys = (int(number),)
        case float() if found is Kind.REAL:
            number = exact(value)
        case date() if found in TEMPORAL:
            number, keys = ordinal(value), (value,)
        case str() | bool() | None:
            keys = (value,)
    return Typed(Literal(value), found, (), number, number, number or None, value is None, keys)


def _kind(value: Value | None) -> Kind:
    match value:
        case bool():
            return Kind.BOOLEAN
        case int() if abs(value) < 2**1023:
            return Kind.INTEGER
        case float() if math.isfinite(value):
            return Kind.REAL
        case str() if writable(value):
            return Kind.TEXT
        case datetime() if (
            value == value and value.tzinfo is None
        ):  # pandas' NaT is a datetime, and not equal to itself
            return Kind.TIMESTAMP
        case date() if not isinstance(value, datetime):
            return Kind.DATE
    return Kind.OTHER


def ordinal(day: date) -> Fraction:
    """Days since 1970 of a date, seconds since then of a timestamp.

    >>> ordinal(date(1970, 1, 3)), ordinal(datetime(1970, 1, 1, 0, 0, 1))
    (Fraction(2, 1), Fraction(1, 1))
    """
    if isinstance(day, datetime):
        return Fraction((day - datetime(1970, 1, 1)) // timedelta(microseconds=1), 10**6)  # noqa: DTZ001
    return Fraction((day - date(1970, 1, 1)).days)


def in_calendar(number: Fraction, kind: Kind) -> Fraction:
    """The nearest `ordinal` of a date or a timestamp within the years 1 to 9999: others count as missing."""
    return ordinal(calendar(number, kind))


def calendar(number: Fraction, kind: Kind) -> date:
    """The date or the timestamp of an `ordinal`, within the years 1 to 9999."""
    if kind is Kind.TIMESTAMP:
        first, last = map(ordinal, (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)))  # noqa: DTZ001
        return datetime(1970, 1, 1) + timedelta(microseconds=int(min(max(number, first), last) * 10**6))  # noqa: DTZ001
    first, last = map(ordinal, (date.min, date.max))
    return date(1970, 1, 1) + timedelta(int(min(max(number, first), last)))
