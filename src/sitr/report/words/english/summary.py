"""What data sets, budgets, questions, previews and answers say about themselves in one line, in English."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Column, Table
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.neighbors.unit import Person
from sitr.report.figures import about, counted, error, number, step, visible
from sitr.report.words.english.ranks import RankWords
from sitr.report.words.notation import notation


@dataclass(frozen=True, slots=True)
class SummaryWords:
    """One line, and the words of tables and facts below it."""

    def dataset(self, table: Table, /) -> str:
        """A data set: who is protected, the caps, and the number of columns."""
        columns = counted(len(table.columns), "column")
        return f"Data set {visible(table.name)}: protects each {self.unit(table)}, {self.caps(table)}; {columns}"

    def dummy(self, table: Table, rows: int, /) -> str:
        """Invented rows."""
        return f"{counted(rows, 'invented row')} like {visible(table.name)}, from its public description alone"

    def unit(self, table: Table, /) -> str:
        """Who is protected."""
        return visible(table.neighbors())

    def caps(self, table: Table, /) -> str:
        """The most that one unit contributes to a question."""
        if not isinstance(table.unit, Person):
            return "counted once"
        rows, groups = counted(table.max_rows_per_group, "row"), counted(table.max_groups, "group")
        total = "" if table.max_rows is None else f", {counted(table.max_rows, 'row')} in all"
        return f"at most {rows} in each of {groups}{total}"

    def protects(self, table: Table, /) -> str:
        """Who is protected, and the most that each contributes, in a sentence."""
        groups, rows = counted(table.max_groups, "group"), counted(table.max_rows_per_group, "row")
        total = "" if table.max_rows is None else f", {counted(table.max_rows, 'row')} in all"
        caps = f", with at most {groups} and {rows} in each{total}" if isinstance(table.unit, Person) else ""
        return f"Protects each {self.unit(table)}{caps}."

    def bounds(self, column: Column, /) -> str:
        """The bounds and the granularity of a column; empty if it has none."""
        if column.bounds is None:
            return ""
        low, high = (about(end) if isinstance(end, Fraction) else str(end) for end in column.bounds)
        return f"{low} to {high}" if column.granularity is None else f"{low} to {high} by {step(column.granularity)}"

    def identifies(self) -> str:
        """In place of public values, in the column of the unit."""
        return "identifies a person"

    def values(self, column: Column, shown: str, /) -> str:
        """The number of public values, and some of them; empty if none is declared."""
        return "" if column.keys is None else f"{number(len(column.keys))}: {shown}"

    def unreadable(self, name: str, problem: Exception, /) -> str:
        """A budget whose ledger cannot be read."""
        return f"Budget of {visible(name)}: {visible(str(problem))}"

    def budget(self, name: str, standing: Filter, /) -> str:
        """A budget: spent and left."""
        spent, left = notation(standing.spent()), notation(standing.remaining(), left=True)
        charges = counted(standing.charges, "answer")
        return f"Budget of {visible(name)}: {spent} spent on {charges}, {left} left of {notation(standing.promise)}"

    def question(self, text: str, /) -> str:
        """A question that has no price yet."""
        return f"Question: {visible(text)}"

    def selection(self, text: str, /) -> str:
        """A question that does not say yet what to compute."""
        return f"Question to complete with agg(…) or histogram(…): {text}"

    def next_step(self) -> str:
        """What to do with a question."""
        return "preview(price) shows the errors for free; release(price) charges the price and answers"

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
            f"{visible(name)} {RankWords().error(width) if name in ranks else f'± {error(width)}'}"
            for name, width in errors.items()
        ]
        listed = f"; 95% errors: {', '.join(found)}" if found else ""
        then = "" if after is None else notation(after.remaining(), left=True)
        left = f"{then} would be left" if then else "the budget cannot pay this"
        return f"Preview for {notation(price)}: {visible(text)}{listed}; {left}"

    def synthetic(self, names: Sequence[str], /) -> str:
        """Synthetic rows: the columns that they imitate."""
        return f"Synthetic rows of {', '.join(map(visible, names))}"

    def answer(self, receipt: Receipt, rows: int | None, /) -> str:
        """An answer: its price, and what is left; `rows` is None if it has no table."""
        paid = f"{'Charged' if rows is None else counted(rows, 'row') + ' for'} {notation(receipt.entry.price)}"
        left = f"{notation(receipt.standing.remaining(), left=True)} left of {notation(receipt.standing.promise)}"
        if receipt.again:  # the budget may be smaller by now
            left = f"kept answer of entry {receipt.entry.number}, nothing was spent"
        return f"{paid}; {left}. print(…) shows what is promised."
