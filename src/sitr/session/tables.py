"""Released tables that add up. Totals, subtotals and rounding of them are free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sitr.numbers import Number
from sitr.questions.tables.publication import Publication
from sitr.questions.tables.question import tables_question
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request


@dataclass(frozen=True, slots=True, repr=False)
class TablesAnswer(Answer):
    """Many tables, of which every margin equals the sum of its parts."""

    @property
    def publication_tables(self) -> Publication:
        """All tables with what was measured."""
        assert isinstance(self.released, Publication)
        return self.released

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Every table by its name, such as "ward × sex": one row for each cell."""
        return {name: self._stamped(each) for name, each in self.publication_tables.tables().items()}

    def of(self, name: str, *, confidence: Number = 0.95) -> pa.Table:
        """One table with the ends of the intervals of its cells."""
        found = self.publication_tables
        return self._stamped(found.one(found.node(name), confidence=confidence))


def requested(at: Desk, tables: Iterable[str | Sequence[str]], **said: Any) -> Request[TablesAnswer]:
    """These tables: see `Budget.tables`."""
    return Request(tables_question(at.table, tables, **said), at, TablesAnswer)
