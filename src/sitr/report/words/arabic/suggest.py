"""The sentences of reports about suggested caps and bounds, in Arabic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.report.figures import number
from sitr.report.words.arabic.marks import listed, ltr, named, verbatim
from sitr.report.words.arabic.nouns import GROUP, ROW, counted


@dataclass(frozen=True, slots=True)
class SuggestWords:
    """Caps and bounds that noisy histograms suggest."""

    def chosen(self, groups: int | None, rows: int | None, /) -> str:
        """What is suggested, in one line."""
        if groups is None or rows is None:
            return "المقترح: الحدود أدناه"
        most = counted(rows, ROW, oblique=True)
        return f"المقترح: ما لا يزيد على {counted(groups, GROUP, oblique=True)} لكل شخص، وعلى {most} في كل مجموعة"

    def hidden(self) -> str:
        """That nothing is suggested."""
        return "لا شيء مقترح: فالضوضاء بهذا الثمن أكبر من أي عدد. ادفع أكثر، أو اسأل عن صفوف أكثر."

    def groups(self, share: str, error: str, /) -> str:
        """How many people have no more groups than the cap."""
        return f"نحو {ltr(share)} ({ltr(error)}) من الأشخاص تدخل مجموعاتهم كلها"

    def rows(self, share: str, error: str, /) -> str:
        """How many people have no more rows than the cap."""
        return f"نحو {ltr(share)} ({ltr(error)}) تدخل صفوفهم كلها في مجموعة من مجموعاتهم"

    def values(self, column: str, share: str, error: str, /) -> str:
        """How many people have values within the bounds."""
        return f"نحو {ltr(share)} ({ltr(error)}) لهم قيمة في {named(column)} ضمن الحدود"

    def about_kept(self, columns: Sequence[str], /) -> str:
        """Why the caps for means and quantiles are small."""
        return (
            f"السقوف الصغيرة هي الأفضل لما يلي: {listed(columns)}. فالمتوسط والتباين والمئين تخص الصفوف التي تبقى، "
            "والسقوف الأكبر تزيد الضوضاء، ولا تُحسب الصفوف المستبعدة خطأً هنا، كأن القيم لا تتعلق بعدد صفوف الشخص. "
            "فإذا اختلفت قيم من لهم صفوف كثيرة، فاختر سقوفًا أكبر، أو اسأل عن عدد أو مجموع إلى جانبها: "
            "فالصفوف المستبعدة خطأ فيهما."
        )

    def error(self, least: int, /) -> str:
        """How the expectations were made, and what they cannot see."""
        return (
            "الأحجام والأخطاء لخلية واحدة من الإجابة، وهي مقدَّرة من هيستوغرامات مشوشة لمجموعة واحدة وصف واحد من كل شخص. "
            f"وقد تُعد خالية كل خلية فيها أقل من نحو {ltr(number(least))} من الأشخاص، "
            "فقد يُستبعد أكثر من هذا من قلة من الناس لهم صفوف كثيرة جدًا أو قيم كبيرة جدًا."
        )

    def released(self, sql: str, /) -> str:
        """What was released, in a few words."""
        return f"سقوف وحدود من أجل {verbatim(sql)}"

    def one_cell(self) -> str:
        """The most that a person contributes to a suggestion."""
        return "يُحسب كل شخص في خلية واحدة من كل هيستوغرام على الأكثر."

    def cell(self, low: str, high: str, /) -> str:
        """The numbers of a cell of a histogram."""
        return ltr(low) if low == high else f"من {ltr(low)} إلى {ltr(high)}"

    def histogram(self, column: str, /) -> str:
        """The heading of the histogram of the values of a column."""
        return f"قيم {named(column)}"

    def size(self) -> str:
        """A heading: what a cell of the answer holds."""
        return "في الخلية"

    def left_out(self) -> str:
        """A heading: what caps and bounds take away from it."""
        return "ما يُستبعد"

    def code(self, text: str, /) -> str:
        """Options and arguments, to be copied."""
        return verbatim(text)

    def will_choose(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """In a preview: that caps are chosen from the data, and which caps the errors are for."""
        return (
            f"تُختار السقوف من البيانات مع حفظ الخصوصية، بنسبة {ltr(share)} من الثمن ({price})، بعد دفعه. والأخطاء هنا "
            f"لسقوف الوصف، وهي ما لا يزيد على {counted(groups, GROUP, oblique=True)} لكل شخص وعلى "
            f"{counted(rows, ROW, oblique=True)} في كل مجموعة: وقد تكون أخطاء الإجابة أصغر منها أو أكبر."
        )

    def did_choose(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """Which caps were chosen from the data."""
        return (
            f"ما لا يزيد على {counted(groups, GROUP, oblique=True)} لكل شخص، وعلى {counted(rows, ROW, oblique=True)} "
            "في كل مجموعة: اختيرت من البيانات مع حفظ الخصوصية، "
            f"بهيستوغرامات مشوشة بنسبة {ltr(share)} من الثمن ({price})."
        )

    def told_nothing(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """That no caps could be chosen."""
        return (
            f"ما لا يزيد على {counted(groups, GROUP, oblique=True)} لكل شخص، وعلى {counted(rows, ROW, oblique=True)} "
            f"في كل مجموعة، كما في الوصف: فالهيستوغرامات المشوشة بنسبة {ltr(share)} من الثمن ({price}) لم تُظهر شيئًا."
        )
