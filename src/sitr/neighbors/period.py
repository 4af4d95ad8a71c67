"""Periods of time, for units that are a person in one of them."""

from __future__ import annotations

import re
from datetime import date
from enum import Enum

from sitr.dataclass import dataclass
from sitr.errors import QuestionError, quoted


class Length(Enum):
    """How long a period is."""

    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    @property
    def one(self) -> str:
        """One of them, in words that no column has as a name: so messages about it can be translated."""
        return f"one {self.value}"

    @property
    def each(self) -> str:
        """All of them."""
        return f"each {self.value}"


_NAMES = {
    Length.MONTH: (re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])"), "2026-03"),
    Length.QUARTER: (re.compile(r"([0-9]{4})-Q([1-4])"), "2026-Q1"),
    Length.YEAR: (re.compile(r"([0-9]{4})"), "2026"),
}
"""How periods are written, and an example of each length."""


def example(length: Length) -> str:
    """The name of a period, as it is written.

    >>> example(Length.QUARTER)
    '2026-Q1'
    """
    return _NAMES[length][1]


_MONTHS = {Length.MONTH: 1, Length.QUARTER: 3, Length.YEAR: 12}


@dataclass(frozen=True, slots=True)
class Period:
    """The month, quarter or year of the date in a column.

    A row belongs to the one period in which this date lies; a row without a date belongs to none, and no question reads
    it. The `name` of one period is empty until a question names it.

    >>> Period("admitted", Length.MONTH).named("2026-12").ends
    (datetime.date(2026, 12, 1), datetime.date(2027, 1, 1))
    """

    column: str
    length: Length
    name: str = ""

    @classmethod
    def of(cls, text: object) -> Period | None:
        """The periods that a text such as admitted:month means; None if it means none.

        >>> Period.of("admitted:quarter"), Period.of("admitted")
        (Period(column='admitted', length=<Length.QUARTER: 'quarter'>, name=''), None)
        """
        column, _, length = text.rpartition(":") if isinstance(text, str) else ("", "", "")
        lengths = {each.value: each for each in Length}
        return cls(column, lengths[length]) if column and length in lengths else None

    def named(self, name: object) -> Period:
        """One period; `QuestionError` if there is none of this name."""
        pattern, example = _NAMES[self.length]
        written = name.strip().upper() if isinstance(name, str) else ""
        found = pattern.fullmatch(written)
        if found is None or not 1 <= int(found[1]) < 9999:  # there is no day after the year 9999
            raise QuestionError(
                wanted=f"the name of {self.length.one}, such as {example}",
                given=quoted(name),
                do="Correct it; nothing was spent.",
            )
        return Period(self.column, self.length, written)

    @property
    def ends(self) -> tuple[date, date]:
        """The first day of this period, and the first day after it."""
        found = _NAMES[self.length][0].fullmatch(self.name)
        assert found is not None, "a question names its period"
        months = _MONTHS[self.length]
        year, part = int(found[1]), int(found[2]) if found.lastindex == 2 else 1
        first, after = (part - 1) * months, part * months
        return date(year, first + 1, 1), date(year + after // 12, after % 12 + 1, 1)
