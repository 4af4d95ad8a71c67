"""What one unit may add to the terms of an aggregate question."""

from __future__ import annotations

from fractions import Fraction

from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.plan import BEYOND, KEYS, AggregatePlan
from sitr.questions.aggregate.quantity import Bar, Distinct, Quantity, Rank
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.stability import cells
from sitr.report.evidence.adds import Adds, Counts, Moves, caps


def moves(plan: AggregatePlan) -> list[Moves]:
    """For each measurement, in their order."""
    terms = [family[0] for family in plan.families]
    named = plan.measurements[len(terms) :]
    measured = zip(terms, plan.measurements, strict=False)
    return [*(_term(plan.query, *pair) for pair in measured), *(_named(plan.query, each) for each in named)]


def _named(query: BoundedQuery, measurement: Measurement) -> Moves:
    """The numbers of people by key, the number of people beyond the cap on groups, and that of rows left out."""
    if measurement.name == KEYS:
        return (Adds(query.changes, Counts.UNITS, caps(query), query.cells),)
    if measurement.name == LOST:
        return (Adds(query.changes, Counts.ROWS_LEFT_OUT, caps(query), query.cells, counted_up_to=query.counted_up_to),)
    assert measurement.name == BEYOND
    return (Adds(query.changes, cells=1),)


def _term(query: BoundedQuery, term: Quantity, measurement: Measurement) -> Moves:
    if isinstance(term, Distinct | Bar | Rank):
        ends = (*term.quantised.ends, Fraction(0)) if isinstance(term, Rank) else None
        return (Adds(query.changes, Counts.ROWS, caps(query), cells(query, term), bounds=ends),)
    once, over_all = term.people or term.total, is_total(measurement)
    if once:
        counts = Counts.UNITS_OVER_ALL if over_all else Counts.UNITS
    else:
        counts = Counts.ROWS_OVER_ALL if over_all else Counts.ROWS
    quantised = term.quantised
    ends = None if quantised is None or over_all else (*quantised.ends, term.centre * term.granularity)
    return (Adds(query.changes, counts, caps(query), cells(query, term), bounds=ends),)
