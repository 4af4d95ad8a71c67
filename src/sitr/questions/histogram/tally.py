"""What a histogram counts, and how far one unit moves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sitr.dataset.cells import Grid
from sitr.dataset.schema import Column, Kind, Table
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.nodes import Count, Named, Predicate, Query
from sitr.questions.aggregate.stability import people
from sitr.sensitivity.bounded import bounded


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted: the rows of each unit, capped, in each cell. With no grid, the units of each category."""

    query: BoundedQuery
    grid: Grid | None

    @classmethod
    def of(cls, table: Table, grid: Grid | Column, *, where: Predicate | None = None) -> Tally:
        """Of a described table; for a column of unlisted categories, of that column."""
        checked = bound(Query(table.name, (Named("n", Count()),), (), where), table)
        known = isinstance(grid, Grid)
        key = Column(_unused("cell", table), Kind.INTEGER) if known else grid
        caps = {"max_groups": table.max_groups, "max_rows_per_group": table.max_rows_per_group}
        query = replace(checked, keys=(key,), **caps)  # type: ignore[arg-type]
        return cls(query, grid if known else None)  # type: ignore[arg-type]

    @property
    def cells(self) -> int | None:
        return self.grid.size if self.grid is not None else None

    def distance(self) -> Distance:
        """How far one unit moves the counts: at most g cells by at most c each, by 1 where units are counted."""
        if self.grid is None:
            return people(self.query)
        rows, groups = self.query.max_rows_per_group, self.query.max_groups
        return bounded(low=0, high=rows, groups=groups, cells=self.cells, relation=self.query.relation)

    def merged_distance(self) -> Distance:
        """The same for sums over stretches of cells: all that a unit has may be in one of them.

        A unit's part of the sums is a vector v ≥ 0 with ‖v‖₁ ≤ gc, so ‖v‖₂ ≤ gc, and ‖v − v'‖₂² ≤ ‖v‖₂² + ‖v'‖₂².
        """
        most = self.query.max_rows_per_group * self.query.max_groups
        return bounded(low=0, high=most, groups=1, cells=None, relation=self.query.relation)

    @property
    def size_is_public(self) -> bool:
        """Neighbours have the same number of rows."""
        return not isinstance(self.query.unit, Person) and self.query.relation is Relation.REPLACE_ONE

    @property
    def total_is_public(self) -> bool:
        """The sum of all cells is the number of rows, and neighbours have the same."""
        return self.grid is not None and self.grid.complete and self.query.where is None and self.size_is_public


def _unused(name: str, table: Table) -> str:
    """A name that no column has, however it is spelled."""
    taken = {column.name.lower() for column in table.columns}
    while name in taken:
        name += "_"
    return name
