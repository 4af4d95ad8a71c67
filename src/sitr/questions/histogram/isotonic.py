"""Noisy counts made monotone or unimodal, if the exact counts are publicly known to have that form."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.namespace import Later
from sitr.questions.histogram.projection import checked

optimize = Later("scipy.optimize")

Reals = NDArray[np.float64]


class Form(Enum):
    """The known form of the counts along a line of cells."""

    RISING = "rising"
    FALLING = "falling"
    ONE_PEAK = "one peak"
    """The counts rise up to an unknown cell and fall after it."""


def isotonic(noisy: NDArray[Any], *, form: Form) -> Reals:
    """The counts of this form with the smallest Σ(c_j − y_j)²: runs that violate it are replaced by their mean.

    Monotone forms use pool adjacent violators [BBBB72, Sec. 1.2]. Counts with one peak are a rising part followed by a
    falling part; one pass from each side gives the errors for all cuts, and the best one is taken.  [Sto08, Thm 5]

    >>> isotonic(np.array([1, 3, 2, 5]), form=Form.RISING).tolist()
    [1.0, 2.5, 2.5, 5.0]
    >>> isotonic(np.array([1, 4, 2, 3, 0]), form=Form.ONE_PEAK).tolist()
    [1.0, 4.0, 2.5, 2.5, 0.0]
    """
    y = checked(noisy, 0)
    match form:
        case Form.RISING:
            return _rising(y)
        case Form.FALLING:
            return _rising(y[::-1])[::-1]
        case Form.ONE_PEAK:
            middle = y - y.mean()  # otherwise large sums of squares would lose small differences
            split = int(np.argmin(_errors(middle) + _errors(middle[::-1])[::-1]))
            return np.concatenate([_rising(y[:split]), _rising(y[split:][::-1])[::-1]])


def _rising(y: Reals) -> Reals:
    return np.asarray(optimize.isotonic_regression(y).x, np.float64) if y.size else y


def _errors(y: Reals) -> Reals:
    """The smallest Σ(c_j − y_j)² of a rising fit to the first i numbers, for i = 0, 1, …, k.

    Blocks are merged as each number is added. The error of a block is Σy² − (Σy)²/length.
    """
    found = np.zeros(len(y) + 1)
    blocks: list[tuple[float, int]] = []  # sums and lengths, means rising
    fitted, squares = 0.0, 0.0
    for place, number in enumerate(y.tolist()):
        squares += number * number
        total, length = number, 1
        while blocks and blocks[-1][0] * length >= total * blocks[-1][1]:
            before, count = blocks.pop()
            fitted -= before * before / count
            total, length = total + before, length + count
        blocks.append((total, length))
        fitted += total * total / length
        found[place + 1] = squares - fitted
    return found
