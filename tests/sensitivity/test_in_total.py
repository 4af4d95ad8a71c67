from __future__ import annotations

from itertools import product

import pytest

from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.sensitivity.bounded import bounded
from sitr.sensitivity.in_total import in_total, ways

RANGES = [(0, 1), (-1, 1), (-2, 1), (-1, 3), (1, 2), (-2, -1), (0, 0)]
CAPS = [(groups, each, total) for groups in (1, 2, 3) for each in (1, 2, 3) for total in range(1, groups * each + 1)]


def units(low: int, high: int, groups: int, each: int, total: int, cells: int) -> set[tuple[int, ...]]:
    """Everything that one unit can add to the cells: sums of whole values, some rows without a value."""
    low, high = min(low, 0), max(high, 0)
    found = set()
    for rows in product(range(each + 1), repeat=cells):
        if sum(rows) <= total and sum(map(bool, rows)) <= groups:
            found |= set(product(*({count * low, 0, count * high} for count in rows)))
    return found


def farthest(low: int, high: int, caps: tuple[int, int, int], cells: int, relation: Relation) -> Distance:
    """The same by trying all pairs: what lies between the ends is never farther away."""
    added = units(low, high, *caps, cells)
    others = added if relation is Relation.REPLACE_ONE else {(0,) * cells}
    gaps = [[abs(a - b) for a, b in zip(one, other, strict=True)] for one in added for other in others]
    return Distance(
        l1=max(map(sum, gaps)), l2_squared=max(sum(d * d for d in gap) for gap in gaps), largest=max(map(max, gaps))
    )


def distance(low: int, high: int, caps: tuple[int, int, int], cells: int | None, relation: Relation) -> Distance:
    groups, each, total = caps
    return in_total(low=low, high=high, each=each, total=total, groups=groups, cells=cells, relation=relation)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_equals_the_farthest_neighbours(cells, relation):
    """Equality without exception: the bounds hold for all units, and some units reach them."""
    for caps in CAPS:
        for low, high in RANGES if cells < 3 else RANGES[:3]:
            expected = farthest(low, high, caps, cells, relation)
            assert distance(low, high, caps, cells, relation) == expected, (low, high, caps)


@pytest.mark.parametrize("caps", [(2, 2, 3), (3, 2, 3), (2, 3, 4), (4, 1, 2)])
def test_equals_the_farthest_neighbours_among_more_cells(caps):
    """Here two units can be apart altogether, or meet in some groups; counts only, so that all pairs can be tried."""
    for relation, (low, high) in product(Relation, [(0, 1), (-1, 2)]):
        expected = farthest(low, high, caps, 4, relation)
        assert distance(low, high, caps, 4, relation) == expected, (low, high)
        assert distance(low, high, caps, None, relation).l1 >= expected.l1


@pytest.mark.parametrize("relation", Relation)
def test_without_a_number_of_cells_there_may_be_many(relation):
    for caps, (low, high) in product(CAPS, RANGES):
        many = distance(low, high, caps, 2 * caps[0], relation)
        assert distance(low, high, caps, None, relation) == many


@pytest.mark.parametrize("relation", Relation)
def test_a_cap_that_binds_nobody_changes_nothing(relation):
    for (groups, each, _), (low, high), cells in product(CAPS, RANGES, [1, 2, 3, 5, None]):
        usual = bounded(low=each * min(low, 0), high=each * max(high, 0), groups=groups, cells=cells, relation=relation)
        for total in (groups * each, groups * each + 1, 10**9):
            assert distance(low, high, (groups, each, total), cells, relation) == usual


def test_large_caps_are_quick_and_exact():
    huge = 10**30
    found = distance(0, 1, (huge, 10**9, huge + 7), None, Relation.ADD_REMOVE)
    assert found == Distance(l1=huge + 7, l2_squared=10**21 * 10**18 + 49, largest=10**9)


def test_broken_twins_are_refuted():
    """Rows spread evenly over groups, or the cap of the product, are not the farthest neighbours."""
    caps = (3, 3, 4)
    found = farthest(0, 1, caps, 3, Relation.ADD_REMOVE)
    even = Distance(l1=4, l2_squared=2 * 2**2, largest=2)
    assert found.l2_squared > even.l2_squared
    assert found.l1 < bounded(low=0, high=3, groups=3, cells=3, relation=Relation.ADD_REMOVE).l1
    one = farthest(-1, 2, caps, 3, Relation.REPLACE_ONE)
    doubled = farthest(-1, 2, caps, 3, Relation.ADD_REMOVE)
    assert one.l2_squared > 2 * doubled.l2_squared  # units that meet are farther apart than those that miss each other


@pytest.mark.parametrize("changed", [{"low": 2}, {"groups": 0}, {"each": 0}, {"total": 0}, {"cells": 0}])
def test_impossible_caps_are_refused(changed):
    possible = {"low": 0, "high": 1, "each": 1, "total": 1, "groups": 1, "cells": 3, "relation": Relation.ADD_REMOVE}
    with pytest.raises(ValueError, match="Expected"):
        in_total(**{**possible, **changed})


def test_a_way_never_exceeds_the_caps():
    for (groups, each, total), cells in product(CAPS, [1, 2, 3, 4, None]):
        for way in ways(each=each, total=total, groups=groups, cells=cells, relation=Relation.REPLACE_ONE):
            assert all(times >= 0 for *_, times in way)
            used = sum(times for one, other, times in way if one or other)
            assert used <= (2 * groups if cells is None else cells)
            assert sum((one + other) * times for one, other, times in way) <= 2 * total
