"""Coarse tables of all triples of columns: by which groups they are measured, or that the rows are too few for them.

Each row is in one cell of each of them, as in any other table of counts, so that one unit moves each by the distance of
the sheet. What they may cost is a fixed part of the second look, which buys finer tables of pairs if they are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable, Granular, Rule
from sitr.questions.synthetic.plan import NORMAL, Division

LADDER = (8, 6, 5, 4, 3)
"""The most groups of each column that are tried, from fine to coarse; the group of NULL comes on top."""

NOISY = 0.06
"""The largest mean of what noise adds to Σ|p − q| of a triple. With more, no triple is measured."""

Weights = NDArray[np.float64]
Codes = NDArray[np.int64]
Triple = tuple[int, ...]


def triples(columns: int) -> list[Triple]:
    """All triples of this many columns."""
    return list(combinations(range(columns), 3))


def shapes(groups: Sequence[Codes]) -> list[tuple[int, ...]]:
    """The numbers of groups of the columns of each triple."""
    sizes = [int(each.max()) + 1 for each in groups]
    return [tuple(sizes[place] for place in each) for each in triples(len(sizes))]


def groups_of_triples(
    division: Division, shares: Sequence[Weights], groups: Sequence[Codes], total: float
) -> tuple[Codes, ...]:
    """The finest groups of each column with which the noise of triples is small enough; none if there are none.

    They join groups of the first look, so that no new sets of cells arise. Shares, groups and the
    number of rows are noisy and released, so that this choice reads no row.
    """
    if not division.triples:
        return ()
    for most in LADDER:
        each = zip(division.sheet.axes, shares, groups, strict=True)
        joined = tuple(_joined(axis, share, fine, most) for axis, share, fine in each)
        if _noise(division, [math.prod(shape) for shape in shapes(joined)], total) <= NOISY:
            return joined
    return ()


def _noise(division: Division, cells: Sequence[int], total: float) -> float:
    """What noise adds to Σ|p − q| of a triple, on average."""
    noises = zip(cells, division.of_triples(cells), strict=True)
    return NORMAL * sum(count * noise.deviation for count, noise in noises) / len(cells) / max(total, 1.0)


def _joined(axis: Drawable, share: Weights, groups: Codes, most: int) -> Codes:
    """Groups of a column joined into at most this many, and one more for NULL.

    Groups of ordered cells are joined with their neighbours, into groups of about equal share. Of others, the most
    frequent ones stay alone.
    """
    known = groups[: axis.ordinary]
    count = int(known.max()) + 1
    if count <= most:
        return groups
    sums = np.bincount(known, weights=share[: axis.ordinary], minlength=count)
    if isinstance(axis, Granular):
        middle = np.cumsum(sums) - sums / 2
        places = np.minimum(np.floor(middle / max(sums.sum(), 1e-300) * most), most - 1)
        joined = np.unique(places, return_inverse=True)[1]
    else:
        joined = np.empty(count, dtype=np.int64)
        joined[np.argsort(-sums, kind="stable")] = np.minimum(np.arange(count), most - 1)
    found = joined[known]
    return np.append(found, found.max() + 1) if axis.missing is Rule.CELL else found
