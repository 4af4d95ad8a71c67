"""Time zones as public tables: when the offset from UTC changes, and by which rule it changes in all later years.

The tables are those of the package `tzdata`, the same on every machine. No engine's own time zones are used: their
releases differ, and a time must be the same integer wherever the rows are. See decision 0082.
"""

from __future__ import annotations

import re
import struct
from datetime import date, datetime, timedelta
from functools import cache
from importlib import resources

from sitr.dataclass import dataclass
from sitr.errors import DescriptionError, InvalidParameter, suggestion

FIRST, LAST = -62_135_596_800, 253_402_300_799
"""The first and the last second of the years 1 to 9999, since 1970."""
DAY = 86_400
CYCLE = 146_097 * DAY
"""The seconds of 400 years, after which every date falls on the same day of the week again."""
_START = datetime(1970, 1, 1)  # noqa: DTZ001
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SURE = range(1950, 2500)
"""The years in which a rule is compared with a table."""


@dataclass(frozen=True, slots=True)
class YearlyChange:
    """A change in each year: on the first `weekday` (0 is Sunday) at or after a day of a month, by the clock of UTC.

    `seconds` are counted from the midnight, in UTC, that begins this day. They may be negative or more than a day.
    """

    month: int
    day: int
    weekday: int
    seconds: int

    @property
    def shift(self) -> tuple[int, int]:
        """The years and days from March 1 of the year to the day: January and February end the year before."""
        ordinary = date(1973 if self.month > 2 else 1974, self.month, self.day)
        return (0 if self.month > 2 else -1), (ordinary - date(1973, 3, 1)).days

    def at(self, year: int) -> int:
        """The second of the change, since 1970.

        >>> _START + timedelta(seconds=YearlyChange(3, 25, 0, 3_600).at(2024))
        datetime.datetime(2024, 3, 31, 1, 0)
        """
        years, days = self.shift
        y = year + years
        first = 365 * y + y // 4 - y // 100 + y // 400 - 719_468 + days
        return (first + (self.weekday - first - 4) % 7) * DAY + self.seconds


@dataclass(frozen=True, slots=True)
class YearlyRule:
    """Two changes in each year, to `there` and `back`, and the offsets after them."""

    there: YearlyChange
    back: YearlyChange
    summer: int
    winter: int

    def changes(self, years: range = _SURE) -> list[tuple[int, int]]:
        """All changes in these years, with the offset after each."""
        both = ((self.there, self.summer), (self.back, self.winter))
        return sorted((change.at(year), offset) for year in years for change, offset in both)

    def offset(self, second: int) -> int:
        """The offset at a second of UTC. No rule changes anything in the days around a new year."""
        year = (_START + timedelta(seconds=second)).year
        first, last = self.there.at(year), self.back.at(year)
        if first < last:
            return self.summer if first <= second < last else self.winter
        return self.winter if last <= second < first else self.summer


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone: its offset before all changes, the changes, and the rule after the last of them."""

    name: str
    first: int
    """The offset in seconds before the first change."""
    changes: tuple[tuple[int, int], ...] = ()
    """Seconds since 1970 with the offset from then on; without those that the rule makes."""
    rule: YearlyRule | None = None
    """The changes after the last one of `changes`, in which the offset is the rule's already."""

    @property
    def fixed(self) -> bool:
        """Whether the offset never changes."""
        return not self.changes and self.rule is None

    @property
    def offsets(self) -> tuple[int, int]:
        """The least and the largest offset."""
        every = [self.first, *(offset for _, offset in self.changes)]
        every += [self.rule.summer, self.rule.winter] if self.rule is not None else []
        return min(every), max(every)

    @property
    def since(self) -> int | None:
        """The second from which on only the rule changes the offset; None without a rule."""
        return None if self.rule is None else self.changes[-1][0] if self.changes else FIRST

    def turns(self) -> list[tuple[int, int]]:
        """The first second and the second of each change, in order, with the offsets from then on.

        From `since` on they are those of 400 years, and repeat: a later second has the offset of the one that is a
        multiple of `CYCLE` before it.

        >>> zone("Asia/Tokyo").turns()[-1], len(zone("Europe/Paris").turns())
        ((-577962000, 32400), 899)
        """
        found = [(FIRST, self.first), *self.changes]
        if self.rule is None or self.since is None:
            return found
        year = (_START + timedelta(seconds=self.since)).year
        ruled = self.rule.changes(range(year, year + 401))
        found[-1] = (self.since, self.rule.offset(self.since))
        return [*found, *(each for each in ruled if self.since < each[0] < self.since + CYCLE)]

    def offset(self, second: int) -> int:
        """The offset at a second of UTC, since 1970.

        >>> zone("Europe/Paris").offset(1_719_792_000)
        7200
        """
        if self.rule is not None and (not self.changes or second >= self.changes[-1][0]):
            return self.rule.offset(second)
        return next((offset for at, offset in reversed(self.changes) if second >= at), self.first)

    def local(self, moment: datetime) -> datetime:
        """The time in this zone of a time in UTC, kept within the years 1 to 9999.

        >>> zone("America/New_York").local(datetime(2024, 11, 3, 6, 30))
        datetime.datetime(2024, 11, 3, 1, 30)
        """
        seconds = (moment - _START) // timedelta(seconds=1)
        offset = self.offset(seconds)
        kept = _kept(seconds + offset)
        if kept != seconds + offset:
            return datetime.min if kept == FIRST else datetime.max  # noqa: DTZ901
        return moment + timedelta(seconds=offset)

    def moment(self, local: datetime) -> datetime:
        """A time in UTC that is `local` here. Of two it is the first; in a gap, an hour that the clocks skip, none is.

        >>> zone("America/New_York").moment(datetime(2024, 11, 3, 1, 30))
        datetime.datetime(2024, 11, 3, 5, 30)
        """
        seconds = (local - _START) // timedelta(seconds=1)
        around = [self.offset(_kept(seconds - offset)) for offset in reversed(self.offsets)]
        offset = next((each for each in around if self.offset(_kept(seconds - each)) == each), around[0])
        if _kept(seconds - offset) != seconds - offset:
            return datetime.min if seconds - offset < FIRST else datetime.max  # noqa: DTZ901
        return local - timedelta(seconds=offset)


def _kept(second: int) -> int:
    """The second, or else the nearest one in the years 1 to 9999."""
    return min(max(second, FIRST), LAST)


@cache
def names() -> tuple[str, ...]:
    """The names of all zones."""
    return tuple(resources.files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


UTC_NAMES = ("UTC", "Etc/UTC", "Z", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal")
"""All of these mean UTC."""


def zone(name: object) -> Zone:
    """The zone of a name such as Europe/Paris, whatever its case; every name of UTC gives the same zone.

    >>> zone("utc"), zone("asia/kolkata").name
    (Zone(name='UTC', first=0, changes=(), rule=None), 'Asia/Kolkata')
    """
    if isinstance(name, str):
        if name.lower() in {each.lower() for each in UTC_NAMES}:
            return Zone("UTC", 0)
        for known in names():
            if known.lower() == name.lower():
                return _read(known)
    raise DescriptionError(
        given=f"There is no time zone {name!r}.",
        do=suggestion(name, names())
        if isinstance(name, str) and suggestion(name, names()).startswith("Did")
        else "Write UTC or a name such as Europe/Paris.",
    )


@cache
def _read(name: str) -> Zone:
    folder = resources.files("tzdata").joinpath("zoneinfo")
    return parsed(name, folder.joinpath(*name.split("/")).read_bytes())


def parsed(name: str, content: bytes) -> Zone:
    """The zone in a file of the format TZif [RFC 8536, Sections 3.1 to 3.3]."""
    old = _counts(content)
    start = 44 + old[3] * 5 + old[4] * 6 + old[5] + old[2] * 8 + old[1] + old[0]
    _, _, _, times, types, letters = _counts(content[start:])
    at = start + 44
    seconds = struct.unpack_from(f">{times}q", content, at)
    places = content[at + 8 * times : at + 9 * times]
    kinds = [struct.unpack_from(">l", content, at + 9 * times + 6 * place)[0] for place in range(types)]
    footer = content[content.rindex(b"\n", 0, len(content) - 1) + 1 : -1].decode("ascii")
    first, changes = kinds[0], list[tuple[int, int]]()
    for second, place in zip(seconds, places, strict=True):
        if second <= FIRST:
            first = kinds[place]
        elif kinds[place] != (changes[-1][1] if changes else first):
            changes.append((second, kinds[place]))
    assert letters >= 0
    return _with_rule(name, first, changes, footer, since=seconds[-1] if seconds else FIRST)


def _counts(content: bytes) -> tuple[int, ...]:
    if content[:4] != b"TZif":
        raise InvalidParameter(wanted="a file of a time zone", given="other bytes", do="Install tzdata again.")
    return struct.unpack_from(">6l", content, 20)


def _with_rule(name: str, first: int, changes: list[tuple[int, int]], footer: str, *, since: int) -> Zone:
    """The zone without the changes at the end that the rule makes too, except for the first of them.

    The rule holds `since` the last change in the file, which may be one of the name only.
    """
    standard, rule = _footer(footer)
    if rule is None:
        if standard is not None and standard != (changes[-1][1] if changes else first):
            raise InvalidParameter(wanted=f"a rule for {name}", given=footer, do="Install tzdata again.")
        return Zone(name, first, tuple(changes))
    every = rule.changes()
    if not changes and since == FIRST:
        return Zone(name, first, (), rule)
    following = next(change for change in every if change[0] > since)
    # The rule holds from its own next change on, or from the last change, if that is the one before it.
    if not changes or every[every.index(following) - 1] != changes[-1]:
        changes.append(following)
    made = [change for change in every if change[0] <= changes[-1][0]]
    while len(changes) > 1 and changes[-2] == made[-2]:
        changes.pop()
        made.pop()
    return Zone(name, first, tuple(changes), rule)


_FOOTER = re.compile(
    r"(?:[A-Za-z]+|<[^>]+>)(?P<winter>[-+\d:]+)"
    r"(?:(?:[A-Za-z]+|<[^>]+>)(?P<summer>[-+\d:]*),(?P<there>M[\d.]+)(?:/(?P<from>[-+\d:]+))?"
    r",(?P<back>M[\d.]+)(?:/(?P<to>[-+\d:]+))?)?"
)


def _footer(text: str) -> tuple[int | None, YearlyRule | None]:
    """The standard offset and the rule of all later years, as POSIX writes them: CET-1CEST,M3.5.0,M10.5.0/3."""
    if not text:
        return None, None
    found = _FOOTER.fullmatch(text)
    if found is None:
        raise InvalidParameter(wanted="a rule such as CET-1CEST,M3.5.0,M10.5.0/3", given=text, do="Use another zone.")
    winter = -_clock(found["winter"])
    if found["there"] is None:
        return winter, None
    summer = -_clock(found["summer"]) if found["summer"] else winter + 3_600
    there = _change(found["there"], _clock(found["from"] or "2") - winter)
    back = _change(found["back"], _clock(found["to"] or "2") - summer)
    return winter, YearlyRule(there, back, summer, winter)


def _change(text: str, seconds: int) -> YearlyChange:
    """M3.5.0 is the last Sunday (0) in March; M11.1.0 the first one in November."""
    month, week, weekday = map(int, text[1:].split("."))
    if week == 5 and month == 2:
        raise InvalidParameter(wanted="a rule without the last week of February", given=text, do="Use another zone.")
    day = _LENGTHS[month - 1] - 6 if week == 5 else 7 * week - 6
    return YearlyChange(month, day, weekday, seconds)


def _clock(text: str) -> int:
    """Hours, minutes and seconds as seconds.

    >>> _clock("-1"), _clock("5:30")
    (-3600, 19800)
    """
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
