"""Sensitivity of sums over rows, when all rows of a unit together are capped too, in exact integers.

A unit puts c_g rows into group g: c_g ≤ m in each, c_g > 0 in at most k of the C groups, and Σ c_g ≤ N. What it adds to
a group lies between c_g·L and c_g·H, where each row adds a number in [L, H] with L ≤ 0 ≤ H. Let B be the larger and A
the smaller of −L and H. Two units with c and c′ rows in a group move its sum apart by at most

    f(c, c′) = B·max(c, c′) + A·min(c, c′),

one pulling up and the other down, and this is reached. With c′ = 0 it is the distance of a unit that comes or goes.

**Where the distances are largest.** f is the larger of B·c + A·c′ and A·c + B·c′, so it is convex, it grows in c and in
c′, and f² is convex too. So Σ f and Σ f² over all groups are convex functions of (c, c′), and largest at a corner of
the two polytopes {0 ≤ c_g ≤ m, Σ c_g ≤ T}, T = min(N, m·min(k, C)). A corner where nothing can be added has q = ⌊T/m⌋
groups with m rows each, and one with the rest r = T − qm. These numbers are whole, and there are at most k of them,
because T ≤ m·min(k, C). So only the place of the groups of one unit among those of the other is left to choose, which
`ways` lists: the number x of groups that both fill is free between two ends, and both sums are linear in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitr.errors import InvalidParameter
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation

Way = tuple[tuple[int, int, int], ...]
"""How two units fill groups: the rows of one and of the other in a group, and in how many groups it is so."""


def ways(*, each: int, total: int, groups: int, cells: int | None, relation: Relation) -> Iterator[Way]:
    """All corners: of one unit that comes or goes, or of two units that replace each other.

    >>> list(ways(each=2, total=5, groups=3, cells=None, relation=Relation.ADD_REMOVE))
    [((2, 0, 2), (1, 0, 1))]
    """
    if min(each, total, groups) < 1 or (cells is not None and cells < 1):
        raise InvalidParameter(
            wanted="at least one row in each group and in total, and at least one group and one cell",
            given=f"each={each}, total={total}, groups={groups}, cells={cells}",
            do="Correct these numbers.",
        )
    reached = groups if cells is None else min(groups, cells)
    each = min(each, total)
    full, rest = divmod(min(total, each * reached), each)
    if relation is Relation.ADD_REMOVE:
        yield (each, 0, full), (rest, 0, 1 if rest else 0)
        return
    most = 2 * reached if cells is None else cells
    for alone, onto, together in ((2, 0, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1)) if rest else ((0, 0, 0),):
        # `onto`: groups that one unit fills and where the other has its rest; at most one for each of the two units.
        fewest, both = max(0, 2 * full + alone + together - most), full - min(onto, 1)
        for shared in {fewest, both} if 0 <= fewest <= both else ():
            yield (
                (each, each, shared),
                (each, 0, 2 * full - onto - 2 * shared),
                (each, rest, onto),
                (rest, 0, alone),
                (rest, rest, together),
            )


def in_total(
    *, low: int, high: int, each: int, total: int, groups: int, cells: int | None, relation: Relation
) -> Distance:
    """How far one unit moves a table of sums, where each of its rows adds a number in [low, high], or 0, to a group.

    It has at most `each` rows in each of at most `groups` of the `cells`, and at most `total` rows in all.

    >>> in_total(low=0, high=1, each=3, total=4, groups=5, cells=None, relation=Relation.ADD_REMOVE)
    Distance(l1=4, l2_squared=10, largest=3)
    >>> in_total(low=0, high=1, each=3, total=4, groups=5, cells=None, relation=Relation.REPLACE_ONE)
    Distance(l1=8, l2_squared=20, largest=3)
    """
    if low > high:
        raise InvalidParameter(wanted="low ≤ high", given=f"low={low}, high={high}", do="Correct these numbers.")
    small, large = sorted((-min(low, 0), max(high, 0)))
    corners = [
        [(large * max(one, other) + small * min(one, other), times) for one, other, times in way]
        for way in ways(each=each, total=total, groups=groups, cells=cells, relation=relation)
    ]
    pair = large if relation is Relation.ADD_REMOVE else large + small
    return Distance(
        l1=max(sum(gap * times for gap, times in corner) for corner in corners),
        l2_squared=max(sum(gap**2 * times for gap, times in corner) for corner in corners),
        largest=min(each, total) * pair,
    )
