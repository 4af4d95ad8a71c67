"""The sentences about quantiles, minima and maxima, in English."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.numbers import exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.report.figures import CONFIDENCE, about, at_most, counted
from sitr.report.words.english.nouns import unit
from sitr.report.words.measured import cost_of_choices


@dataclass(frozen=True, slots=True)
class RankWords:
    """Numbers that are chosen by their rank among all values."""

    def error(self, ranks: float, /) -> str:
        """The error of a chosen number."""
        return f"± {at_most(ranks, digits=2)} ranks"

    def meaning(self) -> str:
        """What an error in ranks means."""
        return (
            f"The error of a quantile, a minimum or a maximum is in ranks: with {about(CONFIDENCE * 100)}% "
            "probability, at most this many of the counted values lie between the number shown and the exact one. In a "
            "group without values, the number shown is random between the bounds. A minimum or a maximum that is shown "
            "may lie beyond all values or a few ranks inside them, because the extreme value itself is one person's. "
            "The interval of another quantile is its public bounds, unless the question asks for an interval of values."
        )

    def empty(self) -> str:
        """A note for an answer with a count that may be 0 beside a quantile."""
        return "Where the interval of a count contains 0, the group may have no values, and its quantiles say nothing."

    def choice(self, choice: GroupedQuantile, /) -> str:
        """The law of a choice."""
        name = "permute-and-flip mechanism" if choice.flip else "exponential mechanism"
        leaning = ", with public weights that grow inward" if choice.inward else ""
        return f"{name}, rate {about(choice.rate)} for each rank{leaning}"

    def moved(self, choice: GroupedQuantile, /) -> str:
        """How far one unit moves the ranks of one group."""
        return counted(choice.each, "rank")

    def sensitivity(self, choice: GroupedQuantile, query: BoundedQuery, /) -> str:
        """How many values of how many groups one unit has."""
        values, groups = counted(choice.each, "value"), counted(choice.groups, "group")
        total = "" if choice.total is None else f", and at most {counted(choice.total, 'value')} in all"
        return f"one {unit(query)} has at most {values} in each of at most {groups}{total}"

    def cost(self, choice: GroupedQuantile, plan: AggregatePlan, /) -> str:
        """The cost of the choices in all groups of one unit."""
        found = cost_of_choices(choice, squares=isinstance(plan.price, ZeroConcentratedDP))
        range_of = "the largest loss" if choice.flip else "the range of the losses"
        return f"η is {range_of} in one group at the rate {about(exact(choice.rate))}; {found}"

    def together(self) -> str:
        """How quantiles and noise were added up."""
        return "with the quantiles, by the sum of all losses"
