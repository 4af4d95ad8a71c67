"""The caps that can be chosen: finitely many, known before any row is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.suggest.choose import chosen
from sitr.questions.suggest.question import SuggestionRelease
from sitr.questions.suggest.spreads import About, Spread


@dataclass(frozen=True, slots=True)
class CapPair:
    """The most groups that one person counts in, and the most rows in each."""

    max_groups: int
    max_rows_per_group: int

    @classmethod
    def of(cls, query: BoundedQuery) -> CapPair:
        """The caps of a query."""
        return cls(query.max_groups, query.max_rows_per_group)

    def on(self, query: BoundedQuery) -> BoundedQuery:
        """The same query with these caps."""
        return replace(query, max_groups=self.max_groups, max_rows_per_group=self.max_rows_per_group)


def possible(spreads: Sequence[Spread]) -> tuple[CapPair, ...]:
    """All caps that histograms can lead to, the largest last: powers of two up to public maxima."""
    last = {spread.about: spread.last for spread in spreads}
    groups, rows = (range(last.get(about, 1)) for about in (About.GROUPS, About.ROWS))
    return tuple(CapPair(2**group, 2**row) for group in groups for row in rows)


def choose(release: SuggestionRelease) -> CapPair | None:
    """The caps that follow from released histograms, with the bounds of the question; None if noise hides everybody."""
    found = chosen(release, keep_bounds=True)
    if found.max_groups is None or found.max_rows_per_group is None:
        return None
    return CapPair(found.max_groups, found.max_rows_per_group)
