"""Events that tell two inputs apart, learned from draws that are not used to test them.

The draws for learning are in two parts. The first orders the cells of every feature by how much likelier they are on
the first input; the second chooses how many of them make an event. With one part for both, the chosen event would look
better than it is, and the choice would favour small events that stand out by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sitr.audit.empirical.claims import excess
from sitr.audit.empirical.features import ENOUGH, Feature, features, log_ratios, quantiles
from sitr.audit.empirical.sample import Sample
from sitr.flavors.promise import Promise
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import special
else:
    np, special = Later("numpy"), Later("scipy.special")

DISCRETE = 1_024
"""A feature with at most this many values has a cell for each."""

QUANTILES = 128
"""Cells of any other feature, apart from those far out and those of single values that are frequent."""


class Order(Enum):
    """The order in which cells join an event."""

    LIKELIER = "likelier"
    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The values of a feature, cut into cells: below the first edge, from each edge to the next, and missing ones."""

    feature: Feature
    edges: NDArray[np.float64]

    @property
    def count(self) -> int:
        return len(self.edges) + 2

    def of(self, sample: Sample) -> NDArray[np.int64]:
        """The cell of each answer."""
        column = self.feature.column(sample)
        found = np.searchsorted(self.edges, column, side="right")
        return np.where(np.isnan(column), len(self.edges) + 1, found)

    @classmethod
    def learned(cls, feature: Feature, first: Sample, second: Sample) -> Cells:
        """Cells of about the same number of draws, and a cell for every value that is frequent by itself."""
        pooled = np.concatenate([feature.column(each[slice(0, ENOUGH // 2)]) for each in (first, second)])
        pooled = pooled[~np.isnan(pooled)]
        values, counts = np.unique(pooled, return_counts=True)
        if len(values) <= DISCRETE:
            return cls(feature, values)
        far = np.array([10.0**-k for k in range(2, 6)])
        places = np.concatenate([np.linspace(0, 1, QUANTILES + 1)[1:-1], far, 1 - far])
        atoms = values[counts > len(pooled) / 256]
        return cls(
            feature, np.unique(np.concatenate([quantiles(pooled, places), atoms, np.nextafter(atoms, math.inf)]))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The cells of a feature in the order in which they join events: a family of nested events."""

    cells: Cells
    order: Order
    ranks: NDArray[np.int64]
    """The place of each cell in the order."""

    def of(self, sample: Sample) -> NDArray[np.int64]:
        """The rank of each answer: the event of size k contains the ranks below k."""
        return self.ranks[self.cells.of(sample)]

    def hits(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of these answers are in the event of size 1, 2, …"""
        return np.cumsum(np.bincount(ranks, minlength=self.cells.count))


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """The answers of the first ranks; it was learned as likelier on the first input."""

    ranking: Ranking
    size: int
    promising: float
    """How far beyond the claim it seemed when it was chosen."""

    def edge(self) -> float | None:
        """The value at which the event begins or ends, if it is all values above or below it."""
        edges, order = self.ranking.cells.edges, self.ranking.order
        if order is Order.LIKELIER:
            return None
        # The last k cells begin at the k-th edge from the end, and the first k end at the k-th one.
        place = len(edges) - self.size if order is Order.ABOVE else self.size - 1
        return float(edges[place]) if 0 <= place < len(edges) else None

    def members(self) -> NDArray[np.float64]:
        """The lower ends of the cells in the event, likeliest first; −∞ for the first cell and NaN for missing ones."""
        ends = np.concatenate([[-math.inf], self.ranking.cells.edges, [math.nan]])
        return ends[np.argsort(self.ranking.ranks)[: self.size]]


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The events to test, the most promising one first, and the ranking whose events draw the curves."""

    events: tuple[Event, ...]
    curve: tuple[Event, ...]
    groups: NDArray[np.int64]
    """The group of each rank of the curve's ranking: a partition for divergences."""

    @property
    def ranking(self) -> Ranking:
        return self.curve[0].ranking


EVENTS, CURVE, GROUPS = 4, 16, 12
"""How many events are tested, how many are on the curves, and the cells of divergences."""


def learn(first: Sample, second: Sample, claim: Promise, *, tested: int, failure: float) -> Learned:
    """The events that look worst for a claim, for a test with this many draws on each input."""
    half = len(first) // 2
    order = (first[slice(0, half)], second[slice(0, half)])
    choose = (first[slice(half, len(first))], second[slice(half, len(second))])
    found: list[tuple[Event, NDArray[np.float64], NDArray[np.float64]]] = []
    for feature in features(*order):
        best = [_best(ranking, *choose, claim, tested=tested, failure=failure) for ranking in rankings(feature, *order)]
        found.append(max(best, key=lambda each: each[0].promising))
    found.sort(key=lambda each: -round(each[0].promising, 2))  # of two that are as good, the simpler feature
    return _learned(found)


def rankings(feature: Feature, first: Sample, second: Sample) -> list[Ranking]:
    """By the learned ratio, and by value in both directions: the latter cannot be misled by chance."""
    cells = Cells.learned(feature, first, second)
    ratios = log_ratios(cells.of(first), cells.of(second), cells=cells.count)
    likelier = np.empty(cells.count, dtype=np.int64)
    likelier[np.argsort(-ratios, kind="stable")] = np.arange(cells.count)
    above = np.arange(cells.count)[::-1].copy()
    above[-1], above[:-1] = cells.count - 1, np.arange(cells.count - 1)[::-1]  # missing values come last
    return [
        Ranking(cells, Order.LIKELIER, likelier),
        Ranking(cells, Order.ABOVE, above),
        Ranking(cells, Order.BELOW, np.arange(cells.count)),
    ]


def _best(
    ranking: Ranking, first: Sample, second: Sample, claim: Promise, *, tested: int, failure: float
) -> tuple[Event, NDArray[np.float64], NDArray[np.float64]]:
    """The event of a ranking whose bounds would be worst for the claim if the test saw the same frequencies."""
    shares = [ranking.hits(ranking.of(each))[:-1] / len(each) for each in (first, second)]
    p, q = shares
    low = special.betaincinv(np.maximum(p * tested, 1e-9), (1 - p) * tested + 1, failure)
    high = special.betaincinv(q * tested + 1, np.maximum((1 - q) * tested, 1e-9), 1 - failure)
    beyond = np.where(low > high, excess(claim, np.maximum(low, high), high), -1e9 + low - high)
    best = int(np.argmax(beyond))
    return Event(ranking, best + 1, float(beyond[best])), p, q


def _learned(found: list[tuple[Event, NDArray[np.float64], NDArray[np.float64]]]) -> Learned:
    best, p, q = found[0]
    # Events of the curve at about equal distances in p + q, and always the best one.
    both = p + q
    wanted = np.linspace(0, both[-1], CURVE + 2)[1:-1]
    sizes = np.unique(np.clip(np.searchsorted(both, wanted) + 1, 1, len(both)))
    curve = tuple(Event(best.ranking, int(size), math.nan) for size in sizes)
    groups = np.minimum((np.concatenate([both, [2.0]]) / 2 * GROUPS).astype(np.int64), GROUPS - 1)
    return Learned(tuple(each for each, _, _ in found[:EVENTS]), curve, groups)
