"""The peer works as described: the tree has the strongest pairs, and with little noise rows are near the data."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.spanning_tree import _merged, _split, _tree, spanning_tree

GENERATOR = np.random.default_rng(3)
FIRST = GENERATOR.integers(0, 4, 5000)
ROWS = np.column_stack([FIRST, FIRST, GENERATOR.integers(0, 3, 5000), (FIRST + (GENERATOR.random(5000) < 0.2)) % 4])


def test_the_strongest_pairs_are_chosen() -> None:
    shares = [np.bincount(column) / 5000 for column in ROWS.T]
    edges = _tree(ROWS, shares, 100.0, GENERATOR)
    assert len(edges) == 3
    assert (0, 1) in edges


def test_rare_values_are_merged_and_split_again() -> None:
    groups = _merged(np.array([50.0, 1.0, 70.0, 2.0]), 10.0)
    assert groups.tolist() == [0, 2, 1, 2]
    assert set(_split(np.array([2] * 50), groups, np.array([50.0, 1.0, 70.0, 2.0]), GENERATOR)) == {1, 3}


@pytest.mark.slow
def test_rows_are_near_the_data() -> None:
    pytest.importorskip("mbi", reason="needs the extra synth")
    drawn = spanning_tree(ROWS, [4, 4, 3, 4], rho=10.0)
    assert drawn.shape == ROWS.shape
    assert np.mean(drawn[:, 0] == drawn[:, 1]) > 0.95
