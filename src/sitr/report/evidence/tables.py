"""What one unit may add to the tables of a publication: each of its rows adds to one cell of each table."""

from __future__ import annotations

from sitr.questions.aggregate.term import Term
from sitr.questions.tables.plan import TablesPlan
from sitr.report.evidence.adds import Adds, Counts, Moves, caps


def moves(plan: TablesPlan) -> list[Moves]:
    """For each measurement, in their order: all tables of a term come before those of the next."""
    terms = plan.records.terms
    times = len(plan.measurements) // len(terms)
    return [_moves(plan, term) for term in terms for _ in range(times)]


def _moves(plan: TablesPlan, term: Term) -> Moves:
    query, quantised = plan.records.query, term.quantised
    ends = None if quantised is None else (*quantised.ends, term.centre * term.granularity)
    return (Adds(query.changes, Counts.ALL_ROWS, caps(query), bounds=ends),)
