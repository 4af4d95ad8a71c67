"""Noisy counts made into counts that can be: whole, not negative, of a given total. Free of cost, for it sees no rows.

Three ways: the nearest point in the sum of sizes among whole counts (`lattice`), the nearest in Euclidean length with
the total (`simplex`) or without (`nonnegative`).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.errors import QuestionError

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]


MOST_TOTAL = 2**53
"""Beyond this a double does not hold every whole number."""


class Ties(Enum):
    """Which of the nearest points to take, where there are many.

    If the noisy counts, negative ones put to zero, sum to more than the total n, any way to take the excess away is as
    near as any other: no count below zero, none raised. If they sum to less, so is any way to add what is missing.
    """

    BY_INDEX = "by index"
    """Keep, and raise, the first cells: simple, and unfair to the others."""
    SOFT_THRESHOLD = "soft threshold"
    """Take the same from every cell, down to zero, or add the same to every one."""
    DROP_SMALLEST = "drop smallest"
    """Put the smallest counts to zero, or raise the largest in proportion: for cells of which most are empty."""
    PROPORTIONAL = "proportional"
    """Take from, or add to, each cell in proportion to its count: clip and normalise."""


def lattice(noisy: NDArray[Any], *, total: int, ties: Ties) -> Whole:
    """Whole counts c ≥ 0 with Σc = n for which Σ|c_j − y_j| is least, in O(k log k).

    With u = max(0, ⌊y⌋) and v = max(0, ⌈y⌉), each unit of c below u or above v costs exactly 1. So if Σu ≥ n every c ≤
    u is optimal, if Σv ≤ n every c ≥ v is, and otherwise c is u and 1 more where the fractional parts are largest. The
    histogram perturbation method of [HRW11, Sec. 2] asks for this point and is silent about ties, which decide how good
    it is: see `Ties`.

    >>> lattice(np.array([-1.0, 4.2, 2.9]), total=7, ties=Ties.SOFT_THRESHOLD).tolist()
    [0, 4, 3]
    >>> lattice(np.array([3, 40, 2, -3, 2]), total=42, ties=Ties.DROP_SMALLEST).tolist()
    [2, 40, 0, 0, 0]
    """
    y = checked(noisy, total)
    down, up = np.maximum(0, np.floor(y)).astype(np.int64), np.maximum(0, np.ceil(y)).astype(np.int64)
    if down.sum() >= total:
        return _take(down, int(down.sum()) - total, ties)
    if up.sum() <= total:
        return _add(up, total - int(up.sum()), ties)
    more = np.argsort(down - y, kind="stable")[: total - int(down.sum())]  # negative cells have no fractional part
    down[more] += 1
    return down


def simplex(noisy: NDArray[Any], *, total: float) -> Reals:
    """The numbers c ≥ 0 with Σc = n for which Σ(c_j − y_j)² is least: c = max(0, y − τ).      [DSSC08, Fig. 1]

    >>> simplex(np.array([-1.0, 4.0, 2.0]), total=5).tolist()
    [0.0, 3.5, 1.5]
    """
    y = checked(noisy, total)
    return _above(y, total) if total > 0 else np.zeros(len(y))


def nonnegative(noisy: NDArray[Any]) -> Reals:
    """The numbers c ≥ 0 for which Σ(c_j − y_j)² is least: negative counts put to zero.

    >>> nonnegative(np.array([-1, 4])).tolist()
    [0.0, 4.0]
    """
    return np.maximum(0.0, checked(noisy, 0))


def checked(noisy: NDArray[Any], total: float) -> Reals:
    """A row of finite numbers, at least one, and a total that is not negative."""
    y = np.asarray(noisy, dtype=np.float64)
    if y.ndim != 1 or y.size == 0 or not np.isfinite(y).all() or not 0 <= total <= MOST_TOTAL:
        raise QuestionError(
            wanted="Noisy counts are a row of finite numbers, at least one; their total is from 0 to 2^53.",
            given=f"An array of shape {y.shape} and the total {total!r} were given.",
            do="Give all cells of one histogram, and a public or a noisy total rounded to at least 0.",
        )
    most = 2.0**62 / y.size  # so that no sum of whole counts overflows
    return np.clip(y, -most, most)


def _above(y: Reals, total: float) -> Reals:
    """max(0, y − τ) of sum n > 0: τ = (y_1 + … + y_r − n)/r of the counts sorted down, for the last r with y_r > τ.

    Counted from the largest, so that digits are kept where they matter.
    """
    below = y - y.max()
    falling = np.sort(below)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(y) + 1)
    tau = float(levels[np.flatnonzero(falling > levels)[-1]])
    found: Reals = np.maximum(0.0, below - tau)
    return found


def _take(counts: Whole, excess: int, ties: Ties) -> Whole:
    """Lower counts, none below zero, by the excess together."""
    total = int(counts.sum()) - excess
    if excess == 0 or total == 0:
        return counts if excess == 0 else np.zeros_like(counts)
    match ties:
        case Ties.BY_INDEX:
            return np.diff(np.minimum(np.cumsum(counts), total), prepend=0)
        case Ties.DROP_SMALLEST:
            order = np.argsort(counts, kind="stable")
            kept = np.empty_like(counts)
            kept[order] = np.diff(np.maximum(0, np.cumsum(counts[order]) - excess), prepend=0)
            return kept
        case Ties.SOFT_THRESHOLD:
            return _rounded(_above(counts.astype(np.float64), total), total, most=counts)
        case Ties.PROPORTIONAL:
            return _rounded(counts * (total / counts.sum()), total, most=counts)


def _add(counts: Whole, missing: int, ties: Ties) -> Whole:
    """Raise counts by what is missing together."""
    total = int(counts.sum()) + missing
    if missing == 0:
        return counts
    if ties is Ties.BY_INDEX:
        raised = counts.copy()
        raised[0] += missing
        return raised
    weights = np.ones(len(counts)) if ties is Ties.SOFT_THRESHOLD or not counts.any() else counts / counts.sum()
    return counts + _rounded(weights * (missing / weights.sum()), total - int(counts.sum()))


def _rounded(reals: Reals, total: int, *, most: Whole | None = None) -> Whole:
    """Whole numbers next to these that sum to the total: those with the largest fractional parts are rounded up.

    Sums of doubles may be off by some units: what is left over goes where there is room, in the same order.
    """
    down = np.floor(reals).astype(np.int64)
    if most is not None:
        down = np.minimum(down, most)
    order = np.argsort(down - reals, kind="stable")
    while (left := total - int(down.sum())) != 0:
        sign = 1 if left > 0 else -1
        room = down < most if left > 0 and most is not None else down > 0 if left < 0 else np.ones(len(down), np.bool_)
        chosen = order[room[order]][: abs(left)]
        down[chosen] += sign
    return down
