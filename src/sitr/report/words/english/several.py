"""The sentences of synthetic rows of several tables, in English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.dataset.cells import size
from sitr.report.figures import counted, number, visible

if TYPE_CHECKING:
    from sitr.questions.synthetic.crowd import Crowd
    from sitr.questions.synthetic.several import SeveralPlan


@dataclass(frozen=True, slots=True)
class SeveralWords:
    """Rows of the same people in several tables, drawn together."""

    def columns(self, plan: SeveralPlan, /) -> str:
        """The imitated columns."""
        return "; ".join(f"of {visible(each.table)}: {_listed(each.names)}" for each in plan.diaries.tables)

    def people(self, crowd: Crowd, /) -> str:
        """How many people the tables have."""
        return f"about {number(crowd.size)} people in all tables, by noisy counts"

    def released(self, crowd: Crowd, rows: Mapping[str, int] | None, /) -> str:
        """What was released, in a few words."""
        if rows is None:
            return f"noisy tables of {counted(len(crowd.diaries.tables), 'protected table')}"
        return "; ".join(f"{visible(name)}: {counted(count, 'row')}" for name, count in rows.items())

    def caps(self, plan: SeveralPlan, /) -> str:
        """The most rows of one person in each table."""
        found = []
        for each in plan.diaries.tables:
            if each.most_rows == 1:
                found.append(f"one row of each person in {visible(each.table)}")
                continue
            first = "in a random order" if each.order is None else f"by {visible(each.order.name)}"
            found.append(f"the first {each.most_rows} rows of each person in {visible(each.table)}, {first}")
        return f"what counts: {'; '.join(found)}; each person counts once in tables of people"

    def protected(self, plan: SeveralPlan, /) -> tuple[str, ...]:
        """Whom the promise protects."""
        *first, last = (visible(each.table) for each in plan.diaries.tables)
        return (
            f"The rows were drawn together for {', '.join(first)} and {last}. The promise holds for a person's rows in "
            "each of these tables, and in all of them together.",
            "If a person's rows leave one table, their rows in the others count in other cells. The noise hides this "
            "change, so it is larger than that of a single table: by a factor of √2 if it is Gaussian, and of 2 if it "
            "is Laplace noise (of 2 for counts of people, too, where neighbours replace a person).",
        )

    def part(self, name: str, /) -> str:
        """The people, under no name, or the rows of a table."""
        return f"rows of {visible(name)}" if name else "people"

    def depends(self, plan: SeveralPlan, /) -> str:
        """What the rows of a table depend on."""
        carried = [f"{each.table}.{each.names[place]}" for each in plan.diaries.tables for place in each.carried]
        first = f", on the first value of {_listed(carried)}" if carried else ""
        return (
            "The rows of a table depend on the constant columns of the person, on the person's number of rows in every "
            f"table{first}, and on the row before."
        )

    def public(self, plan: SeveralPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        everyone = (f"everyone has a row in {visible(name)}" for name in plan.everyone)
        cells = (
            f"the {counted(size(axis), 'cell')} of {visible(each.table)}.{visible(axis.column.name)}"
            for each in plan.diaries.tables
            for axis in each.axes
        )
        return ("the names and types of the columns", self.caps(plan), *everyone, *cells)

    def limits(self) -> tuple[str, ...]:
        """What the rows cannot carry."""
        return (
            "dependence among three or more columns that no measured table shows",
            "what is rarer than the noise: small groups, outliers, single cases",
            "relations between rows of different people; of one person, anything beyond the previous row of the table",
            "dependence of a row on rows of other tables, beyond the columns that the person has: rows of two tables "
            "come in no common order, and no two of them belong together",
            "tests and standard errors: rows that were drawn tell nothing about how many people there are",
            "decisions about any one person: no row is a person",
        )

    def missed(self, names: Sequence[Sequence[str]], /) -> str:
        """Which pairs the rows follow less closely than the noise alone would explain; the first few by name."""
        shown = "; ".join(" and ".join(map(visible, pair)) for pair in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"the models miss {counted(len(names), 'pair')}: {shown}{more}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names))
