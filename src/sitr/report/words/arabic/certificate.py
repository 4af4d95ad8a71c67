"""The sentences that every certificate has, whatever was asked, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.departure import Departure
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Provenance
from sitr.report.figures import about, at_most, number
from sitr.report.headline import Headline, rounded
from sitr.report.level import Level
from sitr.report.views import FALSE_ALARMS, ORDER, Missing, ProvedView, Views
from sitr.report.words.arabic.marks import ltr
from sitr.report.words.arabic.meaning import GAMMA
from sitr.report.words.arabic.nouns import ANSWER, counted, unit
from sitr.report.words.explanation import symbols
from sitr.report.words.numerals import numerals
from sitr.report.words.protects import Protects

LEVELS = {
    Level.RESULT: "الإجابة",
    Level.PROMISE: "من المحمي، وبماذا وُعد",
    Level.MECHANISMS: "كيف صُنعت الأرقام",
    Level.DATA: "كيف عوملت البيانات",
    Level.BUDGET: "الميزانية عبر الزمن",
    Level.NUMBERS: "جميع الأرقام",
}

FLAVORS = {
    PureDP: "النقية",
    ApproximateDP: "التقريبية",
    ZeroConcentratedDP: "المركزة الصفرية",
    ApproximateZeroConcentratedDP: "المركزة الصفرية التقريبية",
    RenyiDP: f"ريني من الرتبة {ltr(about(ORDER))}",
    ConcentratedDP: "المركزة",
    GaussianDP: "الغاوسية",
}

MONTHS = (
    *("يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو"),
    *("يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"),
)

_NONE = "لا يوجد"


@dataclass(frozen=True, slots=True)
class CertificateWords:
    """A page that explains and defends one answer."""

    def heading(self, level: Level, /) -> str:
        """The heading of a part of the page."""
        return LEVELS[level]

    def for_one(self, query: Protects, /) -> str:
        """The heading of the plain sentence."""
        return f"ماذا يعني هذا ل{unit(query)} واحد"

    def day(self, day: date, /) -> str:
        """A date."""
        return f"{ltr(str(day.day))} {MONTHS[day.month - 1]} {ltr(str(day.year))}"

    def further(self, heading: str, /) -> str:
        """Where the rows are that a chart stands for."""
        return f"في الجدول الذي في آخر هذه الصفحة، «{heading}»، كل عدد مع فترته."

    # The promise through every flavor

    def every_flavor(self, headline: Headline, /) -> str:
        """What the table of flavors shows."""
        loss = ltr("L")
        whose = f"خسارة الخصوصية {loss}"
        if headline.gamma is not None:
            whose = f"خسارة الخصوصية {loss} لقادم جديد عشوائي، خارج النسبة {GAMMA}"
        return (
            f"لكل صنف من أصناف الخصوصية التفاضلية طريقته في وضع حد على {whose}. وهذه الحدود كلها تخص الإصدار نفسه: كل "
            "منها مثبت ومقرَّب إلى الأعلى، ولا يُضاف أحدها إلى الآخر."
        )

    def flavor(self, view: ProvedView, /) -> str:
        """The name of a flavor, with the δ at which it is read."""
        name = numerals(FLAVORS[view.flavor])
        return name if view.delta is None else f"{name}، {ltr(f'δ = {at_most(view.delta)}')}"

    def bound(self, view: ProvedView, /) -> str:
        """The bound in symbols."""
        match view.promise:
            case None:
                return _NONE
            case PureDP(epsilon) | ApproximateDP(epsilon, _):
                return ltr(f"ε ≤ {at_most(epsilon)}")
            case RenyiDP() as promise:
                return ltr(f"D ≤ {at_most(promise.curve(ORDER))}")
            case ZeroConcentratedDP(rho, xi=xi):
                return ltr(f"ρ ≤ {at_most(rho)}" + (f", ξ ≤ {at_most(xi)}" if xi else ""))
            case ApproximateZeroConcentratedDP(rho, delta):
                return ltr(f"ρ ≤ {at_most(rho)}, δ ≤ {at_most(delta)}")
            case ConcentratedDP(mu, tau):
                return ltr(f"μ ≤ {at_most(mu)}, τ ≤ {at_most(tau)}")
            case GaussianDP(mu):
                return ltr(f"μ ≤ {at_most(mu)}")
        return ltr(symbols(view.promise))

    def proof(self, view: ProvedView, /) -> str:
        """What proves a bound, or why there is none."""
        if view.promise is not None:
            return self.from_loss() if view.from_loss else self.from_promise()
        gaussian, concentrated = view.flavor is GaussianDP, view.flavor is ConcentratedDP
        match view.missing:
            case Missing.OUTRIGHT:
                return "قد تكون الخسارة لا نهائية" + ("، ولا تكون كذلك أبدًا بين توزيعين غاوسيين" if gaussian else "")
            case Missing.UNLIMITED:
                return "ليس للخسارة قيمة عظمى"
            case Missing.UNPROVED if gaussian:
                return "لا تُعرف إلا العزوم، وهي لا تَحُدّ كل اختبار"
            case Missing.UNPROVED if concentrated:
                return f"لا يُعرف إلا توزيع يهيمن على الخسارة، وقد يكون {ltr('τ')} له أصغر"
            case Missing.UNPROVED:
                return "لم يُثبت حد لهذه الضوضاء"

    def infinite(self, mass: float, /) -> str:
        """What an infinite loss means for the flavors."""
        return (
            f"تكون الخسارة لا نهائية باحتمال لا يتجاوز {ltr(at_most(mass))}. وعندئذ لا حد منتهيًا لصنف يَحُدّ الخسارة "
            "العظمى أو عزومها، مهما صغر ذلك الاحتمال."
        )

    def from_loss(self) -> str:
        """A bound that comes from the law of the loss."""
        return "توزيع الخسارة"

    def from_promise(self) -> str:
        """A bound that comes from the promise."""
        return "الوعد"

    def implied(self, headline: Headline, /) -> tuple[str, str, str]:
        """The ε that the flavor of the price implies, beside the exact one: name, bound and proof."""
        name = f"{FLAVORS[ApproximateDP]}، {ltr(f'δ = {at_most(headline.delta)}')}"
        return name, ltr(f"ε ≤ {rounded(headline.implied)}"), f"{ltr(symbols(headline.promise))} وحده"

    def probabilistic(self, views: Views, /) -> tuple[str, str, str]:
        """P(L > ε) at the ε of the headline: name, bound and proof."""
        name = f"الاحتمالية، {ltr(f'ε = {rounded(views.headline.epsilon)}')}"
        if views.exceeding is None:
            return name, _NONE, "توزيع الخسارة غير معروف"
        proof = self.from_promise() if views.headline.delta == 0.0 else self.from_loss()
        return name, ltr(f"P(L > ε) ≤ {at_most(views.exceeding)}"), proof

    # What an attacker can do

    def attack(self, detected: float, /, *, rows: bool = False) -> str:
        """What the best membership attack detects among people, or among rows where each row is protected alone."""
        alarms, share = f"{about(100 * FALSE_ALARMS)}%", f"{at_most(100 * detected, digits=2)}%"
        attack, of = ("لمعرفة الصفوف", "من الصفوف في البيانات.") if rows else ("لمعرفة المشاركين", "ممن شاركوا.")
        return f"عند معدل إيجابيات كاذبة قدره {ltr(alarms)}، لا يكشف أفضل هجوم {attack} أكثر من {ltr(share)} {of}"

    def no_attack(self) -> str:
        """Why a random promise has no trade-off curve."""
        return "الوعد العشوائي يخص قادمًا جديدًا عشوائيًا، فهو لا يضع حدًا لأي هجوم على شخص بعينه، ولا منحنى مفاضلة يُرسم."

    def trade_off(self, *, rows: bool = False) -> tuple[str, str, str]:
        """The title of the trade-off curve, and its axes."""
        if rows:
            return (
                "أقصى ما يمكن أن يكشفه أي هجوم لمعرفة الصفوف",
                "الإيجابيات الكاذبة: صفوف يشير إليها خطأً",
                "الإيجابيات الصادقة: صفوف يكشفها",
            )
        return (
            "أقصى ما يمكن أن يكشفه أي هجوم لمعرفة المشاركين",
            "الإيجابيات الكاذبة: من يشير إليهم خطأً",
            "الإيجابيات الصادقة: من يكشفهم",
        )

    def blind(self) -> str:
        """The diagonal of the trade-off curve."""
        return "التخمين الأعمى"

    def any_attack(self) -> str:
        """The trade-off curve itself."""
        return "أفضل هجوم"

    # How the data were handled

    def handling(self, provenance: Provenance, /, *, private: bool, exact: bool) -> tuple[str, ...]:
        """What was done with the rows. `exact`: the noise was added to whole numbers by exact samplers."""
        source = "جهاز عشوائي" if provenance is Provenance.HARDWARE else "مولد نظام التشغيل"
        coins = f"سُحبت الضوضاء من {source}"
        return (
            "قُيد الثمن في السجل قبل قراءة أي صف، ولا يُسترد أبدًا.",
            *([f"{coins}، وأُضيفت إلى أعداد صحيحة بمولدات دقيقة."] if private and exact else ()),
            *([f"{coins}."] if private and not exact else ()),
            *([self.assumed(provenance)] if private else ()),
            "لم يُنشر عن الصفوف شيء آخر: فرسائل الخطأ والمجموعات الفارغة تبدو سواءً في الجداول المتجاورة.",
        )

    def assumed(self, provenance: Provenance, /) -> str:
        """Against whom the promise holds, by the provenance of the coins."""
        if provenance is Provenance.HARDWARE:
            return "يصرح مشغل هذا الجهاز بأنه عشوائي حقًا. فإن صح ذلك صمد الوعد حتى أمام قدرة حاسوبية غير محدودة."
        return (
            f"ومُدت بمولد ذي مفتاح ({ltr('AES-256')}). ويصح الوعد أمام كل من يعجز عن كسر هذا التشفير وعن توقع مفاتيحه: "
            f"خصوصية تفاضلية حسابية ({ltr('IND-CDP')}). أما القدرة الحاسوبية غير المحدودة فلا وعد أمامها بشيء."
        )

    def coins(self, provenance: Provenance, /) -> str:
        """Where the noise came from, on a label."""
        if provenance is Provenance.HARDWARE:
            return "جهاز عشوائي حقًا بحسب مشغله."
        return f"مولد ذو مفتاح ({ltr('AES-256')}): يصح الوعد أمام القدرة الحاسوبية المحدودة ({ltr('IND-CDP')})."

    def side_channels(self, departures: tuple[Departure, ...], /) -> str:
        """What remains outside of the promise, and what is promised about time."""
        others = "ومن يستطيعون قراءة الصفوف نفسها، وما يُنشر من البيانات نفسها ولم يُقيد في هذا السجل."
        whole = ltr(about(sum(each.seconds for each in departures)))
        if not departures:
            return f"لا يشمل الوعد: الوقت الذي استغرقته الإجابة، {others}"
        if any(each.late for each in departures):
            return (
                f"تجاوزت الإجابة موعدها، وهو {whole} ثانية بعد قيد الثمن، ومقدار تأخرها يتوقف على الصفوف. "
                f"لا يشمل الوعد: الوقت الذي استغرقته الإجابة، {others}"
            )
        return (
            f"صدرت الإجابة بعد {whole} ثانية من قيد الثمن، وقد حُسب هذا الوقت من أعداد معلنة قبل قراءة أي صف. "
            f"لا يشمل الوعد: مدى انشغال الجهاز في أثناء ذلك، {others}"
        )

    def checked(self) -> str:
        """What the program beside this sentence does."""
        return (
            "تحقق من هذه الصفحة بنفسك: برنامج قصير لا يحتاج إلى شيء من «ستر» يعيد اشتقاق أرقامها عن الخصوصية. "
            "فُكّ ضغطه وشغّله بلغة بايثون على هذا الملف:"
        )

    # The budget over time

    def how_often(self, receipt: Receipt, /) -> str:
        """Which answer of the budget this is."""
        return (
            f"هذه هي الإجابة رقم {ltr(number(receipt.standing.charges))} من هذه الميزانية، وقُيد ثمنها في "
            f"{self.day(receipt.entry.at)}. وكل إجابة أخرى تأخذ المزيد من الميزانية نفسها، ولا تتجاوزها أي منها."
        )

    # The label

    def one_number(self, headline: Headline, /) -> str:
        """The promise in one number."""
        return ltr(f"ε = {rounded(headline.epsilon)}")

    def except_for(self, headline: Headline, /) -> str:
        """What the number is subject to."""
        delta = f"δ = {at_most(headline.delta)}"
        return ltr(delta if headline.gamma is None else f"{delta}, γ = {at_most(headline.gamma)}")

    def times(self, receipt: Receipt, /) -> str:
        """How often the budget was charged."""
        return f"{counted(receipt.standing.charges, ANSWER)} حتى الآن"
