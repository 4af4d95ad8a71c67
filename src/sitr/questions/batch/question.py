"""Several aggregate questions as one: one plan, several readings, and a release of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.batch.fit import fit
from sitr.questions.batch.plan import BatchPlan
from sitr.questions.batch.readings import shared_readings


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """Questions by name, each with a weight: its share of the price."""

    names: tuple[str, ...]
    queries: tuple[BoundedQuery, ...]
    weights: tuple[Fraction, ...]

    def text(self) -> str:
        return f"BATCH OF {len(self.names)}: {'; '.join(map(_spelled, self.names, self.queries))}"

    def plan(self, price: Promise, /) -> BatchPlan:
        """The plan at this price, for all questions together."""
        return fit(self.queries, price, names=self.names, weights=self.weights, text=self.text())

    def reading(self) -> tuple[BoundedQuery, ...]:
        """The bounded queries, one for all questions that read the same rows with the same caps."""
        return tuple(group.query for group in shared_readings(self.queries))

    def answer(self, plan: BatchPlan, exact: tuple[Cells, ...], /, *, coins: Coins) -> BatchRelease:
        """The exact integers of each reading with noise."""
        pairs = zip(plan.groups, exact, strict=True)
        found = (AggregateQuestion(group.query).answer(group, cells, coins=coins) for group, cells in pairs)
        return BatchRelease(plan, tuple(found))

    def errors(self, plan: BatchPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of every column, by the names of the question and of the column."""
        return plan.errors(confidence=confidence)


def _spelled(name: str, query: BoundedQuery) -> str:
    return f"{name}: {text(query.query)}"


@dataclass(frozen=True, slots=True)
class BatchRelease:
    """The noisy numbers of each reading; the answer to each question follows from them."""

    plan: BatchPlan
    groups: tuple[Release, ...]

    @property
    def parts(self) -> tuple[Release, ...]:
        """What was released for each question."""
        found = []
        for plan, place in zip(self.plan.parts, self.plan.places, strict=True):
            group = self.groups[place]
            terms = group.plan.query.terms
            columns = [terms.index(term) for term in plan.query.terms]
            measured = tuple(tuple(row[column] for column in columns) for row in group.measured)
            beyond = None if plan.beyond is None else group.beyond
            lost = None if plan.lost is None else group.lost
            found.append(replace(group, plan=plan, measured=measured, beyond=beyond, lost=lost))
        return tuple(found)

    def possible(self) -> bool:
        """Whether this plan could have released these numbers."""
        plans = self.plan.groups
        return len(self.groups) == len(plans) and all(
            repr(group.plan) == repr(plan) and group.possible() for group, plan in zip(self.groups, plans, strict=True)
        )
