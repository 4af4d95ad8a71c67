"""Functions of text and of dates in Python calls: `column("ward").str.head(2)`, `column("day").dt.month()`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name
from sitr.questions.aggregate.spelling import Value

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame import Expr


@dataclass(frozen=True, slots=True)
class Texts:
    """Functions of text: `column("ward").str.to_lowercase()`."""

    of: Expr

    def to_lowercase(self) -> Expr:
        return self.of._call("LOWER")

    def to_uppercase(self) -> Expr:
        return self.of._call("UPPER")

    def strip_chars(self) -> Expr:
        """Without spaces at both ends."""
        return self.of._call("TRIM")

    def strip_chars_start(self) -> Expr:
        """Without spaces at the beginning."""
        return self.of._call("LTRIM")

    def strip_chars_end(self) -> Expr:
        """Without spaces at the end."""
        return self.of._call("RTRIM")

    def head(self, length: int) -> Expr:
        """The first characters."""
        return self.of._call("LEFT", length)

    def tail(self, length: int) -> Expr:
        """The last characters."""
        return self.of._call("RIGHT", length)

    def concat(self, other: object) -> Expr:
        """This text and another one after it; NULL if one of them is NULL."""
        return self.of._call("||", other)

    def replace_all(self, old: str, new: str) -> Expr:
        """With another text, which is not longer, in place of each occurrence of a text."""
        return self.of._call("REPLACE", old, new)

    def matches(self, pattern: str, *, whole: bool = False) -> Expr:
        """Whether a part of it matches a regular expression, or the `whole` text; see `expressions.patterns`."""
        return self.of._call("REGEXP_FULL_MATCH" if whole else "REGEXP_MATCHES", pattern)

    def len_chars(self) -> Expr:
        """The number of characters."""
        return self.of._call("LENGTH")

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """Characters from a place, counted from 0."""
        return self.of._call("SUBSTR", offset + 1, *([] if length is None else [length]))

    def starts_with(self, prefix: str) -> Expr:
        return self.of._call("STARTS_WITH", prefix)

    def ends_with(self, suffix: str) -> Expr:
        return self.of._call("ENDS_WITH", suffix)

    def contains(self, text: str) -> Expr:
        """Whether it contains this text, letter by letter."""
        return self.of._call("CONTAINS", text)


@dataclass(frozen=True, slots=True)
class Moments:
    """Functions of dates and times: `column("admitted").dt.month()`."""

    of: Expr

    def year(self) -> Expr:
        return self._part("year")

    def quarter(self) -> Expr:
        return self._part("quarter")

    def month(self) -> Expr:
        return self._part("month")

    def week(self) -> Expr:
        """The week of ISO 8601."""
        return self._part("week")

    def day(self) -> Expr:
        return self._part("day")

    def weekday(self) -> Expr:
        """From 1 for Monday to 7 for Sunday."""
        return self._part("isodow")

    def ordinal_day(self) -> Expr:
        """The day of the year."""
        return self._part("doy")

    def hour(self) -> Expr:
        return self._part("hour")

    def minute(self) -> Expr:
        return self._part("minute")

    def second(self) -> Expr:
        return self._part("second")

    def truncate(self, part: str) -> Expr:
        """The beginning of the "year", "quarter", "month", "week", "day", "hour", "minute" or "second"."""
        return self.of._made(Call("DATE_TRUNC", (Literal(part), self.of.expression)))

    def offset_by(self, count: int, part: str) -> Expr:
        """Later by this many "day", "month", …; a negative number is earlier."""
        return self.of._call("DATE_ADD", count, part)

    def since(self, earlier: object, part: str) -> Expr:
        """How many borders between "day", "month", … lie after an earlier date or time, up to this one."""
        moment = value_or_expression(earlier)
        return self.of._made(Call("DATE_DIFF", (Literal(part), moment, self.of.expression)))

    def _part(self, name: str) -> Expr:
        return self.of._made(Call("EXTRACT", (Literal(name), self.of.expression)))


def value_or_expression(value: object) -> Expression:
    """The expression; anything else is a literal."""
    found = getattr(value, "expression", None)  # of an `Expr`, or of an aggregate
    return found if isinstance(found, Name | Literal | Call | Aggregated) else Literal(plain(value))


def plain(value: object) -> Value:
    """A NumPy scalar as a plain Python value. Its type is checked later, where the column is known."""
    return cast("Value", value.item() if isinstance(value, np.generic) else value)
