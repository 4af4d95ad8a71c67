"""The sentences of reports in Arabic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.ledger.shares import Left
from sitr.mechanisms.additive import Noise
from sitr.neighbors.period import Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.numbers import Number
from sitr.report.figures import at_most, number
from sitr.report.headline import READING_DELTA, Headline, rounded
from sitr.report.words.arabic.accounting import AccountingWords
from sitr.report.words.arabic.aggregate import AggregateWords
from sitr.report.words.arabic.audit import AuditWords
from sitr.report.words.arabic.batch import BatchWords
from sitr.report.words.arabic.certificate import CertificateWords
from sitr.report.words.arabic.exact import ExactWords
from sitr.report.words.arabic.explained import ExplainedWords
from sitr.report.words.arabic.histogram import HistogramWords
from sitr.report.words.arabic.joins import JoinWords
from sitr.report.words.arabic.labels import LABELS
from sitr.report.words.arabic.marks import code, listed, ltr, named
from sitr.report.words.arabic.meaning import DELTA, EPSILON, GAMMA, exceptions, kept, likelihood, moved
from sitr.report.words.arabic.nouns import PERIODS, confidence, noise, unit, units, when
from sitr.report.words.arabic.questions import question
from sitr.report.words.arabic.ranks import RankWords
from sitr.report.words.arabic.server import ServerWords
from sitr.report.words.arabic.several import SeveralWords
from sitr.report.words.arabic.standing import StandingWords
from sitr.report.words.arabic.statistic import StatisticWords
from sitr.report.words.arabic.suggest import SuggestWords
from sitr.report.words.arabic.summary import RELATIONS, SummaryWords
from sitr.report.words.arabic.synthetic import SyntheticWords
from sitr.report.words.arabic.tables import TablesWords
from sitr.report.words.arabic.verify import VerifyWords
from sitr.report.words.explanation import symbols
from sitr.report.words.numerals import numerals
from sitr.report.words.protects import Protects


@dataclass(frozen=True, slots=True)
class Arabic:
    """The sentences in Arabic.

    >>> Arabic().flavor(PureDP(1.0))
    'الخصوصية التفاضلية النقية'
    """

    aggregate: AggregateWords = field(default_factory=AggregateWords)
    ranks: RankWords = field(default_factory=RankWords)
    joins: JoinWords = field(default_factory=JoinWords)
    batch: BatchWords = field(default_factory=BatchWords)
    suggest: SuggestWords = field(default_factory=SuggestWords)
    histogram: HistogramWords = field(default_factory=HistogramWords)
    statistic: StatisticWords = field(default_factory=StatisticWords)
    tables: TablesWords = field(default_factory=TablesWords)
    crowd: SeveralWords = field(default_factory=SeveralWords)
    synthetic: SyntheticWords = field(default_factory=SyntheticWords)
    accounting: AccountingWords = field(default_factory=AccountingWords)
    verify: VerifyWords = field(default_factory=VerifyWords)
    exact: ExactWords = field(default_factory=ExactWords)
    audit: AuditWords = field(default_factory=AuditWords)
    server: ServerWords = field(default_factory=ServerWords)
    certificate: CertificateWords = field(default_factory=CertificateWords)
    summary: SummaryWords = field(default_factory=SummaryWords)
    standing: StandingWords = field(default_factory=StandingWords)
    explained: ExplainedWords = field(default_factory=ExplainedWords)

    code = "ar"
    """The language of a page, for browsers."""

    comma = "، "
    """What separates the items of a list."""

    direction = "rtl"
    """The direction in which the language is written, for browsers."""

    scales: ClassVar[Mapping[int, str]] = {3: "ألف", 6: "مليون", 9: "مليار", 12: "تريليون", 15: "كوادريليون"}
    """The names of powers of ten on an axis."""

    def drowned(self, columns: Sequence[str], /) -> str:
        """That the errors of these columns are larger than the numbers themselves."""
        return (
            f"في إجابة سابقة عن هذا السؤال كان معظم الأعداد في {listed(map(named, columns))} أصغر من هذا الخطأ: "
            "فالضوضاء تخفيها عند هذا الثمن."
        )

    def label(self, name: str, /) -> str:
        """A label, a heading or a name in a legend, by its English text."""
        return numerals(LABELS.get(name, name))

    def numerals(self, text: str, /) -> str:
        """Numbers outside of sentences, in the digits that the reader chose."""
        return numerals(text)

    def question(self, text: str, /) -> str:
        """A question as a ledger records it; SQL stays as it is."""
        return question(text)

    def formula(self, text: str, /) -> str:
        """A number or a formula beside Arabic words: in its own direction, and in the digits that the reader chose."""
        return ltr(text)

    def notation(self, promise: Kept, /, *, left: bool = False) -> str:
        """A promise in symbols and few digits, rounded up, or rounded down if it is what is `left`."""
        return kept(promise, left=left)

    def flavor(self, promise: Kept, /) -> str:
        """The name of a promise's flavor."""
        match promise:
            case PureDP():
                return "الخصوصية التفاضلية النقية"
            case ApproximateDP():
                return "الخصوصية التفاضلية التقريبية"
            case ZeroConcentratedDP():
                return "الخصوصية التفاضلية المركزة الصفرية"
            case ApproximateZeroConcentratedDP():
                return "الخصوصية التفاضلية المركزة الصفرية التقريبية"
            case GaussianDP():
                return "الخصوصية التفاضلية الغاوسية"
            case RandomDP(inner):
                return f"{self.flavor(cast('Kept', inner))} العشوائية"

    def promise(self, promise: Kept, /) -> str:
        """A promise in symbols, and its flavor."""
        return f"{kept(promise)}، {self.flavor(promise)}"

    def headline(self, headline: Headline, /) -> str:
        """The (ε, δ) in symbols, and what the promise alone implies if the noise does better."""
        if headline.exact is None:
            return ltr(headline.symbols())
        implied = ltr(f"ε = {at_most(headline.implied)}")
        alone = f"أما {ltr(symbols(headline.promise))} وحده فلا يعطي إلا {implied} عند {DELTA} نفسها"
        known = "قيمة دقيقة" if headline.tight else "حد مثبت"
        return f"{ltr(headline.symbols())}: {known} لهذه الضوضاء، {alone}"

    def meaning(self, headline: Headline, query: Protects, /) -> str:
        """The meaning of (ε, δ) for one person."""
        return self._means(headline, query, _THIS)

    def odds(self, headline: Headline, query: Protects, /) -> str:
        """By how much the odds move; empty if the promise does not bound this."""
        return self._odds(headline, query, _THIS)

    def newcomer(self, promise: Kept, /) -> str:
        """Whom a random promise protects and what it assumes; empty for other promises."""
        if not isinstance(promise, RandomDP):
            return ""
        return f"{RANDOM} وهنا {exceptions(promise.gamma, promise.basis, promise.parts)}."

    def whole(self, promise: Kept, query: Protects, /) -> str:
        """The meaning of a budget's promise for all its answers together."""
        headline, evidence = Headline.of(promise), "جميع الإجابات من هذه الميزانية معًا"
        return f"{self._means(headline, query, evidence)} {self._odds(headline, query, evidence)}".strip()

    def _means(self, headline: Headline, query: Protects, evidence: str) -> str:
        sentence = likelihood(((headline.epsilon, headline.delta),), sides=_sides(query), evidence=evidence)
        if isinstance(headline.promise, RandomDP):
            return f"{self.newcomer(headline.promise)} وأما الآخرون ف{sentence}"
        return sentence

    def _odds(self, headline: Headline, query: Protects, evidence: str) -> str:
        if headline.odds is None:
            return ""
        others = "وأما الآخرون فمهما" if headline.gamma is not None else "مهما"
        change = moved(headline.odds, headline.delta, evidence)
        return f"{others} كان ما يعتقده أي شخص مسبقًا بشأن {_doubt(query)}، فإن {change}"

    def reading(self, headline: Headline, /) -> str:
        """How these sentences follow from the promise, in symbols."""
        bound = f"{self.headline(headline)}. والعامل في الجملة الأولى هو {ltr('e^ε')} مقرَّبًا إلى الأعلى."
        inner = headline.promise.inner if isinstance(headline.promise, RandomDP) else headline.promise
        if isinstance(inner, ApproximateZeroConcentratedDP) and inner.delta > 0.0:
            return (
                f"الوعد نفسه هو {ltr(symbols(headline.promise))}: فيما عدا حدثًا احتماله {DELTA}، كل عزم من عزوم خسارة "
                f"الخصوصية لا يتجاوز نظيره الغاوسي. وهو بصيغة {ltr('(ε, δ)')}: {bound} ومن {DELTA} هذه "
                f"{ltr(at_most(READING_DELTA))} للذيل المنتهي، وقد اختيرت لهذا التقرير؛ وكل {DELTA} أخرى تعطي "
                f"{EPSILON} أخرى."
            )
        if headline.odds is None or headline.delta == 0.0:
            return bound
        if isinstance(inner, GaussianDP):
            larger = ltr(f"ε′ = μ²/2 + μ√(2 ln(1/δ)) = {rounded(headline.odds)}")
            chosen = ltr(f"δ = {at_most(headline.delta)}")
            return (
                f"الوعد نفسه هو {ltr(symbols(inner))}: كل اختبار لوجود شخص ضمن البيانات يخطئ بقدر ما يخطئ اختبار بين "
                f"{ltr('N(0, 1)')} و{ltr('N(μ, 1)')} على الأقل. وهو بصيغة {ltr('(ε, δ)')}: {bound} وتحتاج نسبة "
                f"الأرجحية إلى عدد أكبر: تتجاوز الخسارة {larger} باحتمال لا يتجاوز {DELTA} (الخصوصية التفاضلية "
                f"الاحتمالية)، وعامل نسبة الأرجحية هو {ltr('e^ε′')} مقرَّبًا إلى الأعلى. وقد اختيرت {chosen} لهذا "
                f"التقرير؛ وكل {DELTA} أخرى تعطي {EPSILON} و{ltr('ε′')} أخريين."
            )
        offset = "ξ + " if isinstance(inner, ZeroConcentratedDP) and inner.xi else ""
        larger = ltr(f"ε′ = {offset}ρ + 2√(ρ ln(1/δ)) = {rounded(headline.odds)}")
        return (
            f"الوعد نفسه هو {ltr(symbols(headline.promise))}: كل عزم من عزوم خسارة الخصوصية لا يتجاوز نظيره الغاوسي. "
            f"وهو بصيغة {ltr('(ε, δ)')}: {bound} وتحتاج نسبة الأرجحية إلى عدد أكبر: تتجاوز الخسارة {larger} باحتمال لا "
            f"يتجاوز {DELTA} (الخصوصية التفاضلية الاحتمالية)، وعامل نسبة الأرجحية هو {ltr('e^ε′')} مقرَّبًا إلى الأعلى. "
            f"وقد اختيرت {ltr(f'δ = {at_most(headline.delta)}')} لهذا التقرير؛ وكل {DELTA} أخرى تعطي {EPSILON} "
            f"و{ltr('ε′')} أخريين."
        )

    def protected(self, query: Protects, /) -> str:
        """Who is protected."""
        who, them = "كل صف بمفرده محمي", "به أو من دونه"
        if isinstance(query.unit, Person):
            who = f"كل شخص محمي (أي جميع الصفوف التي تحمل قيمة {named(query.unit.column)} نفسها)"
            them = "بصفوفه أو من دونها"
            if (period := query.unit.period) is not None:
                return self._periodic(query.unit.column, period)
        if query.relation is Relation.ADD_REMOVE:
            return f"{who}: فالإجابة تكاد تكون نفسها {them}."
        return f"{who}: فالإجابة تكاد تكون نفسها لو حل محله أي {unit(query)} آخر. أما عدد {units(query)} فغير محمي."

    def _periodic(self, column: str, period: Period) -> str:
        """Who is protected where the unit is a person in a period."""
        length, several, same = PERIODS[period.length]
        read = f" ولا تقرأ هذه الإجابة إلا صفوف {ltr(period.name)}." if period.name else ""
        return (
            f"كل شخص في كل {length} محمي (أي جميع الصفوف التي تحمل قيمة {named(column)} نفسها ويقع فيها "
            f"{named(period.column)} في ال{length} {same}): فالإجابة تكاد تكون نفسها بصفوفه هذه أو من دونها.{read} "
            f"ومن له صفوف في عدة {several} يدفع في كل منها: فالموعود به هو المجموع على هذه ال{several}."
        )

    def neighbors(self, receipt: Receipt, /) -> str:
        """How two neighbouring tables differ."""
        return f"الجداول المتجاورة: {self.protects(receipt.neighbors)}."

    def protects(self, neighbors: str, /) -> str:
        """Who is protected, as a ledger writes it: `person (id), add-remove` or `row, replace-one`."""
        who, _, how = neighbors.rpartition(", ")
        relation = next((name for kind, name in RELATIONS.items() if kind.value == how), None)
        if relation is None or not (who == "row" or who.startswith("person (")):
            return named(neighbors)
        person, _, each = who.partition(") in each ")
        unit = "صف" if who == "row" else f"شخص ({named(person.removeprefix('person (').removesuffix(')'))})"
        length, _, column = each.removesuffix(")").partition(" (")
        return f"{unit}{when(length, column)}، بعلاقة {relation}"

    def noise(self, law: Noise, /, *, granularity: Number = 1) -> str:
        """The law of the noise and its scale, with the value of one granule."""
        return noise(law, granularity=granularity)

    def not_private(self) -> str:
        """The warning for an answer made with test coins."""
        return (
            "بلا خصوصية: صُنعت بعشوائية اختبارية. وكل من يعرف البذرة يستطيع طرح الضوضاء. فهذه الأرقام لا تحمي أحدًا ولا "
            "يجوز نشرها."
        )

    def again(self, receipt: Receipt, /) -> str:
        """The note on an answer that was kept, which costs nothing when the same question is asked again."""
        asked = ltr(f"{receipt.entry.at:%Y-%m-%d %H:%M:%S} UTC")
        return f"الإجابة المحفوظة للقيد {ltr(str(receipt.entry.number))}، من {asked}؛ ولم يُنفق شيء"

    def would_be(self) -> str:
        """The meaning of a certificate of an answer made with test coins."""
        return "تبين هذه الشهادة كيف كانت الإجابة ستُحمى لو صُنعت بعشوائية خاصة."

    def preview(self) -> str:
        """What a preview did not do."""
        return "معاينة: لم تُقرأ أي بيانات ولم يُدفع شيء."

    def more(self, shown: int, total: int, /) -> str:
        """A note that only the first rows are shown, and how many more there are."""
        here = f"تظهر هنا أول الصفوف، {ltr(number(shown))} من أصل {ltr(number(total))}"
        return f"{here}؛ وفي الإجابة {ltr(number(total - shown))} غيرها."

    def as_table(self) -> str:
        """The name of a table that can be scrolled, for readers who do not see it."""
        return "جدول"

    def several(self, parts: Iterable[str], /) -> str:
        """Several things of one kind, in one line."""
        return "؛ ".join(parts)

    def interval_of(self, name: str, /) -> str:
        """What an interval is of; it follows the heading of the column."""
        return f" لـ {named(name)}"

    def interval(self, low: str, high: str, /) -> str:
        """Both ends of an interval."""
        return f"من {ltr(low)} إلى {ltr(high)}"

    def entry(self, receipt: Receipt, /) -> str:
        """The ledger entry of a charge: its number, the data set, and when."""
        at = ltr(f"{receipt.entry.at:%Y-%m-%d %H:%M:%S} UTC")
        return f"{ltr(str(receipt.entry.number))}، {named(receipt.dataset)}، {at}"

    def digits(self) -> str:
        """How numbers are rounded, and where all digits are."""
        return (
            "قُرِّبت الأعداد إلى أول رقمين من الخطأ، والفترات إلى الخارج؛ وفي الملفات والجداول ومع الخيار "
            f"{code('--exact')} جميع الأرقام."
        )

    def cannot_pay(self) -> str:
        """What is left of a budget that is too small."""
        return "الميزانية لا تكفي لدفع هذا"

    def other_prices(self) -> str:
        """What the table of other prices shows."""
        return f"أخطاء {confidence()} عند هذا الثمن وعند غيره:"

    def this_price(self, price: str, /) -> str:
        """The price of a preview, among others."""
        return f"{price} (هذا الثمن)"

    def whole_rest(self, price: str, /) -> str:
        """A price that uses up the budget."""
        return f"{price} (كل ما بقي)"

    def left_of(self, budget: Filter, /) -> str:
        """What is left of a budget, and the whole."""
        return f"{kept(budget.remaining(), left=True)} من {kept(budget.promise)}"

    def left_in(self, lefts: Sequence[Left], /) -> str:
        """What a sub-budget and the accounts above it have left."""
        return "؛ ".join(f"{named(each.account)}: {kept(each.left, left=True)} من {kept(each.whole)}" for each in lefts)

    def stands(self, budget: Filter, /) -> str:
        """What is spent and what is left."""
        return f"أُنفق {kept(budget.spent())}؛ وبقي {kept(budget.remaining(), left=True)}"

    def left(self, share: str, /) -> str:
        """A share of a budget that is left."""
        return f"بقي {ltr(share)}"

    def budget(self, budget: Filter, charge: Kept | None, /) -> str:
        """What was spent, what is left, and what this answer took."""
        taken = f" وأخذت هذه الإجابة {kept(charge)}." if charge is not None else ""
        return f"أُنفق: {kept(budget.spent())}. وبقي: {kept(budget.remaining(), left=True)}.{taken}"


RANDOM = (
    "يفترض هذا أن البيانات قابلة للتبادل؛ وهو يحمي قادمًا جديدًا عشوائيًا لا كل شخص: فلنسبة "
    f"{GAMMA} من القادمين الجدد ومن يحلون محلهم لا وعد بشيء."
)
_THIS = "هذه الإجابة"

ARABIC = Arabic()


def _doubt(query: Protects) -> str:
    """The fact that the promise keeps in doubt."""
    person = isinstance(query.unit, Person)
    if isinstance(query.unit, Person) and query.unit.period is not None:
        return f"وجودك في هذه البيانات في {_any(query.unit.period)}"
    if query.relation is Relation.ADD_REMOVE:
        return "وجودك في هذه البيانات" if person else "وجود أي صف بعينه في هذه البيانات"
    return f"ما إذا كانت هذه البيانات تضم {'صفوفك أم صفوفًا أخرى مكانها' if person else 'صفًا بعينه أم صفًا آخر مكانه'}"


def _any(period: Period) -> str:
    """A period by its name, or any one of them."""
    return ltr(period.name) if period.name else f"أي {PERIODS[period.length][0]}"


def _sides(query: Protects) -> tuple[str, str]:
    """The two neighbouring tables."""
    person = isinstance(query.unit, Person)
    if isinstance(query.unit, Person) and query.unit.period is not None:
        return f"مع بياناتك في {_any(query.unit.period)}", "من دونها"
    if query.relation is Relation.ADD_REMOVE:
        return ("مع بياناتك", "من دونها") if person else ("مع أي صف بعينه", "من دونه")
    if person:
        return "مع صفوفك", "مع صفوف أي شخص آخر مكانها"
    return "مع أي صف بعينه", "مع أي صف آخر مكانه"
