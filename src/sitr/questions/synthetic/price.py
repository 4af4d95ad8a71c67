"""Which prices buy noisy marginals."""

from __future__ import annotations

from sitr.errors import QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.plans.noise import LEAST, buys_noise


def affordable(price: Promise) -> Additive:
    """The price, if it buys synthetic rows."""
    if buys_noise(price):
        return price
    raise QuestionError(
        wanted=f"a price of pure(ε), zcdp(ρ) or approximate(ε, δ) with δ < 1, each number at least {LEAST}, without ξ",
        given=f"{price!r}",
        do="Pay with the promise inside it: a γ buys nothing here, because the noise protects everybody."
        if isinstance(price, RandomDP)
        else "Pay a little more: with no privacy loss there is nothing to imitate.",
    )
