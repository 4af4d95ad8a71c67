"""Mean variances of ranges, against all ranges written out."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.mechanisms.prefix_gaussian import coefficients
from sitr.questions.histogram.hierarchy import Hierarchy
from sitr.questions.histogram.ranges import flat_variance, prefix_variance, tree_variance, trees
from tests.sensitivity.test_prefixes import factor


def every(cells: int) -> list[tuple[int, int]]:
    return [(first, last) for first in range(cells) for last in range(first, cells)]


def workload(cells: int, wanted: list[tuple[int, int]]) -> np.ndarray:
    return np.array([[first <= cell <= last for cell in range(cells)] for first, last in wanted], float)


def mean(strategy: np.ndarray, wanted: list[tuple[int, int]]) -> float:
    """The mean variance of least squares, from measurements of variance 1."""
    w = workload(strategy.shape[1], wanted)
    return float(np.diag(w @ np.linalg.inv(strategy.T @ strategy) @ w.T).mean())


@pytest.mark.parametrize("cells", [1, 2, 7, 20])
def test_all_ranges_are_the_list_of_all_ranges(cells: int) -> None:
    wanted = every(cells)
    assert flat_variance(cells) == pytest.approx(mean(np.eye(cells), wanted), rel=1e-12)
    assert flat_variance(cells, wanted) == pytest.approx(flat_variance(cells), rel=1e-12)
    assert prefix_variance(cells) == pytest.approx(mean(factor(cells, 0), wanted), rel=1e-10)
    assert prefix_variance(cells, wanted) == pytest.approx(prefix_variance(cells), rel=1e-10)


@pytest.mark.parametrize("rooted", [False, True])
@pytest.mark.parametrize(("cells", "branching"), [(2, 2), (7, 2), (8, 2), (10, 3), (20, 4), (27, 3)])
def test_trees_after_least_squares(cells: int, branching: int, rooted: bool) -> None:
    tree = Hierarchy(cells, branching, rooted)
    strategy = np.vstack(
        [np.array([tree.sums(cell)[level] for cell in np.eye(cells)]).T for level in range(tree.levels)]
    )
    assert tree_variance(tree) == pytest.approx(mean(strategy, every(cells)), rel=1e-10)
    some = [(0, 0), (1, cells - 1)]
    assert tree_variance(tree, some) == pytest.approx(mean(strategy, some), rel=1e-10)


def test_a_thousand_cells() -> None:
    """The figures of root mean square errors at the same price: σ is in proportion to what a row costs."""
    flat = np.sqrt(flat_variance(1024))
    tree = min(np.sqrt(each.levels * tree_variance(each)) for each in trees(1024, pure=False))
    prefixes = np.sqrt(prefix_variance(1024) * (coefficients(1024) ** 2).sum())
    assert (flat, tree, prefixes) == pytest.approx((18.4932, 4.5309, 3.8958), abs=1e-4)


def test_trees_with_many_cells_are_not_compared() -> None:
    assert len(trees(2**16, pure=False)) > 1
    assert len(trees(2**16 + 1, pure=True)) == 1
    assert trees(2, pure=True) == []
