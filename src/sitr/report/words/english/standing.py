"""The sentences about what budgets without a cap have recorded, and about totals of plans fixed in advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sitr.accounting.anytime import Reading
from sitr.accounting.in_advance import InAdvance, NoTotal
from sitr.flavors.arrows import Kept
from sitr.report.figures import at_most, counted, number
from sitr.report.words.notation import notation

_WHY = {
    NoTotal.RANDOM: "a random promise has no loss for the fraction γ of data",
    NoTotal.MANY: "there are too many different plans; budget.in_advance(most=None) adds them all up",
    NoTotal.UNPROVED: "no theorem bounds all charges at this δ",
}


@dataclass(frozen=True, slots=True)
class StandingWords:
    """What was recorded, and what it would cost if it had been fixed in advance."""

    def odometer(self, shown: Reading, /) -> str:
        """What an odometer shows, and whether it is a promise."""
        recorded = f"No cap. Recorded charges: {notation(cast('Kept', shown.recorded))}."
        if shown.epsilon is None:
            return (
                f"{recorded} This total is a record and no promise at a moment that somebody chooses after seeing "
                "answers; an odometer with a δ, such as odometer(zcdp, delta=1e-6), has such a promise."
            )
        rare = ""
        if shown.probability:
            rare = f", plus {at_most(shown.probability)}, which was fixed when the budget was opened"
        epsilon = at_most(shown.epsilon)
        return (
            f"{recorded} Promise at any moment, whoever chooses it: whatever happens while ε = {epsilon} or less is "
            f"shown here is at most e^ε times as likely for one of two neighbouring data sets as for the other{rare}."
        )

    def in_advance(self, found: InAdvance, /) -> str:
        """The total of charges as a plan fixed in advance, which is not what the budget counts."""
        if found.epsilon is None:
            why = _WHY[found.obstacle or NoTotal.UNPROVED]
            return f"If all questions had been fixed in advance: no total, because {why}."
        exact = f"from the exact losses of {number(found.known)} of {counted(found.charges, 'charge')}"
        beside = "" if found.summed is None else f"; the sum in the budget implies ε = {at_most(found.summed)} there"
        return (
            f"If all questions and prices had been fixed in advance: ε = {at_most(found.epsilon)} at "
            f"δ = {at_most(found.delta)}, {exact}{beside}. It is no promise for questions that were chosen after "
            "answers, and the budget does not use it."
        )
