"""Sensitivity of sums whose contributions were bounded beforehand, in exact integers."""

from __future__ import annotations

from sitr.errors import InvalidParameter
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.sensitivity.in_total import in_total


def bounded(*, low: int, high: int, groups: int, cells: int | None, relation: Relation) -> Distance:
    """How far one unit moves a table of sums, when it adds a number in [low, high] to at most `groups` of the `cells`.

    A unit also adds 0 to the cells it does not touch, so its range is [low ∧ 0, high ∨ 0], with largest size M and
    width W ≤ 2M. Adding or removing it changes g = `groups` cells by at most M: ‖·‖₁ ≤ gM, ‖·‖₂² ≤ gM². Replacing it
    changes t cells that both touch by at most W, and g − t cells of each by at most M:

        ‖·‖₁ ≤ tW + 2(g − t)M,   ‖·‖₂² ≤ tW² + 2(g − t)M²,   max(0, 2g − cells) ≤ t ≤ g,

    both linear in t, so an end of that range is the worst. This is `in_total` for units with one row in each group.
    `cells` is None where their number has no public bound.

    >>> bounded(low=0, high=2, groups=3, cells=None, relation=Relation.ADD_REMOVE)
    Distance(l1=6, l2_squared=12, largest=2)
    >>> bounded(low=0, high=2, groups=3, cells=None, relation=Relation.REPLACE_ONE)
    Distance(l1=12, l2_squared=24, largest=2)
    >>> bounded(low=-1, high=1, groups=1, cells=1, relation=Relation.REPLACE_ONE)
    Distance(l1=2, l2_squared=4, largest=2)
    """
    if low > high or groups < 1 or (cells is not None and cells < 1):
        raise InvalidParameter(
            wanted="low ≤ high, and at least one group and one cell",
            given=f"low={low}, high={high}, groups={groups}, cells={cells}",
            do="Correct these numbers.",
        )
    return in_total(low=low, high=high, each=1, total=groups, groups=groups, cells=cells, relation=relation)


def rows(most: int, *, relation: Relation) -> Distance:
    """How far one unit with at most `most` rows moves the counts of any disjoint sets of rows.

    Each of its m rows is in at most one of the sets. So it adds a vector v ≥ 0 with ‖v‖₁ ≤ m, and ‖v‖₂ ≤ ‖v‖₁ ≤ m with
    equality where all rows are in one set. Replacing takes away v and adds v′ ≥ 0: ‖v′ − v‖₂² ≤ ‖v‖₂² + ‖v′‖₂² ≤ 2m².

    >>> rows(3, relation=Relation.REPLACE_ONE)
    Distance(l1=6, l2_squared=18, largest=3)
    """
    return bounded(low=0, high=most, groups=1, cells=None, relation=relation)
