"""How far one unit moves many tables, in the metric of their noise.

Let M = RᵀΣ⁻¹R, so that adding the vector v to the cells costs vᵀMv = μ²(v). A row in cell a costs M_aa = Σ_T p_T/σ_T²,
the same for all cells where no column has families of different sizes, and at most this otherwise. √(vᵀMv) is a norm,
so a unit with N rows, wherever they are, costs at most N²·M_aa: reached when all of them are in one cell. √N is wrong,
even for rows in different cells, because these share margins.

Replacing rows pairs those that leave with those that come: N pairs, or rows without a partner, and each costs at most
the largest of ‖e_a − e_b‖² = M_aa + M_bb − 2M_ab and M_aa. Here

    M_ab = Σ_T σ_T⁻² Π_{i∈T} k_i(a, b),   k = 1 − 1/m if a and b agree in column i, and −1/m otherwise (or 0, where a
                                          hierarchy has them in different families),

so that for columns without hierarchies only the *set* of columns counts in which a and b agree: all 2^d sets are looked
at. Otherwise, each product is at least −(1/m_i)·Π_{j≠i}(1 − 1/m_j) for some i: it has an odd number of negative
factors, and more than one only make it smaller in size, because 1/m ≤ 1 − 1/m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import numpy as np

from sitr.neighbors.relation import Relation
from sitr.questions.tables.workload import Node, Workload

MOST_COLUMNS = 12
"""With more columns than this, sets of columns are not looked at one by one."""

_UP = 1 + 1e-9
"""More than the rounding errors of all sums here."""


def replaced(workload: Workload, precisions: Mapping[Node, float]) -> float:
    """How many times M_aa it costs at most to move one row, or to add or remove it: from 1 to 4, rounded up.

    `precisions` are 1/σ² of each base.
    """
    whole = sum(workload.weight(node) * precision for node, precision in precisions.items())
    flat = all(len(families) == 1 for node in precisions for families in workload.axes(node))
    columns = sorted({column for node in precisions for column, _ in node})
    if flat and len(columns) <= MOST_COLUMNS:
        far = _apart(workload, precisions, columns)
    else:
        far = sum(_bound(workload, node) * precision for node, precision in precisions.items())
    return min(4.0, max(1.0, far / whole) * _UP)


def _apart(workload: Workload, precisions: Mapping[Node, float], columns: list[int]) -> float:
    """The largest ‖e_a − e_b‖², over all sets of columns in which two cells may agree."""
    sets = np.array([*product((1.0, 0.0), repeat=len(columns))])
    common = np.zeros(len(sets))
    for node, precision in precisions.items():
        sizes = [families[0] for families in workload.axes(node)]
        factors = [sets[:, columns.index(column)] - 1 / size for (column, _), size in zip(node, sizes, strict=True)]
        common += precision * np.prod(factors, axis=0)
    return float(2 * (common[0] - common.min()))


def _bound(workload: Workload, node: Node) -> float:
    """At most p(a) + p(b) − 2·Π k(a, b)."""
    if not node:
        return 0.0
    weights = [1 - 1 / max(families) for families in workload.axes(node)]
    least = [1 / min(size for size in families if size > 1) for families in workload.axes(node)]
    whole = math.prod(weights)
    negative = max(whole / weight * low for weight, low in zip(weights, least, strict=True))
    return 2 * (whole + negative)


def rows_worth(
    workload: Workload, precisions: Mapping[Node, float], *, rows: int, low: int, high: int, relation: Relation
) -> Fraction:
    """How many rows that add 1 a unit is worth, at most, which adds `low` to `high` with each of its `rows`.

    Replacing a row with the value y in a by one with y′ in b costs y²M_aa + y′²M_bb − 2yy′M_ab. This is convex in y and
    in y′, so the ends of their range are the worst: for y, y′ ≥ 0 at most h² times the cost of moving a row or of
    adding it, and for values of both signs at most (2h)²·M_aa.
    """
    most = max(abs(low), abs(high))
    if relation is Relation.ADD_REMOVE:
        return Fraction(rows * most)
    times = replaced(workload, precisions) if low >= 0 or high <= 0 else 4.0
    return rows * most * Fraction(math.nextafter(math.sqrt(times), math.inf))
