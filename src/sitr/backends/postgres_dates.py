"""Dates and times of PostgreSQL within the calendar that all engines share: the years 1 to 9999.

PostgreSQL knows dates from 4713 BC to the year 5874897, and infinite ones. Differences of infinite dates, and sums that
leave its calendar, are errors, so everything is compared first. `x` is a short expression.
"""

from __future__ import annotations

from sitr.dataset.schema import Kind

_UNITS = {"hour": 3600, "minute": 60, "second": 1}
_FIRST_DAY, _LAST_DAY = "DATE '0001-01-01'", "DATE '9999-12-31'"
_DAYS = 3_652_058
"""The days between them."""
_FIRST_SECOND, _END = -62_135_596_800, 253_402_300_800
"""The beginning and the end of the calendar, in seconds since 1970."""


def within(x: str, kind: Kind) -> str:
    """Whether a date or a time is in the calendar."""
    if kind is Kind.DATE:
        return f"{x} BETWEEN {_FIRST_DAY} AND {_LAST_DAY}"
    return f"{x} BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"


def extracted(part: str, x: str) -> str:
    """A part of a finite date or time as an integer; seconds without their fraction."""
    return f"CASE WHEN isfinite({x}) THEN CAST(floor(extract({part} FROM {x})) AS bigint) END"


def truncated(part: str, x: str, kind: Kind) -> str:
    """The beginning of a part, of the same kind."""
    begin = f"date_trunc('{part}', CAST({x} AS timestamp))"
    return f"CASE WHEN {within(x, kind)} THEN {f'CAST({begin} AS date)' if kind is Kind.DATE else begin} END"


def difference(part: str, earlier: str, later: str) -> str:
    """The borders between two dates or two times."""
    if part in ("year", "quarter", "month"):
        first, last = (_months(part, each) for each in (earlier, later))
    elif part in _UNITS:
        first, last = (f"floor(extract(epoch FROM {each}) / {_UNITS[part]})" for each in (earlier, later))
    elif part == "week":
        first, last = (f"CAST(date_trunc('week', CAST({each} AS timestamp)) AS date)" for each in (earlier, later))
    else:
        first, last = (f"CAST({each} AS date)" for each in (earlier, later))
    number = f"({last} - {first})" + (" / 7" if part == "week" else "")
    return f"CASE WHEN isfinite({earlier}) AND isfinite({later}) THEN CAST({number} AS bigint) END"


def _months(part: str, x: str) -> str:
    year = f"extract(year FROM {x})"
    return {"year": year, "quarter": f"({year} * 4 + extract(quarter FROM {x}))"}.get(
        part, f"({year} * 12 + extract(month FROM {x}))"
    )


def later(x: str, count: str, part: str, kind: Kind) -> str:
    """A date or time of the calendar plus a number of parts, a double; NULL if the sum is not in the calendar."""
    if part in _UNITS:
        found = _seconds_later(x, count, _UNITS[part])
    elif part in ("day", "week"):
        found = _days_later(x, count, 7 if part == "week" else 1, kind)
    else:
        found = _months_later(x, count, {"year": 12, "quarter": 3, "month": 1}[part])
    to = "date" if kind is Kind.DATE else "timestamp"
    return f"CASE WHEN {within(x, kind)} THEN CAST({found} AS {to}) END"


def _whole(count: str, most: int) -> str:
    """The nearest whole number; it is cast only where it is compared before, in one CASE."""
    return f"CASE WHEN {count} BETWEEN -{most} AND {most} THEN CAST(round({count}) AS bigint) END"


def _days_later(x: str, count: str, times: int, kind: Kind) -> str:
    days = f"(({_whole(count, 4_000_000)}) * {times})"
    there = f"(CAST({x} AS date) - {_FIRST_DAY}) + {days} BETWEEN 0 AND {_DAYS}"
    added = (
        f"{x} + CAST({days} AS integer)" if kind is Kind.DATE else f"{x} + CAST({days} AS integer) * interval '1 day'"
    )
    return f"CASE WHEN {there} THEN {added} END"


def _months_later(x: str, count: str, times: int) -> str:
    months = f"(({_whole(count, 200_000)}) * {times})"
    there = f"extract(year FROM {x}) * 12 + extract(month FROM {x}) - 1 + {months} BETWEEN 12 AND {9999 * 12 + 11}"
    return f"CASE WHEN {there} THEN {x} + make_interval(months => CAST({months} AS integer)) END"


def _seconds_later(x: str, count: str, times: int) -> str:
    seconds = f"(({_whole(count, 400_000_000_000)}) * {times})"
    after = f"extract(epoch FROM {x}) + {seconds}"
    there = f"{after} >= {_FIRST_SECOND} AND {after} < {_END}"
    return f"CASE WHEN {there} THEN {x} + make_interval(secs => CAST({seconds} AS double precision)) END"
