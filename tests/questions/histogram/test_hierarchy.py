"""Trees: against dense least squares, which knows nothing of trees."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.errors import QuestionError
from sitr.questions.histogram.hierarchy import Hierarchy, best_branching

TREES = [
    Hierarchy(cells, branching, rooted)
    for cells, branching in [(1, 2), (2, 2), (4, 2), (7, 2), (10, 3), (13, 4), (16, 4), (20, 16), (9, 9), (5, 8)]
    for rooted in (False, True)
]
each_tree = pytest.mark.parametrize("tree", TREES, ids=lambda tree: f"{tree.cells}/{tree.branching}/{tree.rooted}")


def matrix(tree: Hierarchy) -> np.ndarray:
    """Every measured node as a row over the cells."""
    columns = [np.concatenate(tree.sums(unit)) for unit in np.eye(tree.cells)]
    return np.array(columns).T


@each_tree
def test_every_level_sums_the_cells(tree: Hierarchy) -> None:
    cells = np.arange(1, tree.cells + 1)
    levels = tree.sums(cells)
    assert tuple(map(len, levels)) == tree.sizes
    assert all(level.sum() == cells.sum() for level in levels)
    assert (matrix(tree).sum(axis=0) == tree.levels).all()  # a cell is in one node of each level


@each_tree
def test_consistency_is_least_squares(tree: Hierarchy) -> None:
    a = matrix(tree)
    y = np.random.default_rng(7).normal(10.0, 5.0, len(a))
    found = tree.consistent(np.split(y, np.cumsum(tree.sizes)[:-1]))
    dense = np.linalg.lstsq(a, y, rcond=None)[0]
    assert np.concatenate(found) == pytest.approx(a @ dense)


@each_tree
def test_weights_are_those_of_the_estimate(tree: Hierarchy) -> None:
    """An estimate is linear in what was measured: its weights are read off unit vectors."""
    splits = np.cumsum(tree.sizes)[:-1]
    units = np.array([tree.consistent(np.split(unit, splits))[0] for unit in np.eye(sum(tree.sizes))])
    wanted = np.random.default_rng(9).integers(0, 2, tree.cells).astype(float)
    assert np.concatenate(tree.weights(wanted)) == pytest.approx(units @ wanted)


MORE = [Hierarchy(cells, branching) for cells, branching in [(27, 3), (28, 3), (29, 3), (37, 3), (64, 4), (70, 4)]]


@pytest.mark.parametrize("tree", [*TREES, *MORE], ids=str)
def test_cells_of_one_kind_have_the_same_weights(tree: Hierarchy) -> None:
    """And there are no more kinds than levels, of which a complete tree has one."""
    weights = [np.sort(np.concatenate(tree.weights(unit))) for unit in np.eye(tree.cells)]
    kinds = tree.kinds()
    for cell, other in enumerate(np.unique(kinds, return_index=True)[1][np.unique(kinds, return_inverse=True)[1]]):
        assert weights[cell] == pytest.approx(weights[other])
    assert len(np.unique(kinds)) <= tree.levels
    assert len(np.unique(kinds)) == 1 or tree.cells % tree.branching ** (tree.levels - 1)


def test_cells_of_all_trees_are_not_alike() -> None:
    """A broken twin: one kind for all would give the last cell of five the interval of the first."""
    tree = Hierarchy(5, branching=2)
    first, last = (np.sort(np.concatenate(tree.weights(unit))) for unit in np.eye(5)[[0, 4]])
    assert not np.allclose(first, last)


def test_unequal_variances_would_be_seen() -> None:
    """A broken twin: averaging a parent and its children without regard to their variance is not least squares."""
    tree = Hierarchy(4, branching=2)
    y = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([6.0, 9.0])]
    broken = (y[1] + np.add.reduceat(y[0], [0, 2])) / 2
    assert not np.allclose(broken, tree.consistent(y)[1])


def mean_variance(cells: int, branching: int, *, pure: bool) -> float:
    """Of some ranges: the exact variance of each, in units of what one level alone would have."""
    chance, tree, places = np.random.default_rng(3), Hierarchy(cells, branching), np.arange(cells)
    ends = [np.sort(chance.integers(0, cells, 2)) for _ in range(30)]
    ranges = [1.0 * ((places >= low) & (places <= high)) for low, high in ends]
    found = np.mean([wanted @ tree.weights(wanted)[0] for wanted in ranges])
    return float(found) * tree.levels ** (2 if pure else 1)


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("cells", [60, 500])
def test_the_best_branching_is_near_the_best_there_is(cells: int, pure: bool) -> None:
    every = (2, 3, 4, 6, 8, 10, 16, 24, 32, cells)
    least = min(mean_variance(cells, branching, pure=pure) for branching in every)
    assert mean_variance(cells, best_branching(cells, pure=pure), pure=pure) <= 1.5 * least


def test_a_tree_joins_at_least_two() -> None:
    with pytest.raises(QuestionError, match="at least 2"):
        Hierarchy(5, branching=1)
