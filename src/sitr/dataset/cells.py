"""Public cells: every value of a column has a cell number, by rules that are fixed before any row is read.

Histograms count rows by these cells, and synthetic rows are drawn from them. A cell is a range of numbers or dates, a
category, or a product of these over several columns. A public rule says what happens to a row whose value has no
ordinary cell: it goes to the nearest cell, to a cell of its own, or it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.schema import Column, Key, Kind
from sitr.errors import QuestionError

MOST_CELLS = 10**7
"""The most cells of a histogram: each gets its own noise, even if it is empty."""

NO_VALUE = "(no value)"


class Rule(Enum):
    """Where a row is counted if its value is outside the ordinary cells, or missing (NULL, NaN)."""

    CLAMP = "clamp"
    """In the nearest ordinary cell."""
    CELL = "cell"
    """In a cell of its own."""
    DROP = "drop"
    """In no cell."""
    MISSING = "missing"
    """Where rows without a value are counted; only for values outside the ordinary cells."""


class Scale(Enum):
    """How numbers are cut into bins."""

    LINEAR = "linear"
    """Bins of almost equal numbers of granules."""
    LOG = "log"
    """Bins that grow with the distance from 0, on both sides of it."""


class Step(Enum):
    """The length of cells of dates; weeks begin on Mondays."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of one column: its label, and the ends of a range."""

    label: str
    low: Fraction | date | None = None
    high: Fraction | date | None = None


@dataclass(frozen=True, slots=True)
class Even:
    """Ranges of equal width: [e_0, e_1), [e_1, e_2), …, [e_{m−1}, e_m] with e_j = low + j·(high − low)/m, m = bins.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Even(Column("age", Kind.INTEGER), Fraction(0), Fraction(120), bins=3)
    >>> [cell.label for cell in axis.cells()]
    ['[0, 40)', '[40, 80)', '[80, 120]', '(no value)']

    Labels of integers are whole numbers, also where edges are not:

    >>> age = Column("age", Kind.INTEGER)
    >>> [cell.label for cell in Even(age, Fraction(0), Fraction(10), bins=4, missing=Rule.DROP).cells()]
    ['[0, 3)', '[3, 5)', '[5, 8)', '[8, 10]']
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
        """e_j for j = `place`."""
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
    """Days, weeks, months or years between two dates; the first and the last cell may be shorter.

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
        """The cell number of a day between the ends."""
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
        """The first day of the first week; it exists, because the calendar begins on a Monday."""
        return self.first - timedelta(self.first.weekday())

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
    """Public keys, one cell for each.

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


@dataclass(frozen=True, slots=True)
class Granular:
    """The granules from `lower` to `upper` in bins of almost equal size; values beyond them count as the ends.

    A number belongs to the nearest multiple of `granularity`, as it does in a sum. A date is a whole number of days
    since 1970 and a timestamp of seconds. Bin b holds the granules k with ⌊(k − lower)·bins/width⌋ = b, where
    width = upper − lower + 1; or, if there are `cuts`, those from one cut to the granule before the next. So each bin
    has finitely many values, and one of them can be drawn.

    >>> from sitr.dataset.schema import Kind
    >>> axis = Granular(Column("age", Kind.INTEGER), 0, 9, Fraction(1), bins=4)
    >>> [cell.label for cell in axis.cells()]
    ['0 to 2', '3 to 4', '5 to 7', '8 to 9', '(no value)']
    """

    column: Column
    lower: int
    upper: int
    granularity: Fraction
    bins: int
    missing: Rule = Rule.CELL
    cuts: tuple[int, ...] = ()
    """The first granules of all bins but the first, if these differ in size by design."""
    outside: ClassVar[Rule] = Rule.CLAMP

    @property
    def ordinary(self) -> int:
        return self.bins

    @property
    def ends(self) -> tuple[Fraction | date, Fraction | date]:
        return self.value(self.lower), self.value(self.upper)

    def first(self, place: int) -> int:
        """The smallest granule of a bin; `first(bins)` is the granule after the last bin."""
        if self.cuts:
            return (self.lower, *self.cuts, self.upper + 1)[place]
        return self.lower - (-place * (self.upper - self.lower + 1) // self.bins)

    def cells(self) -> Iterator[Cell]:
        for place in range(self.bins):
            low, high = self.value(self.first(place)), self.value(self.first(place + 1) - 1)
            yield Cell(short(low) if low == high else f"{short(low)} to {short(high)}", low, high)
        yield from _special(self)

    def value(self, granule: int) -> Fraction | date:
        """A granule in the unit of the column."""
        match self.column.kind:
            case Kind.DATE:
                return date(1970, 1, 1) + timedelta(granule)
            case Kind.TIMESTAMP:
                return datetime(1970, 1, 1) + timedelta(seconds=granule)  # noqa: DTZ001
        return granule * self.granularity


Axis = Even | Edges | Dates | Categories | Granular
Drawable = Granular | Categories
"""Axes whose cells have finitely many values, so that a value can be drawn from a cell."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The product of the cells of one or more columns, numbered so that the last column varies fastest."""

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [axis.column.name for axis in self.axes]
        if not names or len(set(names)) < len(names):
            raise QuestionError(
                wanted="one or more different columns",
                given=", ".join(map(repr, names)) or "none",
                do="Name each column once.",
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def complete(self) -> bool:
        """Whether every row is in a cell, whatever its values are."""
        return all(Rule.DROP not in (axis.outside, axis.missing) for axis in self.axes)

    @property
    def line(self) -> int | None:
        """The number of ordinary cells if they are in order, that is, of a single column of numbers or dates."""
        (first, *others) = self.axes
        return None if others or isinstance(first, Categories) else first.ordinary


def size(axis: Axis) -> int:
    """The number of all cells of a column, special ones included."""
    return axis.ordinary + len(list(_special(axis)))


def spelled(axis: Axis) -> str:
    """The cells of a column in a few words.

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
    """The number of the cell for values below the first cell, or for categories that are not listed; None if none."""
    return _outside(axis, nearest=0, own=axis.ordinary)


def above(axis: Axis) -> int | None:
    """The number of the cell for values above the last cell; None if there is none."""
    return _outside(axis, nearest=axis.ordinary - 1, own=axis.ordinary + 1)


def _outside(axis: Axis, *, nearest: int, own: int) -> int | None:
    match axis.outside:
        case Rule.CLAMP:
            return nearest
        case Rule.CELL:
            return own
        case Rule.MISSING:
            return nowhere(axis)
        case Rule.DROP:
            return None


def nowhere(axis: Axis) -> int | None:
    """The number of the cell for rows without a value; None if there is none."""
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
    """Cells of integers are labelled with the least integers in them: those of [5/2, 7/2) are those of [3, 4)."""
    whole, low = _whole(axis), next(edges)
    for place, high in enumerate(edges, start=1):
        last = place == axis.ordinary
        if whole:
            label = f"[{math.ceil(low)}, {f'{math.floor(high)}]' if last else f'{math.ceil(high)})'}"
        else:
            label = f"[{short(low)}, {short(high)}{']' if last else ')'}"
        yield Cell(label, low, high)
        low = high
    yield from _special(axis)


def _whole(axis: Even | Edges) -> bool:
    """Whether all values are integers, and each cell holds at least one, so that no two labels are the same."""
    if axis.column.kind is not Kind.INTEGER:
        return False
    if isinstance(axis, Even) and axis.high - axis.low >= axis.bins:
        return True
    firsts = map(axis.edge, range(axis.bins)) if isinstance(axis, Even) else iter(axis.edges[:-1])
    rising = all(math.ceil(low) < math.ceil(high) for low, high in pairwise(firsts))
    last = axis.edge(axis.bins - 1) if isinstance(axis, Even) else axis.edges[-2]
    return rising and math.ceil(last) <= math.floor(axis.ends[1])


def short(end: Fraction | date) -> str:
    """The end of a range as it is written in a label.

    >>> short(Fraction(40)), short(Fraction(1, 10)), short(Fraction(1, 3))
    ('40', '0.1', '0.333333')
    """
    if isinstance(end, date):
        return end.isoformat()
    return str(end.numerator) if end.denominator == 1 else f"{float(end):.6g}"
