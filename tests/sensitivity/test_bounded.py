from __future__ import annotations

from itertools import combinations, product

import pytest

from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.sensitivity.bounded import bounded, rows

RANGES = [(low, high) for low in range(-3, 4) for high in range(low, 4)]


def contributions(low: int, high: int, groups: int, cells: int) -> set[tuple[int, ...]]:
    """Everything one unit may add to the cells: a number in [low, high] to each of at most `groups` of them."""
    found = set()
    for touched in range(min(groups, cells) + 1):
        for places in combinations(range(cells), touched):
            for values in product(range(low, high + 1), repeat=touched):
                added = dict(zip(places, values, strict=True))
                found.add(tuple(added.get(cell, 0) for cell in range(cells)))
    return found


def farthest(low: int, high: int, groups: int, cells: int, relation: Relation) -> Distance:
    """The same by trying all pairs of neighbours: what tells two tables apart is what the unit added to each."""
    units = contributions(low, high, groups, cells)
    others = units if relation is Relation.REPLACE_ONE else {(0,) * cells}
    differences = [[abs(a - b) for a, b in zip(one, other, strict=True)] for one in units for other in others]
    return Distance(
        l1=max(map(sum, differences)),
        l2_squared=max(sum(d * d for d in difference) for difference in differences),
        largest=max(map(max, differences)),
    )


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_equals_the_farthest_neighbours(groups, cells, relation):
    """Equality without exception: a unit may leave cells untouched, so 0 and both ends are always attained."""
    ranges = RANGES if cells <= 2 else [(-1, 1), (0, 1), (-1, 0), (0, 0), (1, 1), (-1, -1), (-2, -1), (1, 2), (-1, 2)]
    for low, high in ranges:
        expected = farthest(low, high, groups, cells, relation)
        assert bounded(low=low, high=high, groups=groups, cells=cells, relation=relation) == expected, (low, high)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("low_high", [(-1, 3), (0, 2), (-3, -2), (2, 3), (-2, 2)])
@pytest.mark.parametrize("groups", [1, 2])
def test_without_a_number_of_cells_there_may_be_many(groups, low_high, relation):
    low, high = low_high
    unknown = bounded(low=low, high=high, groups=groups, cells=None, relation=relation)
    assert unknown == bounded(low=low, high=high, groups=groups, cells=2 * groups, relation=relation)
    for cells in range(1, 8):
        known = bounded(low=low, high=high, groups=groups, cells=cells, relation=relation)
        assert known.l1 <= unknown.l1
        assert known.l2_squared <= unknown.l2_squared
        assert known.largest <= unknown.largest


def test_sums_are_exact_at_any_size():
    huge = 10**40 + 1
    assert bounded(low=-huge, high=huge, groups=3, cells=None, relation=Relation.ADD_REMOVE) == Distance(
        l1=3 * huge, l2_squared=3 * huge**2, largest=huge
    )
    # Two units that pull one cell to opposite ends are further apart in length than two that miss each other.
    assert bounded(low=-huge, high=huge, groups=3, cells=None, relation=Relation.REPLACE_ONE) == Distance(
        l1=6 * huge, l2_squared=12 * huge**2, largest=2 * huge
    )


@pytest.mark.parametrize("changed", [{"low": 2}, {"groups": 0}, {"groups": -1}, {"cells": 0}])
def test_impossible_bounds_are_refused(changed):
    possible = {"low": 0, "high": 1, "groups": 1, "cells": 3, "relation": Relation.ADD_REMOVE}
    with pytest.raises(ValueError, match="Expected low ≤ high"):
        bounded(**{**possible, **changed})


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_rows_in_disjoint_sets_equal_the_farthest_neighbours(most, relation):
    """All ways to put m rows of a unit into three sets; the broken twin forgets that one set may hold them all."""
    units = [added for added in product(range(most + 1), repeat=3) if sum(added) <= most]
    others = units if relation is Relation.REPLACE_ONE else [(0, 0, 0)]
    differences = [[abs(a - b) for a, b in zip(one, other, strict=True)] for one in units for other in others]
    found = Distance(
        l1=max(map(sum, differences)),
        l2_squared=max(sum(d * d for d in difference) for difference in differences),
        largest=max(map(max, differences)),
    )
    assert rows(most, relation=relation) == found
    spread_out = bounded(low=0, high=1, groups=most, cells=None, relation=relation)  # as if no set had two of the rows
    assert (spread_out.l2_squared < found.l2_squared) == (most > 1)
