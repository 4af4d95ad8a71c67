"""The sentences about audits, in Arabic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitr.report.figures import about, at_least, at_most, number
from sitr.report.words.arabic.marks import code, ltr, named


@dataclass(frozen=True, slots=True)
class AuditWords:
    """What an audit found."""

    def claim(self, notation: str, /) -> str:
        """The claim as it is written."""
        return code(notation)

    def inputs(self, first: str, second: str, /) -> str:
        """The two inputs that were audited, if there were several pairs."""
        return f"{code(first)} و{code(second)}"

    def broken(self, confidence: float, /) -> str:
        """The claim is refuted."""
        return f"منقوض، بثقة {ltr(f'{about(100 * confidence)}%')}: الآلية لا تفي بما يُدّعى لها."

    def consistent(self, draws: int, /) -> str:
        """The claim is not refuted."""
        return (
            f"متسق: لا تنقض {ltr(number(draws))} من السحوبات هذا الادعاء. وليس هذا برهانًا: فقد تنقضه مدخلات أخرى أو "
            "سحوبات أكثر."
        )

    def drawn(self, draws: int, sequential: bool, /) -> str:
        """How many answers were looked at."""
        shown = ltr(number(draws))
        return f"{shown}، والحدود تصح مهما كان عدد السحوبات" if sequential else shown

    def event(self, feature: str, place: int, order: str, edge: float | None, /) -> str:
        """Answers that tell the two inputs apart."""
        what = _FEATURES.get(feature, named(feature))
        what = f"{what} (العدد {ltr(number(place + 1))} من الإجابة)" if place and feature in _PLACED else what
        if edge is None or math.isinf(edge) or order not in ("above", "below"):
            return f"{what}: من القيم التي كانت أرجح مع المدخل الأول"
        return f"{what}: {'لا يقل عن' if order == 'above' else 'أقل من'} {ltr(about(edge))}"

    def moment(self, order: float, bound: float, allowed: float, /) -> str:
        """A divergence that is larger than the claim allows."""
        return (
            f"تباعد ريني من الرتبة {ltr(about(order))} لا يقل عن {ltr(at_least(bound))}، والادعاء لا يسمح بأكثر من "
            f"{ltr(at_most(allowed))}"
        )

    def frequencies(self, first: int, second: int, draws: int, /) -> str:
        """How often the event happened."""
        all_of_them = ltr(number(draws))
        return (
            f"{ltr(number(first))} من {all_of_them} مع المدخل الأول، و{ltr(number(second))} من {all_of_them} مع الثاني"
        )

    def probabilities(self, first: float, second: float, /) -> str:
        """Bounds on the two probabilities of the event."""
        return f"لا يقل عن {ltr(at_least(first))} مع المدخل الأول، ولا يزيد على {ltr(at_most(second))} مع الثاني"

    def epsilon(self, bound: float, delta: float, /) -> str:
        """A lower bound on ε."""
        shown = at_least(bound) if math.isfinite(bound) else "∞"
        return f"{ltr(f'ε ≥ {shown}')} عند {ltr(f'δ = {about(delta)}')}" if delta else ltr(f"ε ≥ {shown}")

    def mu(self, bound: float, /) -> str:
        """A lower bound on μ."""
        return ltr(f"μ ≥ {at_least(bound) if math.isfinite(bound) else '∞'}")

    def guesses(self, made: int, correct: int, canaries: int, /) -> str:
        """How many guesses about canaries were correct."""
        return f"{ltr(number(correct))} صحيحة من {ltr(number(made))}، وعدد السجلات المدسوسة {ltr(number(canaries))}"

    def trade_off(self) -> tuple[str, str, str]:
        """The title, the horizontal and the vertical axis of the picture."""
        return "المفاضلة المدّعاة والمدقَّقة", "الإيجابيات الكاذبة لاختبار بين المدخلين", "الإيجابيات الصحيحة"

    def curves(self) -> tuple[str, str]:
        """The legend: what the claim allows, and what was reached."""
        return "يسمح به الادعاء", "يبلغه اختبار"

    def described(self, broken: bool, /) -> str:
        """The picture in words."""
        if broken:
            return "يبلغ اختبارٌ بين المدخلين يقينًا أكثر مما يسمح به الادعاء."
        return "يبقى المنحنى المدقَّق تحت المنحنى الذي يسمح به الادعاء."

    def intervals(self, delta: float, /) -> tuple[str, str, str]:
        """The title of the picture of bounds on ε, and its legend: the accountant's interval, the audited bound."""
        at = f" عند {ltr(f'δ = {about(delta)}')}" if delta else ""
        return f"{ltr('ε')}{at}: المحاسِب والتدقيق", "فترة المحاسِب", "لا يقل عن هذا، بالتدقيق"


_FEATURES = {
    "value": "القيمة",
    "last bit": "موضع البت الأخير",
    "last bit and value": "موضع البت الأخير مع مدى القيمة",
    "answer": "الإجابة",
    "values that occur": "مجموعة القيم التي تقع",
    "difference": "الفرق بين عددين",
    "sum": "المجموع",
    "largest": "أكبر عدد",
    "place of the largest": "موضع أكبر عدد",
    "all numbers": "درجة الأعداد كلها",
    "two numbers": "زوج من الأعداد",
}
_PLACED = ("value", "last bit", "last bit and value", "difference")
