"""What one unit may add to the terms of an aggregate question."""

from __future__ import annotations

from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.plan import BEYOND, KEYS, AggregatePlan
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.stability import cells
from sitr.report.evidence.adds import Adds, Moves


def moves(plan: AggregatePlan) -> list[Moves]:
    """For each measurement, in their order."""
    terms = [family[0] for family in plan.families]
    named = plan.measurements[len(terms) :]
    measured = zip(terms, plan.measurements, strict=False)
    return [*(_term(plan.query, *pair) for pair in measured), *(_named(plan.query, each) for each in named)]


def _named(query: BoundedQuery, measurement: Measurement) -> Moves:
    """The numbers of people by key, the number of people beyond the cap on groups, and that of rows left out."""
    if measurement.name == KEYS:
        return (Adds(query.changes, groups=query.max_groups, cells=query.cells),)
    if measurement.name == LOST:
        assert query.watch is not None
        assert query.watch.rows is not None
        return (Adds(query.changes, each=query.watch.rows.most, cells=1),)
    assert measurement.name == BEYOND
    return (Adds(query.changes, cells=1),)


def _term(query: BoundedQuery, term: Quantity, measurement: Measurement) -> Moves:
    low, high = (0, 1) if isinstance(term, Distinct | Bar | Rank) else term.reach
    once = not isinstance(term, Distinct | Bar | Rank) and (term.people or term.total)
    each = 1 if once else query.max_rows_per_group
    if isinstance(term, Rank):
        return None
    if is_total(measurement):
        return (Adds(query.changes, each=query.reached * each, cells=1),)
    quantised = None if isinstance(term, Distinct | Bar) else term.quantised
    ends = None if quantised is None else (*quantised.ends, term.centre * term.granularity)  # type: ignore[union-attr]
    return (
        Adds(
            query.changes,
            low=low,
            high=high,
            each=each,
            groups=query.reached,
            rows=None if once else query.max_rows,
            cells=cells(query, term),
            bounds=ends,
        ),
    )
