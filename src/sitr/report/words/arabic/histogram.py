"""The sentences of histograms, in Arabic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sitr.dataset.cells import Axis, Categories, Cell, Dates, Granular, Rule, above, below, nowhere, short
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Prefixes, Ranges, Sparse, Tree, Unlisted
from sitr.report.figures import CONFIDENCE, about, at_most, error, number, visible
from sitr.report.words.arabic.marks import code, listed, ltr, named
from sitr.report.words.arabic.meaning import GAMMA
from sitr.report.words.arabic.nouns import BAR, CELL, caps, chance, confidence, counted, nobody, noise, unit, units
from sitr.report.words.messages import isolated

if TYPE_CHECKING:
    from sitr.questions.histogram.counts import Histogram
    from sitr.questions.histogram.fit import HistogramPlan

PROCESSED = (
    (r"nearest whole counts of sum (-?\d+) \(by index\)", "أقرب أعداد صحيحة مجموعها {0} (بحسب الترتيب)"),
    (r"nearest whole counts of sum (-?\d+) \(soft threshold\)", "أقرب أعداد صحيحة مجموعها {0} (بعتبة لينة)"),
    (r"nearest whole counts of sum (-?\d+) \(drop smallest\)", "أقرب أعداد صحيحة مجموعها {0} (بإسقاط أصغرها)"),
    (r"nearest counts of sum (-?\d+) in Euclidean length", "أقرب أعداد مجموعها {0} بالمسافة الإقليدية"),
    (r"negative counts put to zero", "جُعلت الأعداد السالبة صفرًا"),
    (r"nearest counts with the form: rising", "أقرب أعداد متزايدة"),
    (r"nearest counts with the form: falling", "أقرب أعداد متناقصة"),
    (r"nearest counts with the form: one peak", "أقرب أعداد لها قمة واحدة"),
)
"""What can be done with noisy counts, as a histogram records it."""


@dataclass(frozen=True, slots=True)
class HistogramWords:
    """Counts by cell."""

    def measured(self, plan: HistogramPlan, /) -> str:
        """How the cells were measured."""
        match plan.method:
            case Flat():
                return f"لكل خلية علنية ضوضاؤها، ومنها الخلايا الفارغة: {counted(plan.grid.size, CELL)}."
            case Sparse() if plan.sparse is None:
                every = f"لكل خلية علنية ضوضاؤها، ومنها الخلايا الفارغة: {counted(plan.grid.size, CELL)}"
                return f"{every}؛ ف{GAMMA} أصغر من أن تُترك أي منها."
            case Sparse():
                return f"لا تُضاف الضوضاء إلا إلى الخلايا التي فيها أشخاص. والفارغة من {_cells(plan)} تظهر صفرًا تمامًا."
            case Tree():
                tree = plan.hierarchy
                assert tree is not None
                levels = " و".join(ltr(number(size)) for size in tree.sizes)
                return f"شجرة من مجاميع الخلايا المتجاورة، أعدادها في المستويات {levels}، جُعلت متسقة بالمربعات الصغرى."
            case Prefixes() | Ranges():
                return (
                    f"لمجموع الخلايا كلها حتى كل خلية علنية ضوضاء مترابطة: {counted(plan.grid.size, CELL)}. ومدى "
                    "الخلايا فرق بين مجاميع منها، فلا يكاد خطؤه يزيد بطوله."
                )
            case Buckets(share):
                return (
                    f"يُدفع {_percent(share)} من الثمن لاختيار الخلايا المتجاورة التي تُدمج؛ ويوزَّع كل مجموع على خلاياه "
                    "بالتساوي."
                )
            case Bins(candidates, share):
                choices = listed(ltr(number(each)) for each in candidates)
                return f"يُدفع {_percent(share)} من الثمن لاختيار عدد الفئات من بين {choices}."
            case Unlisted():
                return (
                    f"الفئات غير علنية. وتظهر الفئة إذا كان عدد {units(plan.tally.query)} فيها، مع الضوضاء، لا يقل عن "
                    f"{_least(plan)}؛ وتُترك الأخرى."
                )

    def outside(self, plan: HistogramPlan, /) -> str:
        """Where rows are counted whose values are in none of the cells; empty if no cell is public."""
        axes = () if plan.tally.grid is None else plan.grid.axes
        return " ".join(filter(None, (sentence for axis in axes for sentence in (_outside(axis), _missing(axis)))))

    def noise(self, plan: HistogramPlan, /) -> str:
        """The law of the noise, and the sensitivity to which it is fitted."""
        one = f"{unit(plan.tally.query)} واحد"
        what = f"استبدال {one}" if plan.tally.query.relation is Relation.REPLACE_ONE else f"إضافة {one} أو حذفه"
        if plan.prefixes is not None:
            size, reach = ltr(f"σ = {about(plan.prefixes.sigma)}"), ltr(at_most(plan.prefixes.sensitivity))
            return (
                f"ضوضاء غاوسية مترابطة، حيث {size}، مقرَّبة بدقة إلى شبكة دقيقة: {what} يغير الأعداد بما لا "
                f"يتجاوز {reach} بمعيار الضوضاء."
            )
        far = plan.distance
        by_squares, by_sum = f"√{number(far.l2_squared)}", number(far.l1)
        moved = f"{ltr(by_squares)} بمعيار {ltr('ℓ₂')}" if plan.noise.euclidean else f"{ltr(by_sum)} بمعيار {ltr('ℓ₁')}"
        return f"{noise(plan.noise)}: {what} يغير الأعداد بما لا يتجاوز {moved}."

    def cells(self, axis: Axis, /) -> tuple[str, ...]:
        """The labels of all cells of a column."""
        special = {nowhere(axis): "(بلا قيمة)"}
        if axis.outside is Rule.CELL:
            if isinstance(axis, Categories):
                special[below(axis)] = "(غير ذلك)"
            else:
                low, high = map(short, axis.ends)
                special |= {below(axis): f"أقل من {_end(low)}", above(axis): f"أكبر من {_end(high)}"}
        return tuple(special.get(place) or _label(axis, cell) for place, cell in enumerate(axis.cells()))

    def released(self, histogram: Histogram, /) -> str:
        """What was released, in a few words."""
        return f"أعداد بحسب {_columns(histogram)}: {counted(len(histogram.counts), CELL)}"

    def public(self, plan: HistogramPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        query = plan.tally.query
        limits = [f"سقوف المساهمة: {caps(query)} لكل شخص"] if isinstance(query.unit, Person) else []
        size = [f"عدد {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        axes = () if plan.tally.grid is None else plan.tally.grid.axes
        cells = [f"خلايا {named(axis.column.name)}" for axis in axes]
        total = ["عدد الصفوف"] if plan.sparse is not None else []
        return ("أسماء الأعمدة وأنواعها، والسؤال نفسه", *size, *total, *limits, *cells)

    def error(self, plan: HistogramPlan, /) -> str:
        """The error of a count, which depends only on the law of the noise."""
        far = ltr(f"± {error(plan.error(confidence=CONFIDENCE))}")
        each = "كل عدد" if plan.prefixes is not None else "كل عدد مقيس"
        once = f"{each} على حدة لا يبعد عن العدد الدقيق بأكثر من {far} باحتمال {confidence()}"
        caps = "؛ ولم يُقَس التحيز الناتج عن سقوف المساهمة" if plan.tally.query.unmeasured else ""
        return f"{once}، ويبعد عنه في المتوسط بمقدار {ltr(about(plan.mean_noise(), digits=3))}{caps}."

    def ranges(self, plan: HistogramPlan, /) -> str:
        """The error of the ranges for which the method was chosen; empty if it was not."""
        if plan.for_ranges is None:
            return ""
        every = "كل المستطيلات" if len(plan.grid.axes) > 1 else "كل مدى من الخلايا"
        what = f"المديات المطلوبة، وعددها {ltr(number(len(plan.for_ranges)))}" if plan.for_ranges else every
        return f"الجذر التربيعي لمتوسط مربع الخطأ في {what}: {ltr(about(plan.range_deviation(), digits=3))}."

    def exposure(self, plan: HistogramPlan, /) -> str:
        """P(L = +∞), or the number of people whom a random promise may expose."""
        if plan.sparse is not None:
            return (
                "كل من كان وحده في خلية ينكشف انكشافًا تامًا: فالجميع يرى أن أحدًا هناك. ولا يتجاوز عدد من يقع لهم ذلك "
                f"{ltr(at_most(plan.sparse.exposed()))} في المتوسط، في أسوأ مجتمع إحصائي."
            )
        mass = plan.infinite_mass()
        if mass == 0.0:
            return nobody(plan.tally.query)
        return (
            f"باحتمال لا يتجاوز {ltr(at_most(mass))} (أي {chance(mass)}) تجتاز العتبةَ مصادفةً فئةٌ لا توجد إلا عند "
            f"{unit(plan.tally.query)} واحد، فتظهر."
        )

    def intervals(self, histogram: Histogram, /) -> str:
        """What the intervals mean, and what they do not."""
        once = f"كل فترة على حدة تضم العدد الدقيق (بعد تطبيق سقوف المساهمة) باحتمال {confidence()}."
        if histogram.starts is not None:
            once += " وقد يكون عدد الخلية المدمجة أي شيء حتى المجموع كله."
        if histogram.empty is not None:
            once += " والخلية التي هي صفر تمامًا لا فترة لها: فليس فيها أحد."
        if histogram.plan.threshold is not None:
            once += " ويصح هذا قبل انتقاء الفئات: فمن بين ما يظهر منها، تبدو الأعداد القريبة من العتبة أكبر مما هي."
        if histogram.processed:
            once += " وتنتج الفترات عن الضوضاء وحدها، فقد يقع العدد المعالج خارج فترته."
        return once

    def out(self, histogram: Histogram, /) -> str:
        """Why a count can be outside its own interval, in a histogram where one is."""
        if histogram.processed or histogram.starts is not None:
            return "قد يقع العدد خارج فترته، لأن الفترات تنتج عن الأعداد المقيسة وحدها."
        ends = "الصفر والمجموع العلني" if histogram.total is not None else "الصفر"
        return (
            f"قد يقع العدد خارج فترته: فالضوضاء قد تدفعه إلى ما وراء {ends}، والفترات تستبعد ما لا يمكن أن يكونه عدد."
        )

    def digits(self) -> str:
        """How counts are rounded, and where all digits are."""
        return (
            "قُرِّبت الأعداد إلى أول رقمين من الخطأ، والفترات إلى الخارج؛ وفي الملفات والجداول ومع الخيار "
            f"{code('--exact')} جميع الأرقام."
        )

    def processing(self, histogram: Histogram, /) -> str:
        """What was done with the noisy counts; empty if nothing was."""
        return f"{'؛ '.join(map(_processed, histogram.processed))}. ولا يكلف هذا شيئًا." if histogram.processed else ""

    def empty(self, plan: HistogramPlan, /) -> str:
        """What a histogram without cells means."""
        return f"لم تبلغ أي فئة العتبة {_least(plan)}. ولا يعني هذا أن البيانات فارغة."

    def known_empty(self) -> str:
        """In place of an interval, where a cell is known to be empty."""
        return "صفر تمامًا"

    def title(self, histogram: Histogram, /) -> str:
        """The title of the chart."""
        return f"هيستوغرام {_columns(histogram)}{' (لم يُقَس التحيز)' if histogram.plan.tally.query.unmeasured else ''}"

    def nothing(self) -> str:
        """What an empty chart says."""
        return "لا تظهر أي خلية."

    def together(self, cells: int, /) -> str:
        """How many cells share a bar of the chart."""
        near = "متجاورتان" if cells == 2 else "متجاورة"
        return f"مع فترات {confidence()}" if cells == 1 else f"في كل عمود بياني {counted(cells, CELL)} {near}"

    def density(self, axis: Axis, unit: Fraction, /) -> str:
        """What the heights of bars are if cells differ in width."""
        size = ltr(about(unit))
        if isinstance(axis, Dates):
            of = "يوم" if unit == 1 else f"فترة من الأيام طولها {size}"
        else:
            of = f"{'وحدة' if unit == 1 else size} من {named(axis.column.name)}"
        return f"تختلف الخلايا في عرضها، فالارتفاعات أعداد لكل {of}."

    def hollow(self, bars: int, /) -> str:
        """Bars that are left out because no value belongs to them."""
        return f"لم تُرسم خلايا ليس فيها عدد صحيح، وعددها {ltr(number(bars))}."

    def largest(self, shown: int, total: int, /) -> str:
        """Whether the chart shows all cells."""
        if total <= shown:
            return f"مع فترات {confidence()}"
        return f"أكبر الخلايا: {ltr(number(shown))} من أصل {ltr(number(total))}"

    def bars(self, bars: int, note: str, /, *, largest: str = "") -> str:
        """A chart of bars in one sentence."""
        most = f"؛ وأكبرها {ltr(largest)}" if largest else ""
        return f"{counted(bars, BAR)}، {note}{most}."

    def darkest(self, count: str, /) -> str:
        """The largest count in a chart of tiles."""
        return f"أغمق مربع يعني {ltr(count)}"

    def tiles(self, rows: int, columns: int, count: str, /) -> str:
        """A chart of tiles in one sentence."""
        return f"مربعات عددها {ltr(number(rows))} في {ltr(number(columns))}؛ وأغمقها يعني {ltr(count)}."


def _columns(histogram: Histogram) -> str:
    return " و".join(named(axis.column.name) for axis in histogram.grid.axes)


def _cells(plan: HistogramPlan) -> str:
    return counted(plan.grid.size, CELL, oblique=True)


def _label(axis: Axis, cell: Cell) -> str:
    """The label of an ordinary cell: a category, a range, or a day."""
    if isinstance(axis, Categories):
        return visible(cell.label)
    if cell.low is not None and cell.high is not None and " to " in cell.label:
        first, _, last = cell.label.partition(" to ")
        return f"من {_end(first)} إلى {_end(last)}"
    return _end(cell.label)


def _end(label: str) -> str:
    """The label of a cell or one end of it, with powers of ten as they are written for people."""
    return ltr(re.sub(r"-?\d[\d.]*e[-+]\d+", lambda found: about(Fraction(found[0])), label))


def _processed(what: str) -> str:
    for pattern, translation in PROCESSED:
        if found := re.fullmatch(pattern, what):
            return translation.format(*map(ltr, found.groups()))
    return isolated(what)


def _outside(axis: Axis) -> str:
    name = named(axis.column.name)
    if isinstance(axis, Categories):
        values = f"الصفوف التي قيمتها في {name} غير هذه"
    elif isinstance(axis, Granular):
        return ""  # synthetic rows only
    else:
        low, high = (about(end) if isinstance(end, Fraction) else str(end) for end in axis.ends)
        values = f"قيم {name} التي تقل عن {ltr(low)} أو تزيد على {ltr(high)}"
    match axis.outside:
        case Rule.CLAMP:
            return f"{values} تُحسب في الخلية الأولى أو الأخيرة."
        case Rule.DROP:
            return f"{values} تُترك."
        case Rule.MISSING:
            return f"{values} تُحسب مفقودة."
        case Rule.CELL:
            return ""  # the label of the cell says it


def _missing(axis: Axis) -> str:
    left_out = axis.missing is Rule.DROP and not isinstance(axis, Granular)
    return f"الصفوف التي لا قيمة لها في {named(axis.column.name)} تُترك." if left_out else ""


def _least(plan: HistogramPlan) -> str:
    return ltr(number(plan.threshold.least if plan.threshold is not None else 0))


def _percent(share: Fraction) -> str:
    return ltr(f"{about(Fraction(share) * 100, digits=3)}%")
