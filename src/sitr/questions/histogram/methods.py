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


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Correlated Gaussian noise on prefix sums, for sums over ranges; see `PrefixGaussian`.

    Sums run along these columns of numbers or dates, by default along all of them. A price must buy Gaussian noise.
    """

    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranges:
    """Whichever of Flat(), Tree() and Prefixes() has the least root mean square error of ranges.

    The choice follows from the cells, the caps and the price alone. By default it is over all ranges, of several
    columns over all rectangles; `wanted` lists ranges of one column, by the numbers of their first and last cells.
    """

    wanted: tuple[tuple[int, int], ...] = ()


Method = Flat | Tree | Buckets | Bins | Unlisted | Sparse | Prefixes | Ranges
