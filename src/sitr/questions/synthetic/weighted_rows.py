"""A model of synthetic rows that is a weighted sample of rows, by atoms: the finest groups that were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights, group_sums

Pair = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Potential:
    """Terms of the logarithm of the probability of one column, the last, by its atoms and those of another one."""

    columns: Pair
    logs: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRows:
    """Rows of atoms with weights that add up to 1; within an atom, cells are in proportion to their noisy shares.

    `atoms` maps the cells of each column to atoms, and `shares` are the shares of the cells. `missed` are the pairs of
    columns whose noisy marginals differ from the model by more than noise explains. `potentials` are the terms by
    which some columns are drawn given the others, where that is needed.
    """

    rows: NDArray[np.int32]
    weights: Weights
    atoms: tuple[Codes, ...]
    shares: tuple[Weights, ...]
    missed: tuple[Pair, ...] = ()
    potentials: tuple[Potential, ...] = ()

    def marginal(self, *columns: int) -> Weights:
        """The probabilities of the cells of one or more columns."""
        sizes = tuple(int(self.atoms[column].max()) + 1 for column in columns)
        places = np.ravel_multi_index(tuple(self.rows[:, column] for column in columns), sizes)
        counts = np.bincount(places, weights=self.weights, minlength=int(np.prod(sizes)))
        found: Weights = counts.astype(np.float64).reshape(sizes)
        for axis, column in enumerate(columns):
            shape = [1] * len(columns)
            shape[axis] = -1
            found = found.take(self.atoms[column], axis=axis) * self.within(column).reshape(shape)
        return found

    def within(self, column: int) -> Weights:
        """The probability of each cell of a column, given its atom."""
        return within(self.shares[column], self.atoms[column])

    def possible(self, cells: tuple[int, ...]) -> bool:
        """Whether this is a model of columns with these numbers of cells. Models read from a file pass through here."""
        sizes = [(len(atoms), len(share)) for atoms, share in zip(self.atoms, self.shares, strict=True)]
        if sizes != [(count, count) for count in cells] or self.rows.shape != (len(self.weights), len(cells)):
            return False
        known = all(np.array_equal(np.unique(atoms), np.arange(atoms.max() + 1)) for atoms in self.atoms)
        most = np.array([int(atoms.max()) for atoms in self.atoms])
        inside = self.rows.dtype.kind == "i" and bool((self.rows >= 0).all() and (self.rows <= most).all())
        laws = (self.weights, *self.shares)
        finite = all(self._fits(each) for each in self.potentials)
        return known and inside and finite and all(bool(law.min() >= 0 and abs(law.sum() - 1) < 1e-6) for law in laws)

    def _fits(self, potential: Potential) -> bool:
        """Whether these are finite numbers for the atoms of one or two columns."""
        columns, logs = potential.columns, potential.logs
        formed = 1 <= len(set(columns)) == len(columns) <= 2 and all(0 <= each < len(self.atoms) for each in columns)
        sizes = tuple(int(self.atoms[each].max()) + 1 for each in columns) if formed else ()
        return formed and logs.dtype.kind == "f" and logs.shape == sizes and bool(np.isfinite(logs).all())


def within(share: Weights, groups: Codes) -> Weights:
    """The share of each cell in its group; equal shares where the group has none."""
    together = group_sums(share, groups)[groups]
    even = 1 / np.bincount(groups)[groups]
    return np.where(together > 0, share / np.where(together > 0, together, 1.0), even)
