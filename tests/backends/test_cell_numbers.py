"""The number of a row's cell in the database is the number that the documentation says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.cell_numbers import cell_number, exactly_divided, number
from sitr.backends.duckdb import open_source
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.dataset.cells import (
    Axis,
    Categories,
    Dates,
    Edges,
    Even,
    Granular,
    Grid,
    Rule,
    Step,
    above,
    below,
    nowhere,
    size,
)
from sitr.dataset.domain import DeclaredCells, axis
from sitr.dataset.schema import Column, Kind, Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.histogram.tally import Tally

Numbers = Callable[..., list[int | None]]


def table_of(rows: pa.Table) -> Table:
    return describe(
        "t",
        kinds=open_source(rows, types={}).kinds(),
        unit=Row(),
        relation=Relation.ADD_REMOVE,
        max_groups=None,
        max_rows_per_group=None,
        bounds={},
        granularity={},
        keys={},
    )


@pytest.fixture(scope="module")
def numbers() -> Iterator[Numbers]:
    """The cell number of each row, as the database computes it."""
    with duckdb.connect(config={"threads": 1}) as engine:

        def found(rows: pa.Table, axis: Axis, *, typed: bool = True) -> list[int | None]:
            engine.register("rows", rows)
            (kind,) = (str(row[1]) for row in engine.execute("DESCRIBE SELECT v FROM rows").fetchall())
            place = number(axis, type=kind if typed else "", dialect=DUCKDB)
            return [found for (found,) in engine.execute(f"SELECT {place} FROM rows").fetchall()]

        yield found


def by_hand(axis: Axis, value: Any) -> int | None:
    """The cell of one value, by the words of the documentation."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return nowhere(axis)
    if isinstance(axis, Categories):
        return axis.keys.index(value) if value in axis.keys else below(axis)
    if isinstance(axis, Dates):
        day = value.date() if isinstance(value, datetime) else value
        return below(axis) if day < axis.first else above(axis) if day > axis.last else axis.number(day)
    if isinstance(axis, Granular):
        return granule_by_hand(axis, value)
    edges = axis.edges if isinstance(axis, Edges) else [axis.edge(place) for place in range(axis.bins + 1)]
    doubles = [float(edge) for edge in edges]
    if value < doubles[0]:
        return below(axis)
    if value > doubles[-1]:
        return above(axis)
    return min(axis.ordinary, sum(1 for edge in doubles if value >= edge)) - 1


REALS = [0.0, -0.0, 0.29, 0.3, 0.1 + 0.2, 0.7, 1.0, 1.0000001, -1e-300, math.inf, -math.inf, math.nan, None, 0.57, 0.99]
WHOLE = [0, 5, 6, 119, 120, 121, -1, None, 2**62, -(2**62), 60]
DAYS = [date(2023, 12, 14), date(2023, 12, 15), date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 1), None, date.max]
MOMENTS = [None if day is None else datetime(day.year, day.month, day.day, 23, 59, 59) for day in DAYS]  # noqa: DTZ001
WORDS = ["a", "b's", "", "z", None, "A", 'q"']
ROWS = {
    "x": pa.table({"v": pa.array(REALS, pa.float64())}),
    "i": pa.table({"v": pa.array(WHOLE, pa.int64())}),
    "n": pa.table({"v": pa.array([-(2**31), -2_000_000_000, 0, 2_000_000_000, 2**31 - 1, None], pa.int32())}),
    "u": pa.table({"v": pa.array([0, 5, 120, 2**64 - 1, None], pa.uint64())}),
    "d": pa.table({"v": pa.array(DAYS, pa.date32())}),
    "m": pa.table({"v": pa.array(MOMENTS, pa.timestamp("us"))}),
    "w": pa.table({"v": pa.array(WORDS, pa.string())}),
    "b": pa.table({"v": pa.array([True, False, None, True])}),
}
FROM, TO = date(2023, 12, 15), date(2024, 2, 29)
CASES = [
    *(("x", DeclaredCells(bins=bins, bounds=(0, 1))) for bins in (1, 3, 10, 100)),
    ("x", DeclaredCells(edges=(0, 0.29, 0.3, 0.57, 1))),
    *((name, DeclaredCells(bins=bins, bounds=(0, 120))) for name in "iu" for bins in (7, 20, 500)),
    *(("n", DeclaredCells(bins=bins, bounds=(-2_000_000_000, 2_000_000_000))) for bins in (5, 7, 1000)),
    ("i", DeclaredCells(bins=7, bounds=(0.5, 119.5))),
    ("i", DeclaredCells(edges=(-10, 0, 6, 121))),
    *((name, DeclaredCells(every=step, bounds=(FROM, TO))) for name in "dm" for step in Step),
    ("d", DeclaredCells(every=Step.YEAR, bounds=(date.min, date.max))),
    ("w", DeclaredCells(keys=["a", "b's", ""])),
    ("w", DeclaredCells(keys=['q"', None])),
    ("b", DeclaredCells(keys=[False, True])),
    ("i", DeclaredCells(keys=[5, -1, 2**62])),
    ("d", DeclaredCells(keys=[FROM])),
]


@pytest.mark.parametrize(
    ("outside", "missing"),
    [(Rule.CLAMP, Rule.CELL), (Rule.CELL, Rule.DROP), (Rule.DROP, Rule.CELL), (Rule.MISSING, Rule.CELL)],
)
@pytest.mark.parametrize(("name", "wanted"), CASES, ids=str)
def test_rows_are_counted_where_they_belong(name: str, wanted: DeclaredCells, outside: Rule, missing: Rule) -> None:
    outside = Rule.CELL if wanted.keys is not None and outside is Rule.CLAMP else outside  # no category is nearest
    described = table_of(ROWS[name])
    said = DeclaredCells(wanted.bins, wanted.bounds, wanted.edges, wanted.keys, wanted.every, outside, missing)
    cells = axis(described.columns[0], said)
    assert cells is not None
    places = [by_hand(cells, value) for value in ROWS[name]["v"].to_pylist()]
    expected = Counter(place for place in places if place is not None)
    assert open_source(ROWS[name], types={}).read(Tally.of(described, Grid((cells,))), salt=1) == dict(expected)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("outside", [Rule.CLAMP, Rule.CELL, Rule.DROP])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_no_difference_of_integers_overflows(bits: int, signed: bool, outside: Rule, numbers: Numbers) -> None:
    """With few cells, their numbers are small while the difference of a value and the lower end is not.

    With few cells and none for missing values, a value far from the lower end was an error once, for 8 to 32 bits.
    """
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    kind = pa.type_for_alias(f"{'' if signed else 'u'}int{bits}")
    near = [least, least + 1, least // 2, 0, 1, most // 2, most // 2 + 1, most - 1, most, None]
    ends = ((least, most), (least // 2, most // 2), (0, most), (1, 100))
    for bins, (low, high), missing in product((1, 2, 3, 7), ends, (Rule.CELL, Rule.DROP)):
        cells = Even(Column("v", Kind.INTEGER), Fraction(low), Fraction(high), bins, outside, missing)
        if (high - low) * (bins + 3) < 2**62:  # beyond, doubles are compared
            exact = [None if value is None else Fraction(value) for value in near]
            expected = [_exactly(cells, value) for value in exact]
            assert numbers(pa.table({"v": pa.array(near, kind)}), cells) == expected


def _exactly(cells: Even, value: Fraction | None) -> int | None:
    if value is None:
        return nowhere(cells)
    if value < cells.low:
        return below(cells)
    if value > cells.high:
        return above(cells)
    return min(cells.bins - 1, math.floor((value - cells.low) * cells.bins / (cells.high - cells.low)))


def test_quotients_of_doubles_are_used_only_where_they_are_right() -> None:
    real = Column("v", Kind.REAL)
    assert exactly_divided(Even(real, Fraction(0), Fraction(120), 20))
    assert not exactly_divided(Even(real, Fraction(0), Fraction(1), 100))  # 0.29 · 100 is 28.999999999999996
    assert not exactly_divided(Even(real, Fraction(0), Fraction(3), 25))  # wrong at the edge 2.28 itself
    assert not exactly_divided(Even(real, Fraction(0), Fraction(3), 5))  # wrong just before the edge 1.8
    wide = Even(real, Fraction(0), Fraction(1), 10**6)
    counted = open_source(ROWS["x"], types={}).read(Tally.of(table_of(ROWS["x"]), Grid((wide,))), salt=1)
    assert sum(counted.values()) == len(REALS)
    assert all(0 <= place < size(wide) for place in counted)


def test_so_many_cells_that_no_statement_could_name_their_edges_are_counted() -> None:
    many = Even(Column("v", Kind.REAL), Fraction("-634.605"), Fraction("362.575"), 65_536, Rule.CELL)
    ends = [float(many.low), float(many.high)]
    values = [*ends, math.nextafter(ends[1], 0.0), -700.0, 400.0, math.nan, *map(float, map(many.edge, range(9, 12)))]
    rows = pa.table({"v": values})
    tally = Tally.of(table_of(rows), Grid((many,)))
    assert len(cell_number(Grid((many,)), types={"v": "DOUBLE"}, dialect=DUCKDB)) < 1000
    found = open_source(rows, types={}).read(tally, salt=1)
    assert {0: 1, 65_535: 2, 65_536: 1, 65_537: 1, 65_538: 1}.items() <= found.items()
    assert sum(count for place, count in found.items() if 8 <= place <= 11) == 3


EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
SECONDS = [None, *(EPOCH + timedelta(seconds=second) for second in (-1, -0.25, 0, 0.999999, 1, 59.5, 60, 61, 10**9))]
DECIMALS = [None, *map(Decimal, ("-3.00", "-0.13", "0.12", "0.13", "0.37", "0.38", "2.50", "99.00"))]
GRANULES = {
    "x": (Kind.REAL, pa.array([*REALS, 0.12, 0.13, -0.13, 2.4, 1e300, -1e300], pa.float64())),
    "i": (Kind.INTEGER, pa.array([*WHOLE, 2**63 - 1, -(2**63), *range(-3, 15)], pa.int64())),
    "n": (Kind.INTEGER, pa.array([-128, 127, None, *range(-3, 15)], pa.int8())),
    "u": (Kind.INTEGER, pa.array([2**64 - 1, None, *range(15)], pa.uint64())),
    "c": (Kind.REAL, pa.array(DECIMALS, pa.decimal128(10, 2))),
    "d": (Kind.DATE, pa.array([None, *(date(1970, 1, 1) + timedelta(k) for k in (-9, -1, *range(15), 10**6))])),
    "m": (Kind.TIMESTAMP, pa.array(SECONDS, pa.timestamp("us"))),
}


def granule_by_hand(axis: Granular, value: Any) -> int | None:
    """The bin of one value, by the words of the documentation."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return nowhere(axis)
    if isinstance(value, datetime):
        granule = (value - EPOCH) // timedelta(seconds=1)
    elif isinstance(value, date):
        granule = (value - date(1970, 1, 1)).days
    elif isinstance(value, float) and math.isinf(value):
        granule = axis.upper if value > 0 else axis.lower
    else:
        counted = abs(Fraction(value)) / axis.granularity
        granule = math.floor(counted + Fraction(1, 2)) * (1 if value >= 0 else -1)
    clamped = min(max(granule, axis.lower), axis.upper)
    return (clamped - axis.lower) * axis.bins // (axis.upper - axis.lower + 1)


@pytest.mark.parametrize("missing", [Rule.CELL, Rule.DROP])
@pytest.mark.parametrize("name", GRANULES)
def test_values_are_in_the_bins_of_their_granules(name: str, missing: Rule, numbers: Numbers) -> None:
    kind, values = GRANULES[name]
    steps = [Fraction(1)] if kind in (Kind.DATE, Kind.TIMESTAMP) else [Fraction(1), Fraction(1, 4), Fraction(5)]
    for (lower, upper), bins, step in product([(0, 10), (-2, 8), (2, 60)], [1, 4, 11], steps):
        cells = Granular(Column("v", kind), lower, upper, step, bins, missing)
        expected = [granule_by_hand(cells, value) for value in values.to_pylist()]
        for typed in (True, False):
            assert numbers(pa.table({"v": values}), cells, typed=typed) == expected


WIDE = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(WIDE | st.none(), min_size=1, max_size=20), ends=st.tuples(WIDE, WIDE), bins=st.integers(1, 10**6)
)
def test_no_integer_makes_an_error_and_integers_are_exact(
    values: list[int | None], ends: tuple[int, int], bins: int, numbers: Numbers
) -> None:
    lower, upper = (end >> 10 for end in sorted(ends))  # up to 2^53 granules from 0, as in a description
    rows = pa.table({"v": pa.array(values, pa.int64())})
    granular = Granular(Column("v", Kind.INTEGER), lower, upper, Fraction(1), min(bins, upper - lower + 1))
    assert numbers(rows, granular) == [granule_by_hand(granular, value) for value in values]
    if lower < upper:
        even = Even(Column("v", Kind.INTEGER), Fraction(lower), Fraction(upper), bins)
        for outside in Rule:
            found = numbers(rows, replace(even, outside=outside))
            assert all(place is None or 0 <= place < size(replace(even, outside=outside)) for place in found)


def test_long_lists_of_keys_are_searched_like_short_ones(numbers: Numbers) -> None:
    keys = tuple(f"k{place}" for place in range(129))
    rows = pa.table({"v": [*keys, "K1", "", None]})
    for listed in (keys, keys[:-1]):
        cells = Categories(Column("v", Kind.TEXT), listed, Rule.CELL)
        known = list(range(len(listed)))
        assert numbers(rows, cells) == [*known, *[len(listed)] * (len(keys) - len(listed) + 2), len(listed) + 1]


def test_keys_that_are_not_listed_can_count_as_missing(numbers: Numbers) -> None:
    rows = pa.table({"v": ["a", "z", None, ""]})
    for missing, other in ((Rule.CELL, 1), (Rule.DROP, None)):
        cells = Categories(Column("v", Kind.TEXT), ("a",), Rule.MISSING, missing)
        assert numbers(rows, cells) == [0, other, other, other]
    assert numbers(rows, Categories(Column("v", Kind.TEXT), (), Rule.MISSING)) == [0, 0, 0, 0]


@pytest.mark.parametrize("missing", [Rule.CELL, Rule.DROP])
@pytest.mark.parametrize("cuts", [(0,), (1,), (-3, 0, 1), (-4, -3, 0, 1, 2, 7), tuple(range(-4, 10))], ids=repr)
def test_cuts(numbers: Numbers, cuts: tuple[int, ...], missing: Rule) -> None:
    """The bin of a granule is the last that begins at it or before it, in every type of number."""
    for kind, type_, step in ((Kind.INTEGER, pa.int16(), 1), (Kind.REAL, pa.float64(), Fraction(1, 4))):
        axis = Granular(Column("v", kind), -5, 9, Fraction(step), len(cuts) + 1, missing, cuts)
        granules = [*range(-8, 13), None]
        rows = pa.table({"v": pa.array([None if k is None else float(k * step) for k in granules]).cast(type_)})
        nothing = len(cuts) + 1 if missing is Rule.CELL else None
        expected = [nothing if k is None else sum(cut <= min(max(k, -5), 9) for cut in cuts) for k in granules]
        assert numbers(rows, axis) == expected
        inside = [axis.first(place) for place in range(axis.bins + 1)]
        assert inside == [-5, *cuts, 10]
    nan = pa.table({"v": pa.array([math.nan, math.inf, -math.inf])})
    assert numbers(nan, axis) == [nothing, len(cuts), 0]


def test_cuts_of_dates(numbers: Numbers) -> None:
    axis = Granular(Column("v", Kind.DATE), 0, 9, Fraction(1), 3, Rule.CELL, (4, 5))
    rows = pa.table({"v": pa.array([*(date(1970, 1, 1) + timedelta(day) for day in range(-1, 11)), None])})
    assert numbers(rows, axis) == [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 3]
