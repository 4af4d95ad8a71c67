"""What one person may add to the tables behind synthetic rows of several tables."""

from __future__ import annotations

from sitr.neighbors.relation import Relation
from sitr.questions.synthetic.diaries import ChangingSheet, PeopleSheet
from sitr.questions.synthetic.several import SeveralPlan
from sitr.report.evidence.adds import Adds, Counts, Moves


def moves(plan: SeveralPlan) -> list[Moves]:
    """For each measurement, in their order: of people, and then of the steps in each table.

    A person who leaves one table changes the rows of the others: some rows vanish and as many others appear, which is
    twice what the rows of one table would do. See `sitr.questions.synthetic.diaries`.
    """
    return [_moves(part.sheet) for _, part in plan.parts() for _ in part.measurements]


def _moves(sheet: object) -> Moves:
    assert isinstance(sheet, ChangingSheet)
    two = isinstance(sheet, PeopleSheet) and sheet.relation is Relation.REPLACE_ONE  # two people may be in one cell
    caps = {"max_groups": 1, "max_rows_per_group": 2 if two else sheet.most_rows, "max_rows": None}
    return (Adds(sheet.relation, Counts.ALL_ROWS, caps, times=None if two else 2),)
