"""Which prices buy noisy marginals."""

from __future__ import annotations

from sitr.errors import QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.plans.noise import BUYS_NOISE, CHOOSE_A_PRICE, buys_noise


def affordable(price: Promise) -> Additive:
    """The price, if it buys synthetic rows."""
    if buys_noise(price):
        return price
    raise QuestionError(
        wanted=f"{BUYS_NOISE}, without ξ",
        given=f"{price!r}",
        do="Pay with the promise inside it: a γ buys nothing here, because the noise protects everybody."
        if isinstance(price, RandomDP)
        else CHOOSE_A_PRICE,
    )
