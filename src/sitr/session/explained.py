"""A question explained as a tree, for free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.report.explained import Branch, Explained, drawn
from sitr.report.text import terminal


@dataclass(frozen=True, slots=True, repr=False)
class ExplainedQuestion:
    """What a question reads, bounds, measures and shows; `print` draws it."""

    query: BoundedQuery
    plan: AggregatePlan | None = None

    @property
    def tree(self) -> Branch:
        """The lines of the tree, in the language that is spoken."""
        return Explained(self.query, self.plan).branches()

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return Explained(self.query, self.plan).to_dict()

    def __str__(self) -> str:
        return terminal.as_text(drawn(self.tree))

    __repr__ = __str__
