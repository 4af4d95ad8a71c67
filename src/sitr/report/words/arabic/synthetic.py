"""The sentences of synthetic rows, in Arabic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.dataset.cells import size
from sitr.namespace import Later
from sitr.report.figures import number
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.arabic.meaning import kept
from sitr.report.words.arabic.nouns import CELL, COLUMN, GROUP, PAIR, ROW, TABLE, TRIPLE, VALUE, counted

if TYPE_CHECKING:
    from sitr.questions.synthetic import plan as planned
    from sitr.questions.synthetic.agreement import Agreement, TableFit
    from sitr.questions.synthetic.figures import Figure, Quality
    from sitr.questions.synthetic.plan import SynthesisPlan
    from sitr.questions.synthetic.portrait import Portrait
    from sitr.questions.synthetic.validity import Checked
else:
    planned = Later("sitr.questions.synthetic.plan")


_DEMANDS = {
    "type": "نوع العمود",
    "values": "قيم علنية فقط، ضمن الحدود",
    "null": f"لا قيمة {ltr('NULL')}",
    "derived": "يساوي ما تحسبه قاعدته",
    "ordered": "الأول لا يزيد على الثاني",
    "together": f"{ltr('NULL')} معًا أو لا شيء",
    "constant": "واحد في كل صفوف الشخص",
    "capped": "لا تزيد صفوف الشخص على السقف",
    "in order": "مرتب ضمن صفوف الشخص",
    "among": "لكل شخص صف في الجدول الآخر",
    "never": "لا صف يحقق شرطًا ممنوعًا",
}
"""What is checked of rows."""


@dataclass(frozen=True, slots=True)
class SyntheticWords:
    """Rows drawn from a model that fits noisy tables."""

    def tables(self, count: int, /) -> str:
        """How many tables were measured."""
        return f"{counted(count, TABLE)}؛ ولكل عدد مقيس ضوضاؤه، والصفوف التي تُسحب بعد ذلك لا تكلف شيئًا"

    def rows(self, portrait: Portrait, /) -> str:
        """How many rows the data set has."""
        people = portrait.measured.people
        if people is not None:
            persons = ltr(number(max(0, round(people.total))))
            return f"نحو {ltr(number(portrait.size))} لأشخاص عددهم نحو {persons}، بحسب أعداد عليها ضوضاء"
        return f"نحو {ltr(number(portrait.size))} في مجموعة البيانات، بحسب أعداد عليها ضوضاء"

    def released(self, portrait: Portrait, drawn: int | None, /) -> str:
        """What was released, in a few words."""
        columns = counted(len(portrait.plan.sheet.names), COLUMN, oblique=True)
        return f"جداول عليها ضوضاء من {columns}" if drawn is None else f"{counted(drawn, ROW)} من {columns}"

    def imitates(self) -> str:
        """What the comparison with the noisy tables shows, and what it does not."""
        return (
            "يقارن الرسم الصفوف الاصطناعية بالجداول ذات الضوضاء التي صُنعت منها، فكلاهما يشترك في أخطاء الضوضاء. وهو لا "
            "يبين مدى بعدهما عن البيانات."
        )

    def mark(self, dataset: str, /) -> str:
        """What a file of rows is."""
        return f"هذه صفوف اصطناعية: تحاكي {named(dataset)} ولا تخص أحدًا. وقد سُحبت من نموذج طُوبق مع جداول عليها ضوضاء."

    def agreement(self, found: Agreement, /) -> tuple[str, ...]:
        """How closely the rows follow the noisy tables, in one number, and what that number is not."""
        over = "أزواج الأعمدة كلها" if found.of(2) else "الأعمدة كلها"
        return (
            f"الدرجة: {ltr(f'{100 * found.score:.1f}')} من {ltr('100')}، وهي متوسط {over}. ودرجة الجدول {ltr('100')} "
            f"إذا كانت للصفوف في كل خلية نسبة الجدول ذي الضوضاء نفسها، و{ltr('0')} إذا لم تجمعهما خلية.",
            "تقارن الدرجة الصفوف بما صدر، ولا تكلف شيئًا. ولا يمكنها أن تظهر خطأ في الجداول ذات الضوضاء نفسها: فلذلك قِس "
            "الجودة مقابل ثمن، أو قارن بجدول علني.",
        )

    def fits(self, found: Agreement, /) -> tuple[tuple[str, Sequence[TableFit]], ...]:
        """The tables by their number of columns."""
        return (
            ("الأعمدة المفردة", found.of(1)),
            ("أزواج الأعمدة", found.of(2)),
            ("الثلاثيات", found.of(3)),
            ("الأشخاص", found.people),
        )

    def between(self, columns: Sequence[str], /) -> str:
        """The names of a few columns."""
        return _pair(columns)

    def pair_map(self) -> str:
        """The title of the map of pairs."""
        return f"الأعمدة (على القطر) وأزواج الأعمدة: الدرجة من {ltr('100')}، والأغمق أدنى"

    def triple_map(self) -> str:
        """The title of the map of triples."""
        return "ثلاثيات الأعمدة: متوسط درجات كل الثلاثيات التي فيها العمودان"

    def heat(self, score: float, /) -> tuple[str, str]:
        """The title and the description of the map of scores."""
        return (
            "ما مدى مطابقة الصفوف للجداول ذات الضوضاء",
            f"مربع لكل زوج من الأعمدة ودرجته من {ltr('0')} إلى {ltr('100')}. والمتوسط {ltr(f'{100 * score:.1f}')}. "
            "والأرقام في الأعلى تدل على الأعمدة التي لها الرقم نفسه في الجانب.",
        )

    def quality_heat(self, score: float, /) -> tuple[str, str]:
        """The title and the description of the map of scores beside the data or a public table."""
        return (
            "ما مدى قرب الصفوف، بحسب الأعمدة",
            f"مربع لكل زوج من الأعمدة ودرجته من {ltr('0')} إلى {ltr('100')}. والمتوسط {ltr(f'{100 * score:.1f}')}. "
            "والأرقام في الأعلى تدل على الأعمدة التي لها الرقم نفسه في الجانب.",
        )

    def score(self, found: Quality, /) -> str:
        """The overall score of a comparison."""
        over = "أزواج الأعمدة كلها" if found.pairs else "الأعمدة كلها"
        return f"{ltr(f'{100 * found.score:.1f}')} من {ltr('100')}، وهي متوسط {over}"

    def demand(self, checked: Checked, /) -> str:
        """What was checked."""
        return _DEMANDS[checked.demand.value]

    def valid(self, broken: int, rows: int, /) -> str:
        """How many rows break a demand."""
        return "كل الصفوف" if not broken else f"خالفه {ltr(number(broken))} من أصل {ltr(number(rows))} من الصفوف"

    def uses(self) -> tuple[str, ...]:
        """What the rows can be used for."""
        return (
            "كتابة البرامج والاستعلامات والتقارير وتجريبها قبل تشغيلها على البيانات",
            "التعليم، واستكشاف الأسئلة التي تستحق أن تُسأل",
            "تقدير نسب القيم المفردة وأزواج القيم، بقدر ما تقوله الدرجات تقريبًا",
            "التخطيط لسؤال: ثم اسأله عن البيانات مقابل ثمن، واستشهد بتلك الإجابة",
        )

    def limits(self, plan: SynthesisPlan, /) -> tuple[str, ...]:
        """What the rows cannot carry."""
        between = "والعلاقات بين الصفوف، كزيارات الشخص نفسه"
        if plan.diary is not None:
            between = "والعلاقات بين صفوف أشخاص مختلفين، أو بين صفوف الشخص الواحد في ما وراء الصف السابق"
        return (
            "الارتباط بين ثلاثة أعمدة أو أكثر مما لا يظهر في جدول مقيس",
            "ما هو أندر من الضوضاء: المجموعات الصغيرة والقيم الشاذة والحالات المفردة",
            f"القيم الأدق من الخلايا، {between}",
            "الاختبارات والأخطاء المعيارية: فالصفوف المسحوبة لا تدل على عدد الناس",
            "القرارات بشأن أي شخص: فلا صف هو شخص",
        )

    def person(self) -> tuple[str, ...]:
        """What the promise means for a person."""
        return (
            "لم يُنسخ صف أحد: فكل الصفوف سُحبت من جداول عليها ضوضاء، والوعد في هذه الصفحة يسري على هذه الجداول، ومن ثم "
            "على كل الصفوف التي تُسحب منها يومًا.",
            "قد يشبه صف شخصًا حقيقيًا مصادفة. أما وجود ذلك الشخص في البيانات فلم يغير ما صدر بأكثر مما يسمح به الوعد.",
        )

    def public(self, plan: SynthesisPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        cells = (f"خلايا {named(axis.column.name)}، وهي {counted(size(axis), CELL)}" for axis in plan.sheet.axes)
        return ("أسماء الأعمدة وأنواعها", self.caps(plan), *cells)

    def missed(self, portrait: Portrait, /) -> str:
        """Which tables the rows follow less closely than the noise alone would explain; the first few by name."""
        names = [_pair(pair) for pair in portrait.missed]
        more = f" و{ltr(number(len(names) - 3))} غيرها" if len(names) > 3 else ""
        pairs, triples = len(portrait.measured.pairs), len(portrait.measured.triples)
        missed = f"{counted(len(names), PAIR)} من أصل {ltr(number(pairs))}"
        if triples:
            of = f"{counted(pairs, PAIR, oblique=True)} و{counted(triples, TRIPLE, oblique=True)}"
            missed = f"{counted(len(names), TABLE)} من أصل {of}"
        return f"مما لا يطابقه النموذج: {missed}: {'؛ '.join(names[:3])}{more}"

    def measured_triples(self, count: int, most: int, error: str, /) -> str:
        """The tables of triples, with the most groups of a column, and the largest error of a count."""
        tables, groups = counted(count, TRIPLE), counted(most, GROUP, oblique=True)
        far = f"وخطأ العدد بثقة {ltr('95%')} {ltr(error)} على الأكثر"
        return f"{tables} من الأعمدة، لكل عمود {groups} على الأكثر؛ {far}"

    def no_triples(self) -> str:
        """Why none of the wanted triples was measured."""
        return "لم تُقَس: الصفوف أقل مما تتطلبه ضوضاؤها، بحسب عدد عليه ضوضاء؛ وذهب جزؤها من الثمن إلى الأزواج"

    def price(self, plan: SynthesisPlan, /) -> str:
        """The one charge, and its parts."""
        if plan.quality is None:
            return kept(plan.price)
        rows, quality = kept(plan.division.price), kept(plan.quality.price)
        parts = f"{kept(plan.price)}: منه {rows} للصفوف، و{quality} لقياس جودتها"
        less = plan.price != plan.division.price + plan.quality.price  # type: ignore[operator] # one flavor
        return f"{parts}؛ ومعًا يخسران أقل من مجموعهما" if less else parts

    def caps(self, plan: SynthesisPlan, /) -> str:
        """The most rows of one person."""
        most = plan.sheet.most_rows
        if plan.diary is not None:
            order = plan.diary.order
            first = "بترتيب عشوائي" if order is None else f"بترتيب {named(order.name)}"
            return f"يُحسب لكل شخص أول {counted(most, ROW)} على الأكثر، {first}؛ ويُحسب كل شخص مرة في جداول الأشخاص"
        if most == 1:
            return "يُحسب كل صف مرة واحدة"
        return f"يُحسب للشخص الواحد {counted(most, ROW)} على الأكثر، تُختار عشوائيًا"

    def pairs(self, count: int, /) -> str:
        """The tables of pairs of columns."""
        return f"{counted(min(count, planned.MOST_PAIRS), PAIR)} من الأعمدة، بحسب مجموعات القيم"

    def triples(self, count: int, /) -> str:
        """The tables of triples of columns, which need enough rows."""
        return f"{counted(count, TRIPLE)} من الأعمدة، بحسب مجموعات القيم، إن كفت الصفوف"

    def people(self, name: str, /) -> str:
        """A table of people."""
        return f"الأشخاص: {name}"

    def about(self, error: str, /) -> str:
        """An error that depends on the tables that will be chosen."""
        return f"نحو {ltr(error)}"

    def distances(self) -> str:
        """What is measured for the quality."""
        return "الجودة: كل مسافة، بعدد الصفوف"

    def kinds(self, found: Quality, /) -> tuple[tuple[str, tuple[Figure, ...]], ...]:
        """The figures about the quality by kind."""
        distance = ltr("Σ|p − q|")
        return (
            (f"نسبة كل قيمة، {distance}", found.single),
            (f"نسبة كل زوج من القيم، {distance}", found.pairs),
            (f"نسبة كل ثلاثية من القيم، {distance}", found.triples),
            ("نسبة أي مدى", found.ranges),
            ("الارتباط", found.correlations),
            (f"نسبة كل قيمة في مجموعة جزئية، متوسط {distance}", found.subgroups),
        )

    def of(self, figure: Figure, /) -> str:
        """The columns of a figure."""
        return _pair(figure.columns)

    def compared(self, found: Quality, /) -> str:
        """What the rows were compared with."""
        if found.plan is None:
            return f"بالجدول العلني {named(found.holdout or '')}"
        return f"بالبيانات، مقابل {kept(found.plan.price)}"

    def accuracy(self, ours: float, theirs: float, /) -> str:
        """How well a classifier does after training on synthetic rows, and on real ones."""
        return (
            f"{ltr(f'{ours:.3f}')} عند التدريب على صفوف اصطناعية، و{ltr(f'{theirs:.3f}')} عند التدريب على صفوف حقيقية"
        )

    def propensity(self, found: float, /) -> str:
        """How often a classifier tells synthetic rows from real ones."""
        share = ltr(f"{100 * found:.1f}%")
        return f"يميز مصنّف الصفوف الاصطناعية من الحقيقية في {share} من الحالات؛ وللتخمين {ltr('50%')}"

    def told_apart(self, found: Figure, /) -> str:
        """How often the best classifier that sees only a few columns is right."""
        share, error = ltr(f"{100 * found.found:.1f}%"), ltr(f"± {100 * found.error:.1f}%")
        return (
            f"المصنّف الذي لا يرى إلا {_pair(found.columns)} يميز الصفوف الاصطناعية من الحقيقية في {share} ({error}) من "
            f"الحالات على الأكثر؛ وللتخمين {ltr('50%')}، وقد يكون الذي يرى كل الأعمدة أفضل"
        )

    def regression(self, found: Quality, /) -> str:
        """How far the coefficients of a regression agree."""
        lines = found.regression
        agree, count = ltr(f"{sum(each.agrees for each in lines)}"), ltr(f"{len(lines)}")
        far = ltr(f"{max((abs(each.synthetic - each.real) for each in lines), default=0.0):.3f}")
        noise = "" if found.plan is None else " مع الضوضاء"
        return (
            f"لا تختلف {agree} من {count} من المعاملات عن معاملات الصفوف الحقيقية بأكثر من الخطأ بثقة {ltr('95%')} بين "
            f"عينتين{noise}؛ وأكبر فرق {far}"
        )

    def chart(self) -> tuple[str, str]:
        """The title and the description of the chart."""
        return (
            "الصفوف الاصطناعية بجانب الجداول ذات الضوضاء التي صُنعت منها",
            "نسب البيانات مع الضوضاء (بالأزرق) بجانب نسب الصفوف الاصطناعية (بالبرتقالي). وتُجمع قيم العمود التي تتجاوز "
            f"القيم الأكثر تكرارًا، وعددها {ltr('24')}.",
        )

    def others(self, count: int, /) -> str:
        """The values that have no bar of their own."""
        return f"غير ذلك: {counted(count, VALUE)}"

    def map(self, down: str, across: str, /) -> str:
        """The title of a map of two columns."""
        return f"{named(down)} (عموديًا) و{named(across)} (أفقيًا)"


def _pair(names: Sequence[str]) -> str:
    return " و".join(map(named, names))
