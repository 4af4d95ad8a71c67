"""Draws in blocks, and random bits: what the samplers of all laws share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.numbers import natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Draws = NDArray[np.int64] | NDArray[np.object_]
else:
    np = Later("numpy")
    Draws = object

"""Many draws: 64-bit integers where they surely fit, otherwise Python integers."""

Size = int | tuple[int, ...]
"""How many draws, or the shape of an array of them."""

NEVER = 694
"""e^{−694} < 2^{−1001}: an event of twice that probability does not happen."""

BLOCK = 1 << 17
"""Draws per block, so that the memory needed is little more than the answer's."""


def collect(draw: Callable[[int], NDArray[Any]], *, size: Size, dtype: type[np.generic]) -> NDArray[Any]:
    """Draws of this size or shape, made in blocks.

    >>> collect(np.zeros, size=(2, 3), dtype=np.int64).shape
    (2, 3)
    """
    lengths = size if isinstance(size, tuple) else (size,)
    shape = tuple(natural(length, name="size", of="a sample", least=0) for length in lengths)
    drawn = np.empty(math.prod(shape), dtype=dtype)
    for start in range(0, len(drawn), BLOCK):
        block = drawn[start : start + BLOCK]
        block[:] = draw(len(block))
    return drawn.reshape(shape)


def collect_integers(draw: Callable[[int], Draws], *, size: Size, fits: bool) -> Draws:
    """`collect` for integers; `fits` says that none exceeds 2^62, and must not depend on the draws."""
    return collect(draw, size=size, dtype=np.int64 if fits else np.object_)


def random_bits(bits: int, *, size: int, coins: Coins) -> Draws:
    """Uniform integers from 0 up to, but not including, 2^bits: Python integers for more than 63 bits."""
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
