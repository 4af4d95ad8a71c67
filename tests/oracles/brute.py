"""Sensitivities of any function at all, by trying every sample on a small grid: slow, and right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from sitr.numbers import Number, exact

Sample = tuple[int, ...]
"""Values in growing order: who has which of them does not matter."""


def local_sensitivities(
    function: Callable[[Sample], Number], *, size: int, low: int, high: int
) -> dict[Sample, list[Fraction]]:
    """LS_0, …, LS_n of every sample of n = `size` integers from low to high.

    LS_0 is the largest |f(Y) − f(Z)| over all neighbours Z of Y, and LS_{k+1}(X) the largest LS_k among X and its
    neighbours.

    >>> local_sensitivities(max, size=2, low=0, high=3)[0, 1]
    [Fraction(2, 1), Fraction(3, 1), Fraction(3, 1)]
    """
    samples = list(combinations_with_replacement(range(low, high + 1), size))
    values = {sample: exact(function(sample)) for sample in samples}
    near = {sample: set(neighbours(sample, low=low, high=high)) for sample in samples}
    found = {sample: [max(abs(values[sample] - values[other]) for other in near[sample])] for sample in samples}
    for k in range(size):
        for sample in samples:
            found[sample].append(max(found[other][k] for other in near[sample]))
    return found


def neighbours(sample: Sample, *, low: int, high: int) -> Iterator[Sample]:
    """All samples in which at most one value is another.

    >>> sorted(set(neighbours((0, 1), low=0, high=1)))
    [(0, 0), (0, 1), (1, 1)]
    """
    for i in range(len(sample)):
        for value in range(low, high + 1):
            yield tuple(sorted((*sample[:i], value, *sample[i + 1 :])))


def smooth_sensitivity(local: Sequence[Fraction], *, dilation: Number) -> float:
    """max_k e^{−βk}·LS_k, nearly: a float.

    >>> smooth_sensitivity([Fraction(1), Fraction(2), Fraction(3)], dilation=math.log(1.9))
    1.05...
    """
    return max(math.exp(-dilation * k) * float(farther) for k, farther in enumerate(local))


def distance_to(local: Sequence[Fraction], *, bound: Number) -> int:
    """The least k with LS_k > bound, n + 1 if there is none.

    >>> distance_to([Fraction(1), Fraction(2), Fraction(3)], bound=1)
    1
    """
    return next((k for k, farther in enumerate(local) if farther > exact(bound)), len(local))
