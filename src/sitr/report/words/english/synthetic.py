"""The sentences of synthetic rows, in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.dataset.cells import size
from sitr.namespace import Later
from sitr.report.figures import counted, number, visible
from sitr.report.words.notation import notation

if TYPE_CHECKING:
    from sitr.questions.synthetic import plan as planned
    from sitr.questions.synthetic.agreement import Agreement, TableFit
    from sitr.questions.synthetic.figures import Figure, Quality
    from sitr.questions.synthetic.plan import SynthesisPlan
    from sitr.questions.synthetic.portrait import Portrait
    from sitr.questions.synthetic.validity import Checked
else:
    planned = Later("sitr.questions.synthetic.plan")


_DEMANDS = {
    "type": "the type of the column",
    "values": "only public values, within bounds",
    "null": "no NULL",
    "derived": "equal to what its rule computes",
    "ordered": "the first is at most the second",
    "together": "NULL together, or not at all",
    "constant": "the same in all rows of a person",
    "capped": "no more rows of a person than the cap",
    "in order": "in order within a person",
    "among": "everyone has a row in the other table",
    "never": "no row meets a condition that none may meet",
}
"""What is checked of rows."""


@dataclass(frozen=True, slots=True)
class SyntheticWords:
    """Rows drawn from a model that fits noisy tables."""

    def tables(self, count: int, /) -> str:
        """How many tables were measured."""
        return f"{count}, each count with its noise; rows drawn from them cost nothing more"

    def rows(self, portrait: Portrait, /) -> str:
        """How many rows the data set has."""
        people = portrait.measured.people
        if people is not None:
            return f"about {number(portrait.size)} of {number(max(0, round(people.total)))} people, by noisy counts"
        return f"about {number(portrait.size)} in the data set, by noisy counts"

    def released(self, portrait: Portrait, drawn: int | None, /) -> str:
        """What was released, in a few words."""
        columns = counted(len(portrait.plan.sheet.names), "column")
        return f"noisy tables of {columns}" if drawn is None else f"{counted(drawn, 'row')} of {columns}"

    def imitates(self) -> str:
        """What the comparison with the noisy tables shows, and what it does not."""
        return (
            "The chart compares the synthetic rows with the noisy tables from which they were made, so both share the "
            "errors of the noise. It does not show how far they are from the data."
        )

    def mark(self, dataset: str, /) -> str:
        """What a file of rows is."""
        return (
            f"These rows are synthetic: they imitate {visible(dataset)} and belong to nobody. They were drawn from a "
            "model that was fitted to noisy tables."
        )

    def agreement(self, found: Agreement, /) -> tuple[str, ...]:
        """How closely the rows follow the noisy tables, in one number, and what that number is not."""
        return (
            f"Score: {100 * found.score:.1f} of 100, the mean over all {'pairs of ' if found.of(2) else ''}columns. A "
            "table scores 100 if the rows have the same share in each cell, and 0 if they share no cell with it.",
            "This compares the rows with what was released, and costs nothing. It cannot show an error that the noisy "
            "tables have themselves: for that, measure the quality for a price, or compare with a public table.",
        )

    def fits(self, found: Agreement, /) -> tuple[tuple[str, Sequence[TableFit]], ...]:
        """The tables by their number of columns."""
        return (
            ("single columns", found.of(1)),
            ("pairs of columns", found.of(2)),
            ("triples", found.of(3)),
            ("people", found.people),
        )

    def between(self, columns: Sequence[str], /) -> str:
        """The names of a few columns."""
        return _pair(columns)

    def pair_map(self) -> str:
        """The title of the map of pairs."""
        return "Columns (on the diagonal) and pairs of columns: score of 100, darker where it is lower"

    def triple_map(self) -> str:
        """The title of the map of triples."""
        return "Triples of columns: mean score of all triples with both columns"

    def heat(self, score: float, /) -> tuple[str, str]:
        """The title and the description of the map of scores."""
        return (
            "How closely the rows follow the noisy tables",
            f"A tile for each pair of columns with its score, from 0 to 100. The mean is {100 * score:.1f}. The "
            "numbers across stand for the columns with the same number down.",
        )

    def quality_heat(self, score: float, /) -> tuple[str, str]:
        """The title and the description of the map of scores beside the data or a public table."""
        return (
            "How close the rows are, by columns",
            f"A tile for each pair of columns with its score, from 0 to 100. The mean is {100 * score:.1f}. The "
            "numbers across stand for the columns with the same number down.",
        )

    def score(self, found: Quality, /) -> str:
        """The overall score of a comparison."""
        return f"{100 * found.score:.1f} of 100, the mean over all {'pairs of ' if found.pairs else ''}columns"

    def demand(self, checked: Checked, /) -> str:
        """What was checked."""
        return _DEMANDS[checked.demand.value]

    def valid(self, broken: int, rows: int, /) -> str:
        """How many rows break a demand."""
        return "every row" if not broken else f"broken in {number(broken)} of {number(rows)} rows"

    def uses(self) -> tuple[str, ...]:
        """What the rows can be used for."""
        return (
            "to write and test programs, queries and reports before they run on the data",
            "to teach, and to explore which questions are worth asking",
            "to estimate shares of single values and of pairs of values, about as well as the scores say",
            "to plan a question: then ask it of the data, for a price, and quote that answer",
        )

    def limits(self, plan: SynthesisPlan, /) -> tuple[str, ...]:
        """What the rows cannot carry."""
        between = "relations between rows, such as visits of the same person"
        if plan.diary is not None:
            between = "relations between rows of different people, or of one person beyond the previous row"
        return (
            "dependence among three or more columns that no measured table shows",
            "what is rarer than the noise: small groups, outliers, single cases",
            f"values finer than the cells, and {between}",
            "tests and standard errors: rows that were drawn tell nothing about how many people there are",
            "decisions about any one person: no row is a person",
        )

    def person(self) -> tuple[str, ...]:
        """What the promise means for a person."""
        return (
            "Nobody's row was copied: all rows were drawn from noisy tables. The promise on this page holds for these "
            "tables, and so for all rows that will ever be drawn from them.",
            "A row can resemble a real person by chance. Whether that person was in the data changed what was released "
            "by no more than the promise allows.",
        )

    def public(self, plan: SynthesisPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        cells = (f"the {counted(size(axis), 'cell')} of {visible(axis.column.name)}" for axis in plan.sheet.axes)
        return ("the names and types of the columns", self.caps(plan), *cells)

    def missed(self, portrait: Portrait, /) -> str:
        """Which tables the rows follow less closely than the noise alone would explain; the first few by name."""
        names = [_pair(pair) for pair in portrait.missed]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        pairs, triples = len(portrait.measured.pairs), len(portrait.measured.triples)
        of = f"{pairs} pairs and {triples} triples" if triples else f"{pairs} pairs"
        return f"the model misses {len(names)} of {of}: {'; '.join(names[:3])}{more}"

    def measured_triples(self, count: int, most: int, error: str, /) -> str:
        """The tables of triples, with the most groups of a column, and the largest error of a count."""
        tables = f"{counted(count, 'triple')} of columns"
        return f"{tables}, by at most {counted(most, 'group')} of each column; 95% error of a count at most {error}"

    def no_triples(self) -> str:
        """Why none of the wanted triples was measured."""
        return "not measured: too few rows for their noise, by noisy count; their part of the price went to pairs"

    def price(self, plan: SynthesisPlan, /) -> str:
        """The one charge, and its parts."""
        if plan.quality is None:
            return notation(plan.price)
        rows, quality = notation(plan.division.price), notation(plan.quality.price)
        parts = f"{notation(plan.price)}: {rows} for the rows, and {quality} to measure their quality"
        less = plan.price != plan.division.price + plan.quality.price  # type: ignore[operator] # one flavor
        return f"{parts}; together they lose less than the sum" if less else parts

    def caps(self, plan: SynthesisPlan, /) -> str:
        """The most rows of one person."""
        most = plan.sheet.most_rows
        if plan.diary is not None:
            order = plan.diary.order
            first = "in a random order" if order is None else f"by {visible(order.name)}"
            return f"the first {most} rows of each person count, {first}; each person counts once in tables of people"
        return "each row counts once" if most == 1 else f"at most {most} rows of one person count, chosen at random"

    def pairs(self, count: int, /) -> str:
        """The tables of pairs of columns."""
        return f"{min(count, planned.MOST_PAIRS)} pairs of columns, by groups"

    def triples(self, count: int, /) -> str:
        """The tables of triples of columns, which need enough rows."""
        return f"{counted(count, 'triple')} of columns, by groups, if rows suffice"

    def people(self, name: str, /) -> str:
        """A table of people."""
        return f"people: {name}"

    def about(self, error: str, /) -> str:
        """An error that depends on the tables that will be chosen."""
        return f"about {error}"

    def distances(self) -> str:
        """What is measured for the quality."""
        return "quality: each distance, in rows"

    def kinds(self, found: Quality, /) -> tuple[tuple[str, tuple[Figure, ...]], ...]:
        """The figures about the quality by kind."""
        return (
            ("share of each value, Σ|p − q|", found.single),
            ("share of each pair of values, Σ|p − q|", found.pairs),
            ("share of each triple of values, Σ|p − q|", found.triples),
            ("share of any range", found.ranges),
            ("correlation", found.correlations),
            ("share of each value in a subgroup, mean Σ|p − q|", found.subgroups),
        )

    def of(self, figure: Figure, /) -> str:
        """The columns of a figure."""
        return _pair(figure.columns)

    def compared(self, found: Quality, /) -> str:
        """What the rows were compared with."""
        if found.plan is None:
            return f"with the public table {visible(found.holdout or '')}"
        return f"with the data, for {notation(found.plan.price)}"

    def accuracy(self, ours: float, theirs: float, /) -> str:
        """How well a classifier does after training on synthetic rows, and on real ones."""
        return f"{ours:.3f} when trained on synthetic rows, {theirs:.3f} when trained on real ones"

    def propensity(self, found: float, /) -> str:
        """How often a classifier tells synthetic rows from real ones."""
        return f"a classifier tells synthetic rows from real ones in {100 * found:.1f}% of cases; guessing has 50%"

    def told_apart(self, found: Figure, /) -> str:
        """How often the best classifier that sees only a few columns is right."""
        return (
            f"a classifier that sees only {_pair(found.columns)} tells synthetic rows from real ones in at most "
            f"{100 * found.found:.1f}% (± {100 * found.error:.1f}%) of cases; guessing has 50%, and one that sees all "
            "columns may do better"
        )

    def regression(self, found: Quality, /) -> str:
        """How far the coefficients of a regression agree."""
        lines = found.regression
        agree = sum(each.agrees for each in lines)
        far = max((abs(each.synthetic - each.real) for each in lines), default=0.0)
        noise = "" if found.plan is None else ", with the noise"
        return (
            f"{agree} of {len(lines)} coefficients differ from those of real rows by no more than the 95% error of two "
            f"samples{noise}; the largest difference is {far:.3f}"
        )

    def chart(self) -> tuple[str, str]:
        """The title and the description of the chart."""
        return (
            "Synthetic rows beside the noisy tables they were made from",
            "Noisy shares of the data (blue) beside those of the synthetic rows (orange). The values of a column "
            "beyond the 24 most frequent ones are added up.",
        )

    def others(self, count: int, /) -> str:
        """The values that have no bar of their own."""
        return f"{number(count)} other values" if count > 1 else "1 other value"

    def map(self, down: str, across: str, /) -> str:
        """The title of a map of two columns."""
        return f"{visible(down)} (down) and {visible(across)} (across)"


def _pair(names: Sequence[str]) -> str:
    return " and ".join(map(visible, names))
