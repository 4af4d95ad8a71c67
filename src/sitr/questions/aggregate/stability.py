"""The distance by which one unit can move each term of a question."""

from __future__ import annotations

from sitr.neighbors.distance import Distance
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.term import Term
from sitr.sensitivity.bounded import bounded


def stability(query: BoundedQuery, term: Term) -> Distance:
    """The distance between the exact integers of one term on neighbouring tables, for the same choice key.

    To one cell, with at most c rows, a person adds 0 or 1 where people are counted, 0 to c where rows are counted, and
    c·min(low, 0) to c·max(high, 0) where a row with a value adds low to high, and one without a value adds nothing. Where
    a person's total is clamped, c = 1.
    """
    rows = 1 if term.people or term.total else query.max_rows_per_group
    low, high = term.reach
    return bounded(
        low=rows * min(low, 0),
        high=rows * max(high, 0),
        groups=query.max_groups,
        cells=query.cells,
        relation=query.relation,
    )


def people(query: BoundedQuery) -> Distance:
    """The distance of the number of units in each cell."""
    return bounded(low=0, high=1, groups=query.max_groups, cells=query.cells, relation=query.relation)
