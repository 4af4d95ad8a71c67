"""Buckets: neighbouring cells with similar counts are joined, so that fewer numbers need noise.

Part of the price chooses how a line of cells is cut into buckets. The rest measures the sums of the buckets, and each
sum is spread evenly over its cells. The error of spreading is the deviation D = Σ_j |x_j − mean| over the cells of a
bucket. If one x_j in a bucket of w cells changes by 1, D changes by at most (1 − 1/w) + (w − 1)/w = 2(1 − 1/w) < 2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.neighbors.distance import Distance

Starts = NDArray[np.intp]
Whole = NDArray[np.int64] | NDArray[np.object_]


def deviation(cells: NDArray[Any], *, width: int) -> Whole:
    """w·D of each bucket of w cells, in whole numbers; the line is padded with empty cells.

    >>> deviation(np.array([3, 1, 5, 5]), width=2).tolist()
    [4, 0]
    """
    counts = np.asarray(cells)
    if 2 * width * int(np.abs(counts).sum()) >= 2**62:
        counts = counts.astype(np.object_)  # Python's integers, which no data can make overflow
    short = -len(counts) % width
    rows = np.concatenate([counts, np.zeros(short, counts.dtype)]).reshape(-1, width)
    return np.asarray(np.abs(width * rows - rows.sum(axis=1, keepdims=True)).sum(axis=1))


# Buckets of equal size


def bin_scores(cells: NDArray[Any], *, bins: tuple[int, ...], mean_noise: Fraction) -> list[Fraction]:
    """The score of each number of bins: minus the expected sum of errors over all cells.

    With m bins the expected error is the sum of D over the bins plus m times the mean absolute noise of a bin. A change
    of one count by 1 moves a score by less than 2, so a unit that moves the counts by Δ in ℓ1 moves it by less than 2Δ.

    >>> [float(score) for score in bin_scores(np.array([3, 1, 5, 5]), bins=(1, 2, 4), mean_noise=Fraction(1))]
    [-7.0, -4.0, -4.0]
    """
    scores = []
    for number in bins:
        width = len(cells) // number
        scores.append(-Fraction(int(deviation(cells, width=width).sum()), width) - number * mean_noise)
    return scores


# Buckets whose sizes are powers of two


def heights(cells: int) -> int:
    """J: the sizes of buckets are 2, 4, …, 2^J, and the largest bucket holds all cells."""
    return max(0, cells - 1).bit_length()


def deviation_distance(cells: int, *, moved: Distance) -> tuple[Fraction, Fraction]:
    """How far one unit moves the vector of all deviations D: in ℓ1, and squared in ℓ2.

    A change of one count by 1 is inside one bucket of each size 2^j, and moves its D by at most 2(1 − 2^{−j}). A unit
    makes at most Δ = ℓ1 such changes, one after another, so both norms grow by at most a factor of Δ.

    >>> deviation_distance(4, moved=Distance(l1=1, l2_squared=1, largest=1))
    (Fraction(5, 2), Fraction(13, 4))
    """
    steps = [2 * (1 - Fraction(1, 2**j)) for j in range(1, heights(cells) + 1)]
    return moved.l1 * sum(steps, Fraction(0)), moved.l1**2 * sum((step**2 for step in steps), Fraction(0))


def deviations(cells: NDArray[Any]) -> list[Whole]:
    """2^J·D of all buckets of 2, 4, …, 2^J cells: whole numbers, to which noise can be added."""
    top = heights(len(cells))
    counts = np.asarray(cells)
    if 2 ** (top + 1) * int(np.abs(counts).sum()) >= 2**62:
        counts = counts.astype(np.object_)
    return [deviation(counts, width=2**j) * 2 ** (top - j) for j in range(1, top + 1)]


def cut(noisy: list[NDArray[Any]], *, cells: int, mean_noise: float) -> Starts:
    """The starts of the buckets with the smallest sum of noisy deviations and of expected noise.

    A bucket stays whole if that costs no more than the best cuts of its two halves.      [LHMW14, Sec. 5]
    `noisy` are the results of `deviations` with noise.

    >>> flat = [np.array([0.0, 0.0, 99.0, 0.0]), np.array([0.0, 99.0]), np.array([99.0])]
    >>> cut(flat, cells=8, mean_noise=1.0).tolist()
    [0, 4, 5, 6]
    """
    top = heights(cells)
    best = np.full(2**top, mean_noise)
    best[cells:] = 0.0  # cells that pad the line are not measured
    whole: list[NDArray[np.bool_]] = []
    for level in noisy:
        halves = best.reshape(-1, 2).sum(axis=1)
        joined = np.zeros(len(halves))
        joined[: len(level)] = np.asarray(level, np.float64) / 2**top
        joined += np.where(halves > 0, mean_noise, 0.0)
        whole.append(joined <= halves)
        best = np.minimum(joined, halves)
    inner = np.zeros(2**top, np.bool_)  # not the first of its bucket
    for j, stays in enumerate(whole, start=1):
        inside = np.repeat(stays, 2**j)
        inside[:: 2**j] = False
        inner |= inside
    return np.flatnonzero(~inner[:cells])


def spread(sums: NDArray[np.float64], starts: Starts, *, cells: int) -> NDArray[np.float64]:
    """The sum of each bucket, spread evenly over its cells.

    >>> spread(np.array([4.0, 3.0]), np.array([0, 2]), cells=3).tolist()
    [2.0, 2.0, 3.0]
    """
    lengths = np.diff(starts, append=cells)
    return np.repeat(sums / lengths, lengths)
