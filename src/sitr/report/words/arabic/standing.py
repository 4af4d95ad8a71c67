"""The sentences about what budgets without a cap have recorded, and about totals of fixed plans, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sitr.accounting.anytime import Reading
from sitr.accounting.in_advance import InAdvance, NoTotal
from sitr.flavors.arrows import Kept
from sitr.report.figures import at_most, number
from sitr.report.words.arabic.marks import code, ltr
from sitr.report.words.arabic.meaning import DELTA, GAMMA, kept

_WHY = {
    NoTotal.RANDOM: f"الوعد العشوائي لا خسارة معروفة له في النسبة {GAMMA} من البيانات",
    NoTotal.MANY: f"الخطط المختلفة كثيرة جدًا؛ ويجمعها كلها {code('budget.in_advance(most=None)')}",
    NoTotal.UNPROVED: f"لا مبرهنة تحدّ جميع النفقات عند هذه القيمة من {DELTA}",
}


@dataclass(frozen=True, slots=True)
class StandingWords:
    """What was recorded, and what it would cost if it had been fixed in advance."""

    def odometer(self, shown: Reading, /) -> str:
        """What an odometer shows, and whether it is a promise."""
        recorded = f"بلا سقف. النفقات المسجلة: {kept(cast('Kept', shown.recorded))}."
        if shown.epsilon is None:
            return (
                f"{recorded} وهذا المجموع سجل وليس وعدًا في لحظة يختارها أحد بعد رؤية إجابات؛ ويقدم هذا الوعد عداد له "
                f"{DELTA}، مثل {code('odometer(zcdp, delta=1e-6)')}."
            )
        rare = ""
        if shown.probability:
            rare = f"، مع زيادة لا تتجاوز {ltr(at_most(shown.probability))} حُددت عند فتح الميزانية"
        return (
            f"{recorded} والوعد في أي لحظة، أيًا كان من يختارها: كل ما يحدث ما دام المعروض هنا "
            f"{ltr(f'ε = {at_most(shown.epsilon)}')} أو أقل لا يتجاوز احتماله في إحدى مجموعتي بيانات متجاورتين "
            f"احتمالَه في الأخرى مضروبًا في {ltr('e^ε')}{rare}."
        )

    def in_advance(self, found: InAdvance, /) -> str:
        """The total of charges as a plan fixed in advance, which is not what the budget counts."""
        if found.epsilon is None:
            why = _WHY[found.obstacle or NoTotal.UNPROVED]
            return f"لو حُددت جميع الأسئلة مسبقًا: لا مجموع، لأن {why}."
        total = ltr(f"ε = {at_most(found.epsilon)}, δ = {at_most(found.delta)}")
        exact = f"من الخسائر الدقيقة لـ{ltr(number(found.known))} من النفقات وعددها {ltr(number(found.charges))}"
        beside = (
            "" if found.summed is None else f"؛ ويستلزم المجموع في الميزانية هناك {ltr(f'ε = {at_most(found.summed)}')}"
        )
        return (
            f"لو حُددت جميع الأسئلة والأثمان مسبقًا: {total}، {exact}{beside}. وليس هذا وعدًا لأسئلة اختيرت بعد "
            "رؤية إجابات، ولا تستعمله الميزانية."
        )
