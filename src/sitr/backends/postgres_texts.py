"""Texts as numbers, truth values, dates and times in PostgreSQL, where a cast of any other text is an error.

A text is compared with a regular expression first, and its numbers with the calendar, so that no cast can fail. `text`
is a short expression of type text.
"""

from __future__ import annotations

from sitr.backends.postgres_arithmetic import LARGEST

LONGEST = 400
"""A longer text is no number, no date and no time."""

_SPACE = r"[ \t\n\r]*"
"""Spaces that PostgreSQL skips before a number and after it. It refuses those that other alphabets have."""
_DATE = rf"{_SPACE}[0-9]{{1,4}}[-/][0-9]{{1,2}}[-/][0-9]{{1,2}}"
_CLOCK = r"[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
_MOST = int(LARGEST)
_LEAST = "2.5e-324"


def number(text: str) -> str:
    """A number such as -1.5e3 as a double. NULL for every other text, and where a double would be infinite."""
    exact = f"CAST({text} AS numeric)"
    sized = f"CASE WHEN abs({exact}) > {_MOST} THEN NULL WHEN abs({exact}) < {_LEAST} THEN 0 ELSE "
    pattern = rf"{_SPACE}[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?{_SPACE}"
    return _where(text, pattern, f"{sized}CAST({exact} AS double precision) END")


def truth(text: str) -> str:
    """TRUE for true, t, yes, y and 1, FALSE for false, f, no, n and 0, in upper or lower case."""
    lower = f'lower({text} COLLATE "C")'
    return (
        f"CASE WHEN {lower} IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN {lower} IN ('false', 'f', 'no', 'n', '0') THEN FALSE END"
    )


def day(text: str) -> str:
    """The date at the beginning of a text such as 2024-02-29 or 2024-02-29 12:30."""
    return _where(text, rf"{_DATE}({_CLOCK})?{_SPACE}", _day(text))


def moment(text: str) -> str:
    """The time of a text such as 2024-02-29 12:30:00.5; a date alone is its midnight."""
    hour, minute = (
        f"CAST(coalesce({_part(text, f'[0-9][ T]{before}([0-9][0-9])')}, '0') AS integer)"
        for before in ("", "[0-9][0-9]:")
    )
    second = f"CAST(coalesce({_part(text, '[0-9][ T][0-9]{2}:[0-9]{2}:([0-9.]+)')}, '0') AS numeric)"
    time = f"make_interval(hours => {hour}, mins => {minute}, secs => CAST({second} AS double precision))"
    inside = f"{hour} < 24 AND {minute} < 60 AND {second} < 60"
    found = f"CASE WHEN {inside} THEN CAST({_day(text)} AS timestamp) + {time} END"
    return _where(text, rf"{_DATE}({_CLOCK})?{_SPACE}", found)


def _where(text: str, pattern: str, found: str) -> str:
    """What is `found` in a text that matches as a whole; CASE looks at one condition after the other."""
    return f"CASE WHEN length({text}) <= {LONGEST} THEN CASE WHEN {text} ~ '^({pattern})$' THEN {found} END END"


def _part(text: str, pattern: str) -> str:
    return f"substring({text} FROM '{pattern}')"


def _day(text: str) -> str:
    """The date in a text that looks like one; NULL if the calendar does not have it."""
    year, month, day = (
        f"CAST({_part(text, pattern)} AS integer)"
        for pattern in ("([0-9]+)", "[0-9]+[-/]([0-9]+)", "[0-9]+[-/][0-9]+[-/]([0-9]+)")
    )
    first = f"make_date({year}, {month}, 1)"
    last = f"extract(day FROM {first} + interval '1 month' - interval '1 day')"
    inside = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} >= 1"
    return f"CASE WHEN {inside} THEN CASE WHEN {day} <= {last} THEN {first} + ({day} - 1) END END"
