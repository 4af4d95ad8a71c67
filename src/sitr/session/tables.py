"""Released tables that add up. Totals, subtotals and rounding of them are free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sitr.errors import QuestionError, quoted
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.sql import parse_condition
from sitr.questions.tables import linear
from sitr.questions.tables.linear import CombinedCells
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import QualityRule
from sitr.questions.tables.question import tables_question
from sitr.session import table_files
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request
from sitr.session.shown import chosen


@dataclass(frozen=True, slots=True, repr=False)
class TablesAnswer(Answer):
    """Many tables, of which every margin equals the sum of its parts."""

    @property
    def publication_tables(self) -> PublishedTables:
        """All tables with what was measured."""
        assert isinstance(self.released, PublishedTables)
        return self.released

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Every table by its name, such as "ward × sex": one row for each cell."""
        return {name: self._stamped(each) for name, each in self.publication_tables.tables().items()}

    def of(self, name: str, *, confidence: Number = 0.95) -> pa.Table:
        """One table with the ends of the intervals of its cells."""
        found = self.publication_tables
        return self._stamped(found.one(found.node(name), confidence=confidence))

    def total(
        self,
        where: Mapping[str, str | Sequence[str]] | None = None,
        *,
        measure: str = "count",
        confidence: Number = 0.95,
    ) -> CombinedCells:
        """A sum that is no cell of any table: `total({"district": ["a", "c"], "age": "[0, 30)"})`, for free.

        `where` has the labels that are added up, by column or level; other columns are added up as a whole. Some table
        must have all of these columns. The deviation is exact, and the interval holds with the stated probability.
        """
        return linear.total(self.publication_tables, where or {}, measure=measure, confidence=confidence)

    def combined(
        self,
        weights: Mapping[str, Mapping[str | tuple[str, ...], Number]],
        *,
        measure: str = "count",
        confidence: Number = 0.95,
    ) -> CombinedCells:
        """Any weighted sum of cells: `combined({"district × sex": {("a", "f"): 1, ("a", "m"): -1}})`, for free.

        Weights are given by table and by the labels of a cell. Noise that cells share is counted as it is, so that the
        deviation of a difference, for example, is exact.
        """
        return linear.combined(self.publication_tables, weights, measure=measure, confidence=confidence)

    def quality(self, rule: QualityRule | None = None) -> pa.Table:
        """All cells with the coefficient of variation and the mark of each number, by a public rule: free."""
        made = table_files.listed(self.publication_tables, rule=rule or QualityRule(), withhold=False)
        return self._stamped(made)

    def save(
        self,
        path: str | Path,
        *,
        rule: QualityRule | None = None,
        withhold: bool = True,
        certificate: str = "",
        lang: str | None = None,
        digits: str | None = None,
    ) -> Path:
        """Write all tables to one file, with quality marks.

        The ending decides the format: .csv, .sdmx.csv (SDMX-CSV 2.0), .parquet, .xlsx (needs openpyxl), .json
        (JSON-stat 2.0) or .html, a page with charts and tables that can be sorted, which links to the `certificate` if
        its address is given. Numbers that are too uncertain to publish, by the rule, are left out unless `withhold` is
        False. `lang` and `digits` are those of the page and of the notes in a workbook.
        """
        with chosen(lang, digits):
            return table_files.written(
                self.publication_tables,
                path,
                rule=rule or QualityRule(),
                withhold=withhold,
                private=self.private,
                paper=self.paper,
                who=self.publication,
                certificate=certificate,
            )


def requested(
    at: Desk, tables: Iterable[str | Sequence[str]], *, where: Expr | str | None = None, **said: Any
) -> Request[TablesAnswer]:
    """These tables: see `Budget.tables`."""
    return Request(tables_question(at.table, tables, where=_condition(where), **said), at, TablesAnswer)


def _condition(where: Expr | str | None) -> Expression | None:
    match where:
        case None:
            return None
        case Expr():
            return where.expression
        case str():
            return parse_condition(where)
    raise QuestionError(
        wanted="a condition on rows",
        given=quoted(where),
        do='Write where="days > 3", or where=sitr.column("days") > 3.',
    )
