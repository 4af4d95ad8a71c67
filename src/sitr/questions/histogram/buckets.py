"""Cells joined where they look alike: fewer numbers get noise, at a price for looking.

Part of the budget chooses how a line of cells is cut into stretches, the rest measures their sums, and a sum is spread
evenly over its cells. How badly that fits is the deviation D = Σ_j |x_j − mean|, over the cells of a stretch. One unit
step of one x_j in a stretch of w cells moves its D by at most (1 − 1/w) + (w − 1)/w = 2(1 − 1/w) < 2.
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
    """w·D of each stretch of w cells, the line filled up with empty ones: whole numbers.

    >>> deviation(np.array([3, 1, 5, 5]), width=2).tolist()
    [4, 0]
    """
    counts = np.asarray(cells)
    if 2 * width * int(np.abs(counts).sum()) >= 2**62:
        counts = counts.astype(np.object_)  # Python's integers: no data make a sum overflow
    short = -len(counts) % width
    rows = np.concatenate([counts, np.zeros(short, counts.dtype)]).reshape(-1, width)
    return np.asarray(np.abs(width * rows - rows.sum(axis=1, keepdims=True)).sum(axis=1))


# Of all cuts into stretches of equal length


def bin_scores(cells: NDArray[Any], *, bins: tuple[int, ...], mean_noise: Fraction) -> list[Fraction]:
    """How good each number of bins is: minus the expected sum of errors over all cells, for each that divides them.

    With m bins that is D summed over them, and m times the mean size of the noise on one. One unit step moves a score
    by less than 2, so a unit that moves the cells by Δ in the sum of sizes moves it by less than 2Δ.

    >>> [float(score) for score in bin_scores(np.array([3, 1, 5, 5]), bins=(1, 2, 4), mean_noise=Fraction(1))]
    [-7.0, -4.0, -4.0]
    """
    scores = []
    for number in bins:
        width = len(cells) // number
        scores.append(-Fraction(int(deviation(cells, width=width).sum()), width) - number * mean_noise)
    return scores


# Of cuts into stretches whose lengths are powers of two


def heights(cells: int) -> int:
    """J: stretches of 2, 4, …, 2^J cells are looked at, the last of which holds them all."""
    return max(0, cells - 1).bit_length()


def deviation_distance(cells: int, *, moved: Distance) -> tuple[Fraction, Fraction]:
    """How far one unit moves all deviations D together: in the sum of sizes (ℓ1), and squared in Euclidean length (ℓ2).

    A unit step is inside one stretch of each length 2^j, whose D it moves by at most 2(1 − 2^{−j}). A unit takes at
    most Δ = ℓ1 of such steps, one after another: Δ times as much in both norms.

    >>> deviation_distance(4, moved=Distance(l1=1, l2_squared=1, largest=1))
    (Fraction(5, 2), Fraction(13, 4))
    """
    steps = [2 * (1 - Fraction(1, 2**j)) for j in range(1, heights(cells) + 1)]
    return moved.l1 * sum(steps, Fraction(0)), moved.l1**2 * sum((step**2 for step in steps), Fraction(0))


def deviations(cells: NDArray[Any]) -> list[Whole]:
    """2^J·D of all stretches of 2, 4, …, 2^J cells: whole numbers, to which noise can be added."""
    top = heights(len(cells))
    counts = np.asarray(cells)
    if 2 ** (top + 1) * int(np.abs(counts).sum()) >= 2**62:
        counts = counts.astype(np.object_)
    return [deviation(counts, width=2**j) * 2 ** (top - j) for j in range(1, top + 1)]


def cut(noisy: list[NDArray[Any]], *, cells: int, mean_noise: float) -> Starts:
    """Where the stretches begin for which the sum of (noisy) deviations and of the noise to come is least.

    A stretch stays whole if that costs no more than the best cuts of its two halves.      [LHMW14, Sec. 5]
    `noisy` are the deviations as `deviations` makes them.

    >>> flat = [np.array([0.0, 0.0, 99.0, 0.0]), np.array([0.0, 99.0]), np.array([99.0])]
    >>> cut(flat, cells=8, mean_noise=1.0).tolist()
    [0, 4, 5, 6]
    """
    top = heights(cells)
    best = np.full(2**top, mean_noise)
    best[cells:] = 0.0  # cells that only fill up the line are not measured
    whole: list[NDArray[np.bool_]] = []
    for level in noisy:
        halves = best.reshape(-1, 2).sum(axis=1)
        joined = np.zeros(len(halves))
        joined[: len(level)] = np.asarray(level, np.float64) / 2**top
        joined += np.where(halves > 0, mean_noise, 0.0)
        whole.append(joined <= halves)
        best = np.minimum(joined, halves)
    inner = np.zeros(2**top, np.bool_)  # not the first of its stretch
    for j, stays in enumerate(whole, start=1):
        inside = np.repeat(stays, 2**j)
        inside[:: 2**j] = False
        inner |= inside
    return np.flatnonzero(~inner[:cells])


def spread(sums: NDArray[np.float64], starts: Starts, *, cells: int) -> NDArray[np.float64]:
    """The sum of each stretch, evenly over its cells.

    >>> spread(np.array([4.0, 3.0]), np.array([0, 2]), cells=3).tolist()
    [2.0, 2.0, 3.0]
    """
    lengths = np.diff(starts, append=cells)
    return np.repeat(sums / lengths, lengths)
