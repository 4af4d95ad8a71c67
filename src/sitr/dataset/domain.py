"""From what is said about a column to its public cells; whatever only the rows could tell is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from sitr.dataset.cells import MOST_CELLS, Axis, Categories, Dates, Edges, Even, Rule, Step
from sitr.dataset.literals import shown
from sitr.dataset.schema import GROUPABLE, NUMERIC, Column, Key, Kind, public_keys
from sitr.errors import QuestionError
from sitr.numbers import Number, exact

LARGEST = 2**53
"""Ends of ranges are numbers up to this size: every whole number so large is a double."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was said about one column; None where nothing was."""

    bins: int | None = None
    bounds: tuple[Number | date, Number | date] | None = None
    edges: Sequence[Number] | None = None
    keys: Sequence[Key] | None = None
    every: Step | None = None
    outside: Rule | None = None
    missing: Rule = Rule.CELL


def axis(column: Column, wanted: Wanted) -> Axis | None:
    """The cells of a column, or None where it has categories that nobody has listed.

    >>> axis(Column("age", Kind.INTEGER), Wanted(bins=20, bounds=(0, 120))).ordinary
    20
    >>> axis(Column("age", Kind.INTEGER), Wanted(bins=20))
    Traceback (most recent call last):
    sitr.errors.QuestionError: The cells of 'age' are public: they want bounds=(low, high), or edges. ...
    """
    _known_rules(column, wanted)
    if wanted.keys is not None or (column.keys is not None and not _ranged(wanted)):
        return _categories(column, wanted)
    if column.kind in (Kind.DATE, Kind.TIMESTAMP) and _ranged(wanted):
        return _dates(column, wanted)
    if column.kind in NUMERIC and (_ranged(wanted) or column.quantised is not None or column.kind is Kind.REAL):
        return _numbers(column, wanted)
    if column.kind in GROUPABLE and not _ranged(wanted):
        return None
    raise QuestionError(
        wanted="Ranges are of numbers and dates, categories of text, whole numbers, truth values and dates.",
        given=f"{column.name!r} holds {column.kind.value}.",
        do="Say bins and bounds of a number, every and bounds of a date, or keys of categories.",
    )


def _ranged(wanted: Wanted) -> bool:
    said = (wanted.bins, wanted.bounds, wanted.edges, wanted.every)
    return any(part is not None for part in said)


def _known_rules(column: Column, wanted: Wanted) -> None:
    if not isinstance(wanted.outside, Rule | None) or wanted.missing not in (Rule.CELL, Rule.DROP):
        raise QuestionError(
            wanted=f"Rows of {column.name!r} without a cell follow a public rule: Rule.CELL or Rule.DROP, and "
            "Rule.CLAMP for values outside of ranges.",
            given=f"outside={wanted.outside!r}, missing={wanted.missing!r} were given.",
            do="Choose one of those; there is no cell that is nearest to no value.",
        )


def _categories(column: Column, wanted: Wanted) -> Categories:
    if _ranged(wanted) or wanted.outside is Rule.CLAMP:
        raise QuestionError(
            wanted=f"The categories of {column.name!r} are its cells; others go to a cell of their own, or nowhere.",
            given="Ranges, or a rule to clamp, were given too.",
            do="Leave out bins, bounds, edges and every, and choose Rule.CELL or Rule.DROP.",
        )
    keys = column.keys if wanted.keys is None else public_keys(column.name, column.kind, wanted.keys)
    listed = tuple(key for key in keys or () if key is not None)
    missing = Rule.CELL if None in (keys or ()) else wanted.missing
    return Categories(column, listed, wanted.outside or Rule.DROP, missing)


def _dates(column: Column, wanted: Wanted) -> Dates:
    first, last = map(_day, wanted.bounds or (None, None))
    told = (wanted.bins, wanted.edges) == (None, None) and isinstance(wanted.every, Step)
    if first is None or last is None or first > last or not told:
        raise QuestionError(
            wanted=f"The cells of {column.name!r} want every=Step.MONTH or the like, and bounds of two dates.",
            given=f"every={wanted.every!r}, bounds={shown(wanted.bounds)} were given.",
            do="Take the dates from public knowledge, such as the year of the survey.",
        )
    return Dates(column, first, last, wanted.every or Step.DAY, wanted.outside or Rule.CLAMP, wanted.missing)


def _day(value: object) -> date | None:
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _numbers(column: Column, wanted: Wanted) -> Even | Edges:
    outside = wanted.outside or Rule.CLAMP
    if wanted.edges is not None:
        edges = tuple(map(_number, wanted.edges))
        if len(edges) < 2 or wanted.bins is not None or not all(map(_rises, edges, edges[1:])):
            raise QuestionError(
                wanted=f"The edges of {column.name!r} are two or more rising numbers, without bins.",
                given=f"edges={shown(wanted.edges)}, bins={wanted.bins!r} were given.",
                do="Write for example edges=(0, 18, 40, 65, 120).",
            )
        return Edges(column, tuple(edge for edge in edges if edge is not None), outside, wanted.missing)
    low, high = _bounds(column, wanted)
    if isinstance(wanted.bins, bool) or not isinstance(wanted.bins, int) or not 1 <= wanted.bins <= MOST_CELLS:
        raise QuestionError(
            wanted=f"The number of cells of {column.name!r} is a whole number from 1 to {MOST_CELLS:,}.",
            given=f"bins={wanted.bins!r} was given.",
            do="Write for example bins=20, or edges=(0, 18, 40, 65, 120).",
        )
    return Even(column, low, high, wanted.bins, outside, wanted.missing)


def _bounds(column: Column, wanted: Wanted) -> tuple[Fraction, Fraction]:
    if wanted.bounds is None and column.quantised is not None:
        grain = column.quantised.granularity
        low, high = column.quantised.lower * grain, column.quantised.upper * grain
    else:
        found = [end for end in map(_number, wanted.bounds or ()) if end is not None]
        if len(found) != 2:
            raise QuestionError(
                wanted=f"The cells of {column.name!r} are public: they want bounds=(low, high), or edges.",
                given=f"bounds={shown(wanted.bounds)} was given, and the description has none.",
                do="Use what is publicly known, such as (0, 120); the extremes of the rows belong to somebody.",
            )
        low, high = found
    if float(low) >= float(high):  # as the rows will be compared with them
        raise QuestionError(
            wanted=f"The bounds of {column.name!r} are two numbers, low < high.",
            given=f"{float(low):g} and {float(high):g} were given.",
            do="Use what is publicly known, such as (0, 120).",
        )
    return low, high


def _number(value: object) -> Fraction | None:
    """An end of a range as the number that it prints as; None if it is no number, or too large."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return exact(value) if abs(exact(value)) <= LARGEST else None


def _rises(low: Fraction | None, high: Fraction | None) -> bool:
    return low is not None and high is not None and low < high
