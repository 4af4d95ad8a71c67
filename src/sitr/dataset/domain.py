"""The public cells of a column, from what a user declares about it.

Cells are never learned from the rows: a column is refused if too little is declared about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.dataset.cells import MOST_CELLS, Axis, Categories, Dates, Drawable, Edges, Even, Granular, Rule, Scale, Step
from sitr.dataset.literals import shown
from sitr.dataset.schema import GROUPABLE, KEYS_OF_TYPE, NUMERIC, Column, Key, Kind, public_keys, quantise
from sitr.errors import DescriptionError, QuestionError, quoted
from sitr.numbers import Number, finite

LARGEST = 2**53
"""The largest end of a range: a double holds every whole number up to here."""

MOST_VALUES = 10_000
"""The most values of a column that have a cell each because of its bounds alone."""

MOST_CUTS = 1024
"""The most bins of a column that is cut unevenly: values are compared with the cuts, one after another."""

End = Number | date | datetime
"""A lower or upper bound of a column."""


@dataclass(frozen=True, slots=True)
class DeclaredCells:
    """What a user declares about the cells of one column; None means not declared."""

    bins: int | None = None
    bounds: tuple[End, End] | None = None
    edges: Sequence[End] | None = None
    keys: Sequence[Key] | None = None
    every: Step | None = None
    outside: Rule | None = None
    missing: Rule | None = None
    spikes: Sequence[End] = ()
    """Single values with a cell of their own."""
    scale: Scale = Scale.LINEAR


def axis(column: Column, wanted: DeclaredCells) -> Axis | None:
    """The cells of a column of a histogram; None if its categories are not listed.

    Rows without a value have a cell, unless `missing` is `Rule.DROP`. A list of keys without NULL has one only if
    `missing` or `outside` asks for it, because a list names all values that exist.

    >>> axis(Column("age", Kind.INTEGER), DeclaredCells(bins=20, bounds=(0, 120))).ordinary
    20
    >>> axis(Column("age", Kind.INTEGER), DeclaredCells(bins=20))
    Traceback (most recent call last):
    sitr.errors.QuestionError: Expected bounds=(low, high) or edges for the column 'age', got bounds=None. ...
    """
    _known_rules(column, wanted)
    if wanted.keys is not None or (column.keys is not None and not _ranged(wanted)):
        return _categories(column, wanted)
    if column.kind in (Kind.DATE, Kind.TIMESTAMP) and _ranged(wanted):
        return _dates(column, wanted)
    if column.kind in NUMERIC and (_ranged(wanted) or column.quantised is not None or column.kind is Kind.REAL):
        return _numbers(column, wanted)
    if column.kind in GROUPABLE and column.kind is not Kind.TIMESTAMP and not _ranged(wanted):
        return None
    raise QuestionError(
        given=f"The column {column.name!r} holds {column.kind.value}, which cannot be cut as requested.",
        do="Give bins and bounds for numbers, every and bounds for dates, or keys for text, integers, booleans and "
        "dates.",
    )


def every_value(column: Column) -> Axis | None:
    """A cell for every whole number or day between the bounds of the description, as in GROUP BY; None without bounds
    or with too many values.

    >>> from sitr.dataset.schema import Quantised
    >>> hour = Column("hour", Kind.INTEGER, Quantised(0, 2, Fraction(1)))
    >>> [cell.label for cell in every_value(hour).cells()]
    ['0', '1', '2', '(no value)']
    """
    known = column.quantised
    if column.keys is not None or known is None or known.granularity != 1:
        return None
    if (size := known.upper - known.lower + 1) > MOST_VALUES or column.kind not in (Kind.INTEGER, Kind.DATE):
        return None
    if column.kind is Kind.DATE:
        return _dates(column, DeclaredCells(every=Step.DAY))
    return Granular(column, known.lower, known.upper, Fraction(1), size)


def drawable(column: Column, wanted: DeclaredCells) -> Drawable:
    """The cells of a column of synthetic rows: keys, or bins of granules; `bins` is the most there may be.

    NULL has a cell unless `wanted.missing` is `Rule.DROP`; in a list of keys it must be listed too, because a list
    names all values that exist. A key that is not listed counts as NULL. So does NaN.

    >>> drawable(Column("ok", Kind.BOOLEAN), DeclaredCells(bins=64))
    Categories(column=Column(name='ok', ...), keys=(False, True), outside=<Rule.MISSING: ...>, missing=<Rule.CELL: ...>)
    """
    bins = _bins(column, wanted)
    if wanted.edges is not None:
        edges = _edges(column, wanted)
        wanted = replace(wanted, edges=edges, bounds=(edges[0], edges[-1]))
    listed = public_keys(column.name, column.kind, wanted.keys) if wanted.keys is not None else column.keys
    if listed is None:
        listed = KEYS_OF_TYPE.get(column.kind)
    if listed is not None and (wanted.bounds is None or wanted.keys is not None):
        _refuse_cuts(column, wanted)
        values = tuple(key for key in listed if key is not None)
        null = (None in listed and wanted.missing is not Rule.DROP) or not values
        return Categories(column, values, Rule.MISSING, Rule.CELL if null else Rule.DROP)
    lower, upper, granularity = _granules(column, wanted)
    even = Granular(column, lower, upper, granularity, min(bins, upper - lower + 1), wanted.missing or Rule.CELL)
    plain = not wanted.spikes and wanted.edges is None and wanted.scale is Scale.LINEAR
    return even if plain else cut_unevenly(even, wanted)


def cut_unevenly(even: Granular, wanted: DeclaredCells) -> Granular:
    """The same values in bins between given edges or in bins that grow with the distance from 0, or with single values
    in bins of their own.

    On the scale of logarithms, bins end at equal steps of sign(k)·ln(1 + |k|) of the granules k. With edges, bins are
    [e_0, e_1), [e_1, e_2), …, [e_{m−1}, e_m].

    >>> age = Granular(Column("gain", Kind.INTEGER), 0, 99, Fraction(1), bins=4)
    >>> [cell.label for cell in cut_unevenly(age, DeclaredCells(spikes=[0, 99])).cells()]
    ['0', '1 to 24', '25 to 49', '50 to 74', '75 to 98', '99', '(no value)']
    >>> [cell.label for cell in cut_unevenly(age, DeclaredCells(scale=Scale.LOG)).cells()]
    ['0 to 2', '3 to 9', '10 to 30', '31 to 99', '(no value)']
    >>> [cell.label for cell in cut_unevenly(age, DeclaredCells(edges=[0, 18, 65, 99])).cells()]
    ['0 to 17', '18 to 64', '65 to 99', '(no value)']
    """
    firsts = {even.first(place) for place in range(even.bins)}
    if wanted.edges is not None:
        firsts = _first_granules(even, wanted)
    elif wanted.scale is Scale.LOG:
        ends = [math.copysign(math.log1p(abs(k)), k) for k in (even.lower, even.upper + 1)]
        steps = (ends[0] + (ends[1] - ends[0]) * place / even.bins for place in range(even.bins))
        firsts = {max(even.lower, math.ceil(round(math.copysign(math.expm1(abs(at)), at), 6))) for at in steps}
    for spike in wanted.spikes:
        granule = _granule(even, spike)
        firsts |= {granule, granule + 1}
    cuts = tuple(sorted(first for first in firsts if even.lower < first <= even.upper))
    if len(cuts) >= MOST_CUTS:
        raise QuestionError(
            wanted=f"at most {MOST_CUTS:,} bins for the column {even.column.name!r}, which has spikes or another scale",
            given=f"{len(cuts) + 1:,}",
            do="Choose fewer bins.",
        )
    return replace(even, bins=len(cuts) + 1, cuts=cuts) if cuts else even


def _edges(column: Column, wanted: DeclaredCells) -> tuple[End, ...]:
    """The edges of a column, of which the first and the last are its bounds."""
    arguments.several(wanted.edges, name="edges", example='{"age": [0, 18, 65, 120]}')
    edges = () if wanted.edges is None else tuple(wanted.edges)
    if wanted.bounds is not None or wanted.scale is not Scale.LINEAR or wanted.keys is not None:
        raise QuestionError(
            given=f"The column {column.name!r} has edges beside bounds, keys or a scale.",
            do="Leave these out: the edges say where bins begin and end.",
        )
    if len(edges) < 2:
        raise _no_edges(column, wanted)
    return edges


def _first_granules(axis: Granular, wanted: DeclaredCells) -> set[int]:
    """The smallest granule of each bin between two edges: the first one that is not below the lower edge."""
    edges: list[Fraction | None] = []
    for edge in (wanted.edges or ())[:-1]:
        if axis.column.kind in (Kind.DATE, Kind.TIMESTAMP):
            edges.append(Fraction(_moments(axis.column, (edge, edge))[0]))
        else:
            number = _number(edge)
            edges.append(None if number is None else number / axis.granularity)
    firsts = [axis.lower, *(math.ceil(edge) for edge in edges[1:] if edge is not None), axis.upper + 1]
    if None in edges or not all(low < high for low, high in pairwise(firsts)):
        raise _no_edges(axis.column, wanted)
    return set(firsts[:-1])


def _no_edges(column: Column, wanted: DeclaredCells) -> QuestionError:
    return QuestionError(
        wanted=f"two or more rising edges for the column {column.name!r}, with a value of the column in each bin",
        given=f"edges={shown(wanted.edges)}",
        do='Write for example edges={"age": [0, 18, 65, 120]}.',
    )


def _granule(axis: Granular, spike: object) -> int:
    """The granule of a value that is one."""
    kind = axis.column.kind
    known: Fraction | None = None
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        if type(spike) is (date if kind is Kind.DATE else datetime):
            known = Fraction(_moments(axis.column, (spike, spike))[0])
    elif (number := _number(spike)) is not None:
        known = number / axis.granularity
    if known is None or known.denominator != 1 or not axis.lower <= known <= axis.upper:
        raise QuestionError(
            wanted=f"spikes of {axis.column.name!r} that are values within its bounds and of its granularity",
            given=shown(spike),
            do="Name values that are known to be frequent, such as 0.",
        )
    return int(known)


def _refuse_cuts(column: Column, wanted: DeclaredCells) -> None:
    if wanted.spikes or wanted.scale is not Scale.LINEAR:
        raise QuestionError(
            given=f"The column {column.name!r} has keys, so it has neither spikes nor a scale.",
            do="Leave them out: each key has a cell of its own.",
        )


def _granules(column: Column, wanted: DeclaredCells) -> tuple[int, int, Fraction]:
    """The first and the last granule of a column, and the size of a granule."""
    if wanted.bounds is not None and column.kind in (Kind.DATE, Kind.TIMESTAMP):
        return *_moments(column, wanted.bounds), Fraction(1)
    if wanted.bounds is not None:
        found = quantise(column.name, column.kind, wanted.bounds, None)
    elif column.quantised is not None:
        found = column.quantised
    else:
        raise DescriptionError(
            given=f"Nothing is said about the values of {column.name!r}, and they must not be learned from the rows.",
            do=_remedy(column),
        )
    return found.lower, found.upper, found.granularity


def _moments(column: Column, bounds: tuple[End, End]) -> tuple[int, int]:
    """Bounds as days or seconds since 1970."""
    type_ = date if column.kind is Kind.DATE else datetime
    other = len(bounds) != 2 or any(type(end) is not type_ or getattr(end, "tzinfo", None) for end in bounds)
    if other or bounds[0] > bounds[1]:  # type: ignore[operator]
        raise DescriptionError(
            wanted=f"bounds of {column.name!r} that are a first and a last {type_.__name__} without a time zone",
            given=shown(bounds),
            do="Use what is publicly known about the column, never its observed extremes.",
        )
    if column.kind is Kind.DATE:
        lower, upper = ((end - date(1970, 1, 1)).days for end in bounds)  # type: ignore[operator,union-attr]
    else:
        lower, upper = ((end - datetime(1970, 1, 1)) // timedelta(seconds=1) for end in bounds)  # type: ignore[operator]  # noqa: DTZ001
    return lower, upper


def _remedy(column: Column) -> str:
    if column.kind in NUMERIC:
        return f"Give bounds={{{column.name!r}: (low, high)}} from public knowledge, or keys, or leave the column out."
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        return f"Give bounds={{{column.name!r}: (first, last)}} from public knowledge, or leave the column out."
    if column.kind in GROUPABLE:
        return (
            f"Give keys={{{column.name!r}: […]}}, either public ones or those that a paid question grouped by this "
            "column has released, or leave the column out."
        )
    return "Leave the column out, because only numbers, text, booleans, dates and timestamps can be imitated."


def _bins(column: Column, wanted: DeclaredCells) -> int:
    if wanted.bins is None:
        raise QuestionError(
            given=f"Nothing says into which cells the column {column.name!r} is cut.",
            do=f"Give bins={{{column.name!r}: 20}} for ranges of equal width, or edges or keys, from public knowledge.",
        )
    if isinstance(wanted.bins, bool) or not isinstance(wanted.bins, int) or not 1 <= wanted.bins <= MOST_CELLS:
        raise QuestionError(
            wanted=f"a whole number of bins from 1 to {MOST_CELLS:,} for the column {column.name!r}",
            given=f"bins={wanted.bins!r}",
            do="Write for example bins=20.",
        )
    return wanted.bins


def _ranged(wanted: DeclaredCells) -> bool:
    return any(part is not None for part in (wanted.bins, wanted.bounds, wanted.edges, wanted.every))


def _known_rules(column: Column, wanted: DeclaredCells) -> None:
    if not isinstance(wanted.outside, Rule | None) or wanted.missing not in (None, Rule.CELL, Rule.DROP):
        raise QuestionError(
            wanted=f"a Rule for values of {column.name!r} outside the cells, and Rule.CELL or Rule.DROP for missing "
            "ones",
            given=f"outside={wanted.outside!r}, missing={wanted.missing!r}",
            do="Choose one of those rules.",
        )


def _categories(column: Column, wanted: DeclaredCells) -> Categories:
    if _ranged(wanted) or wanted.outside is Rule.CLAMP:
        raise QuestionError(
            given=f"The column {column.name!r} is cut by its categories, which have neither ranges nor a nearest cell.",
            do="Leave out bins, bounds, edges and every, and choose Rule.CELL, Rule.DROP or Rule.MISSING for others.",
        )
    keys = column.keys if wanted.keys is None else public_keys(column.name, column.kind, wanted.keys)
    listed = tuple(key for key in keys or () if key is not None)
    outside = wanted.outside or Rule.DROP
    missing = wanted.missing or (Rule.DROP if outside is Rule.DROP else Rule.CELL)
    return Categories(column, listed, outside, Rule.CELL if None in (keys or ()) else missing)


def _dates(column: Column, wanted: DeclaredCells) -> Dates:
    """Cells of days, months and so on: between the bounds that are given, or those of the description."""
    declared = column.bounds if wanted.bounds is None else None
    known: tuple[object, object] = declared or wanted.bounds or (None, None)
    first, last = (each.date() if isinstance(each, datetime) and declared else _day(each) for each in known)
    stepped = (wanted.bins, wanted.edges) == (None, None) and isinstance(wanted.every, Step)
    if first is None or last is None or first > last or not stepped:
        every = wanted.every.value if isinstance(wanted.every, Step) else quoted(wanted.every)
        raise QuestionError(
            wanted=f"a length such as every=Step.MONTH and bounds of two dates for the column {column.name!r}",
            given=f"every={every}, bounds={shown(known if declared else wanted.bounds)}",
            do="Take the dates from public knowledge, such as the year of the survey.",
        )
    return Dates(
        column, first, last, wanted.every or Step.DAY, wanted.outside or Rule.CLAMP, wanted.missing or Rule.CELL
    )


def _day(value: object) -> date | None:
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _numbers(column: Column, wanted: DeclaredCells) -> Even | Edges:
    outside = wanted.outside or Rule.CLAMP
    if wanted.edges is not None:
        arguments.several(wanted.edges, name="edges", example="(0, 18, 40, 65, 120)")
        given = list(wanted.edges)
        edges = [edge for edge in map(_number, given) if edge is not None]
        rising = len(edges) == len(given) >= 2 and all(low < high for low, high in pairwise(edges))
        if wanted.bins is not None or not rising:
            raise QuestionError(
                wanted=f"two or more rising edges and no bins for the column {column.name!r}",
                given=f"edges={shown(wanted.edges)}, bins={wanted.bins!r}",
                do="Write for example edges=(0, 18, 40, 65, 120).",
            )
        return Edges(column, tuple(edges), outside, wanted.missing or Rule.CELL)
    low, high = _bounds(column, wanted)
    return Even(column, low, high, _bins(column, wanted), outside, wanted.missing or Rule.CELL)


def _bounds(column: Column, wanted: DeclaredCells) -> tuple[Fraction, Fraction]:
    if wanted.bounds is None and column.quantised is not None:
        low, high = column.quantised.ends
    else:
        if wanted.bounds is not None:
            arguments.several(wanted.bounds, name="bounds", example="(0, 120)")
        found = [end for end in map(_number, wanted.bounds or ()) if end is not None]
        if len(found) != 2:
            raise QuestionError(
                wanted=f"bounds=(low, high) or edges for the column {column.name!r}",
                given=f"bounds={shown(wanted.bounds)}",
                do="Use what is publicly known, such as (0, 120), never the extremes of the rows.",
            )
        low, high = found
    if float(low) >= float(high):  # rows are compared with the ends as doubles
        raise QuestionError(
            wanted=f"bounds low < high for the column {column.name!r}",
            given=f"{float(low):g} and {float(high):g}",
            do="Use what is publicly known, such as (0, 120).",
        )
    return low, high


def _number(value: object) -> Fraction | None:
    """The exact number that an end of a range prints as; None if it is not a number or too large."""
    number = finite(value)
    return None if number is None or abs(number) > LARGEST else number
