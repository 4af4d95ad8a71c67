"""Dates as text, in terms of functions that Sitr has: TO_CHAR(d, 'YYYY-MM'), STRFTIME(d, '%Y-%m'), DAYNAME(d).

A format is one of a list: the beginning of a date, one of its parts in two digits, or a name. Others would be longer
ways to say the same, or depend on the engine.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sitr.errors import ForbiddenConstruct
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal
from sitr.questions.aggregate.places import place

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_BEGINNINGS = {"%Y": ("year", 4), "%Y-%m": ("month", 7), "%Y-%m-%d": ("day", 10), "%F": ("day", 10)}
_DIGITS = {"%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%S": "second"}
_NAMES = {
    "%B": ("month", _MONTHS),
    "%b": ("month", tuple(name[:3] for name in _MONTHS)),
    "%A": ("isodow", _DAYS),
    "%a": ("isodow", tuple(name[:3] for name in _DAYS)),
}
_SIGNS = (
    *(("YYYY", "%Y"), ("FMMonth", "%B"), ("FMDay", "%A"), ("Month", "%B"), ("Mon", "%b"), ("HH24", "%H")),
    *(("MM", "%m"), ("DD", "%d"), ("MI", "%M"), ("SS", "%S"), ("Day", "%A"), ("Dy", "%a")),
)
"""The patterns of TO_CHAR, longer ones first. Its names are not filled up with spaces here."""

_GUESSES = (
    (("%d", "%e", "%j"), "day"),
    (("W", "V", "U"), "week"),
    (("Q",), "quarter"),
)

FORMATS = (*_BEGINNINGS, *_DIGITS, *_NAMES)


def formatted(item: exp.Expr, of: Expression, pattern: str) -> Expression:
    """A date or a time in this format; an error at the `item` if there is no such format."""
    found = _strftime(pattern)
    if found in _BEGINNINGS:
        part, length = _BEGINNINGS[found]
        day = Call("CAST", (of, Literal("DATE")))
        begun = day if part == "day" else Call("DATE_TRUNC", (Literal(part), day))
        text = Call("CAST", (begun, Literal("VARCHAR")))
        return text if part == "day" else Call("LEFT", (text, Literal(length)))
    if found in _DIGITS:
        number = Call("CAST", (_part(_DIGITS[found], of), Literal("VARCHAR")))
        return Call("RIGHT", (Call("||", (Literal("0"), number)), Literal(2)))
    if found in _NAMES:
        part, names = _NAMES[found]
        branches: list[Expression] = []
        for nth, name in enumerate(names, start=1):
            branches += [Call("=", (_part(part, of), Literal(nth))), Literal(name)]
        return Call("CASE", tuple(branches))
    raise ForbiddenConstruct(
        given=f"Dates cannot be written in the format {pattern!r}.",
        do=f"Use one of {', '.join(FORMATS)}, or EXTRACT(month FROM d) and DATE_TRUNC('month', d).",
        excerpt=place(item),
    )


def part_of_format(pattern: str) -> str | None:
    """The unit of time that an unknown format is about, as far as one can guess; None for a known format.

    >>> part_of_format("%Y-%m"), part_of_format("YYYY-Q"), part_of_format("%d/%m/%Y")
    (None, 'quarter', 'day')
    """
    found = _strftime(pattern)
    if found in FORMATS:
        return None
    for signs, part in _GUESSES:
        if any(sign in found for sign in signs):
            return part
    return "year" if found.strip("%Yy ") == "" else "month"


def _part(part: str, of: Expression) -> Call:
    return Call("EXTRACT", (Literal(part), of))


def _strftime(pattern: str) -> str:
    if "%" in pattern:
        return pattern
    known = dict(_SIGNS)
    return re.sub("|".join(known), lambda found: known[found[0]], pattern)
