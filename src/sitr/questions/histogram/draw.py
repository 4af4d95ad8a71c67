"""Synthetic rows from a released histogram: as many as one likes, for free.      [HRW11, Sec. 2.2]

Each row is drawn by itself: a cell with the probability of its count, then a value of that cell, each with the same
probability. Rows of a cell without values of its own (no value, other, below, above) are NULL in that column.
"""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.cells import Axis, Categories, Cell, Granular
from sitr.dataset.schema import Kind
from sitr.noise.coins import Coins
from sitr.numbers import natural
from sitr.questions.arrow import arrow_type
from sitr.questions.histogram.counts import Histogram
from sitr.questions.values import draw_values

Places = NDArray[np.int64]

_EPOCH = date(1970, 1, 1)


def draw_rows(histogram: Histogram, rows: int, *, coins: Coins) -> pa.Table:
    """A table with one column for each column of the histogram, in random order.

    The probabilities follow from the noisy counts, projected to counts that are not negative unless they were projected
    before. If no count is above 0, every cell has the same probability.
    """
    size = natural(rows, name="rows", of="draw", least=0)
    counts = histogram.counts if histogram.processed else histogram.simplex().counts
    weights = np.maximum(counts, 0.0)
    if not weights.sum() > 0.0:
        weights = np.ones(len(counts))
    ends = np.cumsum(weights)
    cells = np.searchsorted(ends, _uniform(size, coins) * ends[-1], side="right")
    cells = np.minimum(cells, np.flatnonzero(weights)[-1])  # u·total may be rounded up to the total
    places = np.unravel_index(cells, histogram.grid.shape)
    return pa.table(
        {
            axis.column.name: _values(axis, place.astype(np.int64), coins)
            for axis, place in zip(histogram.grid.axes, places, strict=True)
        }
    )


def _uniform(size: int, coins: Coins) -> NDArray[np.float64]:
    return (coins.words(size) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _values(axis: Axis, places: Places, coins: Coins) -> pa.Array:
    if isinstance(axis, Categories | Granular):
        return draw_values(axis, places, coins=coins)
    cells = list(axis.cells())
    missing, kind = places >= axis.ordinary, axis.column.kind
    ends = [_ends(cell, kind, last=place == axis.ordinary - 1) for place, cell in enumerate(cells[: axis.ordinary])]
    lows, highs = (np.array(side, np.float64) for side in zip(*ends, strict=True))
    known = np.where(missing, 0, places)
    drawn = lows[known] + _uniform(len(places), coins) * (highs[known] - lows[known])
    if kind is Kind.REAL:
        return pa.array(drawn, mask=missing)
    whole = np.floor(drawn).astype(np.int64)
    values: Any = whole if kind is Kind.INTEGER else whole.astype("datetime64[D]")
    return pa.array(values, mask=missing).cast(arrow_type(kind))


def _ends(cell: Cell, kind: Kind, *, last: bool) -> tuple[float, float]:
    """The range that a value is drawn from; whole numbers and days are the floors of its numbers.

    Ranges of numbers end before the next one begins, except the last. A cell narrower than 1 may hold no whole number:
    then its lower end, rounded up, stands for it.
    """
    low, high = cell.low, cell.high
    if isinstance(low, date) and isinstance(high, date):
        return float((low - _EPOCH).days), float((high - _EPOCH + timedelta(1)).days)
    assert low is not None and high is not None and not isinstance(low, date) and not isinstance(high, date)
    if kind is Kind.REAL:
        return float(low), float(high)
    first, after = math.ceil(low), math.floor(high) + 1 if last else math.ceil(high)
    return float(first), float(max(after, first + 1))
