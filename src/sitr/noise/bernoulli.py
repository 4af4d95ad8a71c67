"""Coins that fall with a given probability, exactly: p for a rational p, e^{−x} for a rational x."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sitr.loss.bounds import Number, ball
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Size, collect, finite
from sitr.noise.inversion import FULL, Digits, Inversion

Outcomes = NDArray[np.bool_]


@overload
def bernoulli(*, probability: Number, size: None = None, coins: Coins | None = None) -> bool: ...
@overload
def bernoulli(*, probability: Number, size: Size, coins: Coins | None = None) -> Outcomes: ...
def bernoulli(*, probability: Number, size: Size | None = None, coins: Coins | None = None) -> bool | Outcomes:
    """True with this probability, 0 ≤ p ≤ 1.

    >>> bernoulli(probability=1), bernoulli(probability=0, size=3).tolist()
    (True, [False, False, False])
    """
    p = finite(probability)
    if p is None or not 0 <= p <= 1:
        raise ValueError(f"A probability lies between 0 and 1. {probability!r} was given. Choose one of these.")
    return trials(lambda: ball(p), size=size, coins=coins)


@overload
def bernoulli_exponential(*, exponent: Number, size: None = None, coins: Coins | None = None) -> bool: ...
@overload
def bernoulli_exponential(*, exponent: Number, size: Size, coins: Coins | None = None) -> Outcomes: ...
def bernoulli_exponential(*, exponent: Number, size: Size | None = None, coins: Coins | None = None) -> bool | Outcomes:
    """True with probability e^{−x}, x ≥ 0.

    >>> bernoulli_exponential(exponent=0), bernoulli_exponential(exponent=10**9, size=2).tolist()
    (True, [False, False])
    """
    x = finite(exponent)
    if x is None or x < 0:
        raise ValueError(f"An exponent is a finite number of at least 0. {exponent!r} was given. Give x for e^-x.")

    def probability() -> arb:
        return (-ball(x)).exp()

    return trials(probability, size=size, coins=coins)


def trials(
    probability: Callable[[], arb], *, size: Size | None, coins: Coins | None, digits: Digits = FULL
) -> bool | Outcomes:
    """U < p. Nothing is kept: a probability may be somebody's secret."""
    tossed = system_coins() if coins is None else coins
    law = Inversion(lambda i: probability() if i == 1 else arb(0), digits)
    if size is None:
        return law.one(tossed) == 1
    return collect(lambda count: law.many(count, tossed) == 1, size=size, dtype=np.bool_)
