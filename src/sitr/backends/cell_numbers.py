"""The cell number of a row, as a DuckDB expression that is computed where the row is read.

There is one such expression for each kind of axis. Histograms and synthetic rows use the same ones. No value of a row
can make an expression fail: every cast that could is a TRY_CAST, and numbers are clamped before arithmetic that could
overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from fractions import Fraction

from sitr.backends.duckdb_dialect import DUCKDB
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
from sitr.dataset.schema import Key, Kind, Quantised

identifier, literal, granules = DUCKDB.identifier, DUCKDB.literal, DUCKDB.granules

SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""Types whose values can be compared with 64-bit integers without a cast."""

MOST_COMPARED = 4096
"""With more edges than this, a value is not compared with each of them if a quotient of doubles can be wrong. Then a
value within its rounding error of an edge may count on either side of it."""

MOST_LISTED = 128
"""Up to this many keys a list is searched. An enumeration is faster for more keys, but each value that is not among
them costs DuckDB an error message."""


def cell_number(grid: Grid, types: Mapping[str, str]) -> str:
    """The number of a row's cell, NULL if it has none; `types` are the engine's types of the columns."""
    found = ""
    for axis in grid.axes:
        own = number(axis, types.get(axis.column.name, ""))
        # The number of a category has only as many bits as it needs, so a product could overflow without a cast.
        found = f"({found})::BIGINT * {size(axis)} + ({own})" if found else f"({own})"
    return found


def number(axis: Axis, kind: str = "") -> str:
    """The number of a row's cell on one axis, NULL if it has none; `kind` is DuckDB's type of the column, if known."""
    match axis:
        case Even() if axis.column.kind is Kind.INTEGER and _whole(axis):
            return _of_integer(axis, kind)
        case Even() | Edges():
            return _of_number(axis)
        case Granular():
            return _of_granule(axis, kind)
        case Dates():
            return _of_date(axis)
        case Categories():
            return _of_category(axis)


def _of_number(axis: Even | Edges) -> str:
    """Infinite values are outside the cells. NaN, which DuckDB sorts after them, is missing."""
    value = f"TRY_CAST({identifier(axis.column.name)} AS DOUBLE)"
    low, high = map(_double, axis.ends)

    def sorted_by(inside: str, at: Callable[[int | None], str]) -> str:
        return _cases(axis, value, (low, high), inside=inside, known=f"{value} <= 'infinity'::DOUBLE", at=at)

    if isinstance(axis, Even):
        if (stands := _stand_ins(axis)) is not None:
            return _divided(sorted_by(value, lambda cell: _place(cell, stands)), axis)
        if axis.bins > MOST_COMPARED:
            return sorted_by(f"least({_divided(value, axis)}, {axis.bins - 1})", _place)
    edges = axis.edges if isinstance(axis, Edges) else tuple(map(axis.edge, range(axis.bins + 1)))
    return sorted_by(_halves(value, tuple(map(float, edges)), 0, axis.ordinary), _place)


def _cases(
    axis: Even | Edges,
    value: str,
    ends: tuple[str, str],
    *,
    inside: str,
    known: str,
    at: Callable[[int | None], str],
) -> str:
    """`inside` for a value between the ends, else what stands for a cell `at` its number.

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


def _halves(value: str, edges: tuple[float, ...], first: int, last: int) -> str:
    """A binary search among the edges."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    left, right = _halves(value, edges, first, middle), _halves(value, edges, middle, last)
    return f"CASE WHEN {value} < {edges[middle]!r}::DOUBLE THEN {left} ELSE {right} END"


def _divided(value: str, axis: Even) -> str:
    times, by = float(axis.bins), float(axis.high - axis.low)
    return f"floor(({value} - {_double(axis.low)}) * {times!r}::DOUBLE / {by!r}::DOUBLE)::BIGINT"


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


def _stand_ins(axis: Even) -> dict[int, str] | None:
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
    return {cell: f"{value!r}::DOUBLE" for cell, value in found.items()} if right else None


def _whole(axis: Even) -> bool:
    """Whether the cell of an integer can be computed in 64-bit integers."""
    ends = axis.low.denominator == 1 == axis.high.denominator
    return ends and (axis.high - axis.low) * (axis.bins + 3) < 2**62


def _of_integer(axis: Even, kind: str) -> str:
    """⌊(x − low)·bins/(high − low)⌋ in integers, which is exact."""
    low, high = int(axis.low), int(axis.high)
    value = identifier(axis.column.name) if kind in SMALL else f"TRY_CAST({identifier(axis.column.name)} AS HUGEINT)"
    ends, known = (str(low), str(high)), f"{value} IS NOT NULL"
    times, by = axis.bins // math.gcd(axis.bins, high - low), (high - low) // math.gcd(axis.bins, high - low)
    # The smallest integer whose quotient is at least the number of the cell.
    stands = {cell: low - (-cell * by // times) for cell in (0, *range(axis.ordinary - 1, size(axis)))}
    if any((stand - low) * times // by != cell for cell, stand in stands.items()):  # a cell has no integer
        clamped = f"least(greatest({value}, {low}), {high})::BIGINT"
        inside = f"({clamped} - {low}) * {axis.bins} // {high - low}"
        return _cases(axis, value, ends, inside=inside, known=known, at=_place)
    found = _cases(axis, value, ends, inside=value, known=known, at=lambda cell: _place(cell, stands))
    # Cast before the difference if it may not fit into 32 bits.
    cast = "" if kind in SMALL and max(stands.values()) - low < 2**31 else "::BIGINT"
    stand = f"({found}{cast} - {low})"
    return f"{stand}::BIGINT * {times} // {by}" if times > 1 else f"{stand} // {by}"


def _of_granule(axis: Granular, kind: str) -> str:
    """⌊(k − lower)·bins/width⌋ for the granule k of a value, clamped to the ends."""
    width = axis.upper - axis.lower + 1
    if (
        axis.column.kind is Kind.INTEGER and axis.granularity == 1
    ):  # the cells of Even, with one more granule at the end
        even = Even(axis.column, Fraction(axis.lower), Fraction(axis.upper + 1), axis.bins, missing=axis.missing)
        if _whole(even):
            return _of_integer(even, kind)
    bits = "BIGINT" if width * axis.bins < 2**62 else "HUGEINT"
    return f"coalesce(({_above_lower(axis)})::{bits} * {axis.bins} // {width}, {_place(nowhere(axis))})"


def _above_lower(axis: Granular) -> str:
    """The granules between the lower end and a value, clamped; NULL if the value is missing."""
    value = identifier(axis.column.name)
    if axis.column.kind is Kind.DATE:
        unit, low, high = "day", *(f"(DATE '1970-01-01' + {end}::INTEGER)" for end in (axis.lower, axis.upper))
    elif axis.column.kind is Kind.TIMESTAMP:
        value = f"TRY_CAST({value} AS TIMESTAMP)"
        unit, low, high = "second", *(f"make_timestamp({end}::BIGINT * 1000000)" for end in (axis.lower, axis.upper))
    else:
        return f"{granules(value, Quantised(axis.lower, axis.upper, axis.granularity))} - {axis.lower}"
    # DuckDB's least and greatest ignore NULL, which must stay NULL.
    clamped = f"least(greatest({value}, {low}), {high})"
    return f"CASE WHEN {value} IS NOT NULL THEN date_diff('{unit}', {low}, {clamped}) END"


def _of_date(axis: Dates) -> str:
    """Infinite dates are outside the cells. A timestamp belongs to its day."""
    value = identifier(axis.column.name)
    first, after = literal(axis.first), _day_after(axis.last)
    if axis.column.kind is Kind.TIMESTAMP:
        value, first = f"TRY_CAST({value} AS TIMESTAMP)", f"{first}::TIMESTAMP"
    day = f"CAST({value} AS DATE)"
    match axis.step:
        case Step.DAY:
            inside = f"date_diff('day', {literal(axis.first)}, {day})"
        case Step.WEEK:
            inside = f"date_diff('day', {literal(axis.monday)}, {day}) // 7"
        case Step.MONTH:
            months = axis.first.year * 12 + axis.first.month
            inside = f"year({day}) * 12 + month({day}) - {months}"
        case Step.YEAR:
            inside = f"year({day}) - {axis.first.year}"
    cases = [
        f"WHEN {value} IS NULL THEN {_place(nowhere(axis))}",
        f"WHEN {value} < {first} THEN {_place(below(axis))}",
        f"WHEN {value} < {after} THEN {inside}" if after else f"WHEN year({day}) <= 9999 THEN {inside}",
    ]
    return f"CASE {' '.join(cases)} ELSE {_place(above(axis))} END"


def _day_after(day: date) -> str | None:
    """The first moment after a day; None after the last day that Python knows."""
    return f"{literal(day + timedelta(1))}::TIMESTAMP" if day < date.max else None


def _of_category(axis: Categories) -> str:
    """Look keys up by their text, which is different for different keys of one type."""
    name = identifier(axis.column.name)
    value = f"TRY_CAST({name} AS BIGINT)" if axis.column.kind is Kind.INTEGER else name
    listed, text = ", ".join(literal(_text(key)) for key in axis.keys), f"CAST({value} AS VARCHAR)"
    if not axis.keys:
        code = "NULL"
    elif len(axis.keys) <= MOST_LISTED:
        code = f"nullif(list_position([{listed}], {text}), 0) - 1"
    else:
        code = f"enum_code(TRY_CAST({text} AS ENUM({listed})))"
    return f"CASE WHEN {value} IS NULL THEN {_place(nowhere(axis))} ELSE coalesce({code}, {_place(below(axis))}) END"


def _text(key: Key) -> str:
    """A key as DuckDB writes it."""
    match key:
        case bool():
            return "true" if key else "false"
        case date():
            return key.isoformat()
    return str(key)


def _place(cell: int | None, stands: Mapping[int, object] | None = None) -> str:
    """The number of a cell, or what stands for it."""
    return "NULL" if cell is None else str(cell if stands is None else stands[cell])


def _double(end: object) -> str:
    return f"{float(end)!r}::DOUBLE"  # type: ignore[arg-type]
