"""How far one unit moves many tables, in the metric of their noise.

Let M = RᵀΣ⁻¹R, so that adding the vector v to the cells costs vᵀMv = μ²(v). A row in cell a costs M_aa = Σ_T p_T/σ_T²,
the same for all cells where no column has families of different sizes, and at most this otherwise. √(vᵀMv) is a norm,
so a unit with N rows, wherever they are, costs at most N²·M_aa: reached when all of them are in one cell. √N is wrong,
even for rows in different cells, because these share margins.

Replacing rows pairs those that leave with those that come: N pairs, or rows without a partner, and each costs at most
the largest of ‖e_a − e_b‖² = M_aa + M_bb − 2M_ab and M_aa. Here

    M_ab = Σ_T σ_T⁻² Π_{i∈T} k_i(a, b),   k = 1 − 1/m if a and b agree in column i, and −1/m otherwise (or 0, where a
                                          hierarchy has them in different families),

so that only the level counts down to which a and b agree in each column. In a column where they agree, or are siblings,
both are in the same family, of m cells: the part of T is Π_agree (1 − 1/m) times a number that is not negative and
grows with each m (Π (1 − 1/m) − Π (−1/m), and 1/m ≤ 1 − 1/m for siblings). So the largest families cost most, and all
combinations of levels are looked at, 2^d without hierarchies. With too many, each product is at least
−(1/m_i)·Π_{j≠i}(1 − 1/m_j) for some i: it has an odd number of negative factors, and more than one only make it smaller
in size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sitr.neighbors.relation import Relation
from sitr.questions.tables.workload import Node, Reals, Workload

MOST_WAYS = 2**12
"""With more ways to agree than this, they are not looked at one by one."""

MOST_NUMBERS = 5 * 10**6
"""With more costs than this, only some ways to move a row guide the division of a price."""

Depths = NDArray[np.intp]

_UP = 1 + 1e-9
"""More than the rounding errors of all sums here."""


def moves(workload: Workload, bases: Sequence[Node]) -> Reals:
    """What it costs to move a row, as Σ_T p_T/σ_T² for each row p of this matrix, one for each way in which two cells
    can agree. If these are too many, those where they agree in one column at most, or in all but one.

    They guide the division of a price and bound what is possible; what is charged follows from `rows_worth`.
    """
    levels = _levels(bases)
    deep = [len(each) for each in levels.values()]
    if math.prod(most + 1 for most in deep) * len(bases) <= MOST_NUMBERS:
        depths = _ways(levels)
    else:
        one = np.diag(np.array(deep, np.intp))
        depths = np.concatenate([one[:1] * 0, one, np.array(deep, np.intp) - one])
    whole = np.array([workload.weight(node) for node in bases])
    common = np.stack([_shared(workload, node, levels, depths) for node in bases], axis=1)
    return np.maximum(0.0, 2 * (whole - common))


def replaced(workload: Workload, precisions: Mapping[Node, float]) -> float:
    """How many times M_aa it costs at most to move one row, or to add or remove it: from 1 to 4, rounded up.

    `precisions` are 1/σ² of each base.
    """
    whole = sum(workload.weight(node) * precision for node, precision in precisions.items())
    levels = _levels(precisions)
    if math.prod(len(each) + 1 for each in levels.values()) <= MOST_WAYS:
        depths = _ways(levels)
        common = np.zeros(len(depths))
        for node, precision in precisions.items():
            common += precision * _shared(workload, node, levels, depths)
        far = 2 * (whole - float(common.min()))
    else:
        far = sum(_bound(workload, node) * precision for node, precision in precisions.items())
    return min(4.0, max(1.0, far / whole) * _UP)


def _levels(bases: Iterable[Node]) -> dict[int, list[int]]:
    """The levels of each column that some base has; others have nothing that the coarser ones lack."""
    found: dict[int, set[int]] = {}
    for node in bases:
        for column, level in node:
            found.setdefault(column, set()).add(level)
    return {column: sorted(found[column]) for column in sorted(found)}


def _ways(levels: Mapping[int, Sequence[int]]) -> Depths:
    """Down to how many of its levels two cells agree in each column."""
    return np.array([*product(*(range(len(each) + 1) for each in levels.values()))], np.intp)


def _shared(workload: Workload, node: Node, levels: Mapping[int, list[int]], depths: Depths) -> Reals:
    """Π k for cells that agree down to these depths, in the largest families."""
    columns, found = [*levels], np.ones(len(depths))
    for (column, level), families in zip(node, workload.axes(node), strict=True):
        depth, place, part = depths[:, columns.index(column)], levels[column].index(level), 1 / max(families)
        found *= np.where(depth > place, 1 - part, np.where(depth == place, -part, 0.0))
    return found


def _bound(workload: Workload, node: Node) -> float:
    """At most p(a) + p(b) − 2·Π k(a, b)."""
    if not node:
        return 0.0
    return 2 * workload.weight(node) * (1 + 1 / (min(map(max, workload.axes(node))) - 1))


def rows_worth(
    workload: Workload, precisions: Mapping[Node, float], *, rows: int, low: int, high: int, relation: Relation
) -> Fraction:
    """How many rows that add 1 a unit is worth, at most, which adds `low` to `high` with each of its `rows`.

    Replacing a row with the value y in a by one with y′ in b costs y²M_aa + y′²M_bb − 2yy′M_ab. This is convex in y and
    in y′, so the ends of their range l ≤ 0 ≤ h are the worst: of one sign, at most max(−l, h)² times the cost of moving
    a row or of adding it; of both signs, at most (h − l)²·M_aa, because M_ab ≤ M_aa.
    """
    most = max(abs(low), abs(high))
    if relation is Relation.ADD_REMOVE:
        return Fraction(rows * most)
    moved = most * Fraction(math.nextafter(math.sqrt(replaced(workload, precisions)), math.inf))
    return rows * max(moved, Fraction(high - low))
