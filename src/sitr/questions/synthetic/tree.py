"""A tree of pairs of columns: rows are drawn from it column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
Codes = NDArray[np.int64]
Uniform = Callable[[int], Weights]

SMOOTH = 0.01
"""The share of independent rows that is mixed into each pair, so that no row is impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Two columns and the quotient of the share of each pair of their values and the product of its margins."""

    columns: tuple[int, ...]
    ratio: Weights


def planted(
    edges: Sequence[Edge], shares: Sequence[Weights], *, size: int, dice: Uniform
) -> tuple[Codes, dict[tuple[int, ...], Weights]]:
    """Rows, one in each column of the result, and the logarithms of the quotients of the pairs in the tree.

    The tree has the pairs that are farthest from independence, like a spanning tree by mutual information.
    [CL68]  A column without a pair is drawn by itself.
    """
    distance = {edge.columns: _distance(edge, shares) for edge in edges}
    by = {edge.columns: (1 - SMOOTH) * edge.ratio + SMOOTH for edge in edges}
    rows, kept = np.zeros((len(shares), size), dtype=np.int64), {}
    waiting = set(range(len(shares)))
    while waiting:
        near = {pair: far for pair, far in distance.items() if len(waiting & set(pair)) == 1}
        if not near:
            pairs = [pair for pair in distance if waiting >= set(pair)]
            root = max(pairs, key=lambda pair: distance[pair])[0] if pairs else min(waiting)
            rows[root] = _drawn(shares[root], size, dice)
            waiting.remove(root)
            continue
        pair = max(near, key=lambda pair: near[pair])
        (child,) = waiting & set(pair)
        table = by[pair] if child == pair[1] else by[pair].T
        parent = pair[0] if child == pair[1] else pair[1]
        rows[child] = _given(table * shares[child], rows[parent], shares[child], dice)
        kept[pair] = np.log(by[pair])
        waiting.remove(child)
    return rows, kept


def _distance(edge: Edge, shares: Sequence[Weights]) -> float:
    """Σ|p − q| between the pair and independent columns."""
    i, j = edge.columns
    return float(np.abs((edge.ratio - 1) * np.outer(shares[i], shares[j])).sum())


def _given(table: Weights, parent: Codes, otherwise: Weights, dice: Uniform) -> Codes:
    """For each value of the parent, values in proportion to its row of the table."""
    drawn = np.empty(len(parent), dtype=np.int64)
    order = np.argsort(parent, kind="stable")
    for value, places in enumerate(np.split(order, np.cumsum(np.bincount(parent, minlength=len(table)))[:-1])):
        if len(places):
            law = table[value] if table[value].sum() > 0 else otherwise
            drawn[places] = _drawn(law, len(places), dice)
    return drawn


def _drawn(law: Weights, size: int, dice: Uniform) -> Codes:
    """Values by systematic sampling, in a random order."""
    ends = np.cumsum(law) / law.sum()
    tossed = dice(size + 1)
    teeth = (np.arange(size) + tossed[-1]) / size
    values = np.minimum(np.searchsorted(ends, teeth), len(law) - 1)
    return np.asarray(values[np.argsort(tossed[:-1], kind="stable")])
