"""Caps and bounds, chosen privately for a price: `Budget.suggest`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sitr.dataset.schema import GROUPABLE, NUMERIC, Kind, Table, adjusted
from sitr.errors import QuestionError
from sitr.namespace import Later
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.suggest.choose import Found, Suggested, chosen
from sitr.questions.suggest.question import SuggestionRelease
from sitr.questions.suggest.spreads import LARGEST
from sitr.session.answer import Answer

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview has no table
    pa = Later("pyarrow")


@dataclass(frozen=True, repr=False)
class Suggestion(Answer):
    """Suggested caps and bounds, ready to use: `budget.sql(text, **suggestion.options)`."""

    released: SuggestionRelease

    @cached_property
    def suggested(self) -> Suggested:
        """What was chosen, from released numbers alone."""
        return chosen(self.released)

    @property
    def options(self) -> dict[str, Any]:
        """What `Budget.sql` takes: caps and bounds; nothing if the noise hid everybody."""
        found = self.suggested
        caps = {"max_groups": found.max_groups, "max_rows_per_group": found.max_rows_per_group}
        bounds = {"bounds": dict(found.bounds)} if found.bounds else {}
        return {name: cap for name, cap in caps.items() if cap is not None} | bounds

    @property
    def table(self) -> pa.Table:
        """The noisy number of people in each cell of the histograms: the first and the last number of the cell."""
        return self._histograms(0.95).select(["histogram", "low", "high", "people"])

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `people_low` and `people_high`."""
        return self._histograms(confidence)

    def _histograms(self, confidence: Number) -> pa.Table:
        plan, rows = self.released.plan, []
        for place, (spread, counts) in enumerate(zip(plan.spreads, self.released.counts, strict=True)):
            far = int(plan.noise(place).error(confidence=confidence))
            for cell in Found(spread, counts, plan.noise(place)).every:
                people = int(cell.people)
                rows.append((spread.name, cell.low, cell.high, people, people - far, people + far))
        names = ["histogram", "low", "high", "people", "people_low", "people_high"]
        return self._stamped(pa.table([pa.array(part) for part in zip(*rows, strict=True)], names=names))


def question_of(text: str, table: Table) -> str:
    """The question that caps and bounds are suggested for: SQL, or the sum of a column of numbers by its name.

    A column of other values is grouped by, and its rows are counted.
    """
    column = table.find(text)
    if column is None:
        return text
    named, source = identifier(column.name), identifier(table.name)
    if column.kind in NUMERIC:
        return f"SELECT SUM({named}) AS total FROM {source}"
    if column.kind not in GROUPABLE:
        raise QuestionError(
            given=f"Nothing can be suggested for {column.name!r}, which has type {column.kind.value}.",
            do="Name a column of numbers, or write a question in SQL.",
        )
    return f"SELECT {named}, COUNT(*) AS n FROM {source} GROUP BY {named}"


def widened(table: Table) -> Table:
    """The same data set with bounds for all numbers, so that a sum can be asked for before its bounds are known."""
    most = 2**LARGEST
    unbounded: Mapping[str, tuple[Number, Number]] = {
        column.name: (-most, most)
        for column in table.columns
        if column.quantised is None and column.kind in (Kind.INTEGER, Kind.REAL)
    }
    return adjusted(table, bounds=unbounded)


def checked(query: BoundedQuery) -> BoundedQuery:
    """A question for which caps and bounds can be suggested."""
    if query.query.sets:
        raise QuestionError(
            given="Caps and bounds cannot be suggested for CUBE, ROLLUP or GROUPING SETS.",
            do="Ask for a suggestion for the finest of its groupings.",
        )
    return query
