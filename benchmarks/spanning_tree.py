"""Synthetic rows by a spanning tree of pairs on mbi, like MST, for comparison. It uses numpy's noise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

STEPS = 1000


def spanning_tree(rows: Codes, cells: Sequence[int], *, rho: float) -> Codes:
    """A third of ρ for single columns, a third for the choice of a tree, a third for its pairs. Values rarer
    than three times the noise are merged into one value, and split again at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mbi's advice at its import
        import mbi
    generator = np.random.default_rng()
    columns = len(cells)
    sigma = math.sqrt(3 * columns / (2 * rho))
    noisy = [np.bincount(rows[:, i], minlength=cells[i]) + generator.normal(0, sigma, cells[i]) for i in range(columns)]
    merged = [_merged(counts, 3 * sigma) for counts in noisy]
    coarse = np.column_stack([each[column] for each, column in zip(merged, rows.T, strict=True)])
    names = [str(i) for i in range(columns)]
    domain = mbi.Domain(names, [int(each.max()) + 1 for each in merged])
    singles = [
        mbi.LinearMeasurement(counts, (name,), sigma).compress({name: each}, mbi.Domain([name], [len(each)]))
        for name, counts, each in zip(names, noisy, merged, strict=True)
    ]
    estimator, total = mbi.estimation.MirrorDescent(), float(np.mean([counts.sum() for counts in noisy]))
    alone = estimator.estimate(domain, singles, known_total=total, iters=STEPS)
    shares = [np.asarray(alone.project((name,)).datavector()) / total for name in names]
    edges = _tree(coarse, shares, math.sqrt(8 * rho / 3 / (columns - 1)), generator)
    spread = math.sqrt(3 * (columns - 1) / (2 * rho))
    pairs = [
        mbi.LinearMeasurement(
            _counts(coarse, i, j, shares) + generator.normal(0, spread, len(shares[i]) * len(shares[j])),
            (names[i], names[j]),
            spread,
        )
        for i, j in edges
    ]
    model = estimator.estimate(domain, singles + pairs, known_total=total, iters=STEPS)
    drawn = model.synthetic_data(len(rows))
    found = [np.asarray(drawn.to_dict()[name]) for name in names]
    return np.column_stack([_split(*each, generator) for each in zip(found, merged, noisy, strict=True)])


def _counts(rows: Codes, i: int, j: int, shares: Sequence[NDArray[np.float64]]) -> Codes:
    return np.bincount(rows[:, i] * len(shares[j]) + rows[:, j], minlength=len(shares[i]) * len(shares[j]))


def _tree(
    rows: Codes, shares: Sequence[NDArray[np.float64]], epsilon: float, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Choose each edge by the exponential mechanism: a row moves a distance from independence by at most 1."""
    score = {
        (i, j): float(np.abs(_counts(rows, i, j, shares) - np.outer(shares[i], shares[j]).ravel() * len(rows)).sum())
        for i, j in combinations(range(len(shares)), 2)
    }
    part = list(range(len(shares)))
    edges: list[tuple[int, int]] = []
    while len(edges) < len(shares) - 1:
        free = [edge for edge in score if part[edge[0]] != part[edge[1]]]
        weights = np.array([epsilon / 2 * score[edge] for edge in free])
        weights = np.exp(weights - weights.max())
        i, j = free[generator.choice(len(free), p=weights / weights.sum())]
        edges.append((i, j))
        part = [part[i] if each == part[j] else each for each in part]
    return edges


def _merged(counts: NDArray[np.float64], least: float) -> Codes:
    """Common values stay as they are; all others become the last one."""
    common = counts >= least
    groups = np.full(len(counts), int(common.sum()))
    groups[common] = np.arange(int(common.sum()))
    return groups


def _split(values: Codes, groups: Codes, counts: NDArray[np.float64], generator: np.random.Generator) -> Codes:
    """From groups to values again."""
    found = np.empty(len(values), dtype=np.int64)
    for group in np.unique(values):
        members = np.flatnonzero(groups == group)
        weights = np.maximum(counts[members], 0.0) + 1e-9
        here = values == group
        found[here] = generator.choice(members, int(here.sum()), p=weights / weights.sum())
    return found
