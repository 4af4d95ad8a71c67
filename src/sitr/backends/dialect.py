"""The expressions in which database engines differ.

Everything else that Sitr writes is plain SQL that all engines read alike. Privacy rests on these expressions. Each of
them is written for each engine, never translated from another engine's text, and has a test that runs on the engine
(`tests/laws/test_dialects.py`). No expression may fail on any row: an error would be an answer about that row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Protocol, runtime_checkable

from sitr.dataset.schema import Column, Key, Kind, Quantised
from sitr.dataset.zone import Zone
from sitr.questions.aggregate.spelling import Value

EVERYTHING = 2**62
"""A cap as large as that keeps every row. All engines compare integers with it; Spark cannot read 40 digits."""


@runtime_checkable
class Dialect(Protocol):
    """How one engine writes them. An argument called `expression` is SQL already; all others are values."""

    def identifier(self, name: str) -> str:
        """The name of a column, quoted."""

    def literal(self, value: Value) -> str:
        """A value, in the type that `comparable` compares it with; ±infinity too. No text can end its own quotes."""

    def literals(self, values: Sequence[Value]) -> list[str]:
        """The same for the values of a list, in one type; as short as they can be, because a list may be long."""

    def text(self, expression: str) -> str:
        """The value as text; NULL stays NULL."""

    def identity(self, expression: str, type: str) -> str:
        """A text that is equal for equal values of this engine's `type`, and differs for others; NULL stays NULL.

        It fails on no value, however far from all calendars.
        """

    def number(self, expression: str) -> str:
        """The value as a double; NULL if it is no number. NaN and ±infinity stay what they are."""

    def number_or(self, expression: str, missing: float) -> str:
        """The value as a double; `missing` for NULL, NaN and whatever is no number."""

    def integer(self, expression: str, type: str) -> str:
        """A value of an integer `type` in a type that compares exactly with 64-bit integers; NULL if there is none."""

    def moment(self, expression: str) -> str:
        """The value as a timestamp without a zone; NULL if it is none."""

    def granules(self, expression: str, to: Quantised) -> str:
        """The number of granules in the value, rounded half away from zero and clamped to `to`, as an integer.

        NULL, NaN and whatever is no number give NULL; ±infinity gives a bound. No rounding can leave the bounds.
        """

    def key(self, column: Column) -> str:
        """The value of a grouping column in a type that answers can hold; NULL if it does not fit."""

    def comparable(self, expression: str, type: str, value: Value) -> str:
        """A column of this engine's `type`, in a type that compares with the literal `value`."""

    def like(self, expression: str, pattern: str) -> str:
        """Whether text matches a pattern with % and _; every other character, \\ included, stands for itself."""

    def matches(self, expression: str, pattern: str, *, whole: bool) -> str:
        """Whether a text, or some part of it, matches a pattern of `expressions.patterns`; `.` is any character but a
        line break. It takes a time that grows with the text and not faster."""

    def replaced(self, expression: str, old: str, new: str) -> str:
        """The text with one text in place of each occurrence of another, from left to right."""

    def part(self, expression: str, between: str, number: int) -> str:
        """A part of a text, counted from 1, between the places of another one; empty if it has fewer parts."""

    def cased(self, function: str, expression: str) -> str:
        """LOWER or UPPER of a text. Engines agree on the letters of ASCII, and nearly on all others."""

    def same(self, one: str, other: str) -> str:
        """Whether two expressions are equal, where NULL equals NULL."""

    def order(self, salt: int, names: Sequence[str]) -> str:
        """A hash of 64 bits of the salt and the values: the order in which groups and rows are chosen.

        Equal values have equal hashes, NULL is a value, and each salt gives another order of each person's groups.
        """

    def lowest(self, most: int, *, source: str, of: Sequence[str], by: str, owned: int | None = None) -> str:
        """SELECT all columns of the rows of `source` of rank at most `most` among the rows with equal `of`.

        The rank of a row is the number of rows at or before it in the order `by`. There are at most `owned` rows with
        equal `of`, whatever the table is; None if nothing is known about it.
        """

    def row_numbers(self, of: Sequence[str]) -> str:
        """Numbers 1, 2, 3, … for the rows with equal `of`, in any order; without `of`, numbers that no two rows share.

        The expressions `of` may be long, but none of them is a constant.
        """

    def semi_join(self, source: str, other: str, *, on: str) -> str:
        """What follows FROM to read the rows r of `source` that have a row f of `other` for which `on` holds."""

    def step(self, name: str, select: str, *, once: bool) -> str:
        """A step of a WITH clause; `once` asks the engine to compute it once and keep the rows."""

    def total(self, expression: str) -> str:
        """The exact sum of 64-bit integers, or of such sums, however many; NULL if there are none."""

    def pairs(self, one: str, other: str) -> str:
        """All pairs of two 64-bit integers in the rows of a group, as one list of lists; neither of them is NULL."""

    def whole(self, expression: str) -> str:
        """A whole number that fits into 64 bits as a 64-bit integer; NULL stays NULL."""

    def wide(self, expression: str) -> str:
        """An integer in a type of at least 120 bits; NULL stays NULL."""

    def quotient(self, expression: str, by: int) -> str:
        """⌊expression / by⌋ of an integer that is not negative, exactly; NULL stays NULL."""

    def steps(self, expression: str, first: float, times: float, by: float) -> str:
        """⌊(expression − first)·times / by⌋ of a double as a 64-bit integer, where it fits; NULL stays NULL."""

    def multiple(self, expression: str, unit: Fraction) -> str:
        """A whole number times a positive unit, as a double that may be infinite; NULL stays NULL."""

    def days(self, first: date, expression: str) -> str:
        """The number of days from `first` to a date; NULL stays NULL."""

    def seconds(self, first: datetime, expression: str) -> str:
        """The number of whole seconds from `first`, a whole second, to a timestamp; NULL stays NULL."""

    def position(self, expression: str, keys: Sequence[Key]) -> str:
        """The place of a value in a list of at least one key, from 0; NULL if it is not there."""

    def once(self, expression: str, write: Callable[[str], str], *, always: bool = False) -> str:
        """What `write` makes of a value. A long expression is written and computed once, and with `always` every one.

        Otherwise each of several nested calls would double the text of a statement, or worse.
        """

    def type_of(self, kind: Kind) -> str:
        """The engine's type in which values of a kind are computed with: all numbers are doubles."""

    def key_type(self, kind: Kind) -> str:
        """The engine's type in which values of a kind are grouped by."""

    def present(self, expression: str) -> str:
        """A double, or NULL if it is NaN."""

    def computed(self, operator: str, left: str, right: str) -> str:
        """left + - * / // % right of doubles; NULL if the result is not finite, and for a quotient by 0.

        // rounds down, and % has the sign of the dividend.
        """

    def power(self, expression: str, times: int) -> str:
        """A double multiplied with itself, `times` factors in all; NULL if the result is not finite."""

    def smooth(self, function: str, expression: str) -> str:
        """SQRT, LN, LOG10 or EXP of a double; NULL where it is not defined or not finite."""

    def floored(self, function: str, expression: str) -> str:
        """FLOOR or CEIL of a double, as a double, however large."""

    def rounded(self, expression: str, places: int) -> str:
        """A double rounded to a number of decimal places, half away from zero; NULL if the result is not finite."""

    def cast(self, expression: str, kind: Kind, to: Kind) -> str:
        """A value of one kind as another; NULL if it does not fit. A number becomes the nearest whole number."""

    def in_calendar(self, expression: str, kind: Kind) -> str:
        """A date, or a timestamp without a zone, in the years 1 to 9999; NULL if it is none."""

    def utc(self, expression: str) -> str:
        """A moment of the engine's type with a time zone as its time in UTC, in the years 1 to 9999; else NULL.

        It depends on no setting of a session or a machine.
        """

    def time(self, value: datetime) -> str:
        """A public time without a zone, written out where it is not bound as a value."""

    def offset(self, expression: str, of: Zone) -> str:
        """The offset of a zone from UTC in seconds, an integer, at a time in UTC of the calendar."""

    def moved(self, expression: str, seconds: str) -> str:
        """A time of the calendar, later by this number of seconds, an integer of at most a few days."""

    def substring(self, expression: str, first: int, length: int | None) -> str:
        """The characters of a text from the first one, counted from 1; at most `length` of them."""

    def found(self, where: str, expression: str, text: str) -> str:
        """Whether a text STARTS_WITH, ENDS_WITH or CONTAINS another; NULL if one of them is NULL."""

    def truncated(self, part: str, expression: str, kind: Kind) -> str:
        """The beginning of the year, quarter, month, week, … that a date or timestamp is in, of the same kind."""

    def extracted(self, part: str, expression: str) -> str:
        """The year, month, day, … of a date or timestamp, as an integer; weeks and week days as in ISO 8601, but dow
        is 0 on Sundays."""

    def difference(self, part: str, earlier: str, later: str) -> str:
        """How many borders between years, months, days, … lie between two dates or two timestamps, as an integer."""

    def later(self, expression: str, count: str, part: str, kind: Kind) -> str:
        """A date or timestamp plus a whole number of years, months, days, …; NULL if the engine has no such date."""
