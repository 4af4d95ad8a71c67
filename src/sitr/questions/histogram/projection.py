"""Noisy counts projected to possible counts: not negative, with a given total, whole. It reads no rows and is free.

There are three projections: to the nearest whole counts with a total in ℓ1 (`lattice`), to the nearest counts with a
total in ℓ2 (`simplex`), and to the nearest counts without a total (`nonnegative`).
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
"""The largest total: a double holds every whole number up to here."""


class Ties(Enum):
    """Which point to take if several are nearest.

    Let negative counts be zero. If the noisy counts sum to more than the total, all ways to lower them that make none
    negative are equally near. If they sum to less, all ways to raise them are.
    """

    BY_INDEX = "by index"
    """Keep or raise the first cells: simple, and unfair to the others."""
    SOFT_THRESHOLD = "soft threshold"
    """Lower every cell by the same number, down to zero, or raise every cell by the same number."""
    DROP_SMALLEST = "drop smallest"
    """Set the smallest counts to zero, or raise counts in proportion: good if most cells are empty."""
    PROPORTIONAL = "proportional"
    """Lower or raise each cell in proportion to its count: clip and normalise."""


def lattice(noisy: NDArray[Any], *, total: int, ties: Ties) -> Whole:
    """The whole counts c ≥ 0 with Σc = n and the smallest Σ|c_j − y_j|, in O(k log k).

    With u = max(0, ⌊y⌋) and v = max(0, ⌈y⌉), each unit of c below u or above v costs exactly 1. So if Σu ≥ n, every
    c ≤ u is optimal; if Σv ≤ n, every c ≥ v is; otherwise c is u, plus 1 where the fractional parts are largest. The
    histogram perturbation method [HRW11, Sec. 2] uses this point and does not say how to break ties, which decides how
    good it is: see `Ties`.

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
    """The numbers c ≥ 0 with Σc = n and the smallest Σ(c_j − y_j)²: c = max(0, y − τ).      [DSSC08, Fig. 1]

    >>> simplex(np.array([-1.0, 4.0, 2.0]), total=5).tolist()
    [0.0, 3.5, 1.5]
    """
    y = checked(noisy, total)
    return _above(y, total) if total > 0 else np.zeros(len(y))


def nonnegative(noisy: NDArray[Any]) -> Reals:
    """The numbers c ≥ 0 with the smallest Σ(c_j − y_j)²: negative counts become zero.

    >>> nonnegative(np.array([-1, 4])).tolist()
    [0.0, 4.0]
    """
    return np.maximum(0.0, checked(noisy, 0))


def checked(noisy: NDArray[Any], total: float) -> Reals:
    """The noisy counts as doubles, if they are a vector of finite numbers and the total is possible."""
    y = np.asarray(noisy, dtype=np.float64)
    if y.ndim != 1 or y.size == 0 or not np.isfinite(y).all() or not 0 <= total <= MOST_TOTAL:
        raise QuestionError(
            wanted="a vector of finite noisy counts and a total from 0 to 2^53",
            given=f"an array of shape {y.shape} and the total {total!r}",
            do="Give all cells of one histogram, and a public or noisy total that is not negative.",
        )
    most = 2.0**62 / y.size  # no sum of whole counts can overflow
    return np.clip(y, -most, most)


def _above(y: Reals, total: float) -> Reals:
    """max(0, y − τ) with sum n > 0: τ = (y_1 + … + y_r − n)/r for y sorted downward and the last r with y_r > τ.

    Counts are taken relative to the largest, so that no digits are lost where they matter.
    """
    below = y - y.max()
    falling = np.sort(below)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(y) + 1)
    tau = float(levels[np.flatnonzero(falling > levels)[-1]])
    found: Reals = np.maximum(0.0, below - tau)
    return found


def _take(counts: Whole, excess: int, ties: Ties) -> Whole:
    """Lower the sum of the counts by the excess; none becomes negative."""
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
    """Raise the sum of the counts by `missing`."""
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
    """The numbers rounded so that they sum to the total: those with the largest fractional parts are rounded up.

    Sums of doubles may be off by some units; the rest goes to numbers that can change, in the same order.
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
