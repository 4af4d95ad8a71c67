"""The largest of many differences, each discounted by the changes it needs: the core of smooth sensitivity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sitr.numbers import Number, within
from sitr.sensitivity.sample import Granules

Floats = NDArray[np.float64]

LEAST = 1e-9
"""The smallest dilation that floats can keep."""

_SLACK = 2.0**-34
_ERROR = 2.0**-36
"""A bound on the relative error of every maximum below."""


def reduced(dilation: Number) -> float:
    """β' = β − 2^−34: a β'-smooth bound S that is computed up to a factor of 1 ± 2^−36 is β-smooth.

    For two neighbours, ln Ŝ/Ŝ' ≤ β' + ln (1 + 2^−36)/(1 − 2^−36), below β' + 2^−34 = β by nearly 2^−35, which is left
    for other roundings. Beyond 100 nothing is gained: e^{−β} times any range is then less than the least difference.

    >>> reduced(0.1) < 0.1
    True
    """
    return min(float(within(dilation, name="dilation", of="noise", least=LEAST)), 100.0) - _SLACK


def outward(computed: float) -> float:
    """An upper bound on a number that was computed with that error.

    >>> 1 < outward(1.0) < 1 + 1e-10
    True
    """
    return computed * (1 + 2 * _ERROR)


def reach(range_: float, *, dilation: float) -> int:
    """How many changes matter: e^{−βk}·range < 1 for all k beyond.

    >>> reach(1000, dilation=1.0)
    7
    """
    return math.floor(math.log(range_) / dilation) + 1


def largest(values: Floats, *, dilation: float) -> float:
    """max_k e^{−βk}·values_k.

    >>> largest(np.array([1.0, 2.0, 3.0]), dilation=math.log(1.9))
    1.05...
    """
    return float(np.max(np.exp(-dilation * np.arange(len(values))) * values))


def largest_difference(down: Granules, up: Granules, *, dilation: float) -> float:
    """max e^{−β(p+q−1)}·(up_q − down_p) over p + q ≥ 1, where `up` grows, `down` falls, and down_0 ≤ up_0.

    For a given p the best q never grows with p: let q < q', so that w = e^{−βq} > w' = e^{−βq'}. If
    w·(up_q − a) ≥ w'·(up_q' − a), the same holds for every smaller a, where the left side has gained more. So the best
    q of every second p bounds those between: O(n log n) in all.      [NRS07, Sec. 3.1 for the median]

    In floats, an error of a factor 1 + η in one row can mislead the search in others. Let q win at a though q' is
    better there, by no more than that factor. At a − d it is still so:
    w'(up_q' − a + d) ≤ (1 + η)w(up_q − a) + w'd ≤ (1 + η)w(up_q − a + d). And let q' win though q is better. At a + d,
    w(up_q − a − d) ≤ (1 + η)w'(up_q' − a) − wd ≤ (1 + 2η)w'(up_q' − a − d), if w/w' ≥ e^β ≥ 1 + 2η. So each round, of
    at most 40 for 2^40 people, costs a factor of at most 1 + 2η. Exponents stay below 300, so that η < 2^−44: all in
    all less than 2^−36.

    >>> largest_difference(np.array([5, 5, 0]), np.array([5, 6, 10]), dilation=0.5)
    3.03...
    """
    discounts = np.exp(-dilation * np.arange(max(len(down), len(up))))
    here = np.max(discounts[1 : len(up)] * (up[1:] - down[0]), initial=0.0)
    if len(down) > 1:
        rows = discounts[1 : len(down)] * _row_maxima(down[1:], up, discounts)
        here = max(here, np.max(rows))
    return float(math.exp(dilation) * here)


def _row_maxima(down: Granules, up: Granules, discounts: Floats) -> Floats:
    """max_q discounts_q·(up_q − down_p) for every p; each round computes every second of the remaining p.

    The best q grows with the rows 1, 2, …, m; row 0 and the rows above m hold its first and its last value.
    """
    levels, weights = up.astype(np.float64), discounts[: len(up)]
    floors = np.concatenate(([0.0], down[::-1].astype(np.float64)))
    best = np.full(len(floors) + 1, len(up) - 1)
    best[0] = 0
    maxima = np.zeros(len(floors))
    step = 1 << (len(down).bit_length() - 1)
    while step:
        rows = np.arange(step, len(floors), 2 * step)
        first, last = best[rows - step], best[np.minimum(rows + step, len(floors))]
        lengths = last - first + 1
        ends = np.cumsum(lengths)
        starts = ends - lengths
        columns = np.arange(ends[-1]) + np.repeat(first - starts, lengths)
        values = weights[columns] * (levels[columns] - np.repeat(floors[rows], lengths))
        maxima[rows] = np.maximum.reduceat(values, starts)
        hits = np.flatnonzero(values == np.repeat(maxima[rows], lengths))
        owners = np.searchsorted(ends, hits, side="right")
        best[rows[owners]] = columns[hits]
        step >>= 1
    return maxima[:0:-1]
