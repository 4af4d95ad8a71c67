"""Exact tables from the cells of each row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sitr.questions.tables.estimate import SAFE, Whole
from sitr.questions.tables.records import Records
from sitr.questions.tables.workload import Node, Workload, below

Listed: TypeAlias = NDArray[np.int64]
"""For each kept row, its cell number on each axis, and what it adds to each term with values."""

_LOW = 26
"""Numbers are added in two parts, the lower one of this many bits, so that sums of doubles are exact."""

_ROWS = 2**24
"""The rows that are added as doubles at a time: parts of at most 2^27, which numbers up to 2^53 have, stay exact."""


def totals(records: Records, workload: Workload, listed: Listed, nodes: Iterable[Node]) -> list[dict[Node, Whole]]:
    """For each term, the exact integers of these tables."""
    codes = listed[:, : len(records.axes)]
    numbers = dict(zip(records.valued, listed[:, len(records.axes) :].T, strict=True))
    wanted = list(nodes)
    largest = maximal(wanted)
    found: list[dict[Node, Whole]] = [{} for _ in records.terms]
    for node in largest:
        cell = _cells(workload, codes, node)
        for tables, term in zip(found, records.terms, strict=True):
            full = _summed(cell, numbers.get(term), workload.cells(node)).reshape(workload.shape(node))
            for part in below(node):
                if part not in tables:
                    tables[part] = coarser(workload, node, full, part)
    return [{node: tables[node] for node in wanted} for tables in found]


def maximal(nodes: Sequence[Node]) -> list[Node]:
    """The tables from which all others follow."""
    covered: set[Node] = set()
    found = []
    for node in sorted(nodes, key=lambda node: -sum(level for _, level in node)):
        if node not in covered:
            found.append(node)
            covered.update(below(node))
    return found


def coarser(workload: Workload, node: Node, full: Whole, part: Node) -> Whole:
    """A table as the sums of a finer one.

    >>> import numpy as np
    >>> from sitr.questions.tables.ladder import ladder
    >>> from sitr.dataset.cells import Categories
    >>> from sitr.dataset.schema import Column, Kind
    >>> one = ladder(Categories(Column("a", Kind.BOOLEAN), (False, True)))
    >>> coarser(Workload((one,), ()), ((0, 1),), np.array([3, 4]), ())
    array(7)
    """
    at, found = dict(part), np.asarray(full)
    for place in reversed(range(len(node))):
        column, level = node[place]
        for finer in range(level, at.get(column, 0), -1):
            sizes = workload.ladders[column].families(finer)
            starts = np.cumsum(sizes) - np.array(sizes)
            found = np.add.reduceat(found, starts, axis=place)
        if column not in at:
            found = found.reshape((*found.shape[:place], *found.shape[place + 1 :]))
    return found  # type: ignore[return-value] # of the same type as the finer table


def _cells(workload: Workload, codes: NDArray[np.int64], node: Node) -> NDArray[np.intp]:
    """The cell of each row in a table."""
    found = np.zeros(len(codes), np.intp)
    for column, level in node:
        places = np.array(workload.ladders[column].levels[level - 1].places, np.intp)
        found *= workload.ladders[column].size(level)
        found += places[codes[:, column]]
    return found


def _summed(cell: NDArray[np.intp], values: NDArray[np.int64] | None, cells: int) -> Whole:
    """The sum of the values in each cell, exactly; of ones without values."""
    if values is None:
        return np.bincount(cell, minlength=cells)
    parts = [np.zeros(cells, np.int64), np.zeros(cells, np.int64)]
    for start in range(0, len(values), _ROWS):
        some, own = values[start : start + _ROWS], cell[start : start + _ROWS]
        halves = (some >> _LOW, some & ((1 << _LOW) - 1))
        parts = [
            total + np.bincount(own, weights=half, minlength=cells).astype(np.int64)
            for total, half in zip(parts, halves, strict=True)
        ]
    if float(np.abs(parts[0]).max(initial=0)) * 2.0**_LOW < SAFE:
        return parts[0] * (1 << _LOW) + parts[1]
    return np.asarray(parts[0].astype(np.object_) * (1 << _LOW) + parts[1])


def cells_in_all(workload: Workload) -> int:
    """The cells of all tables."""
    return sum(math.prod(workload.shape(node)) for node in workload.tables)
