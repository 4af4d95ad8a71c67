"""Counted nouns, who is protected, and the words that Arabic sentences share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitr.mechanisms.additive import Noise
from sitr.neighbors.period import Length
from sitr.neighbors.unit import Person
from sitr.numbers import Number, exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.report.figures import CONFIDENCE, about, number
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.explanation import one_in
from sitr.report.words.protects import Protects


@dataclass(frozen=True, slots=True)
class Noun:
    """The forms of a noun that a number can ask for."""

    singular: str
    """After 1, and after hundreds."""
    dual: str
    """Two, as the subject of a sentence."""
    oblique: str
    """Two, after a preposition or in a genitive."""
    plural: str
    """After 3 to 10."""
    accusative: str
    """The singular after 11 to 99."""
    one: str = "واحد"
    """The adjective "one", which agrees in gender."""


ROW = Noun("صف", "صفان", "صفين", "صفوف", "صفًا")
GROUP = Noun("مجموعة", "مجموعتان", "مجموعتين", "مجموعات", "مجموعة", "واحدة")
COLUMN = Noun("عمود", "عمودان", "عمودين", "أعمدة", "عمودًا")
KEY = Noun("مفتاح", "مفتاحان", "مفتاحين", "مفاتيح", "مفتاحًا")
CELL = Noun("خلية", "خليتان", "خليتين", "خلايا", "خلية", "واحدة")
CATEGORY = Noun("فئة", "فئتان", "فئتين", "فئات", "فئة", "واحدة")
ANSWER = Noun("إجابة", "إجابتان", "إجابتين", "إجابات", "إجابة", "واحدة")
RELEASE = Noun("إصدار", "إصداران", "إصدارين", "إصدارات", "إصدارًا")
STEP = Noun("خطوة", "خطوتان", "خطوتين", "خطوات", "خطوة", "واحدة")
EXAMPLE = Noun("مثال", "مثالان", "مثالين", "أمثلة", "مثالًا")
RANK = Noun("رتبة", "رتبتان", "رتبتين", "رتب", "رتبة", "واحدة")
VALUE = Noun("قيمة", "قيمتان", "قيمتين", "قيم", "قيمة", "واحدة")
BAR = Noun("عمود بياني", "عمودان بيانيان", "عمودين بيانيين", "أعمدة بيانية", "عمودًا بيانيًا")
PAIR = Noun("زوج", "زوجان", "زوجين", "أزواج", "زوجًا")
TRIPLE = Noun("ثلاثية", "ثلاثيتان", "ثلاثيتين", "ثلاثيات", "ثلاثية", "واحدة")
QUESTION = Noun("سؤال", "سؤالان", "سؤالين", "أسئلة", "سؤالًا")
MEASUREMENT = Noun("قياس", "قياسان", "قياسين", "قياسات", "قياسًا")
RECORD = Noun("تسجيلة", "تسجيلتان", "تسجيلتين", "تسجيلات", "تسجيلة", "واحدة")
TABLE = Noun("جدول", "جدولان", "جدولين", "جداول", "جدولًا")


def counted(count: int, noun: Noun, *, oblique: bool = False) -> str:
    """A count and its noun. The form follows the last two digits, as Arabic grammar and Unicode's plural rules say.

    `oblique`: after a preposition or in a genitive, where the dual differs.

    >>> [counted(count, ROW).replace("\u2066", "").replace("\u2069", "") for count in (0, 1, 2, 3, 11, 100, 103)]
    ['لا صفوف', 'صف واحد', 'صفان', '3 صفوف', '11 صفًا', '100 صف', '103 صفوف']
    """
    match count:
        case 0 if not oblique:
            return f"لا {noun.plural}"
        case 1:
            return f"{noun.singular} {noun.one}"
        case 2:
            return noun.oblique if oblique else noun.dual
    last = count % 100
    form = noun.plural if 3 <= last <= 10 else noun.accusative if last >= 11 else noun.singular
    return f"{ltr(number(count))} {form}"


PERIODS = {
    Length.MONTH: ("شهر", "أشهر", "نفسه"),
    Length.QUARTER: ("ربع سنة", "أرباع", "نفسه"),
    Length.YEAR: ("سنة", "سنوات", "نفسها"),
}
"""The lengths of periods: one, several, and the same one."""


def when(length: str, column: str) -> str:
    """In each period, by its length and its column as a ledger writes them; empty if it has none."""
    found = next((name for kind, (name, _, _) in PERIODS.items() if kind.value == length), None)
    return "" if found is None else f" في كل {found} ({named(column)})"


def unit(query: Protects) -> str:
    """The unit of protection in one word."""
    return "شخص" if isinstance(query.unit, Person) else "صف"


def units(query: Protects) -> str:
    """The unit of protection in the plural, with the article."""
    return "الأشخاص" if isinstance(query.unit, Person) else "الصفوف"


def caps(query: BoundedQuery) -> str:
    """The most rows of one person."""
    groups = f" في كل مجموعة، ضمن {counted(query.max_groups, GROUP, oblique=True)} على الأكثر" if query.keys else ""
    total = "" if query.max_rows is None else f"، وما لا يزيد على {counted(query.max_rows, ROW, oblique=True)} إجمالًا"
    return f"ما لا يزيد على {counted(query.max_rows_per_group, ROW, oblique=True)}{groups}{total}"


LAWS: Mapping[str, str] = {
    "discrete Laplace": "لابلاس المتقطعة",
    "discrete Gaussian": "غاوسية متقطعة",
    "rounded Gaussian": "غاوسية مقرَّبة",
}
"""The laws of noise."""


def noise(law: Noise, *, granularity: Number = 1) -> str:
    """The law of the noise and its scale, with the value of one granule."""
    size = about(law.size * exact(granularity))
    parameter = f"بمقياس {ltr(size)}" if law.symbol == "scale" else f"حيث {ltr(f'{law.symbol} = {size}')}"
    return f"ضوضاء {LAWS.get(law.law, law.law)}، {parameter}"


def confidence() -> str:
    """The probability with which an interval contains the exact number."""
    return ltr(f"{about(CONFIDENCE * 100)}%")


def chance(probability: float) -> str:
    """An upper bound on a probability as "1 in N", with N rounded down."""
    return f"{ltr('1')} من كل {ltr(one_in(probability))}"


def nobody(query: Protects) -> str:
    """No answer has an infinite loss."""
    return f"لا ينكشف أحد انكشافًا تامًا: فما من إجابة ممكنة تثبت وجود {unit(query)} أو تنفيه يقينًا."
