"""What every law of noise shares: a positive scale, a confidence below one, one draw or many."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sitr.loss.bounds import Number, exact

Draws = NDArray[np.int64] | NDArray[np.object_]
"""Many draws: 64-bit integers where they surely fit, otherwise Python's."""

NEVER = 694
"""e^{−694} < 2^{−1001}: an event of twice that probability does not happen."""


def positive(number: Number, *, name: str) -> Fraction:
    """The exact scale of a law.

    >>> positive(0.1, name="scale")
    Fraction(1, 10)
    """
    try:
        scale = exact(number)
    except ValueError:
        scale = None
    if scale is None or scale <= 0:
        raise ValueError(
            f"The {name} of noise is a finite number above 0. {number!r} was given. "
            "Fit it to the sensitivity and the privacy wanted; there is no noise of size zero."
        )
    return scale


def inside(confidence: Number) -> Fraction:
    """A confidence that noise can reach and need not always.

    >>> inside(0.95)
    Fraction(19, 20)
    """
    try:
        level = exact(confidence)
    except ValueError:
        level = None
    if level is None or not 0 < level < 1:
        raise ValueError(
            f"A confidence lies strictly between 0 and 1. {confidence!r} was given. "
            "Choose for example 0.95; noise has no bound that holds always."
        )
    return level


def collect(draw: Callable[[], int], *, size: int, fits: bool) -> Draws:
    """This many draws; `fits` says that an integer beyond 2^62 never comes. It must not depend on the draws."""
    if size < 0:
        raise ValueError(f"A size is an integer of at least 0. {size} was given. Ask for none, or for more.")
    drawn = (draw() for _ in range(size))
    if fits:
        return np.fromiter(drawn, dtype=np.int64, count=size)
    return np.fromiter(drawn, dtype=np.object_, count=size)
