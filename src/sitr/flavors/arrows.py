"""A promise in another flavor, where an arrow leads there without a further choice."""

from __future__ import annotations

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

Additive = PureDP | ApproximateDP | ZeroConcentratedDP
"""The flavors whose parameters simply add under composition."""


def express(promise: Promise, flavor: type[Additive]) -> Additive:
    """The same promise in this flavor, or an error that says why there is none.

    >>> express(PureDP(0.5), ZeroConcentratedDP)
    ZeroConcentratedDP(rho=0.125)
    >>> express(ApproximateDP(0.5, 1e-6), ZeroConcentratedDP)
    Traceback (most recent call last):
    sitr.errors.IncompatiblePromises: A promise that implies ZeroConcentratedDP was wanted. ...
    """
    match promise:
        case PureDP() | ApproximateDP() | ZeroConcentratedDP() if type(promise) is flavor:
            return promise
        case PureDP() if flavor is ApproximateDP:
            return promise.to_approximate()
        case PureDP() if flavor is ZeroConcentratedDP:
            return promise.to_zero_concentrated()
        case ZeroConcentratedDP() if flavor is ApproximateDP:
            reason = "Say how rarely it may fail: convert it first with to_approximate(delta=…)."
        case ApproximateDP():
            reason = "An (ε, δ) promise bounds neither the largest loss nor any moment of it: use ApproximateDP."
        case _:
            reason = f"State it as {flavor.__name__}."
    raise IncompatiblePromises(
        wanted=f"A promise that implies {flavor.__name__} was wanted.", given=f"{promise!r} was given.", do=reason
    )
