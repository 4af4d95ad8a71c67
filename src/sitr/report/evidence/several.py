"""What one person may add to the tables behind synthetic rows of several tables."""

from __future__ import annotations

from sitr.neighbors.relation import Relation
from sitr.questions.synthetic.diaries import ChangingSheet, PeopleSheet
from sitr.questions.synthetic.several import SeveralPlan
from sitr.report.evidence.adds import Adds, Counts, Moves


def moves(plan: SeveralPlan) -> list[Moves]:
    """For each measurement, in their order: of people, and then of the steps in each table.

    A person who leaves one table changes the rows of the others, so that rows are replaced even where neighbours add or
    remove a person: see `sitr.questions.synthetic.diaries`.
    """
    return [_moves(part.sheet) for _, part in plan.parts() for _ in part.measurements]


def _moves(sheet: object) -> Moves:
    assert isinstance(sheet, ChangingSheet)
    alone = isinstance(sheet, PeopleSheet)
    caps = {"max_groups": 1, "max_rows_per_group": sheet.people if alone else sheet.most_rows, "max_rows": None}
    times = sheet.people if sheet.people > 1 and not alone else None
    return (Adds(Relation.REPLACE_ONE, Counts.ALL_ROWS, caps, times=times),)
