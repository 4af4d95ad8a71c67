"""The sentences of losses, schedules and composition theorems, in Arabic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.language import Language
from sitr.numbers import Interval, Number
from sitr.report.figures import about, at_least, at_most, number
from sitr.report.words.arabic.marks import code, ltr, named
from sitr.report.words.arabic.meaning import DELTA, EPSILON, GAMMA, exceptions, likelihood
from sitr.report.words.arabic.nouns import EXAMPLE, RELEASE, STEP, chance, confidence, counted
from sitr.report.words.messages import catalogue
from sitr.report.words.numerals import numerals

if TYPE_CHECKING:  # slow to import, and most reports need none of them
    from sitr.accounting.compare import TheoremResult
    from sitr.accounting.schedule import Schedule
    from sitr.accounting.theorems.theorem import Total
    from sitr.accounting.training import Training

THEOREMS: Mapping[str, str] = {
    "basic": "الأساسية",
    "advanced": f"المتقدمة ({code('DRV 2010')})",
    "halved": f"المتقدمة بالنصف ({code('DR 2016')})",
    "optimal_equal": f"المثلى لخطوات متساوية ({code('KOV')})",
    "optimal_mixed": f"المثلى لخطوات مختلفة ({code('MV')})",
    "concentrated": f"المركزة {ltr('(μ, τ)')}",
    "zero_concentrated": "المركزة الصفرية",
    "renyi": "ريني، أو محاسب العزوم",
    "renyi_as_published": f"ريني كما نُشرت عام {ltr('2016')}",
    "gaussian": "الغاوسية",
    "profile": f"عدة {ltr('(ε, δ)')} معًا",
    "loss": "توزيع خسارة الخصوصية",
    "random_union": "العشوائية بحد الاتحاد",
}
CURVES: Mapping[str, str] = {
    "advanced": "المتقدمة",
    "halved": "بالنصف",
    "optimal_equal": "المثلى، متساوية",
    "optimal_mixed": "المثلى، مختلفة",
    "concentrated": "المركزة",
    "renyi": "ريني",
    "renyi_as_published": f"ريني، {ltr('2016')}",
    "profile": f"عدة {ltr('(ε, δ)')}",
    "loss": "الخسارة نفسها",
    "random_union": "حد الاتحاد",
}
"""Names that are short enough for the end of a curve; the others are the same as in tables."""
WAYS: Mapping[str, str] = {
    "global": "الحساسية العامة",
    "smooth, Laplace": "الحساسية الملساء، بضوضاء لابلاس",
    "smooth, Gaussian": "الحساسية الملساء، بضوضاء غاوسية",
    "smooth, Student": "الحساسية الملساء، بضوضاء ستيودنت",
    "propose-test-release": "الاقتراح فالاختبار فالإصدار",
    "random, disjoint pairs": "العشوائية، بأزواج منفصلة",
    "random, all pairs": "العشوائية، بجميع الأزواج",
    "random, sampler": "العشوائية، بمعاينة الحساسية",
}
"""The ways to release a statistic."""
RANDOM = (
    f"تصح كل {EPSILON} هنا إلا لهذه النسبة من البيانات. وهذه خصوصية تفاضلية عشوائية: تفترض بيانات قابلة للتبادل، وتحمي "
    "قادمًا جديدًا عشوائيًا ولا تحميك أنت، ولا تَعِد سائر من في البيانات بشيء، ولا تصح إلا إذا حُددت كل آلية عشوائية "
    "مسبقًا."
)


@dataclass(frozen=True, slots=True)
class AccountingWords:
    """Losses that were added up, and what they allow an attacker."""

    def theorem(self, name: str, /) -> str:
        """The name of a theorem in tables and charts."""
        return numerals(THEOREMS.get(name) or ltr(name.replace("_", " ")))

    def total(self, bounds: Total, /) -> str:
        """The total in four digits, rounded outward; an interval if both ends are known and differ in these digits."""
        if bounds.two_sided and about(bounds.lower, digits=4) != about(bounds.upper, digits=4):
            return ltr(f"[{at_least(bounds.lower)}, {at_most(bounds.upper)}]")
        return ltr(at_most(bounds.upper))

    def adaptively(self, row: TheoremResult, /) -> str:
        """Whether this total is valid when parameters are chosen adaptively: yes, no, or the condition."""
        return "نعم" if row.adaptive.valid else self.reason(row.adaptive.condition) or "لا"

    def reason(self, reason: str, /) -> str:
        """Why a theorem does not apply, or under what condition."""
        found = catalogue(Language.ARABIC)
        assert found is not None
        return found.part(reason)

    def releases(self, schedule: Schedule, /) -> str:
        """The size of a schedule."""
        steps = counted(len(schedule.parts), STEP, oblique=True)
        return f"{counted(schedule.releases, RELEASE)} في {steps}."

    def adaptive(self) -> str:
        """Which totals are valid for the releases of a ledger."""
        return (
            "تُختار إصدارات السجل واحدًا بعد آخر في ضوء الإجابات السابقة. ولا يجوز أن يُستعمل مجموعًا لها إلا سطر يقول "
            "نعم، إزاء حد وُضع مسبقًا، وبشرط أن يكون ذلك السطر قد اختير قبل الإصدار الأول. أما السطر المشروط فلا يُستعمل "
            "إلا إذا تحقق شرطه حينئذ أيضًا."
        )

    def random(self, schedule: Schedule, /) -> str:
        """The γ of a schedule, its parts, its basis and its meaning."""
        whole = schedule.exceptions
        return f"{exceptions(whole.gamma, whole.basis, whole.parts)}: {RANDOM}"

    def outright(self, mass: float, /, *, delta: float, random: bool = False) -> str:
        """P(L = +∞), separate from the finite tail. A random promise speaks only of the newcomer."""
        if mass == 0.0:
            nobody = f"فيما عدا النسبة {GAMMA} لا ينكشف أي قادم جديد" if random else "لا ينكشف أحد"
            return f"{nobody} انكشافًا تامًا: فما من وعد هنا يسمح بخسارة لا نهائية. وكل {DELTA} ذيل منتهٍ."
        who, beyond = ("قادم جديد", f" خارج النسبة {GAMMA}") if random else ("أحدهم", "")
        exposed = (
            f"قد ينكشف {who} انكشافًا تامًا{beyond}: يُسمح بخسارة لا نهائية باحتمال قد يبلغ {ltr(at_most(mass))} "
            f"(أي {chance(mass)})."
        )
        if mass <= delta:
            return f"{exposed} وهذا هو الجزء من {DELTA} الذي لا تزيله أي {EPSILON}؛ وما بقي منها فقط ذيل منتهٍ."
        return f"{exposed} وهذا أكبر من {ltr(f'δ = {at_most(delta)}')}: فلا تنتج أي {EPSILON} عندها، مهما كانت النظرية."

    def found(self, symbol: str, bounds: Interval, given: str, value: str, /) -> str:
        """The ε at a given δ, or the δ at a given ε."""
        return f"{ltr(symbol)} {self.between(bounds)} عند {ltr(f'{given} = {value}')}"

    def between(self, bounds: Interval, /) -> str:
        """An interval in words, rounded outward."""
        if bounds.upper == float("inf"):
            infinite = bounds.lower == float("inf")
            return "لا نهائية" if infinite else f"لا تقل عن {ltr(at_least(bounds.lower))}، ولا حد أعلى لها،"
        low, high = at_least(bounds.lower), at_most(bounds.upper)
        if low == high:
            return f"تساوي {ltr(high)}"
        return f"بين {ltr(low)} و{ltr(high)}" if bounds.lower > 0.0 else f"لا تتجاوز {ltr(high)}"

    def meaning(self, epsilon: float, delta: float, /) -> str:
        """The meaning of the (ε, δ) of a whole schedule."""
        return likelihood(((epsilon, delta),), sides=("مع بياناتك", "من دونها"), evidence="جميع الإصدارات معًا")

    def hits(self, bounds: Interval, /, *, alarms: Number) -> str:
        """What the best test detects."""
        rate = f"بمعدل إنذارات كاذبة قدره {ltr(f'{about(100 * alarms)}%')}"
        return f"أفضل اختبار لمعرفة من شارك يكشف {self.share(bounds)} منهم، {rate}."

    def guess(self, bounds: Interval, /) -> str:
        """How often the best guess is right."""
        return f"انطلاقًا من احتمالين متساويين، يصيب أفضل تخمين لمشاركتك في {self.share(bounds)} من المرات."

    def share(self, bounds: Interval, /) -> str:
        """A probability in percent, rounded outward."""
        low, high = at_least(100 * bounds.lower, digits=3), at_most(100 * min(1.0, bounds.upper), digits=3)
        return ltr(f"{low}%") if low == high else f"ما بين {ltr(f'{low}%')} و{ltr(f'{high}%')}"

    def training(self, training: Training, /) -> str:
        """The size of a training run."""
        seen = "دورة واحدة" if training.epochs == 1 else f"عدد الدورات {ltr(about(training.epochs))}"
        return (
            f"{counted(training.examples, EXAMPLE)}، {seen}، بدفعات حجمها نحو {ltr(number(training.batch))}: "
            f"{counted(training.steps, STEP)} بمعدل معاينة {ltr(about(training.rate, digits=4))}."
        )

    def noise(self, training: Training, /) -> str:
        """The noise of a training run."""
        return f"{ltr(f'σ = {about(training.sigma)}')} مضروبة في المعيار الذي تُقصر عليه التدرجات."

    def assumed(self) -> str:
        """What the figures of a training run assume."""
        return (
            "تُسحب في كل خطوة دفعة جديدة، كل مثال باستقلال عن غيره (معاينة بواسون)، ولا يرى أحد أي الأمثلة سُحبت. ويُضاف "
            "مثال واحد أو يُحذف. أما الدفعات المخلوطة فآلية أخرى لا تنطبق عليها هذه الأرقام."
        )

    def public(self) -> str:
        """What a comparison of ways to release a statistic protects."""
        return (
            "حُسب كل ما هنا من البيانات بلا ضوضاء، فهو لا يحمي أحدًا. اختر الطريقة على بيانات علنية أو مختلقة، ثم "
            "استعملها على البيانات الخاصة."
        )

    def random_way(self) -> str:
        """What a way with a γ promises."""
        return f"في كل طريقة لها {GAMMA}، {RANDOM}"

    def way(self, name: str, /) -> str:
        """The name of a way to release a statistic."""
        return WAYS.get(name) or named(name)

    def no_answer(self, probability: float, /, *, often: float) -> str:
        """How often a way gives no answer."""
        if probability > often:
            return "؛ بلا إجابة: دائمًا تقريبًا"
        seldom = f"{ltr(at_most(probability, digits=2))} من المرات" if probability > 0.01 else chance(probability)
        return f"؛ بلا إجابة: {seldom}"

    def bands(self) -> str:
        """How to read the chart of a loss."""
        return f"يصل الخط بين حدود عليا، ويمتد الشريط الباهت إلى حدود دنيا. وعند النقاط المحسوبة تقع {EPSILON} بينهما."

    def curves(self, gamma: float | None, largest: float | None, /) -> str:
        """How to read the chart of theorems."""
        if gamma is None:
            return f"كل منحنى هو {EPSILON} التي تثبتها نظرية؛ والأدنى أحكم. وتُقطع القيم الأكبر بعشر مرات."
        grows = f"، تبلغ {ltr(at_most(largest))} مع إصدارات أكثر" if largest is not None else ""
        return f"تصح كل {EPSILON} هنا إلا لنسبة {ltr(f'γ = {at_most(gamma)}')} من البيانات{grows}."

    def loss(self) -> str:
        """The title of the chart of a loss."""
        return f"خسارة الخصوصية: {ltr('δ')} عند كل {EPSILON}، و{EPSILON} بحسب عدد الإصدارات"

    def at_each(self, symbol: str, given: str, /) -> str:
        """The title of a curve of one number by another."""
        return f"{ltr(symbol)} عند كل {ltr(given)}"

    def logarithmic(self, symbol: str, /) -> str:
        """The name of a logarithmic axis."""
        return f"{ltr(symbol)} على محور لوغاريتمي"

    def compared(self) -> str:
        """The title of the chart of theorems."""
        return f"مقارنة نظريات التركيب: مجموع {EPSILON}"

    def totals(self) -> str:
        """The title of the chart of theorems by δ."""
        return f"مجموع {EPSILON} عند كل {ltr('δ')}"

    def error_axis(self) -> str:
        """The axis of the chart of ways to release a statistic."""
        return f"الخطأ بثقة {confidence()} على محور لوغاريتمي: الأقصر أدق"

    def axis(self, name: str, /, *, whole: bool) -> str:
        """The name of an axis, with a note if it ends where ε becomes infinite."""
        return name if whole else f"{name}، ما دامت {EPSILON} منتهية"

    def by_releases(self, delta: float, /) -> str:
        """The title of the chart of ε by number of releases."""
        return f"{EPSILON} بحسب عدد الإصدارات، عند {ltr(f'δ = {at_most(delta)}')}"

    def repeated(self, delta: float, /) -> str:
        """The title of the chart of theorems by number of releases."""
        return f"مجموع {EPSILON} عند تكرار الإصدارات كلها، عند {ltr(f'δ = {at_most(delta)}')}"

    def given_delta(self, delta: float, /) -> str:
        """The name of the given δ on an axis."""
        return ltr(f"δ = {at_most(delta)}")

    def curve(self, name: str, /) -> str:
        """The name of a theorem at the end of its curve."""
        return numerals(CURVES.get(name, self.theorem(name)))

    def curve_total(self, name: str, total: Total | None, /) -> str:
        """The whole name of a theorem and its ε at the given δ, if it has one."""
        return self.theorem(name) + ("" if total is None else f": {ltr(f'ε = {at_most(total.upper)}')}")

    def tightest(self, curve: str, delta: float, /) -> str:
        """Which theorem is the tightest; its curve is thick."""
        return f"أحكم النظريات عند {ltr(f'δ = {at_most(delta)}')} (المنحنى السميك) هي: {curve}."

    def keeps(self, parameter: str, epsilon: str, delta: str, /) -> str:
        """The parameter that was found, and the (ε, δ) that it meets."""
        return f"{ltr(parameter)} تحقق {ltr(f'ε = {epsilon}')} عند {ltr(f'δ = {delta}')}"

    def setting(self, values: str, /) -> str:
        """The parameters that were given."""
        return f"{ltr(values)}."

    def with_sigma(self, found: str, sigma: str, /) -> str:
        """A result, and the noise that it needs."""
        return f"{found}، حيث {ltr(f'σ = {sigma}')}"

    def for_group(self, size: int, meaning: str, /) -> str:
        """The meaning of a promise for a group."""
        return f"لمجموعة حجمها {ltr(number(size))}، وبياناتهم كلها محل بياناتك: {meaning}"
