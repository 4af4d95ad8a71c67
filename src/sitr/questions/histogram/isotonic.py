"""Noisy counts made monotone or with one peak, where that is public knowledge about what is counted."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from sitr.questions.histogram.projection import checked

Reals = NDArray[np.float64]


class Form(Enum):
    """What is known about counts in their order."""

    RISING = "rising"
    FALLING = "falling"
    ONE_PEAK = "one peak"
    """They rise up to some cell and fall from there on; which one is not known."""


def isotonic(noisy: NDArray[Any], *, form: Form) -> Reals:
    """The counts of this form for which Σ(c_j − y_j)² is least: stretches that break it become their mean.

    Pool adjacent violators [BBBB72, Sec. 1.2]. A rising start and a falling end, cut anywhere, have one peak; their
    least errors are known for all cuts after one pass from each side, and the best cut is taken.  [Sto08, Thm 5]

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
            middle = y - y.mean()  # large sums of squares would hide small differences
            split = int(np.argmin(_errors(middle) + _errors(middle[::-1])[::-1]))
            return np.concatenate([_rising(y[:split]), _rising(y[split:][::-1])[::-1]])


def _rising(y: Reals) -> Reals:
    return np.asarray(isotonic_regression(y).x, np.float64) if y.size else y


def _errors(y: Reals) -> Reals:
    """The least Σ(c_j − y_j)² of a rising fit to the first i numbers, for i = 0, 1, …, k: blocks are merged as each
    number comes, and the error of a block is Σy² − (Σy)²/length."""
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
