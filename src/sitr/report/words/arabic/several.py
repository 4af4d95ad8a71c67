"""The sentences of synthetic rows of several tables, in Arabic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.dataset.cells import size
from sitr.report.figures import number
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.arabic.nouns import CELL, PAIR, ROW, TABLE, counted

if TYPE_CHECKING:
    from sitr.questions.synthetic.crowd import Crowd
    from sitr.questions.synthetic.several import SeveralPlan


@dataclass(frozen=True, slots=True)
class SeveralWords:
    """Rows of the same people in several tables, drawn together."""

    def columns(self, plan: SeveralPlan, /) -> str:
        """The imitated columns."""
        return "؛ ".join(f"من {named(each.table)}: {_listed(each.names)}" for each in plan.diaries.tables)

    def people(self, crowd: Crowd, /) -> str:
        """How many people the tables have."""
        return f"أشخاص عددهم نحو {ltr(number(crowd.size))} في الجداول كلها، بحسب أعداد عليها ضوضاء"

    def released(self, crowd: Crowd, rows: Mapping[str, int] | None, /) -> str:
        """What was released, in a few words."""
        if rows is None:
            return f"جداول عليها ضوضاء، عدد الجداول المحمية: {counted(len(crowd.diaries.tables), TABLE)}"
        return "؛ ".join(f"{named(name)}: {counted(count, ROW)}" for name, count in rows.items())

    def caps(self, plan: SeveralPlan, /) -> str:
        """The most rows of one person in each table."""
        found = []
        for each in plan.diaries.tables:
            if each.most_rows == 1:
                found.append(f"صف واحد لكل شخص في {named(each.table)}")
                continue
            first = "بترتيب عشوائي" if each.order is None else f"بترتيب {named(each.order.name)}"
            most = counted(each.most_rows, ROW)
            found.append(f"أول {most} على الأكثر لكل شخص في {named(each.table)}، {first}")
        return f"ما يُحسب: {'؛ '.join(found)}؛ ويُحسب كل شخص مرة في جداول الأشخاص"

    def protected(self, plan: SeveralPlan, /) -> tuple[str, ...]:
        """Whom the promise protects."""
        return (
            f"سُحبت الصفوف معًا من الجداول {' و'.join(named(each.table) for each in plan.diaries.tables)}. ويسري الوعد "
            "على صفوف الشخص في كل جدول منها، وفيها كلها معًا.",
            "إذا خرجت صفوف شخص من جدول واحد حُسبت صفوفه في الجداول الأخرى في خلايا غيرها. والضوضاء تستر هذا التغير، "
            f"فهي أكبر من ضوضاء الجدول الواحد: بمعامل {ltr('√2')} إن كانت غاوسية، وبمعامل {ltr('2')} إن كانت ضوضاء "
            f"لابلاس (وبمعامل {ltr('2')} لأعداد الأشخاص أيضًا حيث يُستبدل شخص بآخر).",
        )

    def part(self, name: str, /) -> str:
        """The people, under no name, or the rows of a table."""
        return f"صفوف {named(name)}" if name else "الأشخاص"

    def depends(self, plan: SeveralPlan, /) -> str:
        """What the rows of a table depend on."""
        carried = [f"{each.table}.{each.names[place]}" for each in plan.diaries.tables for place in each.carried]
        first = f"، وعلى أول قيمة من {_listed(carried)}" if carried else ""
        return f"تعتمد صفوف الجدول على الأعمدة الثابتة للشخص، وعلى عدد صفوفه في كل جدول{first}، وعلى الصف السابق."

    def public(self, plan: SeveralPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        everyone = (f"لكل شخص صف في {named(name)}" for name in plan.everyone)
        cells = (
            f"خلايا {named(f'{each.table}.{axis.column.name}')}، وهي {counted(size(axis), CELL)}"
            for each in plan.diaries.tables
            for axis in each.axes
        )
        return ("أسماء الأعمدة وأنواعها", self.caps(plan), *everyone, *cells)

    def limits(self) -> tuple[str, ...]:
        """What the rows cannot carry."""
        return (
            "الارتباط بين ثلاثة أعمدة أو أكثر مما لا يظهر في جدول مقيس",
            "ما هو أندر من الضوضاء: المجموعات الصغيرة والقيم الشاذة والحالات المفردة",
            "العلاقات بين صفوف أشخاص مختلفين؛ ومن صفوف الشخص الواحد ما وراء الصف السابق في الجدول",
            "اعتماد صف على صفوف جداول أخرى في ما وراء أعمدة الشخص: فلا ترتيب مشتركًا بين صفوف جدولين، ولا يخص صف منها "
            "صفًا في غيره",
            "الاختبارات والأخطاء المعيارية: فالصفوف المسحوبة لا تدل على عدد الناس",
            "القرارات بشأن أي شخص: فلا صف هو شخص",
        )

    def missed(self, names: Sequence[Sequence[str]], /) -> str:
        """Which pairs the rows follow less closely than the noise alone would explain; the first few by name."""
        shown = "؛ ".join(" و".join(map(named, pair)) for pair in names[:3])
        more = f" و{ltr(number(len(names) - 3))} غيرها" if len(names) > 3 else ""
        return f"مما لا تطابقه النماذج: {counted(len(names), PAIR)}: {shown}{more}"


def _listed(names: Sequence[str]) -> str:
    return "، ".join(map(named, names))
