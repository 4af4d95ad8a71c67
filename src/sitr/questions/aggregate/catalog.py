"""The tables that a question may name: the protected one, and what may be joined with it."""

from __future__ import annotations

from collections.abc import Callable

from sitr.dataclass import dataclass
from sitr.dataset.schema import Column, Table

MOST_MATCHES = 1_000
"""The most public rows that one row can match in all joins of a question together: the time of an answer must not show
that somebody's rows match many."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A column of a public table that must equal something; not `exactly` where both are compared as doubles."""

    column: str
    exactly: bool


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A table that everybody may see. The keys of its columns are the values that they hold."""

    name: str
    columns: tuple[Column, ...]
    most: Callable[[tuple[Compared, ...]], int] = lambda _: MOST_MATCHES
    """How many rows, at most, one value of these columns matches; all rows, without columns."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The protected table, and what may be joined with it: public tables, which are opened when they are named, and
    other protected tables."""

    table: Table
    public: tuple[str, ...] = ()
    opened: Callable[[str], PublicTable] | None = None
    beside: tuple[Table, ...] = ()

    @property
    def protected(self) -> tuple[Table, ...]:
        """All protected tables."""
        return self.table, *self.beside

    def own(self, name: str) -> Table | None:
        """The protected table of this name, whatever its case."""
        return next((table for table in self.protected if table.name.lower() == name.lower()), None)

    def find(self, name: str) -> PublicTable | None:
        """The public table of this name, whatever its case."""
        found = [known for known in self.public if known.lower() == name.lower()]
        return self.opened(found[0]) if found and self.opened is not None else None
