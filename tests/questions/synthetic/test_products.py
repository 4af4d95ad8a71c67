"""One unit moves the sums of products by no more than was said, and by no less where all columns are at their ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.neighbors.distance import Distance
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.moments import design
from sitr.questions.synthetic.products import RESOLUTION, products
from tests.oracles.axes import granular
from tests.questions.synthetic.test_moments import AXES, CELLS, synthetic


def length(gap: Codes) -> tuple[int, int, int]:
    return int(np.abs(gap).sum()), int((gap**2).sum()), int(np.abs(gap).max())


@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("rows", [1, 2])
def test_one_unit_moves_the_sums_by_no_more_than_was_said(target: int, rows: int) -> None:
    """Every row that there can be, once and twice, and every pair of two rows: added to some rows."""
    made, base = design(AXES, synthetic(), target), synthetic(50, 2)
    moved = products(3, rows)
    every = [np.array([row]) for row in product(*map(range, CELLS))]
    units = [np.repeat(row, rows, axis=0) for row in every]
    units += [np.vstack([every[0], row]) for row in every] if rows == 2 else []
    before = made.sums(base)
    found = [length(made.sums(np.vstack([base, unit])) - before) for unit in units]
    worst = [max(each[part] for each in found) for part in range(3)]
    assert all(far <= most for far, most in zip(worst, (moved.l1, moved.l2_squared, moved.largest), strict=True))
    assert worst[2] == moved.largest  # the constant times itself


def test_the_distance_is_reached() -> None:
    """By a row at the ends of all columns, if their means are in the middle: a smaller distance would be wrong."""
    even = np.array([[low, 0, low] for low in (0, 1)] * 40)
    axes = tuple(granular(name, Kind.INTEGER, 0, 1, Fraction(1), 2) for name in "abc")
    made = design(axes, even[:, [0, 2, 0]], 2)
    gap = made.sums(np.array([[1, 1, 1]]))
    assert length(gap) == (products(3, 1).l1, products(3, 1).l2_squared, products(3, 1).largest)
    smaller = Distance(l1=6 * RESOLUTION**2, l2_squared=6 * RESOLUTION**4, largest=RESOLUTION**2)  # without a constant
    assert length(gap)[0] > smaller.l1
