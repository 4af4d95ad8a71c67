"""Parts of dates, differences and intervals, in the spellings of several databases.

The parser reads DuckDB's DATE_TRUNC('month', d). Of BigQuery's DATE_TRUNC(d, MONTH) it takes d for the part of the date
and MONTH for a column; that is noticed, because d names no part. Each reader gets the construct and the function that
reads its parts, as in `sitr.questions.aggregate.synonyms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from sqlglot import exp

from sitr.questions.aggregate.expressions.expression import PARTS, Call, Expression, Literal, Name
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts
from sitr.questions.aggregate.synonyms import Read, in_zone


def word(item: exp.Expr | None) -> Literal:
    """The part of a date: a word in quotes or without."""
    return Literal(_singular(item.name.lower() if item is not None else ""))


def _singular(name: str) -> str:
    synonyms = {"dayofweek": "dow", "dayofyear": "doy", "weekday": "dow"}
    found = synonyms.get(name, name)
    return found[:-1] if found.endswith("s") and found[:-1] in PARTS else found


def bare_part(item: exp.Expr | None) -> bool:
    """Whether it is a part of a date without quotes, which the parser takes for a column."""
    return isinstance(item, exp.Column) and not item.table and _singular(item.name.lower()) in PARTS


def _misplaced(item: exp.Expr | None) -> TypeGuard[exp.Expr]:
    """Whether the parser took something else for the part of a date."""
    named = isinstance(item, exp.Var | exp.Column) and _singular(item.name.lower()) in PARTS
    return item is not None and not named and not isinstance(item, exp.Literal)


def _moment(item: exp.Expr, read: Read) -> Expression:
    """The column or the expression that the parser took for the part of a date."""
    return Name(item.name) if isinstance(item, exp.Var) else read(item)


def _truncated(item: exp.Expr, read: Read) -> Expression:
    """DATE_TRUNC('month', d), and DATE_TRUNC(d, MONTH) as in BigQuery; a zone may follow."""
    refuse_other_parts(item, "this", "unit", "zone")
    unit, zone = item.args.get("unit"), item.args.get("zone")
    if bare_part(item.this) and _misplaced(unit):
        return Call("DATE_TRUNC", (word(item.this), in_zone(_moment(unit, read), zone, read)))
    return Call("DATE_TRUNC", (word(unit), in_zone(read(item.this), zone, read)))


def _extracted(item: exp.Expr, read: Read) -> Expression:
    """EXTRACT(month FROM d), and EXTRACT(DATE FROM at) as in BigQuery."""
    refuse_other_parts(item, "this", "expression")
    part, of = word(item.this), read(item.expression)
    return Call("CAST", (of, Literal("DATE"))) if part == Literal("date") else Call("EXTRACT", (part, of))


def _in_zone(item: exp.Expr, read: Read) -> Expression:
    """at AT TIME ZONE 'Europe/Paris'."""
    refuse_other_parts(item, "this", "zone")
    return in_zone(read(item.this), item.args["zone"], read)


def _converted(item: exp.Expr, read: Read) -> Expression:
    """CONVERT_TIMEZONE('Europe/Paris', at) as in Snowflake; with two zones, it is about times without one."""
    refuse_other_parts(item, "timestamp", "target_tz")
    return in_zone(read(item.args["timestamp"]), item.args["target_tz"], read)


def _clock(item: exp.Expr, read: Read) -> Expression:
    """DATETIME(at, 'Europe/Paris') as in BigQuery."""
    refuse_other_parts(item, "this", "expression")
    zone = item.expression
    if not (isinstance(zone, exp.Literal) and zone.is_string):
        raise forbidden(item)
    return in_zone(read(item.this), zone, read)


def _part(part: str) -> Callable[[exp.Expr, Read], Expression]:
    def reader(item: exp.Expr, read: Read) -> Expression:
        refuse_other_parts(item, "this")
        return Call("EXTRACT", (Literal(part), read(item.this)))

    return reader


def _difference(item: exp.Expr, read: Read) -> Expression:
    """DATE_DIFF('day', from, to), and DATE_DIFF(to, from, DAY) as in BigQuery."""
    refuse_other_parts(item, "this", "expression", "unit", "date_part_boundary")
    unit = item.args.get("unit")
    if bare_part(item.this) and _misplaced(unit):
        return Call("DATE_DIFF", (word(item.this), read(item.expression), _moment(unit, read)))
    return Call("DATE_DIFF", (word(item.args.get("unit")), read(item.expression), read(item.this)))


def _counted_difference(item: exp.Expr, read: Read) -> Expression:
    """TIMESTAMPDIFF(DAY, from, to). TIMESTAMP_DIFF(to, from, DAY) of BigQuery counts whole days, another number."""
    refuse_other_parts(item, "this", "expression", "unit")
    unit = item.args.get("unit")
    if not (bare_part(item.this) and _misplaced(unit)):
        raise forbidden(item)
    return Call("DATE_DIFF", (word(item.this), read(item.expression), _moment(unit, read)))


def _last_day(item: exp.Expr, read: Read) -> Expression:
    """The last day of the month."""
    refuse_other_parts(item, "this")
    first = Call("DATE_TRUNC", (Literal("month"), read(item.this)))
    following = Call("DATE_ADD", (first, Literal(1), Literal("month")))
    return Call("CAST", (Call("DATE_ADD", (following, Literal(-1), Literal("day"))), Literal("DATE")))


def later(moment: Expression, interval: exp.Expr, *, sign: int) -> Expression:
    """A moment with an interval of a fixed length added, or taken away."""
    refuse_other_parts(interval, "this", "unit")
    count = interval.this
    while isinstance(count, exp.Paren):
        count = count.this
    text = f"-{count.this.name}" if isinstance(count, exp.Neg) else count.name if count is not None else ""
    try:
        number = int(text)
    except ValueError:
        raise forbidden(interval) from None
    return Call("DATE_ADD", (moment, Literal(sign * number), word(interval.args.get("unit"))))


MOMENTS: dict[type[exp.Expr], Callable[[exp.Expr, Read], Expression]] = {
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.DatetimeTrunc: _truncated,
    exp.Extract: _extracted,
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Week: _part("week"),
    exp.Day: _part("day"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.Second: _part("second"),
    exp.DayOfWeek: _part("dow"),
    exp.DayOfYear: _part("doy"),
    exp.DateDiff: _difference,
    exp.TimestampDiff: _counted_difference,
    exp.LastDay: _last_day,
    exp.AtTimeZone: _in_zone,
    exp.ConvertTimezone: _converted,
    exp.Datetime: _clock,
}
