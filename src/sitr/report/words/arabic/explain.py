"""Promises explained in Arabic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.report.figures import about, at_most
from sitr.report.headline import Headline
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.explanation import (
    Concentrated,
    Explanation,
    Whom,
    all_shown,
    belief,
    detected,
    linear,
    one_in,
    remaining,
    some_orders,
    some_points,
    symbols,
)
from sitr.report.words.notation import odds, shares

_PAIR = {
    Whom.YOU: "في أي مجموعتي بيانات تختلفان في بيانات شخص واحد",
    Whom.NEWCOMER: "في مجموعتي البيانات قبل هذا الاستبدال وبعده",
}
_DOUBT = {
    Whom.YOU: "ما إذا كانت بياناتك ضمن مجموعة البيانات",
    Whom.NEWCOMER: "ما إذا كانت المجموعة تضم بيانات القادم الجديد أم بيانات الشخص الذي أُخذ مكانه",
}
_SIDES = {
    Whom.YOU: ("من دون بياناتك", "معها"),
    Whom.NEWCOMER: ("قبل الاستبدال", "بعده"),
}

_GENERAL = "لا يُخفى ما يصدق على الناس عمومًا: فهو يُعرف عنك أيضًا، سواء أشاركت أم لم تشارك."
_NEVER = {
    Whom.YOU: "لا ينكشف أحد انكشافًا تامًا أبدًا",
    Whom.NEWCOMER: "لا ينكشف القادم الجديد ولا من أُخذ مكانه انكشافًا تامًا",
}
_SOMEBODY = {Whom.YOU: "أحدهم", Whom.NEWCOMER: "أحد هذين الشخصين"}
_GRACEFULLY = (
    "فما من إجابة ممكنة تحسم الأمر يقينًا. وليس للخسارة سقف بالضرورة، لكن "
    "الخصوصية تتدهور بلطف: قد تقع خسارة أكبر، وكلما كبرت الخسارة ندر وقوعها."
)

_EPSILON, _DELTA, _GAMMA = map(ltr, "εδγ")
_PAIRS = ltr("(ε, δ)")
_GROUP = f"أما مجموعة الأشخاص ذات الحجم {ltr('s')} فالوعد لها"
_GROWTH = "δ·(e^(s·ε) − 1)/(e^ε − 1)"
_DIFFER = f"لا تختلف احتمالاتها بأكثر من العامل {ltr('e^ε')} مع إضافة {_DELTA}"
_EACH = "ومع كل إصدار إضافي"


@dataclass(frozen=True, slots=True)
class ArabicVoice:
    """Every flavor in Arabic."""

    headings: tuple[str, str, str, str] = ("ما يَعِد به", "بالأرقام", "إذا ساء الحظ", "ما لا يَعِد به")

    def pure(self, promise: PureDP, /, *, whom: Whom) -> Explanation:
        bound = ltr(symbols(promise))
        return _explanation(
            f"الخصوصية التفاضلية النقية: {bound}",
            f"{_PAIR[whom]}، لا يتجاوز احتمال أي إجابة ممكنة من إحداهما احتمالها من الأخرى مضروبًا في "
            f"{ltr(odds(promise.epsilon))}. وبالرموز: لا تتجاوز خسارة الخصوصية {bound} أبدًا.",
            _always(promise.epsilon, whom),
            f"لا شأن للحظ هنا: لا توجد {_DELTA}، ف{_NEVER[whom]}، ولا تفصح أي إجابة، مهما "
            "ندرت، عن أكثر مما يسمح به ذلك العامل.",
            f"{_GENERAL} {_GROUP} {ltr('s·ε')}. {_EACH} تُضاف {_EPSILON} الخاصة به.",
        )

    def approximate(self, promise: ApproximateDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"الخصوصية التفاضلية التقريبية: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، وأيًّا كانت الإجابات التي يُنظر إليها، {_DIFFER}، حيث {ltr(symbols(promise))}.",
            f"{_follows(((promise.epsilon, promise.delta),), whom)} و{_test(promise)}",
            _either(promise.delta, whom),
            f"{_GENERAL} {_GROUP} {ltr('s·ε')} مع {ltr(_GROWTH)}، وهذا ينمو بسرعة. {_EACH} تُضاف قيمتا {_EPSILON} "
            f"و{_DELTA} الخاصتان به، ما لم تنطبق نظرية تركيب أفضل.",
        )

    def profile(self, promise: PrivacyProfile, /, *, whom: Whom) -> Explanation:
        points = some_points(promise)
        shown = f" (يظهر منها {ltr(str(len(points)))} من أصل {ltr(str(len(promise.points)))})"
        return _explanation(
            f"منحنى الخصوصية، أي عدة ضمانات {_PAIRS} معًا: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، تصح عدة حدود {_PAIRS} معًا{'' if all_shown(promise) else shown}: "
            f"{ltr(symbols(promise))}. ومعنى كل منها أنه، أيًّا كانت الإجابات، {_DIFFER}.",
            f"{_follows(points, whom)} و{_test(promise)}",
            _at_several(promise, whom),
            f"{_GENERAL} {_GROUP} عند كل نقطة {ltr('s·ε')} مع {ltr(_GROWTH)}. {_EACH} تُجمع الخسائر ويُحسب المنحنى كله "
            "من جديد.",
        )

    def concentrated(self, promise: ConcentratedDP, /, *, whom: Whom) -> Explanation:
        mu, tau = ltr("μ"), ltr("τ²")
        scaled = f"{_GROUP} {ltr('s²·μ')} مع {ltr('s·τ')}."
        group = scaled if promise.scales_to_groups else "أما مجموعة من الأشخاص فلا يَعِدها هذا وحده بشيء."
        return _explanation(
            f"الخصوصية التفاضلية المركزة: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، لا يتجاوز متوسط خسارة الخصوصية {ltr(f'μ = {at_most(promise.mu)}')}، ولا تحيد الخسارة "
            f"عن متوسطها أكثر مما يحيد متغير طبيعي انحرافه المعياري {ltr(f'τ = {at_most(promise.tau)}')}، أي إنها "
            "شبه غاوسية.",
            _numbers(promise, whom, before=_on_average(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} {group} {_EACH} تُضاف {mu} الخاصة به إلى {mu}، و{tau} الخاصة به إلى {tau}.",
        )

    def zero_concentrated(self, promise: ZeroConcentratedDP, /, *, whom: Whom) -> Explanation:
        rho, xi = ltr("ρ"), ltr("ξ")
        group = f" مع {ltr('ξ·s·(1 + 1/2 + … + 1/s)')}" if promise.xi else ""
        thin = " فالخسائر الكبيرة تندر بالسرعة نفسها." if promise.rho else ""
        added = f"تُضاف قيمتا {rho} و{xi} الخاصتان به" if promise.xi else f"تُضاف {rho} الخاصة به"
        return _explanation(
            f"الخصوصية التفاضلية المركزة الصفرية: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، لا يتجاوز أي عزم من عزوم خسارة الخصوصية ما تعطيه الضوضاء الغاوسية"
            f"{' مع حد ثابت' if promise.xi else ''}: {ltr(symbols(promise))}.{thin}",
            _numbers(promise, whom),
            _bad_luck(promise, whom),
            f"{_GENERAL} {_GROUP} {ltr('s²·ρ')}{group}. {_EACH} {added}.",
        )

    def approximate_zero_concentrated(self, promise: ApproximateZeroConcentratedDP, /, *, whom: Whom) -> Explanation:
        if promise.delta == 0.0:
            return self.zero_concentrated(ZeroConcentratedDP(promise.rho), whom=whom)
        delta = ltr(f"δ = {at_most(promise.delta)}")
        return _explanation(
            f"الخصوصية التفاضلية المركزة الصفرية التقريبية: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، فيما عدا حدثًا احتماله {_DELTA}، لا يتجاوز أي عزم من عزوم خسارة الخصوصية ما تعطيه الضوضاء "
            f"الغاوسية: {ltr(symbols(promise))}.",
            _outside(promise, whom),
            f"باحتمال قد يبلغ {delta}{_parenthesis(promise.delta)} قد ينكشف {_SOMEBODY[whom]} انكشافًا تامًا لا شك فيه، "
            f"لذلك ينبغي أن تكون {_DELTA} أصغر بكثير من مقلوب عدد الأشخاص. وفيما عدا ذلك: {_GRACEFULLY}",
            f"{_GENERAL} أما مجموعة من الأشخاص فلا يَعِدها هذا وحده بشيء. {_EACH} تُضاف قيمتا {ltr('ρ')} و{_DELTA} "
            "الخاصتان به.",
        )

    def renyi(self, promise: RenyiDP, /, *, whom: Whom) -> Explanation:
        orders = some_orders(promise)
        bounds = "، و".join(f"{ltr(at_most(bound))} عند الرتبة {ltr(about(order))}" for order, bound in orders)
        return _explanation(
            f"الخصوصية التفاضلية لريني: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، تُحَدّ عزوم خسارة الخصوصية رتبةً رتبةً: لا يتجاوز اختلاف ريني {bounds}"
            f"{'' if all_shown(promise) else '، على سبيل المثال'}. وكلما علت الرتبة زاد وزن الخسائر الكبيرة النادرة.",
            _numbers(promise, whom),
            _bad_luck(promise, whom),
            f"{_GENERAL} أما مجموعة من شخصين فالوعد لها، عند كل رتبة ابتداءً من {ltr('2')}، هو ثلاثة أمثال الحد عند "
            f"ضعف تلك الرتبة. {_EACH} تُضاف حدوده رتبةً رتبةً.",
        )

    def gaussian(self, promise: GaussianDP, /, *, whom: Whom) -> Explanation:
        square = ltr("μ²")
        return _explanation(
            f"الخصوصية التفاضلية الغاوسية: {ltr(symbols(promise))}",
            f"{_PAIR[whom]}، ليس تمييزُ المجموعة التي صدرت عنها الإجابة أسهلَ من أن يُعرف، من سحبة واحدة، هل متوسط "
            f"توزيع طبيعي انحرافه المعياري {ltr('1')} هو {ltr('0')} أم {ltr(symbols(promise))}.",
            _numbers(promise, whom, before=_test(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} {_GROUP} {ltr('s·μ')}. {_EACH} تُضاف {square} الخاصة به إلى {square}.",
        )

    def pufferfish(self, promise: Pufferfish, /, *, whom: Whom) -> Explanation:  # noqa: ARG002 - as the others
        believed, factor = promise.framework, ltr(odds(promise.epsilon))
        added = f" ولا تُجمع قيم {_EPSILON} إلا للِحافات ماركوف على المتسلسلة نفسها." if believed.series else ""
        return _explanation(
            f"خصوصية {ltr('Pufferfish')}: {ltr(symbols(promise))}",
            f"يحمي هذا الوعد أسرارًا ({named(believed.secrets)}) ممن لهم اعتقادات مسبقة معيّنة عن البيانات "
            f"({named(believed.priors)}). وتحت كل اعتقاد منها، لا يتجاوز احتمال أي إجابة ممكنة إذا صح أحد "
            f"السرّين احتمالها إذا صح الآخر مضروبًا في {factor}: {ltr(symbols(promise))}. وتُحسب هنا عشوائية "
            "البيانات مع عشوائية الضوضاء، فقد تعتمد السجلات بعضها على بعض كما تقول تلك الاعتقادات.",
            "أيًّا كانت نسبة الأرجحية التي يعطيها صاحب مثل هذا الاعتقاد لأحد السرّين مقابل الآخر، فإن الإجابة "
            f"لا تغيّرها إلا بعامل لا يتجاوز {factor}: فاحتمال قدره {ltr('50%')} لا يصير أكبر من "
            f"{ltr(belief(promise.epsilon))}.",
            f"لا شأن للحظ هنا: لا توجد {_DELTA}، وتحت الاعتقادات المذكورة يصح العامل لكل إجابة مهما ندرت.",
            "من يعرف أو يعتقد شيئًا آخر قد يكتشف الأسرار. ولا يحمي هذا الوعد أسرارًا أخرى ولا مجموعات من الأشخاص، "
            "ولا تلزم عنه الخصوصية التفاضلية. وقد تكشف إجابتان معًا سرًّا تخفيه كل منهما وحدها."
            f"{added}",
        )

    def random(self, promise: RandomDP, /, *, inner: Explanation) -> Explanation:
        gamma = ltr(f"γ = {at_most(promise.gamma)}")
        return _explanation(
            f"الخصوصية التفاضلية العشوائية: {ltr(symbols(promise))}",
            "يحمي هذا الوعد قادمًا جديدًا عشوائيًا، ولا يحميك أنت. تُسحب البيانات عشوائيًا من مجتمع إحصائي، ثم "
            f"يُسحب قادم جديد يحل محل أحد الأشخاص. وفيما عدا نسبة {gamma}{_parenthesis(promise.gamma)} من هذه "
            f"السحبات، يصح ما يلي. {inner.promised} {_rests(promise)}",
            f"في {ltr(remaining(promise.gamma))} على الأقل من هذه السحبات: {inner.meaning}",
            f"{_excepted(promise.gamma)} وفي سائر السحبات: {inner.failure}",
            f"لست محميًا أنت بعينك: فمن يختلف عن الآخرين قد يقع ضمن النسبة {_GAMMA}، وأما سائر من في "
            f"البيانات ممن لا يُستبدلون فلا يقول الوعد عنهم شيئًا، وقد ينكشفون في كل مرة. وإن لم تكن البيانات عينة "
            f"عشوائية فلا وعد بشيء أصلًا. وتتعلق {_GAMMA} بالبيانات، أما {_DELTA} فبعشوائية الآلية، ولا تنوب "
            f"إحداهما عن الأخرى. ومجموعة القادمين الجدد ذات الحجم {ltr('t')} لها {ltr('t·γ')}. {_EACH} من هذا "
            f"النوع تُجمع قيم {_GAMMA}، بشرط أن تكون آلياته كلها قد حُددت مسبقًا: فأي آلية منها تُختار بعد رؤية إجابة "
            "تنقض الوعد.",
        )

    def computational(self, promise: ComputationalDP, /, *, inner: Explanation) -> Explanation:
        return _explanation(
            f"الخصوصية التفاضلية الحسابية: {ltr(symbols(promise))}",
            "يحمي هذا الوعد من كل من كانت قدرته الحاسوبية محدودة: فالإجابة تبدو له كإجابة يصح فيها ما يلي. "
            f"{inner.promised}",
            f"لكل من يعجز عن كسر التشفير الذي سُحبت به الضوضاء أو نُقلت به الرسائل: {inner.meaning}",
            f"من يكسر هذا التشفير، ولو بعد سنين، قد يعرف كل شيء. وفيما عدا ذلك: {inner.failure}",
            "لا وعد بشيء أمام قدرة حاسوبية غير محدودة. ويُفترض أن احتمال كسر التشفير مهمل، ولا يدخل في أي رقم هنا. "
            f"والمفتاح الذي يتسرب أو يُستعمل مرتين ينقض الوعد. {inner.not_promised}",
        )


def _explanation(title: str, promised: str, meaning: str, failure: str, not_promised: str) -> Explanation:
    return Explanation(Language.ARABIC, title, promised, meaning, failure, not_promised)


def _follows(points: tuple[tuple[float, float], ...], whom: Whom) -> str:
    """P(S) ≤ e^ε·Q(S) + δ, which is not the same as "except with probability δ".      [DKMMN06, Def. 1]"""
    here, there = _SIDES[whom]
    bounds = "، ولا ".join(ltr(linear(epsilon, delta)) for epsilon, delta in points)
    return f"كل ما يترتب على الإجابة باحتمال {ltr('p')} {here} لا يتجاوز احتماله {bounds} {there}، والعكس بالعكس."


def _test(promise: ApproximateDP | PrivacyProfile | GaussianDP) -> str:
    most = ltr(detected(promise))
    return f"الاختبار الذي يتهم خطأً في {ltr('5%')} من الحالات لا يتهم صوابًا في أكثر من {most} منها."


def _parenthesis(probability: float) -> str:
    return f" (أي {ltr('1')} من كل {ltr(one_in(probability))})" if probability else ""


def _always(epsilon: float, whom: Whom) -> str:
    """|L| ≤ ε, by Bayes' rule."""
    return (
        f"مهما كان ما يعتقده أي شخص مسبقًا بشأن {_DOUBT[whom]}، فإن الإجابة لا تغيّر نسبة الأرجحية إلا بعامل لا "
        f"يتجاوز {ltr(odds(epsilon))}: فاحتمال قدره {ltr('50%')} لا يصير أكبر من {ltr(belief(epsilon))}."
    )


def _on_average(promise: ConcentratedDP) -> str:
    mean = promise.mean_loss()
    spread = f"، لأن التشتت وحده لا يدع متوسط الخسارة يتجاوز {ltr(f'τ²/2 = {at_most(mean)}')}"
    return (
        f"في المتوسط الهندسي لا تقرّب الإجابة نسبة الأرجحية من الحقيقة إلا بعامل لا يتجاوز {ltr(odds(mean))}"
        f"{spread if mean < promise.mu else ''}."
    )


def _numbers(promise: Concentrated, whom: Whom, *, before: str = "") -> str:
    """The promise as (ε, δ) at one δ, as one reading of many, and the odds; or the largest loss it allows.

    Only the odds come with a probability: the loss may exceed ε with probability above δ, but ε′ with at most δ.
    """
    headline = Headline.of(promise)
    if headline.delta == 0.0:
        return _always(headline.epsilon, whom)
    delta = ltr(f"δ = {at_most(headline.delta)}")
    reading = f"عند {delta} تفوق {_EPSILON} كل عدد يمكن كتابته هنا: فالوعد يكاد يكون بلا مضمون."
    if math.isfinite(headline.epsilon) and headline.odds is not None:
        reading = (
            f"إليك قراءة واحدة من قراءات كثيرة: {ltr(headline.symbols())}. "
            f"{_follows(((headline.epsilon, headline.delta),), whom)} وكل {_DELTA} أخرى تعطي {_EPSILON} أخرى، وهي تصح "
            f"جميعًا في آن واحد. {_moved(headline.odds, headline.delta, whom)}"
        )
    return f"{before} {reading}".strip()


def _outside(promise: ApproximateZeroConcentratedDP, whom: Whom) -> str:
    """The promise as (ε, δ) at a δ above its own."""
    headline = Headline.of(promise)
    if not math.isfinite(headline.epsilon):
        delta = ltr(f"δ = {at_most(headline.delta)}")
        return f"عند {delta} تفوق {_EPSILON} كل عدد يمكن كتابته هنا: فالوعد يكاد يكون بلا مضمون."
    return (
        f"إليك قراءة واحدة من قراءات كثيرة: {ltr(headline.symbols())}. "
        f"{_follows(((headline.epsilon, headline.delta),), whom)} وكل {_DELTA} أخرى تفوق {ltr(at_most(promise.delta))} "
        f"تعطي {_EPSILON} أخرى، وهي تصح جميعًا في آن واحد."
    )


def _moved(epsilon: float, delta: float, whom: Whom) -> str:
    """P(L > ε′) ≤ δ, by Bayes' rule."""
    return (
        f"ومهما كان ما يعتقده أي شخص مسبقًا بشأن {_DOUBT[whom]}، فإن احتمال أن تقرّب الإجابة نسبة الأرجحية من الحقيقة "
        f"بعامل أكبر من {ltr(odds(epsilon))} لا يتجاوز {ltr(at_most(delta))}{_parenthesis(delta)}."
    )


def _bad_luck(promise: Concentrated, whom: Whom) -> str:
    if (largest := promise.largest_loss()) is None:
        return f"{_NEVER[whom]}: {_GRACEFULLY}"
    return (
        f"لا شأن للحظ هنا: لا تتجاوز الخسارة {ltr(at_most(largest))} أبدًا. ف{_NEVER[whom]}، ولا "
        "تفصح أي إجابة، مهما ندرت، عن أكثر مما يسمح به ذلك العامل."
    )


def _at_several(promise: PrivacyProfile, whom: Whom) -> str:
    """At most the last δ can be outright exposure; larger δ may come from finite losses."""
    if len(promise.points) == 1:
        return _either(promise.infinite_mass(), whom)
    graceful = f"وما تسمح به {_DELTA} زيادةً على ذلك، عند {_EPSILON} أصغر، فهو من التدهور اللطيف."
    if (largest := promise.largest_loss()) is None:
        return f"{_either(promise.infinite_mass(), whom)} {graceful}"
    never = f"{_NEVER[whom]}: فآخر قيم {_DELTA} صفر، ولذلك لا تتجاوز الخسارة {ltr(at_most(largest))}."
    return f"{never} {graceful}"


def _either(delta: float, whom: Whom) -> str:
    """The two ways in which an (ε, δ) promise can fail."""
    if delta == 0.0:
        return f"لا شأن للحظ هنا: {_DELTA} تساوي صفرًا، ف{_NEVER[whom]}، ويصح العامل دائمًا."
    return (
        f"لا يقول هذا الوعد ماذا تعني {ltr(f'δ = {at_most(delta)}')}، فقد تكون أحد أمرين: إما أن تتدهور الخصوصية "
        f"بلطف، فتتغير نسبة الأرجحية بأكثر من العامل {ltr('e^ε')}، وكلما كبر التغير ندر وقوعه؛ وإما أن ينكشف "
        f"{_SOMEBODY[whom]} انكشافًا تامًا لا شك فيه، باحتمال قد يبلغ {ltr(at_most(delta))}{_parenthesis(delta)}. "
        f"لذلك ينبغي أن تكون {_DELTA} أصغر بكثير من مقلوب عدد الأشخاص."
    )


def _rests(promise: RandomDP) -> str:
    """The assumption, the basis and the parts of γ."""
    listed = shares(promise.gamma, promise.parts, others="غيرها")
    named = "، ".join(f"{ltr(name)} {ltr(share)}" for name, share in listed)
    parts = f" وهي مؤلفة من هذه الأجزاء: {named}." if promise.parts else ""
    proved = {
        Basis.FINITE_SAMPLE: "مثبتة للعينات المنتهية: أي لعدد الأشخاص في البيانات بعينه.",
        Basis.ASYMPTOTIC: "تقاربية كما نُشرت: فهي لا تُعرف إلا في النهاية حين يزداد عدد الأشخاص بلا حد، ولا شيء مثبت "
        "لعددهم في البيانات.",
    }
    return (
        "ويُفترض أن البيانات قابلة للتبادل: فترتيب الأشخاص فيها لا يدل على شيء. "
        f"وقيمة {_GAMMA} {proved[promise.basis]}{parts}"
    )


def _excepted(gamma: float) -> str:
    """Who is promised nothing. Even with γ = 0 this is anyone whom the population never yields."""
    if gamma == 0.0:
        return "لا وعد بشيء لمن لا يأتي به المجتمع الإحصائي أبدًا، مهما حالف الحظ الآلية."
    return (
        f"ضمن النسبة {ltr(f'γ = {at_most(gamma)}')} لا وعد بشيء، مهما حالف الحظ الآلية: فقد ينكشف القادم الجديد "
        "انكشافًا تامًا في كل مرة."
    )
