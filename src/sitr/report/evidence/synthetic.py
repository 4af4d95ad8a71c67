"""What one unit may add to the tables behind synthetic rows, and to the figures about their quality."""

from __future__ import annotations

import math

from sitr.dataset.cells import Granular
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.questions.synthetic.sheet import Sheet
from sitr.report.evidence.adds import Adds, Counts, Moves

FIGURES = "distances"
"""The measurement of sums of differences: of each column, of each pair, and of the ranges of each ordered column."""


def moves(plan: SynthesisPlan) -> list[Moves]:
    """For each measurement, in their order; those about quality come last."""
    people = () if plan.people is None else plan.people.measurements
    first = [] if plan.people is None else [_moves(each.name, plan.people.sheet) for each in people]
    return first + [_moves(each.name, plan.sheet) for each in plan.measurements[len(people) :]]


def _moves(name: str, sheet: Sheet) -> Moves:
    caps = {"max_groups": 1, "max_rows_per_group": sheet.most_rows, "max_rows": None}  # the whole table is one group
    if name != FIGURES:
        return (Adds(sheet.relation, Counts.ALL_ROWS, caps),)
    columns, ordered = len(sheet.axes), sum(isinstance(axis, Granular) for axis in sheet.axes)
    return (Adds(sheet.relation, Counts.ALL_ROWS, caps, sums=columns + math.comb(columns, 2) + ordered),)
