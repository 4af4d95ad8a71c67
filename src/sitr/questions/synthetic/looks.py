"""The second look at pairs of columns: which pairs deserve finer groups, decided by noisy numbers alone."""

from __future__ import annotations

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

TRUST = 0.2
"""Pairs are measured again if noise explains less than the rest of their distance from independence."""

TURNS = 8
"""How many times the sizes of tables and their noise are adapted to each other."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """A noisy table of two columns by groups: `expected` has its shares if the columns were independent."""

    columns: Pair
    counts: Weights
    deviation: float
    expected: Weights

    def trust(self, total: float) -> float:
        """The part of the squared distance from independence that noise does not explain, on average."""
        apart = float(((self.counts - self.expected * total) ** 2).sum())
        return max(0.0, 1 - self.counts.size * self.deviation**2 / max(apart, 1e-300))

    def shares(self, total: float) -> Weights:
        """The shares without most of the noise: between the nearest probabilities and independence, with the margins.

        They are moved towards independence as far as noise explains the distance, like a James–Stein estimate.
        """
        trust = self.trust(total)
        nearest = simplex(self.counts.ravel(), total=total).reshape(self.counts.shape)
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

    def effective(self, shares: Weights, finer: float) -> tuple[float, float]:
        """How many cells of a table hold more than their noise, if each is divided by `finer`; and the noise of all."""
        cells = shares.size * finer
        for _ in range(TURNS):
            deviation = self.one * (self.whole / cells**self.power) ** self.root
            cells = max(1.0, float(np.minimum(finer, shares / deviation).sum()))
        return cells, cells * self.one * (self.whole / cells**self.power) ** self.root


def choose(
    looked: Sequence[FirstLook], *, total: float, division: Division, groupings: Sequence[Sequence[Codes]]
) -> list[Again]:
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
    """
    kept = [_candidate(each, total) for each in looked if each.trust(total) >= TRUST]
    one, root = NORMAL * division.second_deviation() / total, division.root
    prices = _Prices(one, 1.0, root)
    alone = sum(size**prices.power for size in division.columns_again())
    found = [Again(each.columns, (0, 0), each.shares.size) for each in kept]
    for _ in range(TURNS):
        prices = _Prices(one, alone + sum(each.cells**prices.power for each in found), root)
        sized = [_sized(each, prices, [groupings[place] for place in each.columns]) for each in kept]
        found = [each for _, each in sized]
    return [again for each, (cost, again) in zip(kept, sized, strict=True) if cost < each.apart]


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
