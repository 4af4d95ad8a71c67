"""The second look at pairs of columns: which pairs deserve finer groups, decided by noisy numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.questions.histogram.projection import simplex
from sitr.questions.synthetic.plan import FINE, MOST_GROUPS, NORMAL, Division

Weights = NDArray[np.float64]
Codes = NDArray[np.int64]
Pair = tuple[int, ...]

RAKES = 5
"""How many times a table is fitted to its margins."""

TRUST = 0.2
"""Pairs are measured again if noise explains less than the rest of their distance from independence."""

CANDIDATES = 32
"""How many numbers of finer pairs are compared, at most."""


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
    """About how much a table hides in its groups, and what noise does to a table by cells."""

    columns: Pair
    hidden: float
    noise: float
    shares: Weights
    sums: Weights

    def noise_of(self, deviation: float) -> float:
        """Noise adds about its mean size to a full cell, and no more than the share of a nearly empty one."""
        small = int(np.searchsorted(self.shares, deviation))
        return float(self.sums[small] + deviation * (len(self.shares) - small))


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What the second look measures beside single columns: these pairs, some of them by finer groups."""

    pairs: tuple[Pair, ...]
    finer: tuple[Pair, ...]
    most: int
    """The number of finer groups of a column."""


def choose(
    looked: Sequence[FirstLook], *, total: float, division: Division, groups: Sequence[Codes], cells: Sequence[int]
) -> SecondLook:
    """Pairs that seem to be independent are not measured again. The others are, by finer groups where that is better.

    The loss within groups is not seen. It is estimated from what is lost if neighbouring groups are put together two
    by two, of which it is about half. Finer tables have more noise, the more of them there are; the number of pairs
    with the largest gain is chosen. None of this reads a row.
    """
    sizes = np.array([int(each.max()) + 1 for each in groups])
    kept = [each for each in looked if each.trust(total) >= TRUST]
    found = sorted((_candidate(each, total, groups, cells) for each in kept), key=lambda each: -each.hidden)
    worth = sum(each.hidden > 0 for each in found)
    start, best = int(sizes.max()), (0.0, int(sizes.max()), 0)
    for count in np.unique(np.geomspace(1, max(1, worth), CANDIDATES).astype(int))[: CANDIDATES if worth else 0]:
        most, coarse = start, [int(sizes[list(each.columns)].prod()) for each in found[count:]]
        for _ in range(3):  # groups and noise depend on each other
            grown = np.minimum(cells, np.maximum(most, sizes))
            fine = [int(grown[list(each.columns)].prod()) for each in found[:count]]
            noise = division.second_deviations(np.array([*fine, *coarse, *cells], dtype=np.float64))[:count]
            most = int(min(MOST_GROUPS, max(start, np.sqrt(total / (FINE * noise.mean())))))
        pairs = zip(found[:count], noise / total, strict=True)
        gain = sum(
            each.hidden * (1 - start / most) - max(0.0, each.noise_of(NORMAL * deviation) - each.noise)
            for each, deviation in pairs
        )
        if gain > best[0]:
            best = (gain, most, int(count))
    finer = tuple(sorted(each.columns for each in found[: best[2]]))
    return SecondLook(tuple(each.columns for each in kept), finer, best[1])


def _candidate(look: FirstLook, total: float, groups: Sequence[Codes], cells: Sequence[int]) -> _Candidate:
    shares, far = look.shares(total), look.deviation / total
    i, j = look.columns
    merged = sum(cells[place] > int(groups[place].max()) + 1 for place in (i, j)) / 2
    noise = np.minimum(far, shares)
    hidden = max(0.0, float(np.abs(shares - _in_twos(shares)).sum() - 0.7 * noise.sum())) / 2 * merged
    counts = np.outer(np.bincount(groups[i]), np.bincount(groups[j]))
    by_cell = np.sort(np.repeat((shares / counts).ravel(), np.minimum(counts, 64).ravel()))
    sums = np.append(0.0, np.cumsum(by_cell))
    return _Candidate(look.columns, hidden, float(NORMAL * noise.sum()), by_cell, sums)


def _in_twos(shares: Weights) -> Weights:
    """The table if groups were put together two by two and spread again by the margins."""
    rows, columns = (np.arange(size) // 2 for size in shares.shape)
    sums = np.zeros((rows[-1] + 1, columns[-1] + 1))
    np.add.at(sums, (rows[:, None], columns[None, :]), shares)
    return np.asarray(
        sums[rows][:, columns] * np.outer(_within(shares.sum(axis=1), rows), _within(shares.sum(axis=0), columns))
    )


def _within(share: Weights, groups: Codes) -> Weights:
    together = np.bincount(groups, weights=share)[groups]
    return np.asarray(share / np.maximum(together, 1e-300))
