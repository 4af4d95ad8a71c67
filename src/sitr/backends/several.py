"""The rows of several tables, each in a backend of its own, and perhaps in another engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sitr.backends.backend import Backend
from sitr.dataclass import dataclass
from sitr.dataset.schema import Kind
from sitr.questions.synthetic.diaries import TableDiary


@dataclass(frozen=True, slots=True)
class SeveralTables:
    """The rows of several tables, each in a backend of its own; the engines may differ."""

    tables: Mapping[str, Backend]
    own: str
    """The table whose budget is asked."""

    def kinds(self) -> dict[str, Kind]:
        """The columns of the table whose budget is asked."""
        return self.tables[self.own].kinds()

    def schema(self) -> pa.Schema:
        """The same with their Arrow types."""
        return self.tables[self.own].schema()

    def verify(self) -> None:
        """Each table was verified when it was protected."""

    def size(self) -> int:
        """The number of rows of the table whose budget is asked."""
        return self.tables[self.own].size()

    def read(self, reading: Any, *, salt: int) -> Any:
        """The rows of one table, which its own backend bounds: no other row leaves an engine."""
        assert isinstance(reading, TableDiary)
        return self.tables[reading.table].read(reading, salt=salt)
