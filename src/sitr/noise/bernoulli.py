"""Biased coins, exactly: heads with probability p for a rational p, or e^{−x} for a rational x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, overload

from flint import arb

from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Size, collect
from sitr.noise.exponential import LARGE, exponential
from sitr.noise.inversion import FULL, Bits, Inversion, settle
from sitr.numbers import Number, ball, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Outcomes = NDArray[np.bool_]
else:
    np = Later("numpy")
    Outcomes = object


_MARGIN = 2.0**-48
"""An upper bound on the error of a probability in floats, proved in `one_for_each`."""


@overload
def bernoulli(*, probability: Number, size: None = None, coins: Coins | None = None) -> bool: ...
@overload
def bernoulli(*, probability: Number, size: Size, coins: Coins | None = None) -> Outcomes: ...
def bernoulli(*, probability: Number, size: Size | None = None, coins: Coins | None = None) -> bool | Outcomes:
    """True with this probability, 0 ≤ p ≤ 1.

    >>> bernoulli(probability=1), bernoulli(probability=0, size=3).tolist()
    (True, [False, False, False])
    """
    p = within(probability, name="probability", of="a coin", most=1)
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
    x = within(exponent, name="exponent", of="a coin")

    def probability() -> arb:
        return (-ball(x)).exp()

    return trials(probability, size=size, coins=coins)


def trials(
    probability: Callable[[], arb], *, size: Size | None, coins: Coins | None, digits: Bits = FULL
) -> bool | Outcomes:
    """U < p. Nothing is cached, because a probability may be secret."""
    tossed = system_coins() if coins is None else coins
    law = Inversion(lambda i: probability() if i == 1 else arb(0), digits)
    if size is None:
        return law.one(tossed) == 1
    return collect(lambda count: law.many(count, tossed) == 1, size=size, dtype=np.bool_)


def one_for_each(gaps: Sequence[int | Fraction], *, rate: Fraction, coins: Coins, digits: Bits = FULL) -> Outcomes:
    """One coin for each gap g ≥ 0: true with probability e^{−rate·g}, exactly. The gaps are not cached.

    Floats decide whether U < e^{−x}; where the two are too close, Arb decides with more digits of U.
    x = rate·g is rounded once, by at most u·x with u = 2^{−53}, and x·e^{−x} < 0.4: that moves e^{−x} by less than u.
    `exponential` adds 16u, and the margin itself is added with an error of at most 2u: together 19u < 2^{−48} = 32u.
    (Where x > 700, or where it is too small for a float, less than 2^{−1000} is added.)

    >>> from sitr.noise.coins import system_coins
    >>> one_for_each([0, 10**9], rate=Fraction(1, 2), coins=system_coins()).tolist()
    [True, False]
    """
    drawn = coins.words(len(gaps)) >> np.uint64(64 - digits.word)
    known = min(digits.word, 53)
    v = (drawn >> np.uint64(digits.word - known)).astype(np.float64)
    chances = exponential(_exponents(gaps, rate))
    heads = (v + 1) * 2.0**-known <= chances - _MARGIN
    possible = v * 2.0**-known < chances + _MARGIN
    for at in np.flatnonzero(heads != possible).tolist():
        heads[at] = _settled(rate * gaps[at], int(drawn[at]), coins, digits)
    return heads


def _exponents(gaps: Sequence[int | Fraction], rate: Fraction) -> NDArray[np.float64]:
    """min(rate·g, 700). Python rounds the quotient of two integers correctly, however large they are."""
    most, up, down = int(LARGE), rate.numerator, rate.denominator
    ratios = ((up * gap.numerator, down * gap.denominator) for gap in gaps)
    return np.fromiter((min(n, most * d) / d for n, d in ratios), dtype=np.float64, count=len(gaps))


def _settled(exponent: Fraction, drawn: int, coins: Coins, digits: Bits) -> bool:
    def survival(i: int) -> arb:
        return (-ball(exponent)).exp() if i == 1 else arb(0)

    return settle(survival, drawn, digits.word, coins=coins, more=digits.word) == 1
