"""Functions of text and of dates in Python calls: `column("ward").str.head(2)`, `column("day").dt.month()`."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar, cast

from sitr.dataclass import dataclass
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name
from sitr.questions.aggregate.habits import MOMENTS, TEXTS, Hinted
from sitr.questions.aggregate.spelling import Value


class Chained(Protocol):
    """An expression to which functions can be applied."""

    @property
    def expression(self) -> Expression: ...
    def _call(self, function: str, *arguments: object) -> Self: ...
    def _made(self, call: Call) -> Self: ...


Of = TypeVar("Of", bound=Chained)

POLARS = {
    "1y": "year",
    "1q": "quarter",
    "1mo": "month",
    "1w": "week",
    "1d": "day",
    "1h": "hour",
    "1m": "minute",
    "1s": "second",
}
"""The parts of dates and times by their names in polars."""


@dataclass(frozen=True, slots=True)
class Texts(Hinted, Generic[Of]):
    """Functions of text: `column("ward").str.to_lowercase()`."""

    of: Of
    _hints = TEXTS

    def to_lowercase(self) -> Of:
        return self.of._call("LOWER")

    def to_uppercase(self) -> Of:
        return self.of._call("UPPER")

    def strip_chars(self) -> Of:
        """Without spaces at both ends."""
        return self.of._call("TRIM")

    def strip_chars_start(self) -> Of:
        """Without spaces at the beginning."""
        return self.of._call("LTRIM")

    def strip_chars_end(self) -> Of:
        """Without spaces at the end."""
        return self.of._call("RTRIM")

    def head(self, length: int) -> Of:
        """The first characters."""
        return self.of._call("LEFT", length)

    def tail(self, length: int) -> Of:
        """The last characters."""
        return self.of._call("RIGHT", length)

    def concat(self, other: object) -> Of:
        """This text and another one after it; NULL if one of them is NULL."""
        return self.of._call("||", other)

    def replace_all(self, old: str, new: str) -> Of:
        """With another text, which is not longer, in place of each occurrence of a text."""
        return self.of._call("REPLACE", old, new)

    def split_part(self, between: str, number: int) -> Of:
        """The part with this number, counted from 1, between the places of another text; empty if it has fewer."""
        return self.of._call("SPLIT_PART", between, number)

    def matches(self, pattern: str, *, whole: bool = False) -> Of:
        """Whether a part of it matches a regular expression, or the `whole` text; see `expressions.patterns`."""
        return self.of._call("REGEXP_FULL_MATCH" if whole else "REGEXP_MATCHES", pattern)

    def len_chars(self) -> Of:
        """The number of characters."""
        return self.of._call("LENGTH")

    def slice(self, offset: int, length: int | None = None) -> Of:
        """Characters from a place, counted from 0."""
        return self.of._call("SUBSTR", offset + 1, *([] if length is None else [length]))

    def starts_with(self, prefix: str) -> Of:
        return self.of._call("STARTS_WITH", prefix)

    def ends_with(self, suffix: str) -> Of:
        return self.of._call("ENDS_WITH", suffix)

    def contains(self, text: str) -> Of:
        """Whether it contains this text, letter by letter."""
        return self.of._call("CONTAINS", text)


@dataclass(frozen=True, slots=True)
class Moments(Hinted, Generic[Of]):
    """Functions of dates and times: `column("admitted").dt.month()`."""

    of: Of
    _hints = MOMENTS

    def year(self) -> Of:
        return self._part("year")

    def quarter(self) -> Of:
        return self._part("quarter")

    def month(self) -> Of:
        return self._part("month")

    def week(self) -> Of:
        """The week of ISO 8601."""
        return self._part("week")

    def day(self) -> Of:
        return self._part("day")

    def weekday(self) -> Of:
        """From 1 for Monday to 7 for Sunday."""
        return self._part("isodow")

    def ordinal_day(self) -> Of:
        """The day of the year."""
        return self._part("doy")

    def hour(self) -> Of:
        return self._part("hour")

    def minute(self) -> Of:
        return self._part("minute")

    def second(self) -> Of:
        return self._part("second")

    def truncate(self, part: str) -> Of:
        """The beginning of the "year", "quarter", "month", "week", "day", "hour", "minute" or "second"; "1mo" and the
        other spellings of polars mean the same."""
        named = POLARS.get(part, part) if isinstance(part, str) else part
        return self.of._made(Call("DATE_TRUNC", (Literal(named), self.of.expression)))

    def convert_time_zone(self, zone: str) -> Of:
        """The time in another zone, such as "Europe/Paris", of a moment with a time zone that is read in UTC."""
        return self.of._made(Call("AT TIME ZONE", (self.of.expression, Literal(zone))))

    def offset_by(self, count: int, part: str) -> Of:
        """Later by this many "day", "month", …; a negative number is earlier."""
        return self.of._call("DATE_ADD", count, part)

    def since(self, earlier: object, part: str) -> Of:
        """How many borders between "day", "month", … lie after an earlier date or time, up to this one."""
        moment = value_or_expression(earlier)
        return self.of._made(Call("DATE_DIFF", (Literal(part), moment, self.of.expression)))

    def _part(self, name: str) -> Of:
        return self.of._made(Call("EXTRACT", (Literal(name), self.of.expression)))


def value_or_expression(value: object) -> Expression:
    """The expression; anything else is a literal."""
    found = getattr(value, "expression", None)  # of an `Expr`, or of an aggregate
    return found if isinstance(found, Name | Literal | Call | Aggregated) else Literal(plain(value))


def plain(value: object) -> Value:
    """A NumPy scalar as a plain Python value. Its type is checked later, where the column is known."""
    return cast("Value", cast("Any", value).item() if type(value).__module__ == "numpy" else value)
