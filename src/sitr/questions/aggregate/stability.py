"""The distance by which one unit can move each column of an answer."""

from __future__ import annotations

from sitr.neighbors.distance import Distance
from sitr.questions.aggregate.bind import BoundedQuery, Term
from sitr.sensitivity.bounded import bounded


def stability(query: BoundedQuery, term: Term) -> Distance:
    """The distance between the exact integers of one column on neighbouring tables, for the same choice key.

    To one cell, with at most c rows, a person adds 0 or 1 where people are counted, 0 to c where rows are counted, and
    c·min(lower, 0) to c·max(upper, 0) where clamped values are summed.
    """
    rows = 1 if term.people else query.max_rows_per_group
    low, high = (term.quantised.lower, term.quantised.upper) if term.quantised else (0, 1)
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
