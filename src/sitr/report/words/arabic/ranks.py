"""The sentences about quantiles, minima and maxima, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.numbers import exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.report.figures import CONFIDENCE, about, at_most
from sitr.report.words.arabic.marks import ltr
from sitr.report.words.arabic.nouns import GROUP, RANK, VALUE, counted, unit
from sitr.report.words.measured import cost_of_choices


@dataclass(frozen=True, slots=True)
class RankWords:
    """Numbers that are chosen by their rank among all values."""

    def error(self, ranks: float, /) -> str:
        """The error of a chosen number."""
        return f"{ltr(f'± {at_most(ranks, digits=2)}')} من الرتب"

    def meaning(self) -> str:
        """What an error in ranks means."""
        return (
            f"خطأ المئين أو القيمة الصغرى أو الكبرى يُقاس بالرتب: فباحتمال {ltr(f'{about(CONFIDENCE * 100)}%')} لا يقع "
            "بين العدد المعروض والعدد الدقيق من القيم المحسوبة أكثر من هذا العدد. وفي مجموعة بلا قيم يكون العدد "
            "المعروض عشوائيًا بين الحدود. وقد تقع القيمة الصغرى أو الكبرى المعروضة وراء كل القيم أو على "
            "بعد رتب قليلة إلى الداخل، لأن القيمة القصوى نفسها تخص شخصًا واحدًا. وفترة أي مئين آخر هي حدوده المعلنة، "
            "ما لم يطلب السؤال فترة للقيم."
        )

    def empty(self) -> str:
        """A note for an answer with a count that may be 0 beside a quantile."""
        return "حيث تضم فترةُ العدد الصفرَ قد تكون المجموعة بلا قيم، وعندئذ لا تدل مئيناتها على شيء."

    def choice(self, choice: GroupedQuantile, /) -> str:
        """The law of a choice."""
        name = "آلية التبديل والقلب" if choice.flip else "الآلية الأسية"
        leaning = "، بأوزان معلنة تزداد نحو الداخل" if choice.inward else ""
        return f"{name}، بمعدل {ltr(about(choice.rate))} لكل رتبة{leaning}"

    def moved(self, choice: GroupedQuantile, /) -> str:
        """How far one unit moves the ranks of one group."""
        return counted(choice.each, RANK)

    def sensitivity(self, choice: GroupedQuantile, query: BoundedQuery, /) -> str:
        """How many values of how many groups one unit has."""
        values, groups = counted(choice.each, VALUE, oblique=True), counted(choice.groups, GROUP, oblique=True)
        total = "" if choice.total is None else f"، وعلى {counted(choice.total, VALUE, oblique=True)} إجمالًا"
        return f"لا يزيد ما ل{unit(query)} واحد على {values} في كل مجموعة، ضمن {groups} على الأكثر{total}"

    def cost(self, choice: GroupedQuantile, plan: AggregatePlan, /) -> str:
        """The cost of the choices in all groups of one unit."""
        found = cost_of_choices(choice, squares=isinstance(plan.price, ZeroConcentratedDP))
        rate = ltr(about(exact(choice.rate)))
        range_of = "أكبر خسارة" if choice.flip else "مدى الخسائر"
        return f"{ltr('η')} هي {range_of} في مجموعة واحدة عند المعدل {rate}؛ {ltr(found)}"

    def together(self) -> str:
        """How quantiles and noise were added up."""
        return "ومع المئينات، بجمع الخسائر كلها"
