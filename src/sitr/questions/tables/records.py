"""What is read for tables: the cells of each kept row, and the numbers that are added up."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.dataset.cells import Axis
from sitr.neighbors.distance import Distance
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.term import Term
from sitr.sensitivity.bounded import rows


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of a question without groups: at most `query.max_rows_per_group` of each unit, in all tables together.

    A row without a public cell on one of the axes is left out of all tables: otherwise these would not add up.
    """

    query: BoundedQuery
    axes: tuple[Axis, ...]
    passes: int = 1
    """How often each row is counted after it is read: once in every table that is not coarser than another one."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is added up, each once."""
        return tuple(term for term in self.query.shown_terms if isinstance(term, Term))

    def distance(self) -> Distance:
        """How far one unit moves any table of counts of these rows."""
        return rows(self.query.max_rows_per_group, relation=self.query.changes)

    @property
    def valued(self) -> tuple[Term, ...]:
        """The terms to which rows add different numbers."""
        return tuple(term for term in self.terms if term.of is not None)
