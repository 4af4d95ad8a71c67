"""The sentences of mechanisms on a column, in English."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.report.figures import about, at_most, number, visible

if TYPE_CHECKING:
    from sitr.questions.statistic.question import StatisticPlan, StatisticRelease


@dataclass(frozen=True, slots=True)
class StatisticWords:
    """Values that mechanisms released from a column."""

    def value(self, value: Any, /, *, digits: int = 6) -> str:
        """A released value in few digits: its error depends on the data, and so cannot say how many are meaningful.

        >>> StatisticWords().value(Fraction(7, 2)), StatisticWords().value((Fraction(1, 4), None))
        ('3.5', '0.25; no answer')
        """
        match value:
            case None:
                return "no answer"
            case tuple():
                return "; ".join(self.value(part, digits=digits) for part in value)
            case int() | float() | Fraction():
                return about(value, digits=digits)
        return visible(str(value))

    def outright(self, mass: float, /) -> str:
        """P(L = +∞), if it may be above 0."""
        return (
            f"With probability up to {at_most(mass)}, a part of δ, the loss is unbounded and the answer may protect "
            "nobody."
        )

    def column(self, plan: StatisticPlan, /) -> str:
        """What the mechanisms see."""
        return f"{visible(plan.reading.column)}; rows without a number count as {about(plan.reading.missing)}"

    def protects(self) -> str:
        """Whom the mechanisms protect."""
        return "each row, replace-one; the number of rows is public"

    def public(self, plan: StatisticPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        return (
            f"the name, the type and the bounds of {visible(plan.reading.column)}, and the question itself",
            "the number of rows",
        )

    def released(self, release: StatisticRelease, /) -> str:
        """What was released, in a few words."""
        column = visible(release.plan.reading.column)
        several = isinstance(release.value, tuple) and len(release.value) != 1
        return f"{number(len(release.value))} values from {column}" if several else f"1 value from {column}"

    def title(self, plan: StatisticPlan, /) -> str:
        """The title of the chart."""
        return f"Statistics of {visible(plan.reading.column)}"
