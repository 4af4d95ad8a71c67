"""The number of a row's public cell as an SQL expression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, timedelta
from fractions import Fraction

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.dataset.cells import Axis, Categories, Dates, Edges, Even, Grid, Rule, Step, above, below, nowhere, size
from sitr.dataset.schema import Key, Kind

identifier, literal = DUCKDB.identifier, DUCKDB.literal

SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""Types whose values need no cast to be compared with 64-bit integers."""

MOST_COMPARED = 4096
"""Up to so many edges are compared by halves if a quotient of doubles could be wrong about one; beyond, a value that
is within its rounding of an edge may count on either side of it."""


def number(grid: Grid, types: Mapping[str, str]) -> str:
    """The number of a row's cell as SQL; NULL for rows that are not counted."""
    found = ""
    for axis in grid.axes:
        own = _number(axis, types[axis.column.name])
        # The number of a category has as few bits as it needs: without a cast a product could be too large for them.
        found = f"({found})::BIGINT * {size(axis)} + ({own})" if found else f"({own})"
    return found


def _number(axis: Axis, kind: str) -> str:
    match axis:
        case Even() if axis.column.kind is Kind.INTEGER and _whole(axis):
            return _of_integer(axis, kind)
        case Even() | Edges():
            return _of_number(axis)
        case Dates():
            return _of_date(axis)
        case Categories():
            return _of_category(axis)


def _of_number(axis: Even | Edges) -> str:
    """Infinite values are outside; NaN, which compares as larger than they are, has no value."""
    value = f"TRY_CAST({identifier(axis.column.name)} AS DOUBLE)"
    if isinstance(axis, Even):
        if (stands := _stand_ins(axis)) is not None:
            return _divided(_sorted(value, axis, inside=value, stands=stands), axis)
        if axis.bins > MOST_COMPARED:
            return _sorted(value, axis, inside=f"least({_divided(value, axis)}, {axis.bins - 1})", stands={})
    edges = axis.edges if isinstance(axis, Edges) else tuple(map(axis.edge, range(axis.bins + 1)))
    return _sorted(value, axis, inside=_halves(value, tuple(map(float, edges)), 0, axis.ordinary), stands={})


def _divided(value: str, axis: Even) -> str:
    times, by = float(axis.bins), float(axis.high - axis.low)
    return f"floor(({value} - {_double(axis.low)}) * {times!r}::DOUBLE / {by!r}::DOUBLE)::BIGINT"


def _sorted(value: str, axis: Even | Edges, *, inside: str, stands: Mapping[int, str]) -> str:
    """What is computed for a value between the ends; elsewhere the number of a cell, or what stands for it."""
    low, high = map(_double, axis.ends)

    def at(cell: int | None) -> str:
        return "NULL" if cell is None else stands.get(cell, str(cell))

    # The last cell has both of its ends, so that only what is beyond them is outside.
    last = [] if above(axis) == axis.ordinary - 1 else [f"WHEN {value} = {high} THEN {at(axis.ordinary - 1)}"]
    cases = [
        f"WHEN {value} < {low} THEN {at(below(axis))}",
        f"WHEN {value} < {high} THEN {inside}",
        *last,
        f"WHEN {value} <= 'infinity'::DOUBLE THEN {at(above(axis))}",
    ]
    return f"CASE {' '.join(cases)} ELSE {at(nowhere(axis))} END"


def _halves(value: str, edges: tuple[float, ...], first: int, last: int) -> str:
    """Comparisons with one edge after another, by halves."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    left, right = _halves(value, edges, first, middle), _halves(value, edges, middle, last)
    return f"CASE WHEN {value} < {edges[middle]!r}::DOUBLE THEN {left} ELSE {right} END"


def _quotient(value: float, axis: Even) -> int:
    """⌊(x − low)·bins/(high − low)⌋ as the database computes it, with doubles."""
    return math.floor((value - float(axis.low)) * float(axis.bins) / float(axis.high - axis.low))


def exactly_divided(axis: Even) -> bool:
    """Whether the quotient is the right cell for every double between the ends.

    Each operation of it is monotone, rounding included. So it is right everywhere if it is right at every edge and at
    the double before.
    """
    edges = ((place, float(axis.edge(place))) for place in range(1, axis.bins + 1))
    return all(
        _quotient(edge, axis) == place and _quotient(math.nextafter(edge, -math.inf), axis) == place - 1
        for place, edge in edges
    )


def _stand_ins(axis: Even) -> dict[int, str] | None:
    """Values whose quotient is the number of the first, the last and each special cell; None if there are none, or if
    the quotient of doubles is not good enough. One division for all rows is quicker than a decision for each."""
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
    """In integers: ⌊(x − low)·bins/(high − low)⌋ is exact."""
    low, high = int(axis.low), int(axis.high)
    value = identifier(axis.column.name) if kind in SMALL else f"TRY_CAST({identifier(axis.column.name)} AS HUGEINT)"
    times, by = axis.bins // math.gcd(axis.bins, high - low), (high - low) // math.gcd(axis.bins, high - low)
    # An integer in the cell, or, for those without one, as many whole steps after the last as it takes.
    stands = {cell: low - (-cell * by // times) for cell in (0, *range(axis.ordinary - 1, size(axis)))}
    if any((stand - low) * times // by != cell for cell, stand in stands.items()):
        return _one_by_one(axis, value, low, high)

    def at(cell: int | None) -> str:
        return "NULL" if cell is None else str(stands[cell])

    last = [] if above(axis) == axis.ordinary - 1 else [f"WHEN {value} = {high} THEN {at(axis.ordinary - 1)}"]
    cases = [
        f"WHEN {value} < {low} THEN {at(below(axis))}",
        f"WHEN {value} < {high} THEN {value}",
        *last,
        f"WHEN {value} IS NOT NULL THEN {at(above(axis))}",
    ]
    # Cast before the difference where 32 bits need not hold it: no row may make an error.
    cast = "" if kind in SMALL and max(stands.values()) - low < 2**31 else "::BIGINT"
    stand = f"(CASE {' '.join(cases)} ELSE {at(nowhere(axis))} END{cast} - {low})"
    return f"{stand}::BIGINT * {times} // {by}" if times > 1 else f"{stand} // {by}"


def _one_by_one(axis: Even, value: str, low: int, high: int) -> str:
    """The same where more cells than integers leave some of them without one."""
    clamped = f"least(greatest({value}, {low}), {high})::BIGINT"
    inside = f"least(({clamped} - {low}) * {axis.bins} // {high - low}, {axis.bins - 1})"
    cases = [f"WHEN {value} IS NULL THEN {_place(nowhere(axis))}"]
    if axis.outside is not Rule.CLAMP:
        cases.append(f"WHEN {value} < {low} THEN {_place(below(axis))}")
        cases.append(f"WHEN {value} > {high} THEN {_place(above(axis))}")
    return f"CASE {' '.join(cases)} ELSE {inside} END"


def _of_date(axis: Dates) -> str:
    """Infinite dates are outside; a moment belongs to its day."""
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
    """The first moment after a day, which Python has but for its last."""
    return f"{literal(day + timedelta(1))}::TIMESTAMP" if day < date.max else None


def _of_category(axis: Categories) -> str:
    """Keys are looked up by their text, in which no two of one type are alike."""
    name = identifier(axis.column.name)
    kind = axis.column.kind
    value = f"TRY_CAST({name} AS BIGINT)" if kind is Kind.INTEGER else name
    listed = ", ".join(literal(_text(key)) for key in axis.keys)
    code = f"enum_code(TRY_CAST(CAST({value} AS VARCHAR) AS ENUM({listed})))" if listed else "NULL"
    return f"CASE WHEN {value} IS NULL THEN {_place(nowhere(axis))} ELSE coalesce({code}, {_place(below(axis))}) END"


def _text(key: Key) -> str:
    """A key as DuckDB writes it."""
    match key:
        case bool():
            return "true" if key else "false"
        case date():
            return key.isoformat()
    return str(key)


def _place(cell: int | None) -> str:
    return "NULL" if cell is None else str(cell)


def _double(end: object) -> str:
    return f"{float(end)!r}::DOUBLE"  # type: ignore[arg-type]
