"""Cell numbers of rows, drawn evenly from a joint distribution or a weighted sample: drawing adds little error."""

from __future__ import annotations

import numpy as np

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.even import evened
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.permutation import permuted
from sitr.questions.synthetic.weighted_rows import WeightedRows

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
    order = permuted(len(share), coins)
    ends = np.rint(np.cumsum(share[order]) / share.sum() * FINE).astype(np.int64)
    parts = int(ends[-1])
    shift = coins.below(parts)
    below = np.array([-(-(end * rows - shift) // parts) for end in ends.tolist()], dtype=np.int64)
    cells: Codes = np.repeat(order, np.diff(below, prepend=0))
    return cells[permuted(rows, coins)]


def from_sample(sample: WeightedRows, rows: int, *, coins: Coins) -> Codes:
    """Cell numbers with the distribution of a weighted sample for each row; together they vary less than independent
    rows.

    The rows of the sample are put in order, column by column, and chosen by systematic sampling: each comes ⌊Nw⌋ or
    ⌈Nw⌉ times for its weight w, and neighbours are alike. Then the m rows with the same atom get its cells: each
    ⌊mp⌋ or ⌈mp⌉ times, in a random order, and rows exchange them so that pairs of columns are even, too.
    """
    ordered = np.lexsort(sample.rows.T[::-1])
    ends = np.cumsum(sample.weights[ordered])
    teeth = (np.arange(rows) + uniform(1, coins)) / max(rows, 1) * ends[-1]
    chosen = ordered[np.minimum(np.searchsorted(ends, teeth, side="right"), len(ends) - 1)][permuted(rows, coins)]
    columns = [cells_of(sample, column, sample.rows[chosen, column], coins) for column in range(sample.rows.shape[1])]
    return evened(sample, np.column_stack(columns), coins=coins)


def cells_of(sample: WeightedRows, column: int, atoms: Codes, coins: Coins) -> Codes:
    """For row r of the m rows with atom a, the cell of a with F_{j−1} ≤ (r + u)/m < F_j."""
    groups, share = sample.atoms[column], sample.within(column)
    by_atom = np.argsort(groups, kind="stable")
    sizes = np.bincount(atoms, minlength=int(groups.max()) + 1)
    # One search for all atoms: the cumulative probabilities of atom a lie between a and a + 1.
    sums = np.cumsum(share[by_atom])
    lasts = np.cumsum(np.bincount(groups)) - 1
    ends = np.minimum(sums - np.append(0.0, sums[lasts[:-1]])[groups[by_atom]], 1.0)
    ends[lasts] = 1.0
    ends += groups[by_atom]
    order = np.argsort(atoms, kind="stable")
    of = atoms[order].astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    teeth = (np.arange(len(of)) - starts[of] + uniform(len(sizes), coins)[of]) / np.maximum(sizes[of], 1)
    found = np.searchsorted(ends, of + np.minimum(teeth, 1 - 2.0**-40), side="right")
    cells: Codes = np.empty(len(of), dtype=np.int64)
    cells[order] = by_atom[np.minimum(found, lasts[of])][permuted(len(of), coins, within=of)]
    return cells


def uniform(size: int, coins: Coins) -> Weights:
    """Numbers from 0 to 1."""
    return np.asarray((coins.words(size) >> np.uint64(12)).astype(np.float64) / 2.0**52)
