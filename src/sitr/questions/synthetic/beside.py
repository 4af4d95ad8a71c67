"""What fitted tables of triples add to the logarithms by which one column is drawn again, given the two others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.questions.synthetic.axes import Codes


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """For each pair of groups of two other columns, a term for every atom of the column that is drawn."""

    others: tuple[int, int]
    maps: tuple[Codes, Codes]
    """The groups of the atoms of the others."""
    groups: int
    """The number of groups of the second of them."""
    terms: NDArray[np.float32]

    @classmethod
    def of(cls, columns: tuple[int, ...], maps: Sequence[Codes], factors: NDArray[np.float64], axis: int) -> Beside:
        """The terms for the column at this axis: the logarithms of the factors of its table, with the sign of draws."""
        first, second = (place for place in range(3) if place != axis)
        turned = np.moveaxis(-factors, axis, 2)[:, :, maps[axis]]
        terms = np.ascontiguousarray(turned.reshape(-1, turned.shape[2]), dtype=np.float32)
        return cls((columns[first], columns[second]), (maps[first], maps[second]), turned.shape[1], terms)

    def of_rows(self, rows: Codes) -> NDArray[np.float32]:
        """The terms of these rows: one row of atoms for each column."""
        (one, two), (first, second) = self.others, self.maps
        return np.asarray(self.terms[first[rows[one]] * self.groups + second[rows[two]]])
