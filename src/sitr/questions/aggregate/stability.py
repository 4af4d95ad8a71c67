"""The distance by which one unit can move each term of a question."""

from __future__ import annotations

from sitr.neighbors.distance import Distance
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.sensitivity.bounded import bounded
from sitr.sensitivity.in_total import in_total


def stability(query: BoundedQuery, term: Quantity) -> Distance | None:
    """The distance between the exact integers of one term on neighbouring tables, for the same choice key.

    To one cell, with at most c rows, a person adds 0 or 1 where people are counted, 0 to c where rows are counted, and
    c·min(low, 0) to c·max(high, 0) where a row with a value adds low to high, and one without a value adds nothing.
    Where a person's total is clamped, c = 1. Of different values, a person brings at most c, and what others have too
    is not new: 0 to c.

    All bars of a histogram are one vector v ≥ 0, to which a person adds at most c in each of k groups, c_i for each
    cell with Σc_i ≤ c: ‖·‖₁ ≤ kc and ‖·‖₂² ≤ kc². Replacing a person takes v away and adds v′ ≥ 0, perhaps in other
    cells of the same groups: ‖v′ − v‖₁ ≤ 2kc and ‖v′ − v‖₂² ≤ ‖v‖₂² + ‖v′‖₂² ≤ 2kc². One bar by itself is a count.

    Where all rows of a person together are capped too, what is said of c rows in each group holds for numbers c_g ≤ c
    of rows, bars or different values with Σc_g ≤ N: see `sitr.sensitivity.in_total`. People and their totals are in at
    most N groups.

    None for a quantile: it is chosen, and its mechanism knows how far a person moves ranks.
    """
    match term:
        case Rank():
            return None
        case Distinct():
            return _of_rows(query, 0, 1, cells=query.cells)
        case Bar():
            return _of_rows(query, 0, 1, cells=cells(query, term))
    low, high = term.reach
    if term.people or term.total:
        return bounded(low=low, high=high, groups=query.max_groups, cells=query.cells, relation=query.changes)
    return _of_rows(query, low, high, cells=query.cells)


def cells(query: BoundedQuery, term: Quantity) -> int | None:
    """How many cells a measurement has, each with a number of its own; None for the bars of a histogram, if several."""
    if not isinstance(term, Bar):
        return query.cells
    bars = next((len(terms) for terms in query.measured if term in terms), None)
    return query.cells if bars == 1 else None


def _of_rows(query: BoundedQuery, low: int, high: int, *, cells: int | None) -> Distance:
    """The distance of sums over rows, each of which adds `low` to `high`, or nothing."""
    each = query.max_rows_per_group
    total = query.reached * each if query.max_rows is None else query.max_rows
    return in_total(
        low=low, high=high, each=each, total=total, groups=query.reached, cells=cells, relation=query.changes
    )


def people(query: BoundedQuery) -> Distance:
    """The distance of the number of units in each cell, or of each combination of the keys that are selected.

    A unit has at most k cells, so at most k combinations of some of their keys, and counts once in each of them.
    """
    return bounded(low=0, high=1, groups=query.max_groups, cells=query.cells, relation=query.changes)
