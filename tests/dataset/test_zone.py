"""Time zones against Python's own reading of the same tables."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

import pytest

from sitr.dataset.zone import CYCLE, DAY, FIRST, LAST, YearlyRule, Zone, names, parsed, zone
from sitr.errors import DescriptionError, InvalidParameter

START = datetime(1970, 1, 1, tzinfo=UTC)


def theirs(name: str) -> ZoneInfo:
    """The zone as Python reads it in the package tzdata, whatever the machine has."""
    file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with file.open("rb") as content:
        return ZoneInfo.from_file(content, key=name)


def seconds(found: Zone) -> Iterator[int]:
    """Around every change, in years of the rule, and anywhere in the calendar."""
    rng = random.Random(found.name)
    yield from (at + by for at, _ in found.changes for by in (-1, 0, 1))
    if found.rule is not None:
        for change in (found.rule.there, found.rule.back):
            yield from (change.at(year) + by for year in (1999, 2024, 2037, 2038, 2100, 2400, 9998) for by in (-1, 0))
    yield from (rng.randrange(FIRST + DAY, LAST - DAY) for _ in range(30))
    yield from (rng.randrange(4 * 10**9) for _ in range(30))


@pytest.mark.parametrize("first", range(10))
def test_every_zone_has_the_offsets_that_python_reads(first: int) -> None:
    for name in names()[first::10]:
        found, other = zone(name), theirs(name)
        for second in seconds(found):
            offset = (START + timedelta(seconds=second)).astimezone(other).utcoffset()
            assert offset is not None
            assert found.offset(second) == offset.total_seconds(), (name, second)


def test_a_rule_that_is_an_hour_late_is_caught() -> None:
    found = zone("Europe/Paris")
    assert found.rule is not None
    late = YearlyRule(found.rule.there, found.rule.back, found.rule.winter, found.rule.summer)
    broken = Zone(found.name, found.first, found.changes, late)
    assert any(broken.offset(second) != found.offset(second) for second in seconds(found))


def by_turns(found: Zone, second: int, *, cycle: int = CYCLE) -> int:
    """The offset as an engine finds it that searches the list."""
    turns, since = found.turns(), found.since
    if since is not None and second >= since:
        second = since + (second - since) % cycle
    return turns[bisect_right(turns, (second, DAY)) - 1][1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(10))
def test_the_list_of_turns_has_the_offset_of_every_second(first: int) -> None:
    for name in names()[first::20]:
        found = zone(name)
        turns = found.turns()
        assert [at for at, _ in turns] == sorted({at for at, _ in turns})
        ends = [FIRST, FIRST + 1, LAST]
        if found.since is not None:
            ends += [found.since + times * CYCLE + by for times in (0, 1, 9) for by in (0, 1)]
        for second in (*seconds(found), *ends):
            assert by_turns(found, second) == found.offset(second), (name, second)


def test_a_cycle_of_another_length_is_caught() -> None:
    paris = zone("Europe/Paris")
    assert any(by_turns(paris, second, cycle=CYCLE + DAY) != paris.offset(second) for second in seconds(paris))


def test_tables_are_short_because_the_rule_makes_what_it_can() -> None:
    assert max(len(zone(name).changes) for name in names()) < 320
    assert len(zone("Europe/Paris").changes) < 110


def test_two_moments_in_a_fold_and_none_in_a_gap() -> None:
    paris = zone("Europe/Paris")
    both = [paris.local(datetime(2024, 10, 27, hour, 30)) for hour in (0, 1)]  # noqa: DTZ001
    assert both == [datetime(2024, 10, 27, 2, 30)] * 2  # noqa: DTZ001
    after = [paris.local(datetime(2024, 3, 31, hour, 30)) for hour in (0, 1)]  # noqa: DTZ001
    assert after == [datetime(2024, 3, 31, hour, 30) for hour in (1, 3)]  # noqa: DTZ001


def test_the_ends_of_the_calendar_stay_in_it() -> None:
    assert zone("Asia/Tokyo").local(datetime.max) == datetime.max  # noqa: DTZ901
    assert zone("America/New_York").local(datetime.min) == datetime.min  # noqa: DTZ901


@pytest.mark.parametrize("name", ["localtime", "Europe/Pariss", "../etc/passwd", "+02:00", "", 2, None])
def test_unknown_names_are_refused(name: object) -> None:
    with pytest.raises(DescriptionError, match="There is no time zone"):
        zone(name)


def test_a_misspelled_name_is_corrected() -> None:
    with pytest.raises(DescriptionError, match="Europe/Paris"):
        zone("Europe/Pariss")


@pytest.mark.parametrize("content", [b"nothing at all of this kind"])
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(InvalidParameter, match="time zone"):
        parsed("x", content)


@pytest.mark.parametrize("first", range(4))
def test_moments_of_times_are_found_except_in_gaps(first: int) -> None:
    for name in names()[first::12]:
        found = zone(name)
        for second in seconds(found):
            utc = datetime(1970, 1, 1) + timedelta(seconds=second)  # noqa: DTZ001
            moment = found.moment(found.local(utc))
            assert found.local(moment) == found.local(utc), (name, utc)
            assert moment <= utc


def test_a_time_in_a_gap_is_moved() -> None:
    paris = zone("Europe/Paris")
    moment = paris.moment(datetime(2024, 3, 31, 2, 30))  # noqa: DTZ001
    assert moment == datetime(2024, 3, 31, 1, 30)  # noqa: DTZ001
    assert paris.local(moment) == datetime(2024, 3, 31, 3, 30)  # noqa: DTZ001


def test_moments_stay_in_the_calendar() -> None:
    assert zone("Asia/Tokyo").moment(datetime.min) == datetime.min  # noqa: DTZ901
    assert zone("America/New_York").moment(datetime.max) == datetime.max  # noqa: DTZ901
