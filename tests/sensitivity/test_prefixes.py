"""How far a unit moves prefix sums: never less than the farthest vector, found by trying all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from math import comb

import numpy as np
import pytest

from sitr.errors import InvalidParameter
from sitr.neighbors.relation import Relation
from sitr.sensitivity.prefixes import Line, reach

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def factor(line: int, beside: int) -> np.ndarray:
    """L of one column, written out."""
    found = np.eye(line + beside)
    for t in range(line):
        for i in range(t + 1):
            found[t, i] = comb(2 * (t - i), t - i) / 4 ** (t - i)
    return found


def strategy(axes: tuple[Line, ...]) -> np.ndarray:
    return np.asarray(reduce(np.kron, [factor(*axis) for axis in axes]))


def units(cells: int, each: int, total: int, groups: int) -> Iterator[np.ndarray]:
    """All vectors that one unit may add."""
    for counts in product(range(each + 1), repeat=cells):
        if sum(counts) <= total and sum(count > 0 for count in counts) <= groups:
            yield np.array(counts)


def farthest(axes: tuple[Line, ...], each: int, total: int, groups: int, relation: Relation) -> float:
    matrix = strategy(axes)
    moved = np.array([matrix @ v for v in units(len(matrix), each, total, groups)])
    if relation is ADD:
        return float(np.sqrt((moved**2).sum(1)).max())
    inner = moved @ moved.T
    squares = np.diag(inner)
    return float(np.sqrt((squares[:, None] + squares[None, :] - 2 * inner).max()))


CAPS = [(1, 1, 1), (1, 2, 2), (2, 2, 1), (2, 3, 2), (2, 4, 2), (1, 3, 3), (3, 3, 3)]
AXES: list[tuple[Line, ...]] = [((1, 0),), ((4, 0),), ((3, 2),), ((2, 1), (2, 0)), ((2, 0), (0, 2)), ((0, 3),)]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("axes", AXES)
def test_no_vector_goes_farther(axes: tuple[Line, ...], relation: Relation) -> None:
    for each, total, groups in CAPS:
        bound = float(reach(axes, each=each, total=total, groups=groups, relation=relation))
        most = farthest(axes, each, total, groups, relation)
        assert bound >= most * (1 - 1e-12), (each, total, groups)
        if len(axes) == 1 and axes[0][0] > 1 and relation is ADD:  # elsewhere bounds are sound, but not tight
            assert bound <= most * 1.25, (each, total, groups)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("axis", [(1, 0), (6, 0), (6, 1), (6, 2), (0, 1), (0, 5)])
def test_one_row_in_one_line_is_exact(axis: Line, relation: Relation) -> None:
    bound = float(reach([axis], each=1, total=1, groups=1, relation=relation))
    assert bound == pytest.approx(farthest((axis,), 1, 1, 1, relation), rel=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 3, 4, 5, 6])
def test_full_cells_in_one_line_are_exact(groups: int) -> None:
    bound = float(reach([(4, 2)], each=2, total=2 * groups, groups=groups, relation=ADD))
    assert bound == pytest.approx(farthest(((4, 2),), 2, 2 * groups, groups, ADD), rel=1e-12)


def test_several_columns_multiply() -> None:
    bound = float(reach([(4, 1), (3, 0)], each=1, total=1, groups=1, relation=ADD))
    assert bound == pytest.approx(np.linalg.norm(strategy(((4, 1), (3, 0))), axis=0).max(), rel=1e-12)


@pytest.mark.parametrize("rows", [2, 3])
def test_the_root_of_the_number_of_rows_would_be_wrong(rows: int) -> None:
    """The broken twin: columns are not orthogonal, so that rows in different cells add up."""
    one = float(reach([(5, 0)], each=1, total=1, groups=1, relation=ADD))
    most = farthest(((5, 0),), 1, rows, rows, ADD)
    assert most > 1.15 * np.sqrt(rows) * one
    assert float(reach([(5, 0)], each=1, total=rows, groups=rows, relation=ADD)) >= most * (1 - 1e-12)


def test_long_lines_cost_the_logarithm_of_their_length() -> None:
    """Σ_{k<n} c_k² is about 1 + (γ + ln n)/π: of 1,024 cells, its root is 1.809."""
    found = [float(reach([(n, 1)], each=1, total=1, groups=1, relation=ADD)) ** 2 for n in (1024, 2048)]
    assert np.sqrt(found[0]) == pytest.approx(1.80902, abs=1e-5)
    assert found[1] - found[0] == pytest.approx(np.log(2) / np.pi, rel=1e-3)


@pytest.mark.parametrize(("axes", "each"), [([], 1), ([(0, 0)], 1), ([(-1, 3)], 1), ([(3, 0)], 0)])
def test_nothing_is_computed_of_nothing(axes: list[Line], each: int) -> None:
    with pytest.raises(InvalidParameter):
        reach(axes, each=each, total=1, groups=1, relation=ADD)
