"""The distance by which one unit can move each term of a question."""

from __future__ import annotations

from sitr.neighbors.distance import Distance
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.sensitivity.bounded import bounded


def stability(query: BoundedQuery, term: Quantity) -> Distance | None:
    """The distance between the exact integers of one term on neighbouring tables, for the same choice key.

    To one cell, with at most c rows, a person adds 0 or 1 where people are counted, 0 to c where rows are counted, and
    c·min(low, 0) to c·max(high, 0) where a row with a value adds low to high, and one without a value adds nothing.
    Where a person's total is clamped, c = 1. Of different values, a person brings at most c, and what others have too
    is not new: 0 to c.

    All bars of a histogram are one vector v ≥ 0, to which a person adds at most c in each of k groups, c_i for each
    cell with Σc_i ≤ c: ‖·‖₁ ≤ kc and ‖·‖₂² ≤ kc². Replacing a person takes v away and adds v′ ≥ 0, perhaps in other
    cells of the same groups: ‖v′ − v‖₁ ≤ 2kc and ‖v′ − v‖₂² ≤ ‖v‖₂² + ‖v′‖₂² ≤ 2kc².

    None for a quantile: it is chosen, and its mechanism knows how far a person moves ranks.
    """
    rows = query.max_rows_per_group
    match term:
        case Rank():
            return None
        case Distinct():
            return bounded(low=0, high=rows, groups=query.max_groups, cells=query.cells, relation=query.relation)
        case Bar():
            reached = query.max_groups if query.cells is None else min(query.max_groups, query.cells)
            return bounded(low=0, high=rows, groups=reached, cells=None, relation=query.relation)
    rows = 1 if term.people or term.total else rows
    low, high = term.reach
    return bounded(
        low=rows * min(low, 0),
        high=rows * max(high, 0),
        groups=query.max_groups,
        cells=query.cells,
        relation=query.relation,
    )


def people(query: BoundedQuery) -> Distance:
    """The distance of the number of units in each cell, or of each combination of the keys that are selected.

    A unit has at most k cells, so at most k combinations of some of their keys, and counts once in each of them.
    """
    return bounded(low=0, high=1, groups=query.max_groups, cells=query.cells, relation=query.relation)
