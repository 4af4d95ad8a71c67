"""The mean variance of sums over ranges of cells, for noise of variance 1: what a choice between methods compares.

With P_t the estimated sum of the first t of n cells, the estimate of a range is P_b − P_a, and over all n(n + 1)/2
ranges Σ_{a<b} (P_b − P_a)² = (n + 1)·Σ P_t² − (Σ P_t)². This needs no list of ranges, for any number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sitr.mechanisms.prefix_gaussian import coefficients
from sitr.questions.histogram.hierarchy import Hierarchy, best_branching

Reals = NDArray[np.float64]
Range = tuple[int, int]
"""The first and the last cell."""

BRANCHINGS = (*range(2, 17), 20, 24, 32, 48, 64)
"""The trees that are compared, beside that of `best_branching`."""

MANY = 2**16
"""With more cells than this, only one tree is compared."""


def flat_variance(cells: int, wanted: Sequence[Range] = ()) -> float:
    """The mean length of the wanted ranges, by default of all: a range has (n + 2)/3 cells on average.

    >>> flat_variance(1024), flat_variance(1024, [(0, 9), (5, 24)])
    (342.0, 15.0)
    """
    return float(np.mean([last - first + 1 for first, last in wanted])) if wanted else (cells + 2) / 3


def prefix_variance(cells: int, wanted: Sequence[Range] = ()) -> float:
    """The same for prefix sums with the noise Lz, L lower triangular with the entries c_{t−i}: see `PrefixGaussian`.

    >>> prefix_variance(1), prefix_variance(2)
    (1.0, 1.166...)
    """
    c = coefficients(cells)
    if wanted:
        return float(np.mean([_prefix_range(c, first, last + 1) for first, last in wanted]))
    squares, sums = np.cumsum(np.cumsum(c**2))[-1], np.cumsum(c)
    return float(((cells + 1) * squares - (sums**2).sum()) / (cells * (cells + 1) / 2))


def tree_variance(tree: Hierarchy, wanted: Sequence[Range] = ()) -> float:
    """The same for a tree, after least squares.

    The covariance of the cells begins as I. Each measured node v, from the leaves upward, lowers it by uuᵀ/(1 + t): u
    is the covariance with the sum over v, and t the variance of that sum, which then becomes u/(1 + t).

    >>> tree_variance(Hierarchy(2, branching=2)), tree_variance(Hierarchy(2, branching=2, rooted=True))
    (1.333..., 0.666...)
    """
    n = tree.cells
    if wanted:
        return float(np.mean([_tree_range(tree, *each) for each in wanted]))
    total, u = flat_variance(n) * n * (n + 1) / 2, np.ones(n)
    for level in range(1, tree.levels):
        starts = np.arange(0, n, min(n, tree.branching**level))
        ends = np.append(starts[1:], n)
        before = np.repeat((np.cumsum(u) - u)[starts], ends - starts)
        inside = np.cumsum(u) - before
        t = np.add.reduceat(u, starts)
        sums = np.add.reduceat(inside, starts) + (n - ends) * t
        squares = np.add.reduceat(inside**2, starts) + (n - ends) * t**2
        total -= float((((n + 1) * squares - sums**2) / (1 + t)).sum())
        u = u / np.repeat(1 + t, ends - starts)
    return total / (n * (n + 1) / 2)


def trees(cells: int, *, pure: bool) -> list[Hierarchy]:
    """The trees to compare, all with at least two levels."""
    listed = {best_branching(cells, pure=pure), *(BRANCHINGS if cells <= MANY else ())}
    return [Hierarchy(cells, branching) for branching in sorted(listed) if branching < cells]


def _prefix_range(c: Reals, begin: int, end: int) -> float:
    """‖ℓ_e − ℓ_b‖² for the rows ℓ of L."""
    row = c[:end][::-1].copy()
    row[:begin] -= c[:begin][::-1]
    return float(row @ row)


def _tree_range(tree: Hierarchy, first: int, last: int) -> float:
    wanted = np.zeros(tree.cells)
    wanted[first : last + 1] = 1.0
    return float(sum((weights**2).sum() for weights in tree.weights(wanted)))
