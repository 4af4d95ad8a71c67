"""Counting in the database: the same cells as by hand, and no neighbour moves them farther than is said."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from sitr.backends.duckdb import open_source
from sitr.backends.tally import exactly_divided, number
from sitr.dataset.cells import Axis, Categories, Dates, Edges, Even, Grid, Rule, Step, above, below, nowhere, size
from sitr.dataset.domain import Wanted, axis
from sitr.dataset.schema import Column, Kind, Table, describe
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.questions.aggregate.frame import column
from sitr.questions.histogram.buckets import deviation_distance, deviations
from sitr.questions.histogram.fit import Tree, fit
from sitr.questions.histogram.tally import Tally


def table_of(rows: pa.Table, *, unit: Unit | None = None, relation: Relation = Relation.ADD_REMOVE) -> Table:
    caps = (None, None) if unit is None else (2, 3)
    return describe(
        "t",
        kinds=open_source(rows, types={}).kinds(),
        unit=unit or Row(),
        relation=relation,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds={},
        granularity={},
        keys={},
    )


def by_hand(axis: Axis, value: Any) -> int | None:
    """The cell of one value, by the words of the documentation."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return nowhere(axis)
    if isinstance(axis, Categories):
        return axis.keys.index(value) if value in axis.keys else below(axis)
    if isinstance(axis, Dates):
        day = value.date() if isinstance(value, datetime) else value
        return below(axis) if day < axis.first else above(axis) if day > axis.last else axis.number(day)
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
    *(("x", Wanted(bins=bins, bounds=(0, 1))) for bins in (1, 3, 10, 100)),
    ("x", Wanted(edges=(0, 0.29, 0.3, 0.57, 1))),
    *((name, Wanted(bins=bins, bounds=(0, 120))) for name in "iu" for bins in (7, 20, 500)),
    *(("n", Wanted(bins=bins, bounds=(-2_000_000_000, 2_000_000_000))) for bins in (5, 7, 1000)),
    ("i", Wanted(bins=7, bounds=(0.5, 119.5))),
    ("i", Wanted(edges=(-10, 0, 6, 121))),
    *((name, Wanted(every=step, bounds=(FROM, TO))) for name in "dm" for step in Step),
    ("d", Wanted(every=Step.YEAR, bounds=(date.min, date.max))),
    ("w", Wanted(keys=["a", "b's", ""])),
    ("w", Wanted(keys=['q"', None])),
    ("b", Wanted(keys=[False, True])),
    ("i", Wanted(keys=[5, -1, 2**62])),
    ("d", Wanted(keys=[FROM])),
]


@pytest.mark.parametrize(
    ("outside", "missing"), [(Rule.CLAMP, Rule.CELL), (Rule.CELL, Rule.DROP), (Rule.DROP, Rule.CELL)]
)
@pytest.mark.parametrize(("name", "wanted"), CASES, ids=str)
def test_rows_are_counted_where_they_belong(name: str, wanted: Wanted, outside: Rule, missing: Rule) -> None:
    outside = Rule.CELL if wanted.keys is not None and outside is Rule.CLAMP else outside  # no category is nearest
    described = table_of(ROWS[name])
    said = Wanted(wanted.bins, wanted.bounds, wanted.edges, wanted.keys, wanted.every, outside, missing)
    cells = axis(described.columns[0], said)
    assert cells is not None
    places = [by_hand(cells, value) for value in ROWS[name]["v"].to_pylist()]
    expected = Counter(place for place in places if place is not None)
    assert open_source(ROWS[name], types={}).read(Tally.of(described, Grid((cells,))), salt=1) == dict(expected)


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
    assert len(number(Grid((many,)), {"v": "DOUBLE"})) < 1000
    found = open_source(rows, types={}).read(tally, salt=1)
    assert {0: 1, 65_535: 2, 65_536: 1, 65_537: 1, 65_538: 1}.items() <= found.items()
    assert sum(count for place, count in found.items() if 8 <= place <= 11) == 3


def test_products_conditions_and_files(tmp_path: Path) -> None:
    rows = pa.table({"cell": [1, 2, 3, 4, 5, 6], "Cell_": ["a", "b", "a", None, "c", "a"]})
    described = table_of(rows)
    grid = Grid(
        (
            Edges(described.columns[0], (Fraction(0), Fraction(3), Fraction(6))),
            Categories(described.columns[1], ("a", "b")),
        )
    )
    tally = Tally.of(described, grid, where=(column("cell") < 6).predicate)
    expected = {0: 1, 1: 1, 3: 1, 5: 1}  # (cell, Cell_): 1 a, 2 b, 3 a, 4 none; c is dropped
    assert open_source(rows, types={}).read(tally, salt=3) == expected
    pyarrow.parquet.write_table(rows, tmp_path / "t.parquet")
    pyarrow.csv.write_csv(rows, tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        assert open_source(tmp_path / name, types={}).read(tally, salt=3) == expected


def test_products_of_many_categories_are_counted() -> None:
    keys = tuple(f"k{place}" for place in range(100))
    rows = pa.table({"v": list(keys), "w": list(keys[::-1])})
    described = table_of(rows)
    grid = Grid(tuple(Categories(each, keys, Rule.CELL) for each in described.columns))
    found = open_source(rows, types={}).read(Tally.of(described, grid), salt=1)
    assert found == {place * 102 + 99 - place: 1 for place in range(100)}


def people(seed: int) -> list[tuple[int | None, float]]:
    chance = random.Random(seed)
    scattered = [(chance.choice([1, 2, 3, 4, None]), chance.uniform(-1, 9)) for _ in range(60)]
    return scattered + [(5, 0.5)] * 4 + [(5, 1.5)] * 4  # one who reaches both caps


def counted(tally: Tally, rows: list[tuple[int | None, float]]) -> np.ndarray:
    table = pa.table({"u": pa.array([who for who, _ in rows], pa.int64()), "v": [value for _, value in rows]})
    assert tally.grid is not None
    found = np.zeros(tally.grid.size, np.int64)
    for place, many in open_source(table, types={}).read(tally, salt=11).items():
        found[place] = many
    return found


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("seed", range(4))
def test_no_person_moves_the_counts_or_what_is_made_of_them_farther_than_is_said(seed: int, relation: Relation) -> None:
    """Replay: the table with and without each person, or with another in their place, under the same choice key."""
    rows = people(seed)
    empty = pa.table({"u": pa.array([], pa.int64()), "v": pa.array([], pa.float64())})
    described = table_of(empty, unit=Person("u"), relation=relation)
    cells = axis(described.columns[1], Wanted(bins=8, bounds=(0, 8)))
    assert cells is not None
    tally = Tally.of(described, Grid((cells,)))
    far, merged = tally.distance(), tally.merged_distance()
    trees = [fit(tally, price, method=Tree(branching=2)) for price in (PureDP(1.0), ZeroConcentratedDP(0.1))]
    looked = deviation_distance(8, moved=far)
    before, reached = counted(tally, rows), 0
    for who in (1, 2, 3, 4, 5):
        others = [row for row in rows if row[0] != who]
        if relation is Relation.REPLACE_ONE:
            others += [(who, value) for value in [6.5, 7.5] * 3]
        moved = counted(tally, others) - before
        sums = np.add.reduceat(moved[:8], [0, 3])
        assert np.abs(moved).sum() <= far.l1
        assert (moved**2).sum() <= far.l2_squared
        assert (sums**2).sum() <= merged.l2_squared
        for plan in trees:
            tree = plan.hierarchy
            assert tree is not None
            nodes = np.concatenate([*tree.sums(moved[:8]), moved[8:]])
            assert np.abs(nodes).sum() <= plan.distance.l1
            assert (nodes**2).sum() <= plan.distance.l2_squared
        gone = np.concatenate(deviations((before + moved)[:8])) - np.concatenate(deviations(before[:8]))
        assert np.abs(gone).sum() <= looked[0] * 8
        assert (gone**2).sum() <= looked[1] * 64
        reached = max(reached, int(np.abs(moved).sum()))
    assert reached == far.l1
