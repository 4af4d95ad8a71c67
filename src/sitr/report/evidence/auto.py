"""What one unit may add to the answer with chosen caps, and to the histograms from which they were chosen."""

from __future__ import annotations

from collections.abc import Iterator

from sitr.flavors.arrows import Kept
from sitr.questions.auto.plan import AutoPlan
from sitr.report.evidence import aggregate, suggest
from sitr.report.evidence.adds import Moves


def moves(plan: AutoPlan) -> list[Moves]:
    """For each measurement, in their order."""
    return [*aggregate.moves(plan.answering), *suggest.moves(plan.choosing)]


def stages(plan: AutoPlan) -> Iterator[tuple[Kept, range]]:
    """The price of each stage, and the places of its measurements: the choice of caps, and then the answer."""
    first = len(plan.answering.measurements)
    yield plan.choosing.price, range(first, len(plan.measurements))
    yield plan.rest, range(first)
