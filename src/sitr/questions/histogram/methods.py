"""The ways to measure a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sitr.dataset.cells import Rule


@dataclass(frozen=True, slots=True)
class Flat:
    """Noise on every cell."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Noise on the cells and on the sums of b, b², … neighbouring cells, for sums over ranges.

    The root, the sum of all cells, is measured too if `rooted`. Without a `branching`, the best one for ranges is used.
    """

    branching: int | None = None
    rooted: bool = False


@dataclass(frozen=True, slots=True)
class Buckets:
    """Part of the price chooses which neighbouring cells are joined; the rest measures their sums."""

    share: Fraction = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class Bins:
    """Part of the price chooses the number of bins of equal width; the rest measures these bins."""

    candidates: tuple[int, ...]
    share: Fraction = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Categories that are not public: a category is shown if enough people have it, noise included.

    "No category" is one of them, unless `missing` drops it from the noisy answer, which costs nothing.
    """

    missing: Rule = Rule.CELL


@dataclass(frozen=True, slots=True)
class Sparse:
    """Noise only on cells with people, for a random price where neighbours replace a row; see `SparseHistogram`.

    If γ is too small for that, every cell gets noise.
    """


Method = Flat | Tree | Buckets | Bins | Unlisted | Sparse
