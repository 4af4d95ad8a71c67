"""Uniform integers, and uniform orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Draws, Size, collect_integers, random_bits
from sitr.numbers import natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")


@overload
def uniform(*, bound: int, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def uniform(*, bound: int, size: Size, coins: Coins | None = None) -> Draws: ...
def uniform(*, bound: int, size: Size | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) = 1/b for y = 0, 1, …, b − 1, exactly.

    Many draws are 64-bit integers if b ≤ 2^63, otherwise Python integers.

    >>> uniform(bound=1), uniform(bound=2**70, size=3).dtype
    (0, dtype('O'))
    """
    tossed = system_coins() if coins is None else coins
    b = natural(bound, name="bound", of="a draw")
    if size is None:
        return tossed.below(b)
    return collect_integers(lambda count: uniform_block(b, count, tossed), size=size, fits=b <= 2**63)


def permutation(*, size: int, coins: Coins | None = None) -> NDArray[np.int64]:
    """0, 1, …, n − 1 in random order: each of the n! orders with the same probability, exactly.

    They are sorted by random words. As long as no two of these are equal, no order is likelier than another; if any
    two are, which hardly ever happens, all words are drawn again.

    >>> sorted(permutation(size=4).tolist())
    [0, 1, 2, 3]
    """
    tossed, n = system_coins() if coins is None else coins, natural(size, name="size", of="a permutation", least=0)
    while True:
        words = tossed.words(n)
        order = np.argsort(words)
        ranked = words[order]
        if np.all(ranked[1:] != ranked[:-1]):
            return order.astype(np.int64, copy=False)


def uniform_block(bound: int, size: int, coins: Coins) -> Draws:
    """Draws with as many bits as the largest integer has; those beyond it, fewer than half, are drawn again."""
    bits = (bound - 1).bit_length()
    drawn = random_bits(bits, size=size, coins=coins)
    beyond = np.flatnonzero(drawn >= bound)
    while beyond.size:
        drawn[beyond] = random_bits(bits, size=beyond.size, coins=coins)
        beyond = beyond[drawn[beyond] >= bound]
    return drawn
