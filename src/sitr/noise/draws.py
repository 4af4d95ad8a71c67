"""What every law of noise shares: a positive scale, a confidence below one, one draw or many."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.noise.coins import Coins
from sitr.numbers import Number, exact

Draws = NDArray[np.int64] | NDArray[np.object_]
"""Many draws: 64-bit integers where they surely fit, otherwise Python's."""

Size = int | tuple[int, ...]
"""How many draws, or the shape of an array of them."""

NEVER = 694
"""e^{−694} < 2^{−1001}: an event of twice that probability does not happen."""

BLOCK = 1 << 17
"""So many draws are made at a time: whatever the size, little more memory is needed than for the answer."""


def positive(number: Number, *, name: str) -> Fraction:
    """The exact scale of a law.

    >>> positive(0.1, name="scale")
    Fraction(1, 10)
    """
    scale = finite(number)
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
    level = finite(confidence)
    if level is None or not 0 < level < 1:
        raise ValueError(
            f"A confidence lies strictly between 0 and 1. {confidence!r} was given. "
            "Choose for example 0.95; noise has no bound that holds always."
        )
    return level


def finite(number: Number) -> Fraction | None:
    """The exact number; None for what is no finite number: text, a boolean, infinity.

    >>> finite(0.5), finite("0.5"), finite(True)
    (Fraction(1, 2), None, None)
    """
    try:
        return None if isinstance(number, bool | np.bool_) else exact(number)
    except (TypeError, ValueError):
        return None


def integer(number: int, *, name: str) -> int:
    """An integer of Python, from one of Python or numpy.

    >>> integer(np.int8(3), name="size")
    3
    """
    try:
        if not isinstance(number, bool | np.bool_):
            return index(number)
    except TypeError:
        pass
    raise TypeError(f"The {name} is an integer. {number!r} was given. Count in whole numbers.")


def collect(draw: Callable[[int], NDArray[Any]], *, size: Size, dtype: type[np.generic]) -> NDArray[Any]:
    """Draws of this size or shape, made in blocks.

    >>> collect(np.zeros, size=(2, 3), dtype=np.int64).shape
    (2, 3)
    """
    shape = tuple(integer(length, name="size") for length in (size if isinstance(size, tuple) else (size,)))
    if any(length < 0 for length in shape):
        raise ValueError(f"A size is made of integers of at least 0. {size} was given. Ask for none, or for more.")
    drawn = np.empty(math.prod(shape), dtype=dtype)
    for start in range(0, len(drawn), BLOCK):
        block = drawn[start : start + BLOCK]
        block[:] = draw(len(block))
    return drawn.reshape(shape)


def collect_integers(draw: Callable[[int], Draws], *, size: Size, fits: bool) -> Draws:
    """The same for integers; `fits` says that one beyond 2^62 never comes. It must not depend on the draws."""
    return collect(draw, size=size, dtype=np.int64 if fits else np.object_)


def random_bits(bits: int, *, size: int, coins: Coins) -> Draws:
    """Uniform integers from 0 up to, but not including, 2^bits: Python's if there are more than 63 bits."""
    if bits <= 0:
        return np.zeros(size, dtype=np.int64)
    if bits > 63:
        drawn = random_bits(bits - 63, size=size, coins=coins).astype(np.object_)
        drawn <<= 63
        drawn |= random_bits(63, size=size, coins=coins)
        return drawn
    width = 16 if bits <= 16 else 32 if bits <= 32 else 64
    words: NDArray[np.unsignedinteger] = coins.words(-(-size * width // 64)).view(f"u{width // 8}")[:size]
    return (words >> words.dtype.type(width - bits)).astype(np.int64)
