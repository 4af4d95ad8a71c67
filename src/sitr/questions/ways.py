"""The ways to spend a price on additive noise, from which every fit chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, express
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.real import gaussian
from sitr.mechanisms.additive import NoisePrice
from sitr.mechanisms.composed import concentrated, outside
from sitr.mechanisms.mechanism import Mechanism, added
from sitr.numbers import downward, exact
from sitr.plans.plan import FAINT

CLOSE = 1e-4
"""The relative precision of the search for μ."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to spend a price: `charged` is at most the price, and the noise keeps `bought`."""

    charged: Additive
    bought: NoisePrice


def ways(price: Additive, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """All ways to spend on noise what other mechanisms of the same plan (`beside`) leave of a price.

    A pure or zero-concentrated price leaves the parameter that their promises do not use. An approximate price leaves
    the rest of its ε for pure noise, or a μ for Gaussian noise, fitted by the loss of the whole plan. Of a price in
    zcdp(ρ, δ) noise uses ρ only, and no δ is charged unless the other mechanisms use some. A Gaussian price is for
    Gaussian noise on real numbers alone.

    >>> ways(ApproximateDP(1.0, 1e-9))
    [Way(charged=ApproximateDP(epsilon=1.0, delta=0.0), bought=PureDP(epsilon=1.0)),
     Way(charged=ApproximateDP(epsilon=1.0, delta=1e-09), bought=GaussianDP(mu=0.18...))]
    >>> from sitr.mechanisms import Exponential
    >>> ways(PureDP(1.0), beside=[Exponential(epsilon=0.25)])
    [Way(charged=PureDP(epsilon=1.0), bought=PureDP(epsilon=0.75))]
    >>> ways(ApproximateZeroConcentratedDP(0.5, 1e-6))
    [Way(charged=ApproximateZeroConcentratedDP(rho=0.5, delta=0.0), bought=ZeroConcentratedDP(rho=0.5))]
    """
    match price:
        case PureDP():
            return pure_ways(price, beside=beside)
        case ApproximateDP():
            return [*pure_ways(price, beside=beside), *gaussian_ways(price, beside=beside)]
        case ApproximateZeroConcentratedDP():
            return _outside_ways(price, beside=beside)
        case GaussianDP():  # other mechanisms are not Gaussian, so nothing is known of both together
            return [] if beside else [Way(price, price)]
    rho = _rest(price.rho, [concentrated(mechanism).rho for mechanism in beside])
    return [Way(price, ZeroConcentratedDP(rho))] if rho > 0 else []


def gaussian_share(bought: GaussianDP | ZeroConcentratedDP, share: Fraction = Fraction(1)) -> GaussianDP:
    """The μ of a part of a price, rounded down: μ² of all parts add up to at most μ², or to 2ρ.

    >>> gaussian_share(ZeroConcentratedDP(0.5), Fraction(1))
    GaussianDP(mu=0.99999...)
    """
    if isinstance(bought, GaussianDP) and share == 1:
        return bought
    squared = 2 * exact(bought.rho) if isinstance(bought, ZeroConcentratedDP) else exact(bought.mu) ** 2
    return GaussianDP(math.sqrt(float(squared * share)) * (1 - 1e-14))


def _outside_ways(price: ApproximateZeroConcentratedDP, *, beside: Sequence[Mechanism]) -> list[Way]:
    """The rest of ρ, if δ pays for the events of the other mechanisms."""
    promises = [outside(mechanism) for mechanism in beside]
    used = sum((exact(promise.delta) for promise in promises), Fraction(0))
    rho = _rest(price.rho, [promise.rho for promise in promises])
    if rho == 0 or used > exact(price.delta):
        return []
    charged = price if used else ApproximateZeroConcentratedDP(price.rho, 0.0)
    return [Way(charged, ZeroConcentratedDP(rho))]


def pure_ways(price: PureDP | ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """The rest of ε, for noise that is pure; no δ is charged unless the other mechanisms use some."""
    promises = [express(mechanism.promise(), ApproximateDP) for mechanism in beside]
    epsilon = _rest(price.epsilon, [promise.epsilon for promise in promises])
    free = isinstance(price, ApproximateDP) and all(promise.delta == 0 for promise in promises)
    return [Way(ApproximateDP(price.epsilon, 0.0) if free else price, PureDP(epsilon))] if epsilon > 0 else []


def gaussian_ways(price: ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> list[Way]:
    """The largest μ for Gaussian noise, if there is one and it can be found."""
    if beside and price.epsilon < FAINT:
        return []
    most = largest_mu(price, beside=beside) if price.delta > 0 else None
    return [] if most is None else [Way(price, most)]


def largest_mu(price: ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> GaussianDP | None:
    """The largest μ whose Gaussian noise keeps the price together with other mechanisms; None if there is none.

    By itself, Gaussian noise is calibrated exactly [BW18, Thm 8]. Beside other mechanisms, all losses are added up,
    and δ at the price's ε decides: it grows with μ.

    >>> largest_mu(ApproximateDP(1.0, 1e-6))
    GaussianDP(mu=0.236...)
    >>> from sitr.mechanisms import Exponential
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

    found = largest_fitting(fits, start=alone.mu)
    return None if found is None else GaussianDP(found)


def largest_fitting(fits: Callable[[float], bool], *, start: float) -> float | None:
    """The largest number that fits, if all smaller ones do, found to a relative `CLOSE`; None if none does nearly.

    >>> largest_fitting(lambda mu: mu < 5, start=1.0)
    4.99...
    """
    low = start
    while not fits(low):
        low /= 2
        if low < start / 2**20:
            return None
    high = 2 * low
    while fits(high) and high < start * 2**20:
        low, high = high, 2 * high
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _rest(whole: float, parts: Sequence[float]) -> float:
    return downward(max(Fraction(0), exact(whole) - sum(map(exact, parts), Fraction(0))))
