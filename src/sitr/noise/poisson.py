"""Poisson and Skellam laws: sums of such variables are again such variables, so several parties can draw them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from flint import arb

from sitr.noise.coins import Coins, system_coins
from sitr.noise.geometric import TABLES
from sitr.noise.inversion import FULL, Bits, Inversion, Survival
from sitr.numbers import Number, ball, positive

PIECE = 32
"""The largest mean of one table. A larger mean is the sum of several."""


def poisson(*, mean: Number, coins: Coins | None = None) -> int:
    """P(y) = e^{−m}·m^y/y!, exactly, for any rational m > 0.

    >>> poisson(mean=1e-30), 0 < poisson(mean=1000) < 2000
    (0, True)
    """
    tossed, left = system_coins() if coins is None else coins, positive(mean, name="mean", of="noise")
    pieces, rest = divmod(left, PIECE)
    drawn = sum(poisson_law(PIECE).one(tossed) for _ in range(pieces))
    return drawn + (poisson_law(rest).one(tossed) if rest else 0)


def skellam(*, variance: Number, coins: Coins | None = None) -> int:
    """A − B with A, B ~ Poisson(variance/2), exactly: P(y) = e^{−v}·I_{|y|}(v).      [AKL21]

    >>> abs(skellam(variance=100)) < 1000
    True
    """
    half = positive(variance, name="variance", of="noise") / 2
    return poisson(mean=half, coins=coins) - poisson(mean=half, coins=coins)


@lru_cache(TABLES, typed=True)
def poisson_law(mean: Number, digits: Bits = FULL) -> Inversion:
    """The sampler for one mean, built once."""
    return Inversion(poisson_survival(lambda: ball(mean)), digits)


def poisson_survival(mean: Callable[[], arb]) -> Survival:
    """P(Y ≥ i) = γ(i, m)/Γ(i). `mean` encloses m at the working precision.      [DLMF, 8.4.10]"""

    def survival(i: int) -> arb:
        found: arb = mean().gamma_lower(i, regularized=1)
        return found

    return survival
