"""The sentences of mechanisms on a column, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.report.figures import about, at_most
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.arabic.meaning import DELTA
from sitr.report.words.arabic.nouns import VALUE, counted

if TYPE_CHECKING:
    from sitr.questions.statistic.question import StatisticPlan, StatisticRelease


@dataclass(frozen=True, slots=True)
class StatisticWords:
    """Values that mechanisms released from a column."""

    def value(self, value: Any, /, *, digits: int = 6) -> str:
        """A released value in few digits: its error depends on the data, and so cannot say how many are meaningful."""
        match value:
            case None:
                return "لا إجابة"
            case tuple():
                return "؛ ".join(self.value(part, digits=digits) for part in value)
            case int() | float() | Fraction():
                return ltr(about(value, digits=digits))
        return named(str(value))

    def outright(self, mass: float, /) -> str:
        """P(L = +∞), if it may be above 0."""
        return (
            f"باحتمال قد يبلغ {ltr(at_most(mass))}، وهو جزء من {DELTA}، لا يكون للخسارة حد، وقد لا تحمي الإجابة أحدًا."
        )

    def column(self, plan: StatisticPlan, /) -> str:
        """What the mechanisms see."""
        return f"{named(plan.reading.column)}؛ وكل صف بلا عدد يُحسب {ltr(about(plan.reading.missing))}"

    def protects(self) -> str:
        """Whom the mechanisms protect."""
        return "كل صف، بعلاقة الاستبدال؛ وعدد الصفوف علني"

    def public(self, plan: StatisticPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        return f"اسم العمود {named(plan.reading.column)} ونوعه وحدوده، والسؤال نفسه", "عدد الصفوف"

    def released(self, release: StatisticRelease, /) -> str:
        """What was released, in a few words."""
        size = len(release.value) if isinstance(release.value, tuple) else 1
        return f"{counted(size, VALUE)} من {named(release.plan.reading.column)}"

    def title(self, plan: StatisticPlan, /) -> str:
        """The title of the chart."""
        return f"إحصاءات {named(plan.reading.column)}"
