"""Public cells: where every row is counted, fixed before any row is read.

A cell is a range of numbers or of dates, a category, or a product of these over several columns. What has no ordinary
cell goes where a public rule says: to the nearest one, to a cell of its own, or nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from fractions import Fraction

from sitr.dataset.schema import Column, Key
from sitr.errors import QuestionError

MOST_CELLS = 10**7
"""Each cell gets noise of its own, full or empty: beyond this nobody would read them."""

NO_VALUE = "(no value)"


class Rule(Enum):
    """Where a row goes whose value is outside of the ordinary cells, or missing (NULL, NaN)."""

    CLAMP = "clamp"
    """To the nearest ordinary cell."""
    CELL = "cell"
    """To a cell of its own."""
    DROP = "drop"
    """Nowhere: it is not counted."""


class Step(Enum):
    """How long the cells of dates are; weeks begin on Mondays."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of one column: its label, and for a range its ends."""

    label: str
    low: Fraction | date | None = None
    high: Fraction | date | None = None


@dataclass(frozen=True, slots=True)
class Even:
    """Ranges of equal width: [e_0, e_1), [e_1, e_2), …, the last one with both ends, e_j = low + j·(high − low)/bins.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Even(Column("age", Kind.INTEGER), Fraction(0), Fraction(120), bins=3)
    >>> [cell.label for cell in axis.cells()]
    ['[0, 40)', '[40, 80)', '[80, 120]', '(no value)']
    """

    column: Column
    low: Fraction
    high: Fraction
    bins: int
    outside: Rule = Rule.CLAMP
    missing: Rule = Rule.CELL

    @property
    def ordinary(self) -> int:
        return self.bins

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.low, self.high

    def edge(self, place: int) -> Fraction:
        """e_j."""
        return self.low + place * (self.high - self.low) / self.bins

    def cells(self) -> Iterator[Cell]:
        edges = map(self.edge, range(self.bins + 1))
        return _ranges(edges, self)


@dataclass(frozen=True, slots=True)
class Edges:
    """Ranges between given edges.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Edges(Column("age", Kind.INTEGER), (Fraction(0), Fraction(18), Fraction(65)), missing=Rule.DROP)
    >>> [cell.label for cell in axis.cells()]
    ['[0, 18)', '[18, 65]']
    """

    column: Column
    edges: tuple[Fraction, ...]
    outside: Rule = Rule.CLAMP
    missing: Rule = Rule.CELL

    @property
    def ordinary(self) -> int:
        return len(self.edges) - 1

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.edges[0], self.edges[-1]

    def cells(self) -> Iterator[Cell]:
        return _ranges(iter(self.edges), self)


@dataclass(frozen=True, slots=True)
class Dates:
    """Days, weeks, months or years from one date to another; the first and the last may be cut by these.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Dates(Column("admitted", Kind.DATE), date(2023, 12, 15), date(2024, 1, 31), Step.MONTH, Rule.CELL)
    >>> [cell.label for cell in axis.cells()]
    ['2023-12', '2024-01', 'before 2023-12-15', 'after 2024-01-31', '(no value)']
    """

    column: Column
    first: date
    last: date
    step: Step
    outside: Rule = Rule.CLAMP
    missing: Rule = Rule.CELL

    @property
    def ordinary(self) -> int:
        return self.number(self.last) + 1

    @property
    def ends(self) -> tuple[date, date]:
        return self.first, self.last

    def number(self, day: date) -> int:
        """The cell of a day between the ends."""
        match self.step:
            case Step.DAY:
                return (day - self.first).days
            case Step.WEEK:
                return (day - self.monday).days // 7
            case Step.MONTH:
                return (day.year - self.first.year) * 12 + day.month - self.first.month
            case Step.YEAR:
                return day.year - self.first.year

    @property
    def monday(self) -> date:
        """The first day of the first week; that of the year 1 is its own first Monday."""
        return self.first - timedelta(min(self.first.weekday(), self.first.toordinal() - 1))

    def cells(self) -> Iterator[Cell]:
        length, final = {Step.MONTH: 7, Step.YEAR: 4}.get(self.step, 10), self.ordinary - 1
        for place in range(final + 1):
            low = max(self._start(place), self.first)
            high = self.last if place == final else self._start(place + 1) - timedelta(1)
            yield Cell(f"{low} to {high}" if self.step is Step.WEEK else low.isoformat()[:length], low, high)
        yield from _special(self)

    def _start(self, place: int) -> date:
        """The first day of a cell."""
        match self.step:
            case Step.DAY:
                return self.first + timedelta(place)
            case Step.WEEK:
                return self.monday + timedelta(7 * place)
            case Step.MONTH:
                months = self.first.year * 12 + self.first.month - 1 + place
                return date(months // 12, months % 12 + 1, 1)
            case Step.YEAR:
                return date(self.first.year + place, 1, 1)


@dataclass(frozen=True, slots=True)
class Categories:
    """Public keys, one cell for each; None among them is the cell of rows without a value.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Categories(Column("ward", Kind.TEXT), ("Surgery", "Maternity"), Rule.CELL)
    >>> [cell.label for cell in axis.cells()]
    ['Surgery', 'Maternity', '(other)', '(no value)']
    """

    column: Column
    keys: tuple[Key, ...]
    outside: Rule = Rule.DROP
    missing: Rule = Rule.CELL

    @property
    def ordinary(self) -> int:
        return len(self.keys)

    def cells(self) -> Iterator[Cell]:
        yield from (Cell(str(key)) for key in self.keys)
        yield from _special(self)


Axis = Even | Edges | Dates | Categories


@dataclass(frozen=True, slots=True)
class Grid:
    """The product of one or more columns' cells, numbered row by row: the last column varies fastest."""

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [axis.column.name for axis in self.axes]
        if not names or len(set(names)) < len(names):
            raise QuestionError(
                wanted="A histogram is over one or more different columns.",
                given=f"{', '.join(names) or 'No column'} was given.",
                do="Name each column once.",
            )
        if self.size > MOST_CELLS:
            raise QuestionError(
                wanted=f"A histogram of at most {MOST_CELLS:,} cells was wanted: every one gets noise, empty ones too.",
                given=f"This one has {self.size:,}.",
                do="Choose fewer or wider cells, or fewer columns.",
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def complete(self) -> bool:
        """Every row is in a cell, whatever it holds."""
        return all(Rule.DROP not in (axis.outside, axis.missing) for axis in self.axes)

    @property
    def line(self) -> int | None:
        """The number of ordinary cells if they stand in a line: one column of numbers or dates."""
        (first, *others) = self.axes
        return None if others or isinstance(first, Categories) else first.ordinary


def size(axis: Axis) -> int:
    """The number of all cells of a column."""
    return axis.ordinary + len(list(_special(axis)))


def spelled(axis: Axis) -> str:
    """A column's cells in a few words.

    >>> from sitr.dataset.schema import Kind
    >>> spelled(Even(Column("age", Kind.INTEGER), Fraction(0), Fraction(120), bins=20))
    'age in 20 cells from 0 to 120'
    """
    match axis:
        case Categories():
            return f"{axis.column.name} in {axis.ordinary} categories"
        case Dates():
            return f"{axis.column.name} by {axis.step.value} from {axis.first} to {axis.last}"
    low, high = map(short, axis.ends)
    return f"{axis.column.name} in {axis.ordinary} cells from {low} to {high}"


def below(axis: Axis) -> int | None:
    """The number of the cell of values before the first cell (or of categories that are not listed), None if none."""
    if axis.outside is Rule.CLAMP:
        return 0
    return axis.ordinary if axis.outside is Rule.CELL else None


def above(axis: Axis) -> int | None:
    """That of values after the last cell."""
    if axis.outside is Rule.CLAMP:
        return axis.ordinary - 1
    return axis.ordinary + 1 if axis.outside is Rule.CELL else None


def nowhere(axis: Axis) -> int | None:
    """That of rows without a value."""
    return size(axis) - 1 if axis.missing is Rule.CELL else None


def _special(axis: Axis) -> Iterator[Cell]:
    """The cells after the ordinary ones."""
    if axis.outside is Rule.CELL:
        match axis:
            case Categories():
                yield Cell("(other)")
            case Dates():
                yield Cell(f"before {axis.first}")
                yield Cell(f"after {axis.last}")
            case _:
                yield Cell(f"below {short(axis.ends[0])}")
                yield Cell(f"above {short(axis.ends[1])}")
    if axis.missing is Rule.CELL:
        yield Cell(NO_VALUE)


def _ranges(edges: Iterator[Fraction], axis: Even | Edges) -> Iterator[Cell]:
    low = next(edges)
    for place, high in enumerate(edges, start=1):
        yield Cell(f"[{short(low)}, {short(high)}{']' if place == axis.ordinary else ')'}", low, high)
        low = high
    yield from _special(axis)


def short(number: Fraction) -> str:
    """A number as it is written at the end of a range.

    >>> short(Fraction(40)), short(Fraction(1, 10)), short(Fraction(1, 3))
    ('40', '0.1', '0.333333')
    """
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.6g}"
