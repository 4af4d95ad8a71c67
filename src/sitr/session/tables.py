"""Released tables that add up. Totals, subtotals and rounding of them are free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sitr.numbers import Number
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import QualityRule
from sitr.questions.tables.question import tables_question
from sitr.session import table_files
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request


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

    def quality(self, rule: QualityRule | None = None) -> pa.Table:
        """All cells with the coefficient of variation and the mark of each number, by a public rule: free."""
        made = table_files.listed(self.publication_tables, rule=rule or QualityRule(), withhold=False)
        return self._stamped(made)

    def save(self, path: str | Path, *, rule: QualityRule | None = None, withhold: bool = True) -> Path:
        """Write all tables to a .csv, .parquet, .xlsx (needs openpyxl) or .json file (JSON-stat), with quality marks.

        Numbers that are too uncertain to publish, by the rule, are left out unless `withhold` is False.
        """
        return table_files.written(
            self.publication_tables, path, rule=rule or QualityRule(), withhold=withhold, private=self.private
        )


def requested(at: Desk, tables: Iterable[str | Sequence[str]], **said: Any) -> Request[TablesAnswer]:
    """These tables: see `Budget.tables`."""
    return Request(tables_question(at.table, tables, **said), at, TablesAnswer)
