"""Which prices buy noisy marginals, and the noise that they buy."""

from __future__ import annotations

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.shared import SharedNoise
from sitr.questions.aggregate.fit import LEAST
from sitr.questions.synthetic.sheet import Sheet


def affordable(price: Promise) -> Additive:
    """The price, if it buys synthetic rows.

    A random one does not: its γ would be paid for noise that protects everybody.
    """
    match price:
        case PureDP() if price.epsilon >= LEAST:
            return price
        case ApproximateDP() if price.epsilon >= LEAST and (price.delta == 0 or LEAST <= price.delta < 1):
            return price
        case ZeroConcentratedDP() if price.rho >= LEAST and price.xi == 0:
            return price
    raise QuestionError(
        wanted=f"a price of pure(ε), zcdp(ρ) or approximate(ε, δ) with δ < 1, each number at least {LEAST}, without ξ",
        given=f"{price!r}",
        do="Pay with the promise inside it: a γ buys nothing here, because the noise protects everybody."
        if isinstance(price, RandomDP)
        else "Pay a little more: with no privacy loss there is nothing to imitate.",
    )


def ways_to_pay(price: Additive) -> list[Additive]:
    """A price with a δ buys Gaussian noise; its ε alone buys Laplace noise, which is sometimes less.

    >>> ways_to_pay(ApproximateDP(1.0, 1e-9))
    [ApproximateDP(epsilon=1.0, delta=0.0), ApproximateDP(epsilon=1.0, delta=1e-09)]
    """
    if not isinstance(price, ApproximateDP) or price.delta == 0:
        return [price]
    alone = ApproximateDP(price.epsilon, 0.0)
    return [alone, price] if GaussianDP.fitting(price).mu > 0 else [alone]


def shared(price: Additive, sheet: Sheet) -> SharedNoise:
    """What a price buys for tables of the counts of these rows."""
    match price:
        case ApproximateDP(epsilon, 0.0):
            return SharedNoise(PureDP(epsilon), sheet.distance())
        case ApproximateDP():
            return SharedNoise(GaussianDP.fitting(price), sheet.distance())
    return SharedNoise(price, sheet.distance())
