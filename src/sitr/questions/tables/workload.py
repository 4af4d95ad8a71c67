"""Which tables are wanted, and the residuals from which all of them follow."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.noise.contrasts import Siblings
from sitr.questions.tables.ladder import ColumnLevels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    Reals = NDArray[np.float64]
else:
    np = Later("numpy")
    sparse = Later("scipy.sparse")
    Reals = object

Node: TypeAlias = tuple[tuple[int, int], ...]
"""Columns by number, each with the level at which it is cut, in order: a table, or the residuals of one."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The wanted tables over the levels of some columns."""

    ladders: tuple[ColumnLevels, ...]
    tables: tuple[Node, ...]

    def axes(self, node: Node) -> tuple[Siblings, ...]:
        """The families of each column of a node."""
        return tuple(self.ladders[column].families(level) for column, level in node)

    def shape(self, node: Node) -> tuple[int, ...]:
        """The number of cells on each column of a table."""
        return tuple(self.ladders[column].size(level) for column, level in node)

    def cells(self, node: Node) -> int:
        return math.prod(self.shape(node))

    def names(self, node: Node) -> tuple[str, ...]:
        """The names of the levels that a table is cut by."""
        return tuple(self.ladders[column].levels[level - 1].name for column, level in node)

    def name(self, node: Node) -> str:
        """A table in a few words."""
        return " × ".join(self.names(node)) or "total"

    def bases(self) -> tuple[Node, ...]:
        """All residuals that some table needs, the total first; those without a number are left out."""
        found = {part for table in self.tables for part in below(table)}
        full = (node for node in found if not any(self.ladders[column].empty(level) for column, level in node))
        return tuple(sorted(full, key=lambda node: (len(node), node)))

    def weight(self, node: Node) -> float:
        """p: what one row costs at σ = 1."""
        return math.prod(1 - 1 / max(families) for families in self.axes(node))

    def shares(self, table: Node, base: Node) -> list[Reals]:
        """For each column of a table, what its cells take from the residuals of a base; the variance is the product."""
        at = dict(base)
        return [self.ladders[column].shares(at.get(column, 0), level) for column, level in table]

    def matrix(self, bases: tuple[Node, ...]) -> sparse.csr_array:
        """For each table, how the mean variance of its cells follows from σ² of each base."""
        place = {base: at for at, base in enumerate(bases)}
        rows, columns, values = [], [], []
        for row, table in enumerate(self.tables):
            for base in below(table):
                if base in place:
                    rows.append(row)
                    columns.append(place[base])
                    values.append(math.prod(float(share.mean()) for share in self.shares(table, base)))
        return sparse.csr_array((values, (rows, columns)), shape=(len(self.tables), len(bases)))


@lru_cache(65536)
def below(table: Node) -> tuple[Node, ...]:
    """A table and all coarser ones: each column at its level, at a level above it, or not at all.

    >>> below(((0, 1), (2, 1)))
    ((), ((2, 1),), ((0, 1),), ((0, 1), (2, 1)))
    """
    choices = product(*(range(level + 1) for _, level in table))
    return tuple(
        tuple((column, level) for (column, _), level in zip(table, chosen, strict=True) if level) for chosen in choices
    )


def parent(node: Node, place: int) -> Node:
    """The table with one of its columns one level coarser, or without it."""
    column, level = node[place]
    coarser = ((column, level - 1),) if level > 1 else ()
    return (*node[:place], *coarser, *node[place + 1 :])
