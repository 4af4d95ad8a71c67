"""A suggestion as a question: noisy histograms, from which caps and bounds are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.candidates import least_noise
from sitr.noise.coins import Coins
from sitr.numbers import Number, upward
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.nodes import text
from sitr.questions.suggest.spreads import Spread
from sitr.questions.ways import Way, ways

TIMES = 10
"""A question is expected to cost this many times as much as its suggestion, unless a price is given."""


@dataclass(frozen=True, slots=True)
class SuggestionPlan(Plan):
    """One measurement for each histogram; `target` is the question that the suggestion is for, `later` its price."""

    target: BoundedQuery
    spreads: tuple[Spread, ...]
    later: Promise

    @property
    def query(self) -> BoundedQuery:
        """A query that says who is protected."""
        return self.target

    def noise(self, place: int) -> Noise:
        """The noise of one histogram."""
        return cast("Noise", self.measurements[place].mechanism)


@dataclass(frozen=True, slots=True)
class SuggestionQuestion:
    """The histograms of a question. `later` is the price at which it will be asked, ten times that of the suggestion
    if it is None."""

    target: BoundedQuery
    spreads: tuple[Spread, ...]
    later: Promise | None = None

    def text(self) -> str:
        return f"SUGGEST CAPS AND BOUNDS FOR {text(self.target.query)}"

    def plan(self, price: Promise, /) -> SuggestionPlan:
        """The histograms with equal shares of the price, and the noise with the least error."""
        plans = [self._plan(way) for way in ways(affordable(price))]
        return min(plans, key=lambda plan: sum(each.error() for each in plan.measurements))

    def _plan(self, way: Way) -> SuggestionPlan:
        part, found = way.bought.share(Fraction(1, len(self.spreads))), []
        for spread in self.spreads:
            far = spread.distance(self.target.changes)
            found.append(Measurement(spread.name, least_noise(part, l1=far.l1, l2=far.l2), far))
        later = self.later if self.later is not None else way.charged * TIMES
        return SuggestionPlan(tuple(found), way.charged, self.text(), self.target, self.spreads, later)

    def reading(self) -> tuple[BoundedQuery, ...]:
        """One reading for each histogram."""
        return tuple(spread.query for spread in self.spreads)

    def answer(self, plan: SuggestionPlan, exact: tuple[Cells, ...], /, *, coins: Coins) -> SuggestionRelease:
        """The number of people in every cell, with noise, whether somebody is in it or not."""
        found = []
        for place, (spread, cells) in enumerate(zip(plan.spreads, exact, strict=True)):
            people = next(iter(cells.values()))[0] if cells else {}
            counts = [people.get(number, 0) for number in range(spread.first, spread.last + 1)]
            found.append(tuple(plan.noise(place).release(counts, coins=coins)))
        return SuggestionRelease(plan, tuple(found))

    def errors(self, plan: SuggestionPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of the number of people in a cell of each histogram."""
        return {each.name: upward(each.mechanism.error(confidence=confidence)) for each in plan.measurements}


@dataclass(frozen=True, slots=True)
class SuggestionRelease:
    """The noisy number of people in each cell of each histogram."""

    plan: SuggestionPlan
    counts: tuple[tuple[int, ...], ...]

    def possible(self) -> bool:
        """Whether this plan could have released these numbers."""
        sizes = [spread.size for spread in self.plan.spreads]
        whole = all(type(number) is int for numbers in self.counts for number in numbers)
        return whole and [len(numbers) for numbers in self.counts] == sizes
