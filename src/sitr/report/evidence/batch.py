"""What one unit may add to the terms of several questions."""

from __future__ import annotations

from sitr.questions.batch.plan import BatchPlan
from sitr.report.evidence import aggregate
from sitr.report.evidence.adds import Moves


def moves(plan: BatchPlan) -> list[Moves]:
    """For each measurement, in their order."""
    return [each for group in plan.groups for each in aggregate.moves(group)]
