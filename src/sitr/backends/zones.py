"""The time in a zone of a time in UTC, as SQL that all engines compute alike.

No engine's own time zones are used: the changes of an offset are written into the statement. In DuckDB and PostgreSQL
they are a search tree of CASE, in which a row is compared about eight times, and the rule of all later years is
arithmetic on the year. Spark compiles such a tree for minutes, and searches a list instead. Every time in the years 1
to 9999 has a result, and a time that leaves these years counts as the first or the last of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sitr.backends.dialect import Dialect
from sitr.dataset.zone import DAY, YearlyChange, YearlyRule, Zone, zone

_START = datetime(1970, 1, 1)  # noqa: DTZ001 - without a zone, as the statement
_LAST = datetime.max  # noqa: DTZ901
_POSITIVE = 7 * 200_000
"""Days that make every day number of the calendar positive, and change no weekday."""


def local(say: Dialect, x: str, name: str) -> str:
    """The time in a zone of `x`, a short expression: a time in UTC within the calendar, or NULL."""
    found = zone(name)
    if found.fixed and found.first == 0:
        return x
    moved = say.moved(x, say.offset(x, found))
    first, last = map(say.time, (datetime.min, _LAST))  # noqa: DTZ901
    return f"CASE WHEN {x} IS NOT NULL THEN least(greatest({moved}, {first}), {last}) END"


def offset(say: Dialect, x: str, found: Zone) -> str:
    """The offset of a zone at a time in UTC, in seconds, as a tree of CASE."""
    offsets, changes = [found.first, *(after for _, after in found.changes)], [at for at, _ in found.changes]
    if found.rule is None:
        return _searched(say, x, offsets, changes)
    ruled = _ruled(say, x, found.rule)
    if not changes:
        return ruled
    earlier = _searched(say, x, offsets[:-1], changes[:-1])
    return f"CASE WHEN {x} >= {_time(say, changes[-1])} THEN {ruled} ELSE {earlier} END"


def _searched(say: Dialect, x: str, offsets: Sequence[int], changes: Sequence[int]) -> str:
    """One of the offsets, by the number of changes until then: halved until one is left."""
    if not changes:
        return str(offsets[0])
    middle = len(changes) // 2
    before = _searched(say, x, offsets[: middle + 1], changes[:middle])
    after = _searched(say, x, offsets[middle + 1 :], changes[middle + 1 :])
    return f"CASE WHEN {x} < {_time(say, changes[middle])} THEN {before} ELSE {after} END"


def _ruled(say: Dialect, x: str, rule: YearlyRule) -> str:
    """The offset by the rule: between the two changes of the year it is the one, and otherwise the other."""
    seconds = say.seconds(_START, x)
    first, last, inside, outside = rule.there, rule.back, rule.summer, rule.winter
    if first.at(2001) > last.at(2001):
        first, last, inside, outside = last, first, outside, inside
    begins, ends = (_change(say, x, each) for each in (first, last))
    return f"CASE WHEN {seconds} >= {begins} AND {seconds} < {ends} THEN {inside} ELSE {outside} END"


def _change(say: Dialect, x: str, change: YearlyChange) -> str:
    """The second of a change in the year of `x`, since 1970: see `YearlyChange.at`."""
    years, days = change.shift
    year = f"({say.whole(say.extracted('year', x))} + {years})" if years else say.whole(say.extracted("year", x))
    leap = f"{say.quotient(year, 4)} - {say.quotient(year, 100)} + {say.quotient(year, 400)}"
    first = f"({year} * 365 + {leap} + {_POSITIVE - 719_468 + days})"
    # −1 is 6 more than a multiple of 7, so that 6 times the days after this weekday are the days until it.
    until = f"(6 * ({first} + {4 - change.weekday})) % 7"
    return f"(({first} + {until}) * {DAY} + {change.seconds - _POSITIVE * DAY})"


def _time(say: Dialect, second: int) -> str:
    return say.time(_START + timedelta(seconds=second))
