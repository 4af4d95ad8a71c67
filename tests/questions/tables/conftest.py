"""Columns with public cells, and the residual decomposition written out as dense matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from sitr.dataset.cells import Categories, Rule
from sitr.dataset.schema import Column, Kind
from sitr.questions.tables.ladder import ColumnLevels, Groups, ladder
from sitr.questions.tables.optimum import least_largest, least_sum
from sitr.questions.tables.workload import Node, Workload


def column(name: str, size: int, groups: Mapping[str, Groups] | None = None) -> ColumnLevels:
    keys = tuple(str(key) for key in range(size))
    return ladder(Categories(Column(name, Kind.TEXT), keys, missing=Rule.DROP), groups)


def workload(sizes: Sequence[int], tables: Sequence[Sequence[int]]) -> Workload:
    """Tables of columns by number, without hierarchies."""
    ladders = tuple(column(f"c{place}", size) for place, size in enumerate(sizes))
    return Workload(ladders, tuple(tuple((each, 1) for each in table) for table in tables))


def planned(wanted: Workload, *, largest: bool = False, weights: Sequence[float] | None = None) -> dict[Node, float]:
    """σ² of each base at μ = 1."""
    bases = wanted.bases()
    costs = np.array([wanted.weight(base) for base in bases])
    best = least_largest if largest else least_sum
    found = best(wanted.matrix(bases), costs, np.array(weights or [1.0] * len(wanted.tables)))
    return dict(zip(bases, found.variances.tolist(), strict=True))


def grouping(ladder: ColumnLevels, level: int) -> np.ndarray:
    """The matrix that sums the cells of a column to those of a level."""
    if level == 0:
        return np.ones((1, len(ladder.levels[-1].places)))
    places = ladder.levels[level - 1].places
    made = np.zeros((ladder.size(level), len(places)))
    made[places, range(len(places))] = 1
    return made


def _kron(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(reduce(np.kron, parts, np.eye(1)))  # type: ignore[arg-type]


def margin(wanted: Workload, node: Node) -> np.ndarray:
    """The matrix of a table: from all cells of all columns to its own."""
    at = dict(node)
    return _kron([grouping(each, at.get(place, 0)) for place, each in enumerate(wanted.ladders)])


def residual(wanted: Workload, node: Node) -> tuple[np.ndarray, np.ndarray]:
    """The matrix R of the residuals of a base, and Sub·Subᵀ, the covariance of their noise at σ = 1."""
    small = []
    for column_, level in node:
        families = wanted.ladders[column_].families(level)
        block = np.zeros((sum(families) - len(families), sum(families)))
        row = start = 0
        for size in families:
            for other in range(1, size):
                block[row, start], block[row, start + other] = 1, -1
                row += 1
            start += size
        small.append(block)
    sub = _kron(small)
    return sub @ margin(wanted, node), sub @ sub.T


def information(wanted: Workload, variances: Mapping[Node, float]) -> np.ndarray:
    """RᵀΣ⁻¹R."""
    found = 0.0
    for node, variance in variances.items():
        r, covariance = residual(wanted, node)
        found = found + r.T @ np.linalg.inv(variance * covariance) @ r
    return np.asarray(found)
