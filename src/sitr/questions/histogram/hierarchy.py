"""A tree over cells in a line: noisy sums of longer and longer ranges, made consistent with each other.

The sum over a range adds few nodes instead of many cells. Least squares makes every parent the sum of its children and
reduces the error of every node, at no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.errors import QuestionError

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Levels of nodes with 1, b, b², … cells, b = `branching`, up to the first level of at most b nodes.

    The root, which is the sum of all cells, is measured only if `rooted`. The last node of a level may be shorter.

    >>> Hierarchy(10, branching=3).sizes
    (10, 4, 2)
    >>> [level.tolist() for level in Hierarchy(4, branching=2).sums(np.array([1, 2, 3, 4]))]
    [[1, 2, 3, 4], [3, 7]]
    """

    cells: int
    branching: int
    rooted: bool = False

    def __post_init__(self) -> None:
        numbers = (self.cells, self.branching)
        if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers) or self.branching < 2:
            raise QuestionError(
                wanted="a tree in which each node has at least 2 children",
                given=f"branching={self.branching!r}",
                do="Choose for example 16, or leave it out.",
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of each measured level, from the cells upward."""
        found = [self.cells]
        while found[-1] > self.branching:
            found.append(-(-found[-1] // self.branching))
        return (*found, 1) if self.rooted and found[-1] > 1 else tuple(found)

    @property
    def levels(self) -> int:
        return len(self.sizes)

    def sums(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """The exact sums of every measured level."""
        found = [np.asarray(cells)]
        for _ in self.sizes[1:]:
            found.append(np.add.reduceat(found[-1], self._starts(len(found[-1]))))
        return found

    def consistent(self, noisy: list[Reals]) -> list[Reals]:
        """The least squares estimate of every measured level, if the noise of all nodes has the same variance.

        Upward, the value of each node and the sum of its children are averaged by precision. Downward, the remaining
        difference between a node and its children is shared among them by variance.  [HRMS10, Thm 3]

        >>> tree = Hierarchy(4, branching=2)
        >>> [level.tolist() for level in tree.consistent([np.array([1.0, 2.0, 3.0, 4.0]), np.array([6.0, 7.0])])]
        [[2.0, 3.0, 3.0, 4.0], [5.0, 7.0]]
        """
        best, variances = [np.asarray(noisy[0], np.float64)], [np.ones(self.cells)]
        for own in noisy[1:]:
            starts = self._starts(len(best[-1]))
            below, spread = np.add.reduceat(best[-1], starts), np.add.reduceat(variances[-1], starts)
            best.append((spread * np.asarray(own, np.float64) + below) / (spread + 1))
            variances.append(spread / (spread + 1))
        for level in range(len(best) - 2, -1, -1):
            best[level] = self._shared(best[level], variances[level], best[level + 1], self._starts(len(best[level])))
        return best

    def weights(self, wanted: Reals) -> list[Reals]:
        """The weight of each measured node in the estimate of Σ_j wanted_j·x_j.

        From measurements y of Ax, least squares estimates x by (AᵀA)⁻¹Aᵀy. If the measurements are `wanted` at the
        cells and 0 above, Aᵀy = wanted and the estimate is u = (AᵀA)⁻¹wanted. So wanted·(AᵀA)⁻¹Aᵀy = (Au)·y.
        """
        empty = [np.zeros(size) for size in self.sizes[1:]]
        return self.consistent([np.asarray(wanted, np.float64), *empty])

    def kinds(self) -> NDArray[np.intp]:
        """A class for each cell: the estimates of cells of one class have the same weights up to their order.

        Only the last node of a level may have fewer children than others. Such a node is the last of its level, and so
        are all nodes above it. So two cells are in the same class if they are below equally many such nodes.

        >>> Hierarchy(5, branching=2).kinds().tolist()
        [0, 0, 0, 0, 2]
        """
        found = np.zeros(self.cells, np.intp)
        for level in range(1, len(self.sizes)):
            width = self.branching**level
            if self.cells % width:
                found[(self.sizes[level] - 1) * width :] += 1
        return found

    @staticmethod
    def _shared(best: Reals, variances: Reals, above: Reals, starts: NDArray[np.intp]) -> Reals:
        """The values of children, changed so that they sum to their parents."""
        lengths = np.diff(starts, append=len(best))
        missing = (above - np.add.reduceat(best, starts)) / np.add.reduceat(variances, starts)
        return best + variances * np.repeat(missing, lengths)

    def _starts(self, nodes: int) -> NDArray[np.intp]:
        """The position of the first child of each parent; all nodes below the root are its children."""
        return np.arange(0, nodes, min(nodes, self.branching))


def best_branching(cells: int, *, pure: bool) -> int:
    """The branching with the smallest expected error of a range, computed from public numbers alone.

    A range needs about (b − 1)/2 nodes on each of h levels at each end. The variance of a node is in proportion to h²
    (Laplace noise, ε/h for each level) or to h (Gaussian noise), and least squares leaves about a third of the total.
    Without a tree, h = 1, a range has a third of the cells on average.

    >>> best_branching(1000, pure=True), best_branching(1000, pure=False), best_branching(20, pure=True)
    (10, 4, 20)
    """
    power = 3 if pure else 2

    def variance(branching: int) -> float:
        levels = Hierarchy(cells, branching).levels
        return cells if levels == 1 else (branching - 1) * levels**power

    return min(range(2, max(2, min(cells, 1024)) + 1), key=variance)
