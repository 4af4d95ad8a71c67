"""Functions of other databases, in terms of those that Sitr has: PI(), DATE(x), WIDTH_BUCKET, regular expressions.

Each reader gets the construct and the function that reads its parts, because that one uses these readers itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from sitr.questions.aggregate.date_formats import formatted
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts

Read: TypeAlias = Callable[[exp.Expr], Expression]


def _pi(item: exp.Expr, _: Read) -> Expression:
    refuse_other_parts(item)
    return Literal(math.pi)


def in_zone(moment: Expression, zone: exp.Expr | None, read: Read) -> Expression:
    """A moment on the clocks of a zone, if one is named."""
    return moment if zone is None else Call("AT TIME ZONE", (moment, read(zone)))


def _date(item: exp.Expr, read: Read) -> Expression:
    """DATE(x) is a cast; DATE(at, 'Europe/Paris') is the day there, as in BigQuery."""
    refuse_other_parts(item, "this", "zone")
    zone = item.args.get("zone")
    if item.this is None or not (zone is None or (isinstance(zone, exp.Literal) and zone.is_string)):
        raise forbidden(item)
    return Call("CAST", (in_zone(read(item.this), zone, read), Literal("DATE")))


def _bucket(item: exp.Expr, read: Read) -> Expression:
    """WIDTH_BUCKET(x, low, high, n): the number of the cell, 0 below all cells and n + 1 above them."""
    parts = ("this", "min_value", "max_value", "num_buckets")
    refuse_other_parts(item, *parts)
    of, low, high, many = (read(item.args[part]) if item.args.get(part) is not None else None for part in parts)
    match low, high, many:
        case Literal(int() | float() as least), Literal(int() | float() as most), Literal(int(n)) if (
            of is not None and n >= 1 and least < most
        ):
            moved = of if least == 0 else Call("-", (of, low))
            place = Call("FLOOR", (Call("/", (moved, Literal((most - least) / n))),))
            return Call("CLAMP", (Call("+", (place, Literal(1))), Literal(0), Literal(n + 1)))
    raise forbidden(item)


def _truncated(item: exp.Expr, read: Read) -> Expression:
    """TRUNC(x) and TRUNC(x, places) towards 0; TRUNC(d, 'month') is DATE_TRUNC."""
    refuse_other_parts(item, "this", "decimals", "unit")
    of, to = read(item.this), item.args.get("decimals") or item.args.get("unit")
    places = Literal(0) if to is None else read(to)
    if isinstance(places, Literal) and isinstance(places.value, str):
        return Call("DATE_TRUNC", (Literal(places.value.lower()), of))
    if not (isinstance(places, Literal) and type(places.value) is int and abs(places.value) <= 15):
        raise forbidden(item)
    size, unit = Call("ABS", (of,)), Literal(10 ** abs(places.value))
    if places.value > 0:
        size = Call("/", (Call("FLOOR", (Call("*", (size, unit)),)), unit))
    elif places.value < 0:
        size = Call("*", (Call("FLOOR", (Call("/", (size, unit)),)), unit))
    else:
        size = Call("FLOOR", (size,))
    return Call("*", (Call("SIGN", (of,)), size))


def _replaced(item: exp.Expr, read: Read) -> Expression:
    refuse_other_parts(item, "this", "expression", "replacement")
    parts = [item.this, item.expression, item.args.get("replacement")]
    if any(part is None for part in parts):
        raise forbidden(item)
    return Call("REPLACE", tuple(map(read, parts)))


def _matches(function: str) -> Callable[[exp.Expr, Read], Expression]:
    def reader(item: exp.Expr, read: Read) -> Expression:
        refuse_other_parts(item, "this", "expression", "full_match")
        pattern = item.expression
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise forbidden(item)
        return Call(function, (read(item.this), Literal(pattern.name)))

    return reader


def _text_of_date(item: exp.Expr, read: Read) -> Expression:
    """TO_CHAR(d, 'YYYY-MM') and STRFTIME(d, '%Y-%m'), in either order of the arguments."""
    refuse_other_parts(item, "this", "format")
    return written_date(item, [item.this, item.args.get("format")], read)


def written_date(item: exp.Expr, parts: list[exp.Expr | None], read: Read) -> Expression:
    """A date and a format, in either order, as text; FORMAT_TIMESTAMP of BigQuery may name a zone after them."""
    *parts, zone = parts if len(parts) > 2 else [*parts, None]
    formats = [part for part in parts if isinstance(part, exp.Literal) and part.is_string]
    others = [part for part in parts if part is not None and not any(part is each for each in formats)]
    if len(formats) != 1 or len(others) != 1:
        raise forbidden(item)
    return formatted(item, in_zone(read(others[0]), zone, read), formats[0].name)


def _name_of_date(pattern: str) -> Callable[[exp.Expr, Read], Expression]:
    def reader(item: exp.Expr, read: Read) -> Expression:
        refuse_other_parts(item, "this")
        if item.this is None:
            raise forbidden(item)
        return formatted(item, read(item.this), pattern)

    return reader


def _same(item: exp.Expr, read: Read) -> Expression:
    """x IS NOT DISTINCT FROM y: they are equal, or both are missing."""
    refuse_other_parts(item, "this", "expression")
    one, other = read(item.this), read(item.expression)
    missing = [Call("IS NULL", (each,)) for each in (one, other) if each != Literal(None)]
    if len(missing) < 2:
        return missing[0] if missing else Literal(value=True)
    if any(isinstance(each, Literal) for each in (one, other)):
        return Call("COALESCE", (Call("=", (one, other)), Literal(value=False)))
    return Call("COALESCE", (Call("=", (one, other)), Call("AND", tuple(missing))))


def _different(item: exp.Expr, read: Read) -> Expression:
    return Call("NOT", (_same(item, read),))


def _decoded(item: exp.Expr, read: Read) -> Expression:
    """DECODE(x, 'a', 1, 'b', 2, 0): the value after the first one that is x, where NULL is NULL; else the last one."""
    refuse_other_parts(item, "expressions")
    of, *rest = item.expressions
    parts = []
    for one, then in zip(rest[::2], rest[1::2], strict=False):
        same = exp.EQ if isinstance(one, exp.Literal) else exp.NullSafeEQ
        parts += [read(same(this=of.copy(), expression=one.copy())), read(then)]
    return Call("CASE", (*parts, *([read(rest[-1])] if len(rest) % 2 else [])))


DATE_FORMATS = ("DATE_FORMAT", "FORMAT_DATE", "FORMAT_TIMESTAMP", "FORMAT_DATETIME", "TO_VARCHAR", "TO_CHAR")
"""Functions of other databases that write a date in a format."""


SYNONYMS: dict[type[exp.Expr], Callable[[exp.Expr, Read], Expression]] = {
    exp.Pi: _pi,
    exp.Date: _date,
    exp.TsOrDsToDate: _date,
    exp.WidthBucket: _bucket,
    exp.Trunc: _truncated,
    exp.TimeToStr: _text_of_date,
    exp.ToChar: _text_of_date,
    exp.Dayname: _name_of_date("%A"),
    exp.Monthname: _name_of_date("%B"),
    exp.Replace: _replaced,
    exp.DecodeCase: _decoded,
    exp.NullSafeEQ: _same,
    exp.NullSafeNEQ: _different,
    exp.RegexpLike: _matches("REGEXP_MATCHES"),
    exp.RegexpFullMatch: _matches("REGEXP_FULL_MATCH"),
    exp.SimilarTo: _matches("REGEXP_FULL_MATCH"),
}
