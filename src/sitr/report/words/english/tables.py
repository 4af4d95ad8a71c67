"""The sentences of tables that add up, in English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.tables.measures import MeasureKind
from sitr.report.figures import CONFIDENCE, about, counted, number, visible
from sitr.report.words.english.nouns import caps, nobody, unit, units

if TYPE_CHECKING:
    from sitr.questions.tables.measures import Measure
    from sitr.questions.tables.plan import TablesPlan
    from sitr.questions.tables.quality import QualityRule
    from sitr.questions.tables.workload import Node, Workload


@dataclass(frozen=True, slots=True)
class TablesWords:
    """Many tables at once."""

    def name(self, workload: Workload, node: Node, /) -> str:
        """The columns of a table."""
        return " × ".join(map(visible, workload.names(node))) or self.total()

    def total(self) -> str:
        """The table without columns."""
        return "total"

    def every(self) -> str:
        """In place of a key, in rows that are for all its values."""
        return "(all)"

    def measure(self, measure: Measure, /) -> str:
        """What the numbers of a column are."""
        return visible(measure.name)

    def error_of(self, measure: Measure, /) -> str:
        """The heading of the errors of a measure."""
        return f"95% error of {visible(measure.name)}"

    def measured(self, plan: TablesPlan, /) -> str:
        """What was measured."""
        tables = counted(len(plan.workload.tables), "table")
        cells = counted(sum(map(plan.workload.cells, plan.workload.tables)), "cell")
        if plan.pure:
            several = counted(len(plan.laplace[0].tables), "table")
            return f"{tables} with {cells} follow from {several} whose cells get noise, by least squares."
        return (
            f"{tables} with {cells} follow from the residuals of {counted(len(plan.bases), 'set')} of columns: what "
            "each table adds to the coarser ones. Only these residuals get noise, each set once."
        )

    def noise(self, plan: TablesPlan, /) -> str:
        """The law of the noise, and to whom it is fitted."""
        law = "Discrete Laplace noise" if plan.pure else "Real Gaussian noise, rounded exactly to a fine grid"
        query = plan.records.query
        what = "replacing" if query.relation is Relation.REPLACE_ONE else "adding or removing"
        if not isinstance(query.unit, Person):
            return f"{law}: enough for {what} one row, in whichever cell it is."
        rows = counted(query.max_rows_per_group, "row")
        return f"{law}: enough for {what} one {unit(query)} with up to {rows}, in whichever cells they are."

    def optimum(self, plan: TablesPlan, /) -> str:
        """How the price was divided, and how close to the best that is."""
        what = "the largest variance of a table" if plan.objective.value == "largest" else "the sum of the variances"
        if plan.pure:
            return f"The price is divided to make {what} small; no least value is known for Laplace noise."
        uneven = " Groups of different sizes are charged like the largest ones." if plan.uneven else ""
        return (
            f"The price is divided so that {what}, with the weights of the tables, is at most "
            f"{about(100 * plan.gap, digits=2)}% above the least possible for such noise; a dual bound proves this."
            f"{uneven}"
        )

    def adds_up(self, plan: TablesPlan, /) -> str:
        """Which numbers add up."""
        means = any(measure.kind is MeasureKind.MEAN for measure in plan.measures)
        left = " Rows without a public value in one of the columns are left out of all tables."
        numbers = (
            "Counts are whole and not negative; this biases them."
            if plan.whole
            else "Numbers can be negative or fractional, because correcting them would bias sums."
        )
        return (
            f"Every margin equals the sum of its parts, exactly, in all tables. {numbers}"
            + (" Means do not add up." if means else "")
            + (left if plan.drops_rows else "")
        )

    def intervals(self, plan: TablesPlan, /) -> str:
        """What the intervals mean."""
        means = any(measure.kind is MeasureKind.MEAN for measure in plan.measures)
        each = (
            "Noisy numbers select or sort the rows, so all intervals together contain the exact numbers of the counted "
            "rows with "
            if plan.by_noise
            else "Each interval, taken alone, contains the exact number of the counted rows with "
        )
        cut = (
            " Intervals follow from the numbers before they were rounded to whole ones, cut to possible numbers and "
            "widened where a rounded number is outside: so they contain the exact numbers as often as they say."
        )
        return (
            f"{each}{about(CONFIDENCE * 100)}% probability."
            + (" Where there may be no values, the interval of a mean is that of its bounds." if means else "")
            + (cut if plan.whole else "")
        )

    def rounded(self) -> str:
        """What rounding to whole numbers did."""
        return (
            "Numbers were rounded to whole ones that are not negative and still add up, as near as possible to the "
            "unbiased ones. The price is a bias: small numbers are mostly too large, and large ones too small. The "
            "mean shift of a table is the mean of all differences, and the mean size counts each without its sign."
        )

    def will_round(self) -> str:
        """That numbers will be rounded."""
        return (
            "Numbers will be rounded to whole ones that add up. By how much this moves them depends on the noise; the "
            "answer states it for each table, and errors here are those before rounding."
        )

    def shift_of(self, measure: Measure, /) -> str:
        """The heading of the mean shift of a measure."""
        return f"mean shift of {visible(measure.name)}"

    def size_of_shift(self, measure: Measure, /) -> str:
        """The heading of the mean size of the shifts of a measure."""
        return f"mean size of the shift of {visible(measure.name)}"

    def exposure(self, plan: TablesPlan, /) -> str:
        """How the promise could fail."""
        return nobody(plan.records.query)

    def public(self, plan: TablesPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        query = plan.records.query
        cells = (
            f"the {counted(each.size(number_), 'value')} of {visible(level.name)}"
            for each in plan.workload.ladders
            for number_, level in enumerate(each.levels, start=1)
        )
        limits = [f"the caps: {caps(query)} for each person"] if isinstance(query.unit, Person) else []
        size = [f"the number of {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        return ("the names and types of the columns, and the question itself", *cells, *limits, *size)

    def released(self, plan: TablesPlan, /) -> str:
        """What was released, in a few words."""
        cells = counted(sum(map(plan.workload.cells, plan.workload.tables)), "cell")
        return f"{counted(len(plan.workload.tables), 'table')} with {cells}"

    def sort_by(self) -> str:
        """What the headings of a table on a page do."""
        return "Press a heading to sort a table by its column."

    def on_this_page(self) -> str:
        """The heading of the list of tables."""
        return "Tables on this page"

    def mark(self) -> str:
        """The heading of quality marks."""
        return "quality"

    def withheld(self) -> str:
        """In place of a number that is too uncertain to publish."""
        return "too uncertain"

    def few(self) -> str:
        """A note beside a small number."""
        return "small"

    def certificate(self) -> str:
        """The link to the certificate."""
        return "Certificate of all tables: what was promised, how, and how to check it"

    def notes_title(self) -> str:
        """The name of the sheet with notes."""
        return "Notes"

    def marks(self, rule: QualityRule, /, *, withhold: bool) -> str:
        """What the quality marks mean."""
        limits = [f"{about(100 * limit)}%" for limit in (rule.good, rule.fair, rule.poor)]
        hidden = "is too uncertain to publish, and left out" if withhold else "is too uncertain to publish"
        return (
            f"Marks follow from the coefficient of variation: A up to {limits[0]}, B up to {limits[1]}, C up to "
            f"{limits[2]}; a number with X {hidden}. A count is noted as small if its interval lies below "
            f"{number(rule.small)}. All marks are computed from noisy numbers."
        )

    def not_private(self) -> str:
        """That test coins were used."""
        return "This is a test: the noise came from known coins and protects nobody."

    def title(self, plan: TablesPlan, node: Node, measure: Measure, /) -> str:
        """The title of the chart."""
        name = self.name(plan.workload, node)
        return f"{visible(measure.name)} by {name}" if node else visible(measure.name)

    def drawn(self, shown: int, size: int, /) -> str:
        """Which cells a chart shows."""
        return f"The {number(shown)} largest of {number(size)} cells." if shown < size else "All cells, with intervals."
