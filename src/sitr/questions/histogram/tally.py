"""The counts of a histogram, and how far one unit moves them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sitr.dataset.cells import MOST_CELLS, Grid
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey, bound
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.nodes import Named, Query
from sitr.questions.aggregate.stability import people
from sitr.sensitivity.bounded import bounded, rows


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts that are read: rows per cell, capped for each unit; without a grid, units per category."""

    query: BoundedQuery
    grid: Grid | None

    @classmethod
    def of(cls, table: Table, grid: Grid | Column, *, where: Expression | None = None) -> Tally:
        """The counts of a described table by the cells of a grid, or by the unlisted categories of a column."""
        checked = bound(Query(table.name, (Named("n", Count()),), (), where), table)
        known = isinstance(grid, Grid)
        if isinstance(grid, Grid) and grid.size > MOST_CELLS:
            raise QuestionError(
                wanted=f"a histogram of at most {MOST_CELLS:,} cells",
                given=f"{grid.size:,} cells, each of which needs noise",
                do="Choose fewer or wider cells, or fewer columns.",
            )
        key = Column(_unused("cell", table), Kind.INTEGER) if known else grid
        caps = {"max_groups": table.max_groups, "max_rows_per_group": table.max_rows_per_group}
        query = replace(checked, keys=(GroupKey.column(key),), **caps)  # type: ignore[arg-type]
        return cls(query, grid if known else None)  # type: ignore[arg-type]

    @property
    def cells(self) -> int | None:
        return self.grid.size if self.grid is not None else None

    def distance(self) -> Distance:
        """How far one unit moves the counts: at most g cells by at most c each, or by 1 where units are counted."""
        if self.grid is None:
            return people(self.query)
        each, groups = self.query.max_rows_per_group, self.query.max_groups
        return bounded(low=0, high=each, groups=groups, cells=self.cells, relation=self.query.changes)

    def merged_distance(self) -> Distance:
        """How far one unit moves sums over ranges of cells: all its rows, at most gc, may be in one of them."""
        return rows(self.query.max_rows_per_group * self.query.max_groups, relation=self.query.changes)

    @property
    def size_is_public(self) -> bool:
        """Whether neighbours have the same number of rows."""
        return not isinstance(self.query.unit, Person) and self.query.relation is Relation.REPLACE_ONE

    @property
    def total_is_public(self) -> bool:
        """Whether the sum of all cells is the number of rows, and the same for neighbours."""
        return self.grid is not None and self.grid.complete and self.query.where is None and self.size_is_public


def _unused(name: str, table: Table) -> str:
    """A name that no column has, in any spelling of upper and lower case."""
    taken = {column.name.lower() for column in table.columns}
    while name in taken:
        name += "_"
    return name
