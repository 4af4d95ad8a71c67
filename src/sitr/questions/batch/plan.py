"""The plan of a batch: all measurements of all questions, and the plan of each question within it."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.numbers import Number
from sitr.plans.plan import Plan
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.plan import BEYOND, AggregatePlan
from sitr.questions.aggregate.second_cap import LOST


@dataclass(frozen=True, slots=True)
class BatchPlan(Plan):
    """One plan for several questions, by name. Its measurements are those of the `groups`, one after the other.

    Each group is the plan of one reading, which measures what its questions need; `places` has the group of each
    question.
    """

    names: tuple[str, ...]
    queries: tuple[BoundedQuery, ...]
    groups: tuple[AggregatePlan, ...]
    places: tuple[int, ...]

    @property
    def query(self) -> BoundedQuery:
        """A query that says who is protected: the same people in all questions."""
        return self.queries[0]

    @property
    def parts(self) -> tuple[AggregatePlan, ...]:
        """The plan of each question: its own measurements, at the price that is charged for all questions together."""
        return tuple(map(self._part, self.queries, self.places))

    def _part(self, query: BoundedQuery, place: int) -> AggregatePlan:
        group = self.groups[place]
        by_terms = dict(zip(group.query.measured, group.measurements, strict=False))
        beyond = query.watch is not None and query.watch.beyond
        rows = query.watch is not None and query.watch.rows is not None
        left = {name for name, measured in ((BEYOND, beyond), (LOST, rows)) if not measured}
        others = group.measurements[len(by_terms) :]
        return AggregatePlan(
            (
                *(by_terms[terms] for terms in query.measured),
                *(each for each in others if each.name not in left),
            ),
            self.price,
            text(query.query),
            query,
        )

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of every column, by the names of the question and of the column: "wards.n"."""
        found: dict[str, float] = {}
        for name, part in zip(self.names, self.parts, strict=True):
            found |= {f"{name}.{column.name}": part.expected(column, confidence=confidence) for column in part.columns}
        return found
