"""Counts in the database equal counts by hand, and neighbors move them by at most the distance."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.cells import Categories, Edges, Grid, Rule
from sitr.dataset.domain import DeclaredCells, axis
from sitr.dataset.schema import Table, describe
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.questions.aggregate.frame import column
from sitr.questions.histogram.buckets import deviation_distance, deviations
from sitr.questions.histogram.fit import fit
from sitr.questions.histogram.methods import Tree
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


def test_products_conditions_and_files(tmp_path: Path) -> None:
    rows = pa.table({"cell": [1, 2, 3, 4, 5, 6], "Cell_": ["a", "b", "a", None, "c", "a"]})
    described = table_of(rows)
    grid = Grid(
        (
            Edges(described.columns[0], (Fraction(0), Fraction(3), Fraction(6))),
            Categories(described.columns[1], ("a", "b")),
        )
    )
    tally = Tally.of(described, grid, where=(column("cell") < 6).expression)
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
def test_no_person_moves_the_counts_or_their_sums_by_more_than_the_distance(seed: int, relation: Relation) -> None:
    """Compare the table with the one without each person, or with another person instead, under one salt."""
    rows = people(seed)
    empty = pa.table({"u": pa.array([], pa.int64()), "v": pa.array([], pa.float64())})
    described = table_of(empty, unit=Person("u"), relation=relation)
    cells = axis(described.columns[1], DeclaredCells(bins=8, bounds=(0, 8)))
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
