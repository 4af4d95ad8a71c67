"""Drawn rows that follow the rules: cells that can come together, and values in order within them.

A model draws cells that follow the rules only roughly. Leaving the other rows out would change the margins: pairs near
the border are lost and all others gain. So cells are exchanged between rows instead, which changes no margin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sitr.dataset.cells import Drawable, Granular
from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.structure import Possible
from sitr.questions.values import draw_values, from_granules

EXCHANGED = 200
"""How many times rows that break a rule look for another row to exchange a cell with."""

REDRAWN = 200
"""How many times values that are out of order are drawn again."""


def made_possible(codes: Codes, possible: Possible, *, coins: Coins) -> Codes:
    """The rows, with cells exchanged between some of them so that the cells of every row can come together.

    An impossible row and another one exchange their cells in one column if both together have fewer faults afterwards.
    This keeps the share of every cell of every column. A row that is impossible in the end, because the margins
    themselves do not allow it, takes the cells of a possible row.
    """
    codes = codes.copy()
    columns = possible.columns
    faults = possible.faults(codes)
    for turn in range(EXCHANGED):
        wrong = _mixed(np.flatnonzero(faults), coins)
        if not len(wrong):
            return codes
        half = len(wrong) // 2
        among = turn % 2 == 0 and half > 0
        others = wrong[half : 2 * half] if among else _some(np.flatnonzero(faults == 0), len(wrong), coins)
        ours = wrong[: len(others)]
        strictly, place = 2 * turn < EXCHANGED, columns[turn // 2 % len(columns)]
        _exchange(codes, faults, (ours, others), place, possible, strictly=strictly)
    wrong, fine = np.flatnonzero(faults), np.flatnonzero(faults == 0)
    donors = codes[fine] if len(fine) else possible.example()
    chosen = donors[(coins.words(len(wrong)) % np.uint64(len(donors))).astype(np.int64)]
    for place in columns:
        codes[wrong, place] = chosen[:, place]
    return codes


def _exchange(
    codes: Codes, faults: Weights, pairs: tuple[Codes, Codes], place: int, possible: Possible, *, strictly: bool
) -> None:
    """Exchange the cells of one column between two rows of each pair, where that leaves fewer faults.

    `strictly`, a possible row takes part only if both are possible afterwards.
    """
    ours, others = pairs
    one, other = codes[ours].copy(), codes[others].copy()
    one[:, place], other[:, place] = codes[others, place], codes[ours, place]
    here, there = possible.faults(one), possible.faults(other)
    fewer = here + there < faults[ours] + faults[others] - 1e-9
    better = np.flatnonzero(fewer & ((not strictly) | (faults[others] > 0) | (here + there == 0)))
    codes[ours[better]], codes[others[better]] = one[better], other[better]
    faults[ours[better]], faults[others[better]] = here[better], there[better]


def _mixed(rows: Codes, coins: Coins) -> Codes:
    """The rows in a random order."""
    return rows[np.argsort(coins.words(len(rows)), kind="stable")]


def _some(rows: Codes, count: int, coins: Coins) -> Codes:
    """Different rows, at random, as many as this if there are."""
    if count * 8 > len(rows):
        return _mixed(rows, coins)[:count]
    found = rows[np.unique((coins.words(count) % np.uint64(len(rows))).astype(np.int64))]
    return _mixed(found, coins)


def possible_joint(share: Weights, shape: tuple[int, ...], possible: Possible | None) -> Weights:
    """The joint distribution, given that the cells can come together; the example if the model has no such cell."""
    if possible is None:
        return share
    cells = np.column_stack(np.unravel_index(np.arange(len(share)), shape))
    kept = np.where(possible.holds(cells), share, 0.0)
    if not kept.sum():
        kept[np.ravel_multi_index(tuple(possible.example()[0]), shape)] = 1.0
    return kept


def drawn_columns(
    axes: tuple[Drawable, ...], codes: Codes, kinds: Sequence[pa.DataType], possible: Possible | None, *, coins: Coins
) -> list[pa.Array]:
    """A value for each cell number, in these Arrow types; ordered columns get theirs together."""
    ordered = {} if possible is None else ordered_granules(possible, codes, coins=coins)
    columns = []
    for place, (axis, kind) in enumerate(zip(axes, kinds, strict=True)):
        if place in ordered:
            assert isinstance(axis, Granular)
            columns.append(from_granules(axis, ordered[place], codes[:, place] >= axis.ordinary, kind))
        else:
            columns.append(draw_values(axis, codes[:, place], coins=coins, kind=kind))
    return columns


def ordered_granules(possible: Possible, codes: Codes, *, coins: Coins) -> dict[int, Codes]:
    """Values of the ordered columns, by position: uniform in their cells, given that all orders are kept.

    Cells are narrowed to what the order leaves of them first. In two cells that remain, at least half of all pairs are
    in order, so that few rows are drawn again. A row of a long chain that is still out of order takes the smallest
    values that are left, which are in order.
    """
    low, high = possible.ranges(codes)
    found = {place: _between(low[place], high[place], coins) for place in low}
    wrong = np.flatnonzero(~possible.kept(found, codes))
    for _ in range(REDRAWN):
        if not len(wrong):
            return found
        for place in low:
            found[place][wrong] = _between(low[place][wrong], high[place][wrong], coins)
        again = {place: values[wrong] for place, values in found.items()}
        wrong = wrong[~possible.kept(again, codes[wrong])]
    for place in low:
        found[place][wrong] = low[place][wrong]
    return found


def _between(low: Codes, high: Codes, coins: Coins) -> Codes:
    """Uniform whole numbers, both ends included; an empty range, that of NULL, gives any number."""
    width = np.maximum(high - low + 1, 1)
    part = (coins.words(len(low)) >> np.uint64(11)).astype(np.float64) / 2.0**53
    return np.asarray(low + np.minimum((part * width).astype(np.int64), width - 1))
