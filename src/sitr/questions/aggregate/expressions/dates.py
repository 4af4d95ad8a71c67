"""The types and ranges of functions of dates and times. Dates outside the years 1 to 9999 count as missing."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

from sitr.dataset.schema import Key, Kind
from sitr.dataset.zone import Zone, zone
from sitr.errors import DescriptionError, QuestionError, nearest
from sitr.questions.aggregate.expressions.casts import cast
from sitr.questions.aggregate.expressions.expression import PARTS
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.rules import (
    Rule,
    any_nullable,
    range_of,
    whole_literal,
    wrong_count,
    wrong_type,
)
from sitr.questions.aggregate.expressions.typed import (
    MOST_KEYS,
    TEMPORAL,
    Typed,
    calendar,
    in_calendar,
    literal_typed,
    ordinal,
    refuse_zones,
    zone_of,
)

TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
ADDED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
TIMES = ("hour", "minute", "second")
_RANGES = {
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "dow": (0, 6),
    "isodow": (1, 7),
    "doy": (1, 366),
}
_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def part_of(function: str, word: Typed, known: tuple[str, ...]) -> str:
    """The part of a date that is named."""
    name = word.value.lower() if word.is_literal and isinstance(word.value, str) else ""
    if name not in known:
        near = nearest(name, known)
        raise QuestionError(
            given=f"{function} has no part {word.text}.",
            do=f"Did you mean {near}?" if near else f"Choose one of {', '.join(known)}.",
        )
    return name


def _moments(function: str, parts: tuple[Typed, ...]) -> None:
    for part in parts:
        if part.kind not in TEMPORAL:
            raise wrong_type(function, part, needs="a date or a time")


def truncated(function: str, parts: tuple[Typed, ...]) -> Typed:
    """DATE_TRUNC('month', d): the beginning of the month."""
    if len(parts) != 2:
        raise wrong_count(function, "DATE_TRUNC('month', d)")
    word, moment = parts
    name = part_of(function, word, TRUNCATED)
    _moments(function, (moment,))
    if moment.kind is Kind.DATE and name in TIMES:
        raise QuestionError(given=f"A date has no {name}.", do="Truncate it to day, week, month, quarter or year.")
    low, high = (None if end is None else begin(calendar(end, moment.kind), name) for end in (moment.low, moment.high))
    ends = Range(None if low is None else ordinal(low), None if high is None else ordinal(high))
    keys: tuple[Key, ...] | None = None
    if low is not None and high is not None:
        found = _begins(low, high, name)
        keys = None if found is None else (*found, *((None,) if moment.nullable else ()))
    return Typed(function, moment.kind, parts, ends.low, ends.high, None, moment.nullable, keys)


def begin(day: date, part: str) -> date:
    """The beginning of the year, quarter, month, week, … that a date or a time is in.

    >>> begin(date(2024, 5, 17), "quarter"), begin(datetime(2024, 5, 17, 9, 30), "hour")
    (datetime.date(2024, 4, 1), datetime.datetime(2024, 5, 17, 9, 0))
    """
    midnight = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0} if isinstance(day, datetime) else {}
    match part:
        case "year":
            return day.replace(month=1, day=1, **midnight)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1, **midnight)
        case "month":
            return day.replace(day=1, **midnight)
        case "week":  # the calendar begins on a Monday, so that its first week is whole
            return day.replace(**midnight) - timedelta(day.weekday())
        case "day":
            return day.replace(**midnight)
    finer = {
        "hour": ("minute", "second", "microsecond"),
        "minute": ("second", "microsecond"),
        "second": ("microsecond",),
    }
    return day.replace(**dict.fromkeys(finer[part], 0))


def _begins(first: date, last: date, part: str) -> list[date] | None:
    """All beginnings from one to another; None if there are too many."""
    found = [first]
    while found[-1] < last:
        if len(found) >= MOST_KEYS:
            return None
        found.append(_next(found[-1], part))
    return found


def _next(day: date, part: str) -> date:
    if part in _SECONDS:
        return day + timedelta(seconds=_SECONDS[part])
    months = {"year": 12, "quarter": 3, "month": 1}[part]
    place = day.year * 12 + day.month - 1 + months
    return day.replace(year=place // 12, month=place % 12 + 1)


def extracted(function: str, parts: tuple[Typed, ...]) -> Typed:
    """EXTRACT(month FROM d), as a whole number."""
    if len(parts) != 2:
        raise wrong_count(function, "EXTRACT(month FROM d)")
    word, moment = parts
    name = part_of(function, word, PARTS)
    _moments(function, (moment,))
    if moment.kind is Kind.DATE and name in TIMES:
        raise QuestionError(given=f"A date has no {name}.", do="Extract day, month, year, quarter, week, dow or doy.")
    low, high = _RANGES[name]
    if name == "year" and moment.low is not None and moment.high is not None:
        low, high = calendar(moment.low, moment.kind).year, calendar(moment.high, moment.kind).year
    public = name != "year" or (moment.low is not None and moment.high is not None)
    ends = Range(Fraction(low), Fraction(high)) if public else Range()
    return Typed(function, Kind.INTEGER, parts, ends.low, ends.high, Fraction(1), moment.nullable)


def difference(function: str, parts: tuple[Typed, ...]) -> Typed:
    """DATE_DIFF('day', earlier, later): how many borders between days, months, … lie between two moments."""
    if len(parts) != 3:
        raise wrong_count(function, "DATE_DIFF('day', earlier, later)")
    word, earlier, later = parts
    name = part_of(function, word, TRUNCATED)
    _moments(function, (earlier, later))
    refuse_zones(function, parts)
    if earlier.kind is not later.kind:  # a date begins at midnight
        return difference(function, (word, *map(_timestamp, (earlier, later))))
    if earlier.kind is Kind.DATE and name in TIMES:
        raise QuestionError(given=f"A date has no {name}.", do="Count days, weeks, months, quarters or years.")
    unit = {"year": 365 * 86_400, "quarter": 90 * 86_400, "month": 28 * 86_400, **_SECONDS}[name]
    found = (range_of(later) - range_of(earlier)).mapped(
        lambda end: end * (86_400 if later.kind is Kind.DATE else 1) / unit
    )
    low = None if found.low is None else Fraction(math.floor(found.low) - 1)
    high = None if found.high is None else Fraction(math.ceil(found.high) + 1)
    if name == "day" and later.kind is Kind.DATE:
        low, high = found.low, found.high
    return Typed(function, Kind.INTEGER, parts, low, high, Fraction(1), any_nullable((earlier, later)))


def _timestamp(moment: Typed) -> Typed:
    return moment if moment.kind is Kind.TIMESTAMP else cast("CAST", (moment, literal_typed("TIMESTAMP")))


def added(function: str, parts: tuple[Typed, ...]) -> Typed:
    """d + INTERVAL 3 DAY. A date plus hours is a time."""
    if len(parts) != 3:
        raise wrong_count(function, "d + INTERVAL 3 DAY")
    moment, count, word = parts
    _moments("INTERVAL", (moment,))
    name = part_of("INTERVAL", word, ADDED)
    number = whole_literal("INTERVAL", count, least=-(10**6))
    kind = Kind.TIMESTAMP if name in TIMES else moment.kind
    scale = 86_400 if moment.kind is Kind.DATE and kind is Kind.TIMESTAMP else 1
    day = 1 if kind is Kind.DATE else 86_400
    least, most = {"year": (365, 366), "quarter": (90, 92), "month": (28, 31), "week": (7, 7), "day": (1, 1)}.get(
        name, (0, 0)
    )
    moves = [Fraction(number * days * day) for days in (least, most)] if least else [Fraction(number * _SECONDS[name])]
    moved = range_of(moment).mapped(lambda end: end * scale) + Range(min(moves), max(moves))
    found = moved.mapped(lambda end: in_calendar(end, kind))
    return Typed(function, kind, parts, found.low, found.high, None, True)


def in_zone(function: str, parts: tuple[Typed, ...]) -> Typed:
    """at AT TIME ZONE 'Europe/Paris': the time there, of a moment that is read in UTC.

    Of a time without a zone, AT TIME ZONE 'UTC' says that it is in UTC.
    """
    moment, word = parts
    _moments(function, (moment,))
    if not word.is_literal or not isinstance(word.value, str):
        raise wrong_type(function, word, needs="a zone in quotes, such as 'Europe/Paris'")
    to, own = _known_zone(word.value), zone_of(moment)
    if moment.kind is Kind.DATE:
        raise QuestionError(given="A date has no time zone.", do="Leave AT TIME ZONE out.")
    if own is None and to.name != "UTC":
        raise QuestionError(
            given=f"{moment.called} has no time zone, so that it has no time in {to.name}.",
            do=f"If its times are in UTC, write {moment.text} AT TIME ZONE 'UTC' AT TIME ZONE '{to.name}'.",
        )
    if own not in (None, "UTC", to.name):
        raise QuestionError(
            given=f"{moment.called} is read in {own}, where one time can be two moments.",
            do=f"Ask for its times in {own}, or protect the data set with the zone UTC for this column.",
        )
    if own is None or own == to.name:
        return replace(moment, what=function, parts=(moment, literal_typed(to.name)), shown=None)
    least, most = to.offsets
    found = (range_of(moment) + Range(Fraction(least), Fraction(most))).mapped(
        lambda end: in_calendar(end, Kind.TIMESTAMP)
    )
    keys = None
    if moment.keys is not None:
        keys = tuple(dict.fromkeys(to.local(key) if isinstance(key, datetime) else key for key in moment.keys))
    return Typed(
        function, moment.kind, (moment, literal_typed(to.name)), found.low, found.high, None, moment.nullable, keys
    )


def _known_zone(name: str) -> Zone:
    try:
        return zone(name)
    except DescriptionError as error:
        raise QuestionError(given=error.given, do=error.do) from None


DATES: dict[str, Rule] = {
    "AT TIME ZONE": in_zone,
    "DATE_TRUNC": truncated,
    "EXTRACT": extracted,
    "DATE_DIFF": difference,
    "DATE_ADD": added,
}
