"""What data sets, budgets, questions, previews and answers say about themselves in one line, in Arabic."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Column, Table
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.report.figures import about, error, number, step
from sitr.report.words.arabic.marks import code, listed, ltr, named
from sitr.report.words.arabic.meaning import kept
from sitr.report.words.arabic.nouns import ANSWER, COLUMN, GROUP, ROW, confidence, counted, when
from sitr.report.words.arabic.questions import question
from sitr.report.words.arabic.ranks import RankWords
from sitr.report.words.messages import isolated

RELATIONS = {Relation.ADD_REMOVE: "الإضافة أو الحذف", Relation.REPLACE_ONE: "الاستبدال"}
"""How neighbouring tables differ."""


@dataclass(frozen=True, slots=True)
class SummaryWords:
    """One line, and the words of tables and facts below it."""

    def dataset(self, table: Table, /) -> str:
        """A data set: who is protected, the caps, and the number of columns."""
        columns = counted(len(table.columns), COLUMN)
        return f"مجموعة البيانات {named(table.name)}: تحمي كل {self.unit(table)}، {self.caps(table)}؛ {columns}"

    def dummy(self, table: Table, rows: int, /) -> str:
        """Invented rows."""
        return f"{counted(rows, ROW)} مختلقة على مثال {named(table.name)}، من وصفها العلني وحده"

    def unit(self, table: Table, /) -> str:
        """Who is protected."""
        who = f"شخص ({named(table.unit.column)})" if isinstance(table.unit, Person) else "صف"
        who += "" if table.period is None else when(table.period.length.value, table.period.column)
        return f"{who}، بعلاقة {RELATIONS[table.relation]}"

    def caps(self, table: Table, /) -> str:
        """The most that one unit contributes to a question."""
        if not isinstance(table.unit, Person):
            return "ويُحسب مرة واحدة"
        rows = counted(table.max_rows_per_group, ROW, oblique=True)
        total = "" if table.max_rows is None else f"، و{counted(table.max_rows, ROW, oblique=True)} إجمالًا"
        return f"ما لا يزيد على {rows} في كل مجموعة، ضمن {counted(table.max_groups, GROUP, oblique=True)}{total}"

    def protects(self, table: Table, /) -> str:
        """Who is protected, and the most that each contributes, in a sentence."""
        caps = f"، {self.caps(table)}" if isinstance(table.unit, Person) else ""
        return f"المحمي كل {self.unit(table)}{caps}."

    def bounds(self, column: Column, /) -> str:
        """The bounds and the granularity of a column; empty if it has none."""
        if column.bounds is None:
            return ""
        low, high = (ltr(about(end) if isinstance(end, Fraction) else str(end)) for end in column.bounds)
        by = "" if column.granularity is None else f" بخطوة {ltr(step(column.granularity))}"
        return f"من {low} إلى {high}{by}"

    def identifies(self) -> str:
        """In place of public values, in the column of the unit."""
        return "يُعرِّف شخصًا"

    def values(self, column: Column, shown: str, /) -> str:
        """The number of public values, and some of them; empty if none is declared."""
        return "" if column.keys is None else f"{ltr(number(len(column.keys)))}: {isolated(shown)}"

    def unreadable(self, name: str, problem: Exception, /) -> str:
        """A budget whose ledger cannot be read."""
        return f"ميزانية {named(name)}: {named(str(problem))}"

    def budget(self, name: str, standing: Filter, /) -> str:
        """A budget: spent and left."""
        spent, left = kept(standing.spent()), kept(standing.remaining(), left=True)
        charges = counted(standing.charges, ANSWER, oblique=True)
        return f"ميزانية {named(name)}: أُنفق {spent} على {charges}، وبقي {left} من {kept(standing.promise)}"

    def question(self, text: str, /) -> str:
        """A question that has no price yet."""
        return f"السؤال: {isolated(question(text))}"

    def selection(self, text: str, /) -> str:
        """A question that does not say yet what to compute."""
        return f"سؤال يُستكمل بواسطة {code('agg(…)')} أو {code('histogram(…)')}: {named(text)}"

    def next_step(self) -> str:
        """What to do with a question."""
        return f"يعرض {code('preview(price)')} الأخطاء مجانًا؛ ويدفع {code('release(price)')} الثمن ويعطي الإجابة"

    def preview(
        self,
        text: str,
        price: Kept,
        errors: Mapping[str, float],
        after: Filter | None,
        /,
        *,
        ranks: Container[str] = (),
    ) -> str:
        """A preview: the price, the errors, of which those in `ranks` count ranks, and what would be left."""
        found = [
            f"{named(name)} {RankWords().error(width) if name in ranks else ltr(f'± {error(width)}')}"
            for name, width in errors.items()
        ]
        shown = f"؛ الأخطاء عند {confidence()}: {listed(found)}" if found else ""
        then = "" if after is None else kept(after.remaining(), left=True)
        left = f"سيبقى {then}" if then else "الميزانية لا تكفي لدفع هذا"
        return f"معاينة مقابل {kept(price)}: {isolated(question(text))}{shown}؛ {left}"

    def synthetic(self, names: Sequence[str], /) -> str:
        """Synthetic rows: the columns that they imitate."""
        return f"صفوف اصطناعية لـ {listed(map(named, names))}"

    def answer(self, receipt: Receipt, rows: int | None, /) -> str:
        """An answer: its price, and what is left; `rows` is None if it has no table."""
        price = kept(receipt.entry.price)
        paid = f"دُفع {price}" if rows is None else f"{counted(rows, ROW)} مقابل {price}"
        left = f"وبقي {kept(receipt.standing.remaining(), left=True)} من {kept(receipt.standing.promise)}"
        if receipt.again:  # the budget may be smaller by now
            left = f"وهي الإجابة المحفوظة للقيد {ltr(str(receipt.entry.number))}، ولم يُنفق شيء"
        return f"{paid}؛ {left}. يعرض {code('print(…)')} ما وُعد به."
