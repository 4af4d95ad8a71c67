"""What one unit may add to the histograms of a suggestion: each person is in one cell at most."""

from __future__ import annotations

from sitr.questions.suggest.question import SuggestionPlan
from sitr.report.evidence.adds import Adds, Moves


def moves(plan: SuggestionPlan) -> list[Moves]:
    """For each measurement, in their order."""
    return [(Adds(plan.target.changes),) for _ in plan.measurements]
