"""Rows drawn by Sitr's coins from a table or a mixture, evenly: drawing adds little error to that of the noise."""

from __future__ import annotations

import numpy as np

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.mixture import Mixture
from sitr.questions.synthetic.tables import Weights

FINE = 2**52
"""Probabilities are counted in parts of this size, and then drawn exactly."""


def from_table(share: Weights, rows: int, *, coins: Coins) -> Codes:
    """Cell numbers with the law of the table, each row by itself; together they stray less than independent ones would.

    Each cell comes ⌊Np⌋ or ⌈Np⌉ times in N rows: one uniform number u shifts a comb of N teeth, and tooth r is at
    (2^52·r + u)/N. The cells lie under the comb in a random order, for otherwise half as many rows as equal cells would
    hold every second cell only. Probabilities are whole parts of 2^−52, exactly, from rounded sums, so that no part is
    lost: the parts of cell j are ⌊2^52·F_j⌉ − ⌊2^52·F_{j−1}⌉, F_j = Σ_{i≤j} p_i. A cell without a share has none.

    >>> from sitr.noise.coins import TestCoins
    >>> np.bincount(from_table(np.array([0.5, 0.0, 0.5]), 100, coins=TestCoins(1))).tolist()
    [50, 0, 50]
    """
    order = _order(len(share), coins)
    ends = np.rint(np.cumsum(share[order]) / share.sum() * FINE).astype(np.int64)
    parts = int(ends[-1])
    shift = coins.below(parts)
    below = np.array([-(-(end * rows - shift) // parts) for end in ends.tolist()], dtype=np.int64)
    cells: Codes = np.repeat(order, np.diff(below, prepend=0))
    return cells[_order(rows, coins)]


def from_mixture(mixture: Mixture, rows: int, *, coins: Coins) -> Codes:
    """Rows with the law of the mixture, each by itself; together they stray less than independent ones would.

    The components get ⌊N/K⌋ or ⌈N/K⌉ rows. Within one, each value of a column comes ⌊mp⌋ or ⌈mp⌉ times in m rows (by
    one uniform number that shifts a comb of m teeth), in an order of its own for every column.
    """
    components = mixture.components
    sizes = np.full(components, rows // components)
    sizes[_order(components, coins)[: rows % components]] += 1
    of = np.repeat(np.arange(components), sizes)
    starts = np.cumsum(sizes) - sizes
    columns = []
    for product in mixture.products:
        values = _combed(product, sizes, of, starts, coins)
        columns.append(values[_order(rows, coins, within=of)])
    codes: Codes = np.column_stack(columns)[_order(rows, coins)]
    return codes


def _combed(product: Weights, sizes: Codes, of: Codes, starts: Codes, coins: Coins) -> Codes:
    """For row r of a component with m rows, the value whose stretch of m·F holds the tooth r + u."""
    shift = (coins.words(len(sizes)) >> np.uint64(12)).astype(np.float64) / 2.0**52
    teeth = (np.arange(len(of)) - starts[of] + shift[of]) / np.maximum(sizes[of], 1)
    # All components in one search: the ends of component k lie between k and k + 1.
    ends = np.minimum(np.cumsum(product, axis=1), 1.0)
    ends[:, -1] = 1.0
    ends += np.arange(len(sizes))[:, None]
    found = np.searchsorted(ends.ravel(), of + np.minimum(teeth, 1 - 2.0**-40), side="right")
    values: Codes = np.minimum(found - of * product.shape[1], product.shape[1] - 1)
    return values


def _order(size: int, coins: Coins, *, within: Codes | None = None) -> Codes:
    """A random order, of everything or within blocks that stand one after another."""
    keys = coins.words(size)
    if within is not None:
        bits = int(within[-1]).bit_length() if size else 0
        keys = (keys >> np.uint64(bits)) | (within.astype(np.uint64) << np.uint64(64 - bits)) if bits else keys
    return np.argsort(keys, kind="stable")
