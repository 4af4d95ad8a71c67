"""The sentences of tables that add up, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.tables.measures import MeasureKind
from sitr.report.figures import about, number
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.arabic.nouns import CELL, ROW, TABLE, VALUE, Noun, caps, confidence, counted, nobody, unit, units

if TYPE_CHECKING:
    from sitr.questions.tables.measures import Measure
    from sitr.questions.tables.plan import TablesPlan
    from sitr.questions.tables.quality import QualityRule
    from sitr.questions.tables.workload import Node, Workload

SET = Noun("مجموعة", "مجموعتان", "مجموعتين", "مجموعات", "مجموعة", "واحدة")


@dataclass(frozen=True, slots=True)
class TablesWords:
    """Many tables at once."""

    def name(self, workload: Workload, node: Node, /) -> str:
        """The columns of a table."""
        return " × ".join(map(named, workload.names(node))) or self.total()

    def total(self) -> str:
        """The table without columns."""
        return "الإجمالي"

    def every(self) -> str:
        """In place of a key, in rows that are for all its values."""
        return "(الكل)"

    def measure(self, measure: Measure, /) -> str:
        """What the numbers of a column are; in SQL, columns have names of their own."""
        usual = ("count", "people", "number of rows", "number of people")
        if measure.name not in usual and " of " not in measure.name:
            return named(measure.name)
        column = named(measure.name.partition(" of ")[2])
        return {
            MeasureKind.COUNT: "عدد الصفوف",
            MeasureKind.PEOPLE: "عدد الأشخاص",
            MeasureKind.SUM: f"مجموع {column}",
            MeasureKind.MEAN: f"متوسط {column}",
        }[measure.kind]

    def error_of(self, measure: Measure, /) -> str:
        """The heading of the errors of a measure."""
        return f"خطأ {ltr('95%')}: {self.measure(measure)}"

    def measured(self, plan: TablesPlan, /) -> str:
        """What was measured."""
        tables = counted(len(plan.workload.tables), TABLE)
        cells = counted(sum(map(plan.workload.cells, plan.workload.tables)), CELL)
        if plan.pure:
            several = counted(len(plan.laplace[0].tables), TABLE, oblique=True)
            return f"{tables} ({cells})، تُستنتج بالمربعات الصغرى من {several} تضاف الضوضاء إلى خلاياها."
        return (
            f"{tables} ({cells})، تُستنتج من بواقي {counted(len(plan.bases), SET, oblique=True)} من الأعمدة: أي ما "
            "يضيفه كل جدول إلى الجداول الأعم منه. ولا تضاف الضوضاء إلا إلى هذه البواقي، مرة واحدة لكل مجموعة."
        )

    def noise(self, plan: TablesPlan, /) -> str:
        """The law of the noise, and to whom it is fitted."""
        law = "ضوضاء لابلاس المتقطعة" if plan.pure else "ضوضاء غاوسية حقيقية، مقرَّبة بدقة إلى شبكة دقيقة"
        query = plan.records.query
        what = "لاستبدال" if query.relation is Relation.REPLACE_ONE else "لإضافة أو حذف"
        if not isinstance(query.unit, Person):
            return f"{law}: تكفي {what} صف واحد، في أي خلية كان."
        rows = counted(query.max_rows_per_group, ROW, oblique=True)
        return f"{law}: تكفي {what} {unit(query)} واحد له ما لا يزيد على {rows}، في أي خلايا كانت."

    def optimum(self, plan: TablesPlan, /) -> str:
        """How the price was divided, and how close to the best that is."""
        what = "أكبر تباين لجدول" if plan.objective.value == "largest" else "مجموع التباينات"
        if plan.pure:
            return f"قُسم الثمن ليصغر {what}؛ ولا يُعرف أصغر ما يمكن مع ضوضاء لابلاس."
        return (
            f"قُسم الثمن بحيث لا يزيد {what}، بأوزان الجداول، على أصغر ما يمكن مع هذه الضوضاء بأكثر من "
            f"{ltr(f'{about(100 * plan.gap, digits=2)}%')}؛ ويثبت ذلك حد ثنوي."
            + (" وتُحسب كلفة المجموعات المختلفة الأحجام كلفةَ أكبرها." if plan.uneven else "")
        )

    def adds_up(self, plan: TablesPlan, /) -> str:
        """Which numbers add up."""
        means = any(measure.kind is MeasureKind.MEAN for measure in plan.measures)
        numbers = (
            "والأعداد صحيحة وغير سالبة، وهذا يحيزها."
            if plan.whole
            else "وقد تكون الأعداد سالبة أو كسرية، لأن تصحيحها يحيز المجاميع."
        )
        return (
            f"كل هامش يساوي مجموع أجزائه تمامًا، في جميع الجداول. {numbers}"
            + (" أما المتوسطات فلا تُجمع." if means else "")
            + (" والصفوف التي ليست لها قيمة عامة في أحد الأعمدة لا تُحسب في أي جدول." if plan.drops_rows else "")
        )

    def intervals(self, plan: TablesPlan, /) -> str:
        """What the intervals mean."""
        means = any(measure.kind is MeasureKind.MEAN for measure in plan.measures)
        each = (
            "تختار أعداد فيها ضوضاء الصفوف أو ترتبها، لذلك تحتوي جميع الفترات معًا الأعداد الدقيقة للصفوف المحسوبة "
            f"باحتمال {confidence()}."
            if plan.by_noise
            else f"كل فترة، وحدها، تحتوي العدد الدقيق للصفوف المحسوبة باحتمال {confidence()}."
        )
        cut = (
            " وتُحسب الفترات من الأعداد قبل تقريبها إلى أعداد صحيحة، وتُقصر على الأعداد الممكنة، وتُوسَّع حيث يقع "
            "العدد المقرَّب خارجها: لذلك تحتوي الأعداد الدقيقة بالاحتمال المذكور."
        )
        return (
            each
            + (" وحيث يمكن أن يكون عدد القيم صفرًا تكون فترة المتوسط هي حدوده." if means else "")
            + (cut if plan.whole else "")
        )

    def rounded(self) -> str:
        """What rounding to whole numbers did."""
        return (
            "قُربت الأعداد إلى أعداد صحيحة غير سالبة تظل تُجمع، أقرب ما يمكن إلى الأعداد غير المتحيزة. وثمن ذلك تحيز: "
            "فالأعداد الصغيرة تزيد غالبًا، والكبيرة تنقص. ومتوسط الإزاحة لجدول هو متوسط كل الفروق، ومتوسط مقدارها يحسب "
            "كل فرق بلا إشارته."
        )

    def will_round(self) -> str:
        """That numbers will be rounded."""
        return (
            "ستُقرب الأعداد إلى أعداد صحيحة تُجمع. ومقدار إزاحتها يتوقف على الضوضاء؛ ويذكره الجواب لكل جدول، "
            "والأخطاء هنا هي ما قبل التقريب."
        )

    def shift_of(self, measure: Measure, /) -> str:
        """The heading of the mean shift of a measure."""
        return f"متوسط الإزاحة: {self.measure(measure)}"

    def size_of_shift(self, measure: Measure, /) -> str:
        """The heading of the mean size of the shifts of a measure."""
        return f"متوسط مقدار الإزاحة: {self.measure(measure)}"

    def exposure(self, plan: TablesPlan, /) -> str:
        """How the promise could fail."""
        return nobody(plan.records.query)

    def public(self, plan: TablesPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        query = plan.records.query
        cells = (
            f"قيم {named(level.name)}: {counted(each.size(number_), VALUE)}"
            for each in plan.workload.ladders
            for number_, level in enumerate(each.levels, start=1)
        )
        limits = [f"السقوف: {caps(query)} لكل شخص"] if isinstance(query.unit, Person) else []
        size = [f"عدد {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        return ("أسماء الأعمدة وأنواعها، والسؤال نفسه", *cells, *limits, *size)

    def released(self, plan: TablesPlan, /) -> str:
        """What was released, in a few words."""
        cells = counted(sum(map(plan.workload.cells, plan.workload.tables)), CELL)
        return f"{counted(len(plan.workload.tables), TABLE)} ({cells})"

    def sort_by(self) -> str:
        """What the headings of a table on a page do."""
        return "اضغط على عنوان عمود لترتيب الجدول بحسبه."

    def on_this_page(self) -> str:
        """The heading of the list of tables."""
        return "الجداول في هذه الصفحة"

    def mark(self) -> str:
        """The heading of quality marks."""
        return "الجودة"

    def withheld(self) -> str:
        """In place of a number that is too uncertain to publish."""
        return "غير مؤكد"

    def few(self) -> str:
        """A note beside a small number."""
        return "صغير"

    def certificate(self) -> str:
        """The link to the certificate."""
        return "شهادة جميع الجداول: ما وُعد به، وكيف، وكيف يُتحقق منه"

    def notes_title(self) -> str:
        """The name of the sheet with notes."""
        return "ملاحظات"

    def marks(self, rule: QualityRule, /, *, withhold: bool) -> str:
        """What the quality marks mean."""
        limits = [ltr(f"{about(100 * limit)}%") for limit in (rule.good, rule.fair, rule.poor)]
        hidden = "غير مؤكد إلى حد لا يُنشر معه، وقد حُذف" if withhold else "غير مؤكد إلى حد لا يُنشر معه"
        return (
            f"تتبع العلامات معامل الاختلاف: {ltr('A')} حتى {limits[0]}، و{ltr('B')} حتى {limits[1]}، و{ltr('C')} حتى "
            f"{limits[2]}؛ والعدد الذي علامته {ltr('X')} {hidden}. ويُعد العدد صغيرًا إذا وقعت فترته تحت "
            f"{ltr(number(rule.small))}. وتُحسب كل العلامات من أعداد فيها ضوضاء."
        )

    def not_private(self) -> str:
        """That test coins were used."""
        return "هذا اختبار: جاءت الضوضاء من قطع نقدية معروفة ولا تحمي أحدًا."

    def title(self, plan: TablesPlan, node: Node, measure: Measure, /) -> str:
        """The title of the chart."""
        name = self.name(plan.workload, node)
        return f"{self.measure(measure)} بحسب {name}" if node else self.measure(measure)

    def drawn(self, shown: int, size: int, /) -> str:
        """Which cells a chart shows."""
        if shown == size:
            return "جميع الخلايا، مع فتراتها."
        return f"أكبر {ltr(number(shown))} من {ltr(number(size))} خلية."
