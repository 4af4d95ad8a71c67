"""Drawn rows exchange cells within their atoms until all pairs of columns follow the model almost evenly.

Cells that are drawn within atoms, column by column, follow the model as independent rows do: a pair of cells that is
expected e times strays by √e. Here two rows with the same atom of a column exchange their cells of this column if that
brings the pairs with other columns nearer to what is expected. Nothing but drawn rows and the model is read, so this is
work on what was released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.permutation import permuted
from sitr.questions.synthetic.weighted_rows import WeightedRows

MOST_WORK = 10_000_000
"""The most rows times pairs of columns: more rows stray less, relative to their number, and stay as they are."""

SWEEPS = 4
"""How many times each column looks for exchanges."""

BLOCKS = 128
"""Exchanges are looked for in about this many blocks of rows, one after another, so that few of a block disturb each
other."""

FEWEST = 64
"""The fewest exchanges of a block."""


@dataclass(slots=True, eq=False)
class _Excess:
    """By how much each pair of cells comes more often than wanted; the tables of all pairs, one after another."""

    flat: Weights
    starts: Codes
    """Where the table of two columns starts, or −1 if it is left out."""
    steps: Codes
    """How far it is to the next cell of the first column, in its table with the second one."""

    @classmethod
    def of(cls, sample: WeightedRows, rows: Codes, coins: Coins) -> _Excess:
        """Tables with more cells than rows are left out: nearly all of their cells are expected less than once."""
        count, columns = rows.shape
        sizes, coarse = [len(each) for each in sample.atoms], [_is_coarse(each) for each in sample.atoms]
        starts, steps = np.full((columns, columns), -1), np.ones((columns, columns), dtype=np.int64)
        parts, end = [], 0
        for i in range(columns):
            for j in range(i + 1, columns):
                cells = sizes[i] * sizes[j]
                if cells <= count and (coarse[i] or coarse[j]):
                    found = np.bincount(rows[:, i] * sizes[j] + rows[:, j], minlength=cells)
                    parts.append(found - _rounded(count * sample.marginal(i, j).ravel(), coins))
                    starts[i, j] = starts[j, i] = end
                    steps[i, j] = sizes[j]
                    end += cells
        return cls(np.concatenate(parts) if parts else np.empty(0), starts, steps)

    def others(self, column: int) -> NDArray[np.intp]:
        """The columns with which this one has a table."""
        return np.flatnonzero(self.starts[column] >= 0)


def evened(sample: WeightedRows, rows: Codes, *, coins: Coins) -> Codes:
    """The same rows of cells after exchanges: every column keeps its cells, and every row its atoms.

    A pair of cells that is expected e times is wanted ⌊e⌋ or ⌈e⌉ times, by chance, so that e is the mean of what is
    wanted. What an exchange gains is by how much Σ |count − wanted| becomes smaller.
    """
    count, columns = rows.shape
    if count * columns * (columns - 1) // 2 > MOST_WORK:
        return rows
    excess, found = _Excess.of(sample, rows, coins), rows.copy()
    for _ in range(SWEEPS):
        for column, atoms in enumerate(sample.atoms):
            others = excess.others(column)
            if len(others) and _is_coarse(atoms):
                first, second = _partners(found[:, column], atoms, coins)
                size = max(FEWEST, len(first) // BLOCKS)
                for start in range(0, len(first), size):
                    block = slice(start, start + size)
                    _exchange(excess, found, column, others, first[block], second[block])
    return found


def _rounded(expected: Weights, coins: Coins) -> Codes:
    """Whole numbers, each up or down by chance, so that its mean is the number."""
    low = np.floor(expected)
    tossed = (coins.words(len(low)) >> np.uint64(12)).astype(np.float64) / 2.0**52
    return np.asarray(low + (tossed < expected - low)).astype(np.int64)


def _is_coarse(atoms: Codes) -> bool:
    """Whether an atom has several cells."""
    return bool(atoms.max() + 1 < len(atoms))


def _partners(cells: Codes, atoms: Codes, coins: Coins) -> tuple[Codes, Codes]:
    """Two and two rows with the same atom and different cells, by chance and in a random order."""
    of = atoms[cells]
    order = np.argsort(of, kind="stable")
    sorted_ = of[order]
    order = order[permuted(len(order), coins, within=sorted_)]
    place = np.arange(len(order)) - np.searchsorted(sorted_, sorted_)
    first, second = order[:-1], order[1:]
    kept = (sorted_[:-1] == sorted_[1:]) & (place[:-1] % 2 == 0) & (cells[first] != cells[second])
    first, second = first[kept], second[kept]
    shuffled = permuted(len(first), coins)
    return first[shuffled], second[shuffled]


def _exchange(excess: _Excess, rows: Codes, column: int, others: NDArray[np.intp], first: Codes, second: Codes) -> None:
    """Exchange the cells of those of these rows that gain by it, as if they were the only ones."""
    flat, start = excess.flat, excess.starts[column, others]
    step, across = excess.steps[column, others], excess.steps[others, column]
    here, there = rows[first, column], rows[second, column]
    beside, below = (start + rows[places][:, others] * across for places in (first, second))
    gone = beside + here[:, None] * step, below + there[:, None] * step
    come = beside + there[:, None] * step, below + here[:, None] * step
    gains = sum(np.abs(flat[each]) - np.abs(flat[each] - 1) for each in gone)
    gains = gains + sum(np.abs(flat[each]) - np.abs(flat[each] + 1) for each in come)
    gaining = np.where(beside != below, gains, 0.0).sum(axis=1) > 0
    for each in gone:
        np.subtract.at(flat, each[gaining], 1.0)
    for each in come:
        np.add.at(flat, each[gaining], 1.0)
    rows[first[gaining], column], rows[second[gaining], column] = there[gaining], here[gaining]
