"""A promise in another flavor: the conversion, or the reason why there is none."""

from __future__ import annotations

from typing import TypeGuard, TypeVar, cast, get_args

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Obstacle, Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

Additive = PureDP | ApproximateDP | ZeroConcentratedDP | ApproximateZeroConcentratedDP | GaussianDP
"""The flavors in which prices are stated: their parameters, or the squares of them, simply add under composition."""

Kept = Additive | RandomDP
"""The promises that ledgers keep: one of these, or a random promise around one of them."""

Wanted = TypeVar("Wanted", bound=Promise)


def kept(promise: object) -> TypeGuard[Kept]:
    """Whether this is exactly one of the promises that ledgers keep, not a subclass."""
    if type(promise) is RandomDP:
        return type(promise.inner) in get_args(Additive) and type(promise.inner) is not GaussianDP
    return type(promise) in get_args(Additive)


def express(promise: Promise, flavor: type[Wanted], *, delta: float | None = None) -> Wanted:
    """The same promise in this flavor, or an error that says why there is none.

    Conversions to (ε, δ) from flavors without a largest loss need a δ. Moments that bound the largest loss convert to
    PureDP. (ε, 0) does not: a price in (ε, δ) is for budgets in (ε, δ), so state it as PureDP.

    >>> from sitr.flavors import GaussianDP
    >>> express(PureDP(0.5), ZeroConcentratedDP), express(GaussianDP(1.0), ApproximateDP, delta=1e-6)
    (ZeroConcentratedDP(rho=0.125), ApproximateDP(epsilon=4.88..., delta=1e-06))
    >>> express(GaussianDP(0.0), PureDP)
    PureDP(epsilon=0.0)
    >>> express(ApproximateDP(0.5, 1e-6), ZeroConcentratedDP)
    Traceback (most recent call last):
    sitr.errors.IncompatiblePromises: Expected a promise that implies ZeroConcentratedDP, got ...
    """
    if type(promise) is flavor:
        return promise
    found = flavor.implied_by(promise, delta=delta)
    if found is None and promise.closed is None and (largest := promise.largest_loss()) is not None:
        pure = PureDP(largest)
        found = cast("Wanted", pure) if flavor is PureDP else flavor.implied_by(pure, delta=delta)
    if found is None:
        raise IncompatiblePromises(
            wanted=f"a promise that implies {flavor.__name__}",
            given=repr(promise),
            do=str(obstacle(promise, flavor)),
        )
    return found


def obstacle(promise: Promise, flavor: type[Promise]) -> Obstacle:
    """Why a promise implies none of this flavor."""
    if flavor is RandomDP and not isinstance(promise, ComputationalDP):
        return flavor.obstacle
    return promise.closed or flavor.obstacle
