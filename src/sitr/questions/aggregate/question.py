"""Aggregates by group, as a question: its plan, its reading and its noisy answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any, cast

from sitr.dataset.schema import Key
from sitr.flavors.promise import Promise
from sitr.mechanisms.mechanism import Mechanism
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.nodes import text
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
        keys, terms = _shown(plan, exact, coins), plan.query.terms
        absent: tuple[Any, ...] = tuple({} if isinstance(term, Rank) else 0 for term in terms)
        cells = [exact.get(key, absent) for key in keys]
        found: dict[Quantity, list[int]] = {}
        for some, measurement in zip(plan.query.measured, plan.measurements, strict=False):
            places = [terms.index(term) for term in some]
            if is_total(measurement):  # the same number in every cell
                whole = sum(cell[places[0]] for cell in exact.values())
                found[some[0]] = _hidden(measurement.mechanism, [whole], coins) * len(keys)
                continue
            numbers = _hidden(measurement.mechanism, [cell[place] for place in places for cell in cells], coins)
            found |= {term: numbers[i * len(keys) : (i + 1) * len(keys)] for i, term in enumerate(some)}
        measured = tuple(zip(*(found[term] for term in terms), strict=True))
        return Release(plan, keys, measured, _beyond(plan, exact, coins))

    def errors(self, plan: AggregatePlan, /, *, confidence: Number = 0.95, rows: int | None = None) -> dict[str, float]:
        """The largest error of every column; with `rows`, of cells whose noisy count is at least this.

        The error of a mean, for example, depends on the number of rows: without it, only the bounds limit the error.
        """
        sure = plan.together(confidence, cells=plan.query.cells or 1)
        return {column.name: column.error(confidence=sure, rows=rows) for column in plan.columns}


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


def _shown(plan: AggregatePlan, cells: Cells, coins: Coins) -> tuple[tuple[Key, ...], ...]:
    """All public keys in their declared order; otherwise the keys above the threshold, sorted."""
    if plan.threshold is None:
        return tuple(product(*(key.keys for key in plan.query.keys if key.keys is not None)))
    candidates = in_order(cells)
    noisy = plan.threshold.release([cells[key][-1] for key in candidates], coins=coins)
    return tuple(key for key, people in zip(candidates, noisy, strict=True) if people is not None)


def in_order(keys: Iterable[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """The keys sorted by value, NULL last, so that their order does not depend on the order of the rows."""
    return sorted(keys, key=_order)


def _order(key: tuple[Key, ...]) -> tuple[tuple[bool, str | int], ...]:
    return tuple((part is None, _comparable(part)) for part in key)


def _comparable(part: Key) -> str | int:
    """Dates sort by their text, which has the same order. A missing part is compared with missing ones only."""
    match part:
        case None:
            return 0
        case date():
            return part.isoformat()
    return part
