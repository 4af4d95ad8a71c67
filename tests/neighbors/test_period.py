"""Periods have one name each, and every day is in one of them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from sitr.errors import QuestionError
from sitr.neighbors.period import Length, Period

DAYS = [date(2023, 12, 1) + timedelta(days) for days in range(800)]


def name(day: date, length: Length) -> str:
    """The period of a day, written by hand."""
    match length:
        case Length.MONTH:
            return f"{day:%Y-%m}"
        case Length.QUARTER:
            return f"{day:%Y}-Q{(day.month + 2) // 3}"
        case Length.YEAR:
            return f"{day:%Y}"


@pytest.mark.parametrize("length", Length)
def test_every_day_is_in_exactly_one_period(length: Length) -> None:
    periods = [Period("day", length).named(each) for each in sorted({name(day, length) for day in DAYS})]
    for day in DAYS:
        assert [each.name for each in periods if each.ends[0] <= day < each.ends[1]] == [name(day, length)]


@pytest.mark.parametrize(
    ("length", "text"),
    [
        *(
            (Length.MONTH, text)
            for text in ("2026-13", "2026-00", "2026-3", "2026", "2026-Q1", "9999-12", "0000-01", "")
        ),
        *((Length.QUARTER, text) for text in ("2026-Q5", "2026-Q0", "2026-1", "Q1")),
        *((Length.YEAR, text) for text in ("26", "2026-01", "20260", "٢٠٢٦", None, 2026)),
    ],
)
def test_other_names_are_refused(length: Length, text: object) -> None:
    with pytest.raises(QuestionError, match=f"the name of one {length.value}"):
        Period("day", length).named(text)


def test_a_period_has_one_name() -> None:
    assert Period("day", Length.QUARTER).named(" 2026-q1 ") == Period("day", Length.QUARTER, "2026-Q1")
