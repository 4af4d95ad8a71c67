"""Aggregates by group, as a question: its plan, its reading and its noisy answer."""

from __future__ import annotations

from typing import Any, cast

from sitr.dataclass import dataclass
from sitr.flavors.promise import Promise
from sitr.mechanisms.mechanism import Mechanism
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.keys import shown_keys
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.other import draws, gathered, other_cells, other_keys, spread
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.quantity import Quantity, Rank
from sitr.questions.aggregate.release import Release


@dataclass(frozen=True, slots=True)
class AggregateQuestion:
    """A bounded query. The same question in SQL and in Python calls is the same value."""

    query: BoundedQuery

    def text(self) -> str:
        return text(self.query.query)

    def plan(self, price: Promise, /) -> AggregatePlan:
        """The plan at this price: an equal share for each term, and a share for the keys if they are not public."""
        return fit(self.query, price)

    def reading(self) -> BoundedQuery:
        """The bounded query, which gives the exact integers of each cell."""
        return self.query

    def answer(self, plan: AggregatePlan, exact: Cells, /, *, coins: Coins) -> Release:
        """The exact integers with noise. Every public key gets noise, whether it has rows or not."""
        keys, passed = shown_keys(plan.query, plan.threshold, exact, coins=coins)
        terms = plan.query.terms
        absent: tuple[Any, ...] = tuple({} if isinstance(term, Rank) else 0 for term in terms)
        cells = [exact.get(key, absent) for key in keys]
        rest = other_cells(plan.query, exact, keys)
        found: dict[Quantity, list[int]] = {} if plan.counted is None else {plan.counted: list(passed)}
        for some, measurement in zip(plan.families, plan.measurements, strict=False):
            if is_total(measurement):  # the same number in every cell
                whole = sum(cell[terms.index(some[0])] for cell in exact.values())
                found[some[0]] = _hidden(measurement.mechanism, [whole], coins) * (len(keys) + len(rest))
                continue
            many = draws(plan.query, measurement.mechanism)
            width, numbers = len(keys) + many * len(rest), []
            for place in (terms.index(term) for term in some):
                numbers += [*(cell[place] for cell in cells), *spread([cell[place] for cell in rest], many)]
            noisy = _hidden(measurement.mechanism, numbers, coins)
            for number, term in enumerate(some):
                own = noisy[number * width : (number + 1) * width]
                found[term] = [*own[: len(keys)], *gathered(own[len(keys) :], many)]
        measured = tuple(zip(*(found[term] for term in terms), strict=True))
        beyond, lost = _beyond(plan, exact, coins), _lost(plan, exact, coins)
        return Release(plan, (*keys, *other_keys(plan.query)), measured, beyond, lost)

    def errors(self, plan: AggregatePlan, /, *, confidence: Number = 0.95, rows: int | None = None) -> dict[str, float]:
        """The largest error of every column; with `rows`, of cells whose noisy count is at least this.

        The error of a mean, for example, depends on the number of rows: without it, only the bounds limit the error.
        A row for other keys, which has more noise than others, is included. Where noisy numbers select the rows, and
        the keys are not public, the errors are for a single released key.
        """
        return {column.name: plan.expected(column, confidence=confidence, rows=rows) for column in plan.columns}


def _hidden(mechanism: Mechanism, numbers: list[Any], coins: Coins) -> list[int]:
    """Drawn as a vector, or one by one where the mechanism is for a single number."""
    if getattr(mechanism, "single", False):
        return [mechanism.release(number, coins=coins) for number in numbers]
    return cast("list[int]", mechanism.release(numbers, coins=coins))


def _beyond(plan: AggregatePlan, cells: Cells, coins: Coins) -> int | None:
    """The people beyond the cap on groups, with noise; None if they are not counted."""
    if plan.beyond is None:
        return None
    exact = next(iter(cells.values()))[-2] if cells else 0
    return _hidden(plan.beyond.mechanism, [exact], coins)[0]


def _lost(plan: AggregatePlan, cells: Cells, coins: Coins) -> int | None:
    """The rows left out, up to a second cap, with noise; None if they are not counted."""
    if plan.lost is None:
        return None
    exact = next(iter(cells.values()))[-2 if plan.beyond is None else -3] if cells else 0
    return _hidden(plan.lost.mechanism, [exact], coins)[0]
