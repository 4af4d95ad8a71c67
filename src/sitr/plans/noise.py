"""The ways to spend a price on additive noise, from which every fit chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, express, kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.real import gaussian
from sitr.mechanisms.additive import NoisePrice
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.mechanism import Mechanism, added
from sitr.numbers import downward, exact

LEAST = 1e-100
"""The smallest price: a smaller one could become 0 when it is shared, and its answer would be useless."""

MOST = 1e100
"""The largest price: it protects nobody, and with a still larger one, numbers computed from the noise have no float."""

BUYS_NOISE = f"a price of pure(ε), zcdp(ρ) or approximate(ε, δ) with δ < 1, each number from {LEAST} to {MOST}"
CHOOSE_A_PRICE = "Choose a price in that range: below it there is no answer, and above it no privacy."
"""What an error says about a price that buys no noise."""

CLOSE = 1e-4
"""How far the μ that is found may be below one that is too large, relative to it."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to spend a price: `charged` is at most the price, and the noise keeps `bought`."""

    charged: Additive
    bought: NoisePrice


def buys_noise(price: Promise) -> TypeGuard[Additive]:
    """Does this price buy additive noise?

    A random one does not: its γ would be paid for noise that protects everybody. Neither does the ξ of zCDP.
    """
    if not kept(price):
        return False  # also a class that only inherits from one of these
    match price:
        case PureDP():
            return in_range(price.epsilon)
        case ApproximateDP():
            return in_range(price.epsilon) and (price.delta == 0 or LEAST <= price.delta < 1)
        case ZeroConcentratedDP():
            return in_range(price.rho) and price.xi == 0
    return False


def in_range(number: float) -> bool:
    """Does noise of this ε or ρ have a size that can be computed with?"""
    return LEAST <= number <= MOST


def ways(price: Additive, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """All ways to spend on noise what a price leaves beside other mechanisms of the same plan.

    A pure or zero-concentrated price leaves what the promises of these do not use. An approximate price leaves the rest
    of its ε for noise that is pure, or a μ for Gaussian noise, fitted by the loss of the whole plan.

    >>> ways(ApproximateDP(1.0, 1e-9))
    [Way(charged=ApproximateDP(epsilon=1.0, delta=0.0), bought=PureDP(epsilon=1.0)),
     Way(charged=ApproximateDP(epsilon=1.0, delta=1e-09), bought=GaussianDP(mu=0.18...))]
    >>> ways(PureDP(1.0), beside=[Exponential(epsilon=0.25)])
    [Way(charged=PureDP(epsilon=1.0), bought=PureDP(epsilon=0.75))]
    """
    match price:
        case PureDP():
            return pure_ways(price, beside=beside)
        case ApproximateDP():
            return [*pure_ways(price, beside=beside), *gaussian_ways(price, beside=beside)]
    rho = _rest(price.rho, [_concentrated(mechanism).rho for mechanism in beside])
    return [Way(price, ZeroConcentratedDP(rho))] if rho > 0 else []


def pure_ways(price: PureDP | ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """The rest of ε, for noise that is pure; no δ is charged unless the other mechanisms use some."""
    promises = [express(mechanism.promise(), ApproximateDP) for mechanism in beside]
    epsilon = _rest(price.epsilon, [promise.epsilon for promise in promises])
    free = isinstance(price, ApproximateDP) and all(promise.delta == 0 for promise in promises)
    return [Way(ApproximateDP(price.epsilon, 0.0) if free else price, PureDP(epsilon))] if epsilon > 0 else []


def gaussian_ways(price: ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """The largest μ for Gaussian noise, if there is one."""
    most = largest_mu(price, beside=beside) if price.delta > 0 else None
    return [] if most is None else [Way(price, most)]


def largest_mu(price: ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> GaussianDP | None:
    """The largest μ whose Gaussian noise keeps the price together with other mechanisms; None if there is none.

    By itself, Gaussian noise is calibrated exactly [BW18, Thm 8]. Beside other mechanisms, all losses are added up,
    and δ at the price's ε decides: it grows with μ.

    >>> largest_mu(ApproximateDP(1.0, 1e-6))
    GaussianDP(mu=0.236...)
    >>> largest_mu(ApproximateDP(1.0, 1e-6), beside=[Exponential(epsilon=0.5)])
    GaussianDP(mu=0.1...)
    """
    alone = GaussianDP.fitting(price)
    rest = added(mechanism.loss() for mechanism in beside)
    if rest is None or alone.mu == 0.0:
        return None
    if not beside:
        return alone

    def fits(mu: float) -> bool:
        return price.proved_by(rest + gaussian(sigma=1, sensitivity=mu))

    high = alone.mu
    low = high
    while not fits(low):
        low, high = low / 2, low
        if low < alone.mu / 2**20:
            return None
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return GaussianDP(low)


def _rest(whole: float, parts: Sequence[float]) -> float:
    return downward(max(Fraction(0), exact(whole) - sum(map(exact, parts), Fraction(0))))


def _concentrated(mechanism: Mechanism) -> ZeroConcentratedDP:
    """Losses of the exponential mechanism lie in an interval of length ε: ρ = ε²/8, not the ε²/2 of a pure promise."""
    if isinstance(mechanism, Exponential):
        return mechanism.zero_concentrated()
    return express(mechanism.promise(), ZeroConcentratedDP)
