"""The counts of a histogram, and how far one unit moves them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sitr.dataset.cells import MOST_CELLS, Grid
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey, bound, caps
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.nodes import Named, Query
from sitr.questions.aggregate.stability import people
from sitr.sensitivity.bounded import rows
from sitr.sensitivity.in_total import in_total


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
        groups, each, total = caps(table, cells=grid.size if isinstance(grid, Grid) else None)
        kept = {"max_groups": groups, "max_rows_per_group": each, "max_rows": total}
        query = replace(checked, keys=(GroupKey.column(key),), **kept)  # type: ignore[arg-type]
        return cls(query, grid if known else None)  # type: ignore[arg-type]

    @property
    def cells(self) -> int | None:
        return self.grid.size if self.grid is not None else None

    def distance(self) -> Distance:
        """How far one unit moves the counts: g cells by at most c each, N in all, or by 1 where units are counted."""
        if self.grid is None:
            return people(self.query)
        query, most = self.query, self.most_rows
        return in_total(
            low=0,
            high=1,
            each=query.max_rows_per_group,
            total=most,
            groups=query.max_groups,
            cells=self.cells,
            relation=query.changes,
        )

    def merged_distance(self) -> Distance:
        """How far one unit moves sums over ranges of cells: all its rows, at most gc or N, may be in one of them."""
        return rows(self.most_rows, relation=self.query.changes)

    @property
    def most_rows(self) -> int:
        """The most rows of one unit that are counted."""
        query = self.query
        return query.max_rows_per_group * query.max_groups if query.max_rows is None else query.max_rows

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
