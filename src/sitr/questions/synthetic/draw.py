"""Cell numbers of rows, drawn evenly from a joint distribution or a mixture: drawing adds little error to the noise."""

from __future__ import annotations

import numpy as np

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.mixture import Mixture

FINE = 2**52
"""Probabilities are rounded to multiples of 1/FINE, which are then drawn exactly."""


def from_joint(share: Weights, rows: int, *, coins: Coins) -> Codes:
    """Cell numbers with these probabilities for each row; all rows together vary less than independent ones would.

    This is systematic sampling: each cell comes ⌊Np⌋ or ⌈Np⌉ times in N rows, because one uniform number u shifts a
    comb of N teeth, with tooth r at (2^52·r + u)/N. The cells are put in a random order first; otherwise N rows from 2N
    equal cells would hold every second cell. The probability of cell j is (⌊2^52·F_j⌉ − ⌊2^52·F_{j−1}⌉)/2^52 with
    F_j = Σ_{i≤j} p_i, so that rounding loses nothing and a cell of probability 0 is never drawn.

    >>> from sitr.noise.coins import TestCoins
    >>> np.bincount(from_joint(np.array([0.5, 0.0, 0.5]), 100, coins=TestCoins(1))).tolist()
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
    """Cell numbers with the distribution of the mixture for each row; together they vary less than independent rows.

    Each of K components gets ⌊N/K⌋ or ⌈N/K⌉ rows. Within a component of m rows, each cell of a column comes ⌊mp⌋ or
    ⌈mp⌉ times, by systematic sampling, in an independent random order for every column.
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
    """For row r of a component with m rows, the cell j with m·F_{j−1} ≤ r + u < m·F_j."""
    shift = (coins.words(len(sizes)) >> np.uint64(12)).astype(np.float64) / 2.0**52
    teeth = (np.arange(len(of)) - starts[of] + shift[of]) / np.maximum(sizes[of], 1)
    # One search for all components: the cumulative probabilities of component k lie between k and k + 1.
    ends = np.minimum(np.cumsum(product, axis=1), 1.0)
    ends[:, -1] = 1.0
    ends += np.arange(len(sizes))[:, None]
    found = np.searchsorted(ends.ravel(), of + np.minimum(teeth, 1 - 2.0**-40), side="right")
    values: Codes = np.minimum(found - of * product.shape[1], product.shape[1] - 1)
    return values


def _order(size: int, coins: Coins, *, within: Codes | None = None) -> Codes:
    """A random permutation of everything, or within consecutive blocks."""
    keys = coins.words(size)
    if within is not None:
        bits = int(within[-1]).bit_length() if size else 0
        keys = (keys >> np.uint64(bits)) | (within.astype(np.uint64) << np.uint64(64 - bits)) if bits else keys
    return np.argsort(keys, kind="stable")
