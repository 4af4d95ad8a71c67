"""A tree over cells in a line: noisy sums of ever longer stretches, made to agree with each other.

Sums over ranges of cells add up few nodes instead of many cells. Least squares makes every parent the sum of its
children, and every node better than it was measured, at no cost.
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
    """The stretches of b = `branching` cells, of b², b³, …: levels from the cells up to at most b stretches.

    The root, the sum of all, is measured only if `rooted`. A level is an array, of which the last node may be shorter.

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
                wanted="A tree over cells joins at least 2 of them in each node.",
                given=f"branching={self.branching!r} was given.",
                do="Choose for example 16, or leave it out.",
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each measured level has, from the cells upward."""
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
        """The least squares estimate of every measured level, all nodes having noise of the same variance.

        Upward, each node's own value and the sum of its children's best values are averaged by their precision;
        downward, what the children's sum still misses is shared among them by their variance.  [HRMS10, Thm 3]

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
        """With what weight each measured node counts in the estimate of Σ_j wanted_j·x_j.

        Least squares makes (AᵀA)⁻¹Aᵀy of measurements y of Ax. Measurements that are `wanted` at the cells and 0 above
        have Aᵀy = wanted: their own estimate is u = (AᵀA)⁻¹wanted, and wanted·(AᵀA)⁻¹Aᵀy = (Au)·y.
        """
        empty = [np.zeros(size) for size in self.sizes[1:]]
        return self.consistent([np.asarray(wanted, np.float64), *empty])

    def kinds(self) -> NDArray[np.intp]:
        """A number for each cell: cells of the same number are estimated with the same weights, in another order.

        Only the last node of a level may have fewer children than others. So two cells stand alike in the tree if they
        are below equally many nodes that lack some: such a node is the last of its level, and so are all above it.

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
        """Values of children whose sums are those of their parents."""
        lengths = np.diff(starts, append=len(best))
        missing = (above - np.add.reduceat(best, starts)) / np.add.reduceat(variances, starts)
        return best + variances * np.repeat(missing, lengths)

    def _starts(self, nodes: int) -> NDArray[np.intp]:
        """Where the children of each parent begin; all below the root are its children."""
        return np.arange(0, nodes, min(nodes, self.branching))


def best_branching(cells: int, *, pure: bool) -> int:
    """The number of children for which ranges are told best, from public numbers alone.

    A range that is cut somewhere needs about (b − 1)/2 nodes on each of h levels at each end, and the variance of one
    is in proportion to h² (Laplace, ε/h for each level) or to h (Gaussian); least squares leaves about a third of all
    that. Without a tree, h = 1, a range is a third of the cells on average.

    >>> best_branching(1000, pure=True), best_branching(1000, pure=False), best_branching(20, pure=True)
    (10, 4, 20)
    """
    power = 3 if pure else 2

    def variance(branching: int) -> float:
        levels = Hierarchy(cells, branching).levels
        return cells if levels == 1 else (branching - 1) * levels**power

    return min(range(2, max(2, min(cells, 1024)) + 1), key=variance)
