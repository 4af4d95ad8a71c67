"""What one unit may add to the counts of a histogram."""

from __future__ import annotations

from sitr.mechanisms.additive import Noise
from sitr.plans.plan import Measurement
from sitr.questions.histogram.buckets import heights
from sitr.questions.histogram.fit import COUNTS, HistogramPlan
from sitr.questions.histogram.methods import Bins, Buckets, Tree
from sitr.report.evidence.adds import Adds, Counts, Moves, caps


def moves(plan: HistogramPlan) -> list[Moves]:
    """For each measurement, in their order."""
    return [_counts(plan) if each.name == COUNTS else _choice(plan, each) for each in plan.measurements]


def _counts(plan: HistogramPlan) -> Moves:
    if isinstance(plan.method, Buckets | Bins):
        return (_sums(plan),)
    above = plan.hierarchy.levels - 1 if isinstance(plan.method, Tree) and plan.hierarchy is not None else 0
    return (_cells(plan), *((_sums(plan, times=above),) if above else ()))


def _choice(plan: HistogramPlan, choice: Measurement) -> Moves:
    """Buckets are chosen by noisy deviations, bins by scores, which move by less than 2 with each count."""
    levels = heights(plan.grid.line or 0) if isinstance(choice.mechanism, Noise) else None
    return (_cells(plan, deviations=levels),)


def _cells(plan: HistogramPlan, *, deviations: int | None = None) -> Adds:
    query, unlisted = plan.tally.query, plan.tally.grid is None
    counts, cells = (Counts.UNITS, query.cells) if unlisted else (Counts.ROWS, plan.tally.cells)
    return Adds(query.changes, counts, caps(query), cells, deviations=deviations)


def _sums(plan: HistogramPlan, *, times: int | None = None) -> Adds:
    """Sums over ranges of cells: all rows of a unit may be in one of them."""
    query = plan.tally.query
    return Adds(query.changes, Counts.ALL_ROWS, caps(query), times=times)
