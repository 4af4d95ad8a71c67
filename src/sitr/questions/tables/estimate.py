"""From tables to residuals, and back to tables that add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.noise.contrasts import Siblings
from sitr.questions.tables.workload import Node, Reals, Workload, below, parent

Whole = NDArray[np.int64] | NDArray[np.object_]

SAFE = 2.0**60
"""Sums of smaller whole numbers fit into 64 bits."""


def table(workload: Workload, node: Node, residuals: Mapping[Node, Reals]) -> Reals:
    """The estimate of a table: its residuals, and those of all coarser tables, spread over its cells.

    A child is its parent divided by the size of the family, plus its part of the residuals of the family, where the
    contrasts of the parts are the residuals and the parts add up to zero. Without hierarchies it is the best linear
    unbiased estimate, (⊗ Sub⁺ ⊗ 1/m)·r summed over all subsets of the columns.      [XHZK23, Sec. 4]
    """
    found = np.zeros(workload.shape(node))
    for base in below(node):
        if base in residuals:
            found += _spread(workload, node, base, residuals[base])
    return found


def _spread(workload: Workload, node: Node, base: Node, residuals: Reals) -> Reals:
    """The part of a table that follows from one base."""
    at, part = dict(base), np.asarray(residuals, np.float64)
    for place, (column, level) in enumerate(node):
        ladder, own = workload.ladders[column], at.get(column, 0)
        part = _parts(part, ladder.families(own), place) if own else np.expand_dims(part, place)
        for finer in range(own + 1, level + 1):
            part = _divided(part, ladder.families(finer), place)
    return part


def _parts(residuals: Reals, families: Siblings, place: int) -> Reals:
    """Numbers that add up to zero in each family, and whose contrasts are these: Sub⁺·r."""
    starts, rest, _ = _family(families)
    shape = list(residuals.shape)
    shape[place] = len(rest) + len(families)
    full = np.zeros(shape)
    at: list[Any] = [slice(None)] * len(shape)
    at[place] = rest
    full[tuple(at)] = residuals
    return np.asarray(_divided(np.add.reduceat(full, starts, axis=place), families, place) - full)


def _divided(parents: Reals, families: Siblings, place: int) -> Reals:
    """Each number, divided evenly among its children."""
    sizes = _family(families)[2]
    wide = [1] * parents.ndim
    wide[place] = len(sizes)
    return np.repeat(parents / sizes.reshape(wide), sizes, axis=place)


@lru_cache(1024)
def _family(families: Siblings) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The first cell of each family, all other cells, and the sizes."""
    sizes = np.array(families, np.intp)
    starts = np.cumsum(sizes) - sizes
    return starts, np.setdiff1d(np.arange(sizes.sum()), starts), sizes


def variance(workload: Workload, node: Node, variances: Mapping[Node, float]) -> Reals:
    """The variance of every cell of a table, Σ_T σ_T²·Π (shares); axes with one number are the same for all cells."""
    found = np.zeros((1,) * len(node))
    for base in below(node):
        if base in variances:
            found = found + variances[base] * _outer(workload.shares(node, base))
    return found


def _outer(parts: Sequence[Reals]) -> Reals:
    made = np.ones(())
    for part in parts:
        made = np.multiply.outer(made, part)
    return made


# Whole multiples of a step that add up exactly


def whole(workload: Workload, estimates: Mapping[Node, Reals], *, step: float) -> dict[Node, Whole]:
    """Every table, and every coarser one, as whole multiples of a step: each margin is the sum of its parts, exactly.

    Cells are rounded to the nearest multiple, except the first sibling of every family, which is its parent minus the
    others. `blur` says how far this moves a cell.
    """
    found: dict[Node, Whole] = {}
    for node in sorted(estimates, key=lambda node: sum(level for _, level in node)):
        nearest = np.rint(estimates[node] / step)
        fits = bool(np.abs(nearest).max(initial=0.0) * max(1, nearest.size) < SAFE)
        cells: Whole = nearest.astype(np.int64) if fits else np.vectorize(int, otypes=[object])(nearest)
        cells = cells.reshape(nearest.shape)
        for place, (column, level) in enumerate(node):
            _fill(cells, place, node, workload.ladders[column].families(level), found[parent(node, place)])
        found[node] = cells
    return found


def _fill(cells: Whole, place: int, node: Node, families: Siblings, above: Whole) -> None:
    """The first sibling of every family on one axis, for all cells that are no first sibling on a later axis.

    Later axes are filled afterwards, from tables that add up to the same margins.
    """
    starts = _family(families)[0]
    # The table above has the same column, one level coarser, or lacks it.
    upper = above if len(node) == len(above.shape) else np.expand_dims(above, place)
    others = cells.copy()
    at: list[Any] = [slice(None)] * len(node)
    at[place] = starts
    others[tuple(at)] = 0
    cells[tuple(at)] = upper - np.add.reduceat(others, starts, axis=place)


def blur(workload: Workload, nodes: Sequence[Node]) -> dict[Node, float]:
    """For each table, how many steps `whole` moves a cell, at most."""
    found: dict[Node, float] = {}
    for node in sorted(nodes, key=lambda node: sum(level for _, level in node)):
        most = 0.5
        for place, (column, level) in enumerate(node):
            others = max(workload.ladders[column].families(level)) - 1
            most = max(most, found[parent(node, place)] + others * most)
        found[node] = most
    return found


def lineage(nodes: Sequence[Node]) -> list[Node]:
    """All tables and everything coarser."""
    return sorted({part for node in nodes for part in below(node)}, key=lambda node: (len(node), node))


def steps(deviations: Mapping[Node, float], blurs: Mapping[Node, float]) -> int:
    """The decimal places d of the step 10^{−d}: rounding moves no cell by more than 1/1000 of its deviation."""
    least = min(deviations[node] / (1000 * blurs[node]) for node in deviations)
    return math.ceil(-math.log10(least)) if 0 < least < math.inf else 0
