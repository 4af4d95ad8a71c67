"""Statistics of spread: the interquartile range and the variance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sitr.errors import QuestionError
from sitr.numbers import Number, exact
from sitr.sensitivity.decay import Floats, largest, outward, reach, reduced
from sitr.sensitivity.ranks import Quantile
from sitr.sensitivity.sample import Granules

Flags = NDArray[np.bool_]

_QUARTILES = (Quantile(Fraction(1, 4)), Quantile(Fraction(3, 4)))


@dataclass(frozen=True, slots=True)
class InterquartileRange:
    """f(X) = x_c − x_a, the upper less the lower quartile, of ranks c = ⌈3n/4⌉ and a = ⌈n/4⌉.

    One person can move both quartiles, but only in the same direction. A person who moves to or from the ranks between
    them moves only one of them, as far as one person can. So LS_0 of f is the larger LS_0 of the two quartiles, and as
    LS_k is the largest LS_0 at most k people away, the same holds for LS_k. (a < c if n > 1. If n = 1, f is always 0.)

    >>> sample = np.array([1, 2, 4, 8])
    >>> interquartile_range.value(sample), interquartile_range.local(sample, 0, 10)
    (Fraction(3, 1), Fraction(4, 1))
    """

    @property
    def power(self) -> int:
        return 1

    @property
    def whole(self) -> bool:
        return True

    def value(self, sample: Granules) -> Fraction:
        lower, upper = (quartile.value(sample) for quartile in _QUARTILES)
        return upper - lower

    def local(self, sample: Granules, low: int, high: int, *, distance: int = 0) -> Fraction:
        if len(sample) == 1:
            return Fraction(0)
        return max(quartile.local(sample, low, high, distance=distance) for quartile in _QUARTILES)

    def smooth(self, sample: Granules, low: int, high: int, *, dilation: Number) -> float:
        if len(sample) == 1:
            return 1.0
        return max(quartile.smooth(sample, low, high, dilation=dilation) for quartile in _QUARTILES)

    def distance(self, sample: Granules, low: int, high: int, *, bound: Number) -> int:
        if len(sample) == 1:
            return 2
        return min(quartile.distance(sample, low, high, bound=bound) for quartile in _QUARTILES)


@dataclass(frozen=True, slots=True)
class Variance:
    """f(X) = Σ(x_i − x̄)²/n, in granules².

    Let Y and Z have n − 1 people W in common, with mean μ, and one more each, y and z. Then

        f(Y) − f(Z) = (n−1)/n²·((y − μ)² − (z − μ)²).

    Y differs from X in at most k people: either y is one of those k, or y is in X. One of y and z is farther from μ;
    suppose that it lies above μ (otherwise mirror all values). Then the largest difference is one of these:

    (a) y is one of the k, k ≥ 1: both are free. One is `high`, the other the integer next to μ, δ away from it:
        (high − μ)² − δ², which grows as μ falls (it does so by 2(high − μ) ≥ 2δ, and δ² by at most 2δ). So W are the
        n − k smallest of X, and k − 1 times `low`.
    (b) y is in X and the nearer one: z = high, (high − μ)² − (y − μ)² = (high − y)(high + y − 2μ). Again the smaller μ
        the better: the others are the smallest of X, and k times `low`. If y is one of the n − k smallest of X, whose
        sum with k times `low` is C, then (n − 1)μ = C − y; it is a concave quadratic of y with its top at
        (high + C)/(n + 1): one of the two values of X around it is best. All other y are worse than x_{n−k}, which
        leaves the same μ, and is nearer to it.
    (c) y is in X and the farther one: z is the integer next to μ, (y − μ)² − δ². y = x_n and the smallest μ are best:
        W are the n − 1 − k smallest of X, and k times `low`.

    All three are products of two integers, divided by (n − 1)². For one k they take O(log n) time after sums of X.

    >>> sample = np.array([1, 2, 4, 8])
    >>> variance.value(sample), variance.local(sample, 0, 10)
    (Fraction(115, 16), Fraction(15, 2))
    """

    @property
    def power(self) -> int:
        return 2

    @property
    def whole(self) -> bool:
        return False

    def value(self, sample: Granules) -> Fraction:
        n, moved = len(sample), (sample - sample[0]).tolist()
        total, squares = sum(moved), sum(number * number for number in moved)
        return Fraction(n * squares - total * total, n * n)

    def local(self, sample: Granules, low: int, high: int, *, distance: int = 0) -> Fraction:
        if len(sample) == 1:
            return Fraction(0)
        return _local(_sides(sample, low, high), min(distance, len(sample)))

    def smooth(self, sample: Granules, low: int, high: int, *, dilation: Number) -> float:
        n, beta = len(sample), reduced(dilation)
        if n == 1:
            return 1.0
        changes = np.arange(min(n, reach((high - low) ** 2 * (n - 1), dilation=beta)) + 1)
        found: Floats = np.zeros(len(changes))
        for side in _sides(sample, low, high):
            for one, other in side.products(changes):
                np.maximum(found, one.astype(np.float64) * other, out=found)
        # In units of 1/(n²(n − 1)). The least difference of two values is 1/n².
        return outward(max(n - 1.0, largest(found, dilation=beta)) / (n - 1) / n**2)

    def distance(self, sample: Granules, low: int, high: int, *, bound: Number) -> int:
        """By bisection, because LS_k grows with k."""
        if len(sample) == 1:
            return 2
        sides = _sides(sample, low, high)
        return bisect_right(range(len(sample) + 1), exact(bound), key=lambda k: _local(sides, k))


@dataclass(frozen=True, slots=True)
class _Side:
    """Values from 0 = low to `width` = high, in growing order, and the sums of the first ones."""

    values: Granules
    sums: Granules
    width: int

    def products(self, changes: Granules) -> Iterator[tuple[Granules, Granules]]:
        """The cases (a), (b) and (c), each as two factors for every k; 0 where there is no such case.

        >>> side = _Side(np.array([1, 2, 4, 8]), np.array([0, 1, 3, 7, 15]), 10)
        >>> [[int(one[0] * other[0]) for one, other in side.products(np.array([k]))] for k in (0, 1)]
        [[0, 360, 240, 288], [528, 624, 648, 441]]
        """
        n, rest = len(self.values), len(self.values) - 1
        kept = np.maximum(n - changes, 0)
        some, free = changes < n, changes > 0
        yield _difference_of_squares(rest * self.width - self.sums[kept], rest, where=free)
        top = np.searchsorted(self.values, (self.width + self.sums[kept]) // (n + 1), side="right")
        for rank in (top, top + 1):
            y = self.values[np.clip(rank, 1, np.maximum(kept, 1)) - 1]
            yield some * (self.width - y) * rest, (self.width + y) * rest - 2 * (self.sums[kept] - y)
        others = self.sums[np.maximum(kept - 1, 0)]
        yield _difference_of_squares(rest * self.values[-1] - others, rest, where=some)


def _difference_of_squares(far: Granules, rest: int, *, where: Flags) -> tuple[Granules, Granules]:
    """The factors of far² − near², with `near` from far to the next multiple of n − 1: δ, times n − 1."""
    above = far % rest
    near = np.minimum(above, rest - above)
    return where * (far - near), far + near


def _local(sides: tuple[_Side, _Side], distance: int) -> Fraction:
    n, changes = len(sides[0].values), np.array([distance])
    products = (pair for side in sides for pair in side.products(changes))
    return Fraction(max(int(one[0]) * int(other[0]) for one, other in products), n * n * (n - 1))


def _sides(sample: Granules, low: int, high: int) -> tuple[_Side, _Side]:
    """The sample as it is, and mirrored."""
    if 2 * (high - low) * len(sample) >= 2**62:
        raise QuestionError(
            wanted="fewer than 2^61 granules for all people together",
            given=f"{high - low} granules for each of {len(sample)} people",
            do="Choose a larger granularity.",
        )
    both = (sample - low, (high - sample)[::-1])
    upright, turned = (_Side(one, np.concatenate(([0], np.cumsum(one))), high - low) for one in both)
    return upright, turned


interquartile_range = InterquartileRange()
"""x_(⌈3n/4⌉) − x_(⌈n/4⌉)."""

variance = Variance()
"""Σ(x_i − x̄)²/n."""
