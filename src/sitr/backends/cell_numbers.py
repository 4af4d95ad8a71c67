"""The cell number of a row, as an SQL expression that is computed where the row is read.

There is one such expression for each kind of axis. Histograms and synthetic rows use the same ones. No value of a row
can make an expression fail: a cast that cannot succeed gives NULL, and numbers are clamped before arithmetic that could
overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from sitr.backends.dialect import Dialect
from sitr.dataset.cells import (
    Axis,
    Categories,
    Dates,
    Edges,
    Even,
    Granular,
    Grid,
    Step,
    above,
    below,
    nowhere,
    size,
)
from sitr.dataset.schema import Kind, Quantised

MOST_COMPARED = 4096
"""With more edges than this, a value is not compared with each of them if a quotient of doubles can be wrong. Then a
value within its rounding error of an edge may count on either side of it."""


def cell_number(grid: Grid, *, types: Mapping[str, str], dialect: Dialect) -> str:
    """The number of a row's cell in a grid; NULL for rows that are not counted. `types` are the engine's own."""
    found = ""
    for axis in grid.axes:
        # A public table for comparisons may lack the column: then the statement fails, and not this function.
        own = number(axis, type=types.get(axis.column.name, ""), dialect=dialect)
        # The number of a category has only as many bits as it needs, so a product could overflow without a cast.
        found = f"{dialect.whole(found)} * {size(axis)} + ({own})" if found else f"({own})"
    return found


def number(axis: Axis, *, type: str, dialect: Dialect) -> str:
    """The number of a row's cell on one axis, NULL if it has none; `type` is the engine's type of the column."""
    writer = _AxisWriter(dialect)
    match axis:
        case Even() if axis.column.kind is Kind.INTEGER and _whole(axis):
            return writer.of_integer(axis, type)
        case Even() | Edges():
            return writer.of_number(axis)
        case Granular():
            return writer.of_granule(axis, type)
        case Dates():
            return writer.of_date(axis)
        case Categories():
            return writer.of_category(axis)


@dataclass(frozen=True, slots=True)
class _AxisWriter:
    """One expression for each kind of axis."""

    say: Dialect

    def column(self, axis: Axis) -> str:
        return self.say.identifier(axis.column.name)

    def double(self, number: Fraction | float) -> str:
        return self.say.literal(float(number))

    def of_number(self, axis: Even | Edges) -> str:
        """Infinite values are outside the cells. NaN, which is not less than any number, is missing."""
        value = self.say.number(self.column(axis))
        low, high = map(self.double, axis.ends)

        def sorted_by(inside: str, at: Callable[[int | None], str]) -> str:
            known = f"{value} <= {self.double(math.inf)}"
            return _cases(axis, value, (low, high), inside=inside, known=known, at=at)

        if isinstance(axis, Even):
            if (stands := _stand_ins(axis)) is not None:
                written = {cell: self.double(stand) for cell, stand in stands.items()}
                return self.divided(sorted_by(value, lambda cell: _place(cell, written)), axis)
            if axis.bins > MOST_COMPARED:
                return sorted_by(f"least({self.divided(value, axis)}, {axis.bins - 1})", _place)
        edges = axis.edges if isinstance(axis, Edges) else tuple(map(axis.edge, range(axis.bins + 1)))
        return sorted_by(self.halves(value, tuple(map(self.double, edges)), 0, axis.ordinary), _place)

    def halves(self, value: str, edges: tuple[str, ...], first: int, last: int) -> str:
        """A binary search among the edges."""
        if last - first == 1:
            return str(first)
        middle = (first + last) // 2
        left, right = self.halves(value, edges, first, middle), self.halves(value, edges, middle, last)
        return f"CASE WHEN {value} < {edges[middle]} THEN {left} ELSE {right} END"

    def divided(self, value: str, axis: Even) -> str:
        """See `_quotient`."""
        return self.say.steps(value, float(axis.low), float(axis.bins), float(axis.high - axis.low))

    def of_integer(self, axis: Even, type: str) -> str:
        """⌊(x − low)·bins/(high − low)⌋ in integers, which is exact."""
        low, high = int(axis.low), int(axis.high)
        value = self.say.integer(self.column(axis), type)
        ends, known = (str(low), str(high)), f"{value} IS NOT NULL"
        times, by = axis.bins // math.gcd(axis.bins, high - low), (high - low) // math.gcd(axis.bins, high - low)
        # The smallest integer whose quotient is at least the number of the cell.
        stands = {cell: low - (-cell * by // times) for cell in (0, *range(axis.ordinary - 1, size(axis)))}
        if any((stand - low) * times // by != cell for cell, stand in stands.items()):  # a cell has no integer
            clamped = self.say.whole(f"least(greatest({value}, {low}), {high})")
            inside = self.say.quotient(f"({clamped} - {low}) * {axis.bins}", high - low)
            return _cases(axis, value, ends, inside=inside, known=known, at=_place)
        found = _cases(axis, value, ends, inside=value, known=known, at=lambda cell: _place(cell, stands))
        steps = f"({self.say.whole(found)} - {low})"
        return self.say.quotient(f"{steps} * {times}" if times > 1 else steps, by)

    def of_granule(self, axis: Granular, type: str) -> str:
        """⌊(k − lower)·bins/width⌋ for the granule k of a value, clamped to the ends; or its place among the cuts."""
        width = axis.upper - axis.lower + 1
        if axis.cuts:
            steps, cuts = f"({self.above_lower(axis)})", ("0", *(str(cut - axis.lower) for cut in axis.cuts))
            found = self.halves(steps, cuts, 0, axis.bins)
            return f"CASE WHEN {steps} IS NULL THEN {_place(nowhere(axis))} ELSE {found} END"
        if axis.column.kind is Kind.INTEGER and axis.granularity == 1:
            # The cells of Even, with one more granule at the end.
            even = Even(axis.column, Fraction(axis.lower), Fraction(axis.upper + 1), axis.bins, missing=axis.missing)
            if _whole(even):
                return self.of_integer(even, type)
        steps = self.above_lower(axis)
        product = f"{(self.say.whole if width * axis.bins < 2**62 else self.say.wide)(steps)} * {axis.bins}"
        return f"coalesce({self.say.quotient(product, width)}, {_place(nowhere(axis))})"

    def above_lower(self, axis: Granular) -> str:
        """The granules between the lower end and a value, clamped; NULL if the value is missing."""
        value, low, high = self.column(axis), axis.value(axis.lower), axis.value(axis.upper)
        if isinstance(low, Fraction) or isinstance(high, Fraction):
            return f"{self.say.granules(value, Quantised(axis.lower, axis.upper, axis.granularity))} - {axis.lower}"
        value = self.say.moment(value) if isinstance(low, datetime) else value
        # Engines skip NULL in least and greatest, but it must stay NULL.
        clamped = f"least(greatest({value}, {self.say.literal(low)}), {self.say.literal(high)})"
        steps = self.say.seconds(low, clamped) if isinstance(low, datetime) else self.say.days(low, clamped)
        return f"CASE WHEN {value} IS NOT NULL THEN {steps} END"

    def of_date(self, axis: Dates) -> str:
        """Infinite dates are outside the cells. A timestamp belongs to its day."""
        value, first = self.column(axis), self.say.literal(axis.first)
        day, after = value, axis.last + timedelta(1) if axis.last < date.max else None
        last = None if after is None else self.say.literal(after)
        if axis.column.kind is Kind.TIMESTAMP:
            value = self.say.moment(value)
            day, first = f"CAST({value} AS DATE)", self.say.literal(_midnight(axis.first))
            last = None if after is None else self.say.literal(_midnight(after))
        year, month = (self.say.extracted(part, day) for part in ("year", "month"))
        match axis.step:
            case Step.DAY:
                inside = self.say.days(axis.first, day)
            case Step.WEEK:
                inside = self.say.quotient(self.say.days(axis.monday, day), 7)
            case Step.MONTH:
                inside = f"{year} * 12 + {month} - {axis.first.year * 12 + axis.first.month}"
            case Step.YEAR:
                inside = f"{year} - {axis.first.year}"
        cases = [
            f"WHEN {value} IS NULL THEN {_place(nowhere(axis))}",
            f"WHEN {value} < {first} THEN {_place(below(axis))}",
            f"WHEN {f'{year} <= 9999' if last is None else f'{value} < {last}'} THEN {inside}",
        ]
        return f"CASE {' '.join(cases)} ELSE {_place(above(axis))} END"

    def of_category(self, axis: Categories) -> str:
        value = self.say.key(axis.column) if axis.column.kind is Kind.INTEGER else self.column(axis)
        place = self.say.position(value, axis.keys) if axis.keys else "NULL"
        return (
            f"CASE WHEN {value} IS NULL THEN {_place(nowhere(axis))} ELSE coalesce({place}, {_place(below(axis))}) END"
        )


def _cases(
    axis: Even | Edges,
    value: str,
    ends: tuple[str, str],
    *,
    inside: str,
    known: str,
    at: Callable[[int | None], str],
) -> str:
    """`inside` for a value between the ends, and otherwise `at(number)` for the number of its cell.

    Only values that are `known` can be above the last cell.
    """
    low, high = ends
    # The last cell includes both of its ends, so that only values beyond the upper end are outside.
    last = [] if above(axis) == axis.ordinary - 1 else [f"WHEN {value} = {high} THEN {at(axis.ordinary - 1)}"]
    cases = [
        f"WHEN {value} < {low} THEN {at(below(axis))}",
        f"WHEN {value} < {high} THEN {inside}",
        *last,
        f"WHEN {known} THEN {at(above(axis))}",
    ]
    return f"CASE {' '.join(cases)} ELSE {at(nowhere(axis))} END"


def _quotient(value: float, axis: Even) -> int:
    """⌊(x − low)·bins/(high − low)⌋ as the database computes it, with doubles."""
    return math.floor((value - float(axis.low)) * float(axis.bins) / float(axis.high - axis.low))


def exactly_divided(axis: Even) -> bool:
    """Whether the quotient of doubles is the right cell for every double between the ends.

    Each of its operations is monotone, rounding included. So it is right everywhere if it is right at every edge and at
    the double before every edge.
    """
    edges = ((place, float(axis.edge(place))) for place in range(1, axis.bins + 1))
    return all(
        _quotient(edge, axis) == place and _quotient(math.nextafter(edge, -math.inf), axis) == place - 1
        for place, edge in edges
    )


def _stand_ins(axis: Even) -> dict[int, float] | None:
    """Values whose quotient is the number of the first, the last and each special cell.

    With them one division serves all rows, which is faster than a decision for each. None if there are no such values,
    or if the quotient of doubles is not exact enough.
    """
    cells = (0, *range(axis.ordinary - 1, size(axis)))
    found = {cell: float(axis.low + (cell + Fraction(1, 2)) * (axis.high - axis.low) / axis.bins) for cell in cells}
    right = all(_quotient(value, axis) == cell for cell, value in found.items())
    if axis.bins <= MOST_COMPARED:
        right = right and exactly_divided(axis)
    elif _quotient(math.nextafter(float(axis.high), -math.inf), axis) >= axis.bins:
        right = False
    return found if right else None


def _whole(axis: Even) -> bool:
    """Whether the cell of an integer can be computed in 64-bit integers."""
    ends = axis.low.denominator == 1 == axis.high.denominator
    return ends and (axis.high - axis.low) * (axis.bins + 3) < 2**62


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - without a zone, as the column


def _place(cell: int | None, stands: Mapping[int, object] | None = None) -> str:
    """The number of a cell, or the value that stands for it."""
    return "NULL" if cell is None else str(cell if stands is None else stands[cell])
