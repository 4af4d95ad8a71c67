"""Levels of dates: months, quarters and years, which follow from the cells of a column and need no list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from sitr.dataset.cells import Axis, Dates, Step
from sitr.errors import QuestionError, quoted
from sitr.questions.tables.ladder import Groups

UNITS = ("month", "quarter", "year")
"""From fine to coarse."""

Levels = Mapping[str, Groups | str] | Sequence[str]
"""Coarser levels of a column: groups by name, or units of the calendar, which need no groups."""


def by_calendar(levels: object) -> bool:
    """Whether some level is a unit of the calendar."""
    return not isinstance(levels, Mapping) or any(isinstance(unit, str) for unit in levels.values())


def expanded(axis: Axis, levels: Levels) -> dict[str, Groups]:
    """The groups of every level.

    >>> from sitr.dataset.schema import Column, Kind
    >>> months = Dates(Column("day", Kind.DATE), date(2023, 11, 5), date(2024, 2, 1), Step.MONTH)
    >>> expanded(months, ["quarter", "year"])["quarter"]
    {'2023-Q4': ['2023-11', '2023-12'], '2024-Q1': ['2024-01', '2024-02']}
    """
    wanted = levels if isinstance(levels, Mapping) else {unit: unit for unit in levels}
    found: dict[str, Groups] = {}
    finer: dict[str, date] | None = None
    last = -1
    for name, unit in wanted.items():
        if not isinstance(unit, str):
            found[name], finer = unit, None
            continue
        place = _place(axis, name, unit, last)
        days = _days(axis) if finer is None and not found else finer
        if days is None:
            raise QuestionError(
                given=f"The level {name!r} is a unit of the calendar above groups that are none.",
                do="Write units of the calendar first, or list the groups of all levels.",
            )
        made: dict[str, list[str]] = {}
        first: dict[str, date] = {}
        for label, day in days.items():
            group = _label(day, unit)
            made.setdefault(group, []).append(label)
            first.setdefault(group, day)
        found[name], finer, last = made, first, place
    return found


def _place(axis: Axis, name: object, unit: str, last: int) -> int:
    """The place of a unit among all of them, if its cells are made of whole cells of the column and of finer units."""
    if unit not in UNITS:
        raise QuestionError(
            wanted=f"levels by groups, or {', '.join(UNITS)} as units of the calendar",
            given=quoted(unit),
            do='Write for example hierarchies={"day": ["month", "quarter", "year"]}.',
        )
    if not isinstance(axis, Dates) or axis.step is Step.WEEK or (axis.step is Step.YEAR and unit != "year"):
        raise QuestionError(
            given=f"The cells of {axis.column.name!r} are not days or months, so they have no level {name!r}.",
            do='Cut the column with every="day" or every="month" and bounds, or list the groups of the level.',
        )
    if UNITS.index(unit) <= last:
        raise QuestionError(
            given=f"The level {name!r} is not coarser than the one before it.",
            do='Write levels from fine to coarse: ["month", "quarter", "year"].',
        )
    return UNITS.index(unit)


def _days(axis: Axis) -> dict[str, date]:
    """The first day of each ordinary cell, by its label."""
    assert isinstance(axis, Dates)
    cells = [*axis.cells()][: axis.ordinary]
    return {cell.label: cell.low for cell in cells if isinstance(cell.low, date)}


def _label(day: date, unit: str) -> str:
    match unit:
        case "month":
            return f"{day.year:04}-{day.month:02}"
        case "quarter":
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}"
