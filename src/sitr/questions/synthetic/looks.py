"""The second look at pairs of columns: which pairs deserve finer groups, decided by noisy numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sitr.questions.histogram.projection import simplex
from sitr.questions.synthetic.plan import LEFT, NORMAL, Division

Weights = NDArray[np.float64]
Codes = NDArray[np.int64]
Pair = tuple[int, ...]

RAKES = 5
"""How many times a table is fitted to its margins."""

SURE = 2.0
"""Pairs may be measured again if they are farther from independence than noise is by its mean and this many standard
deviations."""

TURNS = 8
"""How many times the sizes of tables and their noise are adapted to each other."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """A noisy table of two columns by groups: `expected` has its shares if the columns were independent."""

    columns: Pair
    counts: Weights
    deviation: float
    expected: Weights

    def apart(self, total: float) -> Weights:
        """The counts less those of independent columns, without the part that changes margins.

        Dependence leaves both margins as they are, so whatever changes them is noise.
        """
        found = self.counts - self.expected * total
        return np.asarray(found - found.mean(axis=0, keepdims=True) - found.mean(axis=1, keepdims=True) + found.mean())

    def trust(self, total: float) -> float:
        """The part of the squared distance from independence that noise does not explain, on average."""
        return max(0.0, 1 - self._free * self.deviation**2 / max(self._squared(total), 1e-300))

    def seen(self, total: float) -> bool:
        """Whether noise alone would rarely be so far from independence: Σ r² = s²χ², (a − 1)(b − 1) degrees of
        freedom."""
        return self._squared(total) > (self._free + SURE * math.sqrt(2 * self._free)) * self.deviation**2

    @property
    def _free(self) -> int:
        return math.prod(size - 1 for size in self.counts.shape)

    def _squared(self, total: float) -> float:
        return float((self.apart(total) ** 2).sum())

    def shares(self, total: float) -> Weights:
        """The shares without most of the noise: between the nearest probabilities and independence, with the margins.

        They are moved towards independence as far as noise explains the distance, like a James–Stein estimate.
        """
        trust, counts = self.trust(total), self.expected * total + self.apart(total)
        nearest = simplex(counts.ravel(), total=total).reshape(counts.shape)
        found = trust * nearest / nearest.sum() + (1 - trust) * self.expected
        found = np.where(self.expected > 0, found, 0.0) + 1e-3 * self.expected
        for axis in (1, 0) * RAKES:
            wanted, have = (each.sum(axis=axis, keepdims=True) for each in (self.expected, found))
            found = found * (wanted / np.maximum(have, 1e-300))
        return np.asarray(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A table of the first look: about how much it hides in the groups of each column, the shares of its cells, and how
    far they are from those of independent columns."""

    columns: Pair
    hidden: tuple[float, ...]
    shares: Weights
    apart: float


@dataclass(frozen=True, slots=True)
class Again:
    """A pair that is measured again: `levels` are the places of its groupings among those of each column.

    `cells` is about the number of its cells that hold more than noise. The price is divided by these numbers.
    """

    columns: Pair
    levels: Pair
    cells: int


@dataclass(frozen=True, slots=True)
class _Prices:
    """What noise costs: a table with weight w of W has the standard deviation one·(W/w)^root of a share."""

    one: float
    whole: float
    root: float
    """1/2 for Gaussian noise, 1 for Laplace noise."""

    @property
    def power(self) -> float:
        """The least sum of noise over all cells has weights in proportion to cells^power."""
        return 1 / (1 + self.root)

    def deviation(self, weight: float) -> float:
        """The noise of a share in a table with this weight."""
        return float(self.one * (self.whole / weight**self.power) ** self.root)

    def effective(self, shares: Weights, finer: float) -> tuple[float, float]:
        """How many cells of a table hold more than their noise, if each is divided by `finer`; and the noise of all."""
        cells = shares.size * finer
        for _ in range(TURNS):
            deviation = self.one * (self.whole / cells**self.power) ** self.root
            cells = max(1.0, float(np.minimum(finer, shares / deviation).sum()))
        return cells, cells * self.one * (self.whole / cells**self.power) ** self.root


def choose(
    looked: Sequence[FirstLook],
    *,
    total: float,
    division: Division,
    shares: Sequence[Weights],
    groupings: Sequence[Sequence[Codes]],
) -> tuple[list[int], list[Again]]:
    """Pairs that seem to be independent are not measured again, nor those whose dependence is less than what a table
    costs. The others are, by finer groups where that is better.

    The loss within groups is not seen. It is estimated from what is lost if neighbouring groups are put together two
    by two: about half of it with the groups as they are, and a quarter with twice as many. `groupings` are those of
    each column, from the groups of the first look to the finest ones.

    A cell adds its noise κs/n to Σ|p − q|, with κ = √(2/π), but not more than its share, so that a table has
    e = Σ min(1, pn/(κs)) effective cells. For Gaussian noise, shares of the price in proportion to w = e^⅔ give the
    least sum of κse/n. With s = s₁√(W/w) and W = Σw, all tables together have κs₁W^(3/2)/n, whose derivative by w is
    3/2 of the quotient of the noise of the table and w. For Laplace noise it is twice that quotient. So a larger table
    is charged 3/2 or 2 times its own noise, as far as the fit leaves it. None of this reads a row.

    The result begins with how much the table of each column weighs, for which `_Column.weight` has the reason.
    """
    kept = [_candidate(each, total) for each in looked if each.seen(total)]
    one, root = NORMAL * division.second_deviation() / total, division.root
    power, sized = 1 / (1 + root), [(0.0, Again(each.columns, (0, 0), each.shares.size)) for each in kept]
    columns = [_Column.of(place, division, looked, shares, total) for place in range(len(shares))]
    weights = [float(share.size) for share in shares]
    for _ in range(TURNS):
        found = [again for each, (cost, again) in zip(kept, sized, strict=True) if cost < each.apart]
        prices = _Prices(one, sum(size**power for size in (*weights, *(each.cells for each in found))), root)
        weights = [each.weight(weight, prices, found, groupings) for each, weight in zip(columns, weights, strict=True)]
        sized = [_sized(each, prices, [groupings[place] for place in each.columns]) for each in kept]
    return [max(1, round(weight)) for weight in weights], found


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A single column: its shares, and what the first tables know of its cells and of its groups, as precisions."""

    place: int
    shares: Weights
    alone: float
    groups: int
    paired: float
    times: float
    """How many pairs have its noise, each of which counts `LEFT` times that of a table of a pair."""

    @classmethod
    def of(
        cls, place: int, division: Division, looked: Sequence[FirstLook], shares: Sequence[Weights], total: float
    ) -> _Column:
        scale = NORMAL / total
        mine = [each for each in looked if place in each.columns]
        groups = max((each.counts.shape[each.columns.index(place)] for each in mine), default=1)
        precise = sum(groups / (each.counts.size * (scale * each.deviation) ** 2) for each in mine)
        alone = (scale * division.alone()[place].deviation) ** -2
        return cls(place, shares[place], alone, groups, precise, (len(shares) - 1) / LEFT)

    def weight(
        self, before: float, prices: _Prices, found: Sequence[Again], groupings: Sequence[Sequence[Codes]]
    ) -> float:
        """How much its table weighs among those of the second look, if it weighed so much before.

        With precision o of a cell in the second look and q elsewhere, the noise is (o + q)^(−1/2). A weight w ∝ o
        changes it as much as a·o^(−1/2) with a = (o/(o + q))^(3/2). Differences within groups are measured by its own
        tables alone; those between groups by the tables of its pairs as well, whose rows add up to them.
        """
        groups, paired = self.groups, self.paired
        for each in found:
            if self.place in each.columns:
                here = int(groupings[self.place][each.levels[each.columns.index(self.place)]].max()) + 1
                groups = max(groups, here)
                cells = np.prod(
                    [int(groupings[i][level].max()) + 1 for i, level in zip(each.columns, each.levels, strict=True)]
                )
                paired += here / (float(cells) * prices.deviation(each.cells) ** 2)
        part = min(1.0, groups / self.shares.size)
        own = prices.deviation(before) ** -2
        within, between = own / (own + self.alone), own / (own + self.alone + paired / part)
        holding = float(np.minimum(1.0, self.shares / prices.deviation(before)).sum())
        return max(1.0, self.times * holding * float((1 - part) * within**1.5 + part * between**1.5))


def _sized(found: _Candidate, prices: _Prices, groupings: Sequence[Sequence[Codes]]) -> tuple[float, Again]:
    """The groupings with the least loss within groups and noise, and this loss."""
    sizes = [[int(groups.max()) + 1 for groups in column] for column in groupings]
    cells = [len(column[0]) for column in groupings]
    options = []
    for levels in product(*(range(len(column)) for column in groupings)):
        now = [column[level] for column, level in zip(sizes, levels, strict=True)]
        finer = [here / column[0] for here, column in zip(now, sizes, strict=True)]
        effective, noise = prices.effective(found.shares, float(np.prod(finer)))
        lost = sum(
            loss / ratio for here, most, loss, ratio in zip(now, cells, found.hidden, finer, strict=True) if here < most
        )
        options.append((lost + LEFT * (1 + prices.root) * noise, levels, max(1, round(effective))))
    least, best, effective = min(options)
    return least, Again(found.columns, best, effective)


def _candidate(look: FirstLook, total: float) -> _Candidate:
    shares = look.shares(total)
    noise = 0.7 * float(np.minimum(look.deviation / total, shares).sum())
    lost = (float(np.abs(table - _in_twos(table)).sum()) for table in (shares, shares.T))
    apart = float(np.abs(shares - look.expected).sum())
    return _Candidate(look.columns, tuple(max(0.0, each - noise) / 2 for each in lost), shares, apart)


def _in_twos(shares: Weights) -> Weights:
    """The table if groups of its first column were put together two by two and spread again by the margin."""
    twos = np.arange(len(shares)) // 2
    sums = np.zeros((twos[-1] + 1, shares.shape[1]))
    np.add.at(sums, twos, shares)
    margin = shares.sum(axis=1)
    within = margin / np.maximum(np.bincount(twos, weights=margin)[twos], 1e-300)
    return np.asarray(sums[twos] * within[:, None])
