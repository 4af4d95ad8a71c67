"""A promise in another flavor: the conversion, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard, TypeVar, cast, get_args

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP, Response
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP, Table
from sitr.flavors.zero_concentrated import Line, ZeroConcentratedDP

Additive = PureDP | ApproximateDP | ZeroConcentratedDP
"""The flavors whose parameters simply add under composition."""

Kept = Additive | RandomDP
"""The promises that ledgers keep: one of these, or a random promise around one of them."""

ARROWS: Mapping[type[Promise], str] = {
    ApproximateDP: "to_approximate",
    ConcentratedDP: "to_concentrated",
    GaussianDP: "to_gaussian",
    RenyiDP: "to_renyi",
    ZeroConcentratedDP: "to_zero_concentrated",
}
"""The names of the conversions to each flavor."""

Wanted = TypeVar("Wanted", bound=Promise)


def kept(promise: object) -> TypeGuard[Kept]:
    """Is this exactly one of the promises that ledgers keep, and no subclass?"""
    inner = promise.inner if type(promise) is RandomDP else promise
    return type(inner) in get_args(Additive)


def express(promise: Promise, flavor: type[Wanted], *, delta: float | None = None) -> Wanted:
    """The same promise in this flavor, or an error that says why there is none.

    Arrows to (ε, δ) from flavors without a largest loss want a δ. Moments that set a largest loss are pure; an (ε, 0)
    must be stated as pure by whoever means it, since a price in (ε, δ) is for budgets in (ε, δ).

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
    if flavor is PrivacyProfile and isinstance(promise, PureDP | ApproximateDP):
        point = (promise.epsilon, getattr(promise, "delta", 0.0))
        return cast("Wanted", PrivacyProfile((point,)))
    arrow = None if isinstance(promise, RandomDP) else getattr(promise, ARROWS.get(flavor, ""), None)
    if arrow is None or (flavor is ApproximateDP and delta is None and not isinstance(promise, PureDP)):
        stated = isinstance(promise, PureDP | ApproximateDP | PrivacyProfile) or flavor is RandomDP
        largest = None if stated else largest_loss(promise)
        if largest is not None:
            return express(PureDP(largest), flavor, delta=delta)
        raise IncompatiblePromises(
            wanted=f"a promise that implies {flavor.__name__}",
            given=repr(promise),
            do=_reason(promise, flavor),
        )
    return cast("Wanted", arrow(delta=delta) if flavor is ApproximateDP and delta is not None else arrow())


def largest_loss(promise: Promise) -> float | None:
    """The largest loss that a promise allows; None if it sets no limit.

    Where one moment, the spread or the distance of means is 0, P = Q. [vEH14, Thm 8] A line without a slope is D_∞ ≤ ξ.

    >>> largest_loss(ZeroConcentratedDP(0.0, xi=0.1)), largest_loss(GaussianDP(0.0)), largest_loss(GaussianDP(1.0))
    (0.1, 0.0, None)
    """
    match promise:
        case PureDP(epsilon) | ApproximateDP(epsilon, 0.0):
            return epsilon
        case PrivacyProfile((*_, (epsilon, 0.0))):
            return epsilon
        case ZeroConcentratedDP(0.0, xi=xi) | RenyiDP(Line(0.0, xi)):
            return xi
        case RenyiDP(Response(epsilon)):
            return epsilon  # its D_∞
        case GaussianDP(0.0) | ConcentratedDP(_, 0.0):
            return 0.0
        case RenyiDP(Table(points)) if any(bound == 0.0 for _, bound in points):
            return 0.0
    return None


def _reason(promise: Promise, flavor: type[Promise]) -> str:
    match promise:
        case _ if flavor is RandomDP:
            return "That is about replacing one person: state it as RandomDP with gamma=0 if this promise is so, too."
        case RandomDP():
            return "It promises nothing for a fraction γ of data: report it as it is, γ cannot be moved elsewhere."
        case ApproximateDP() | PrivacyProfile() if flavor is not ApproximateDP:
            neither = "An (ε, δ) promise bounds neither the largest loss nor any moment"
            return f"{neither}: use ApproximateDP, or PureDP if δ = 0."
        case _ if flavor is ApproximateDP:
            return "Say how rarely it may fail: convert it first with to_approximate(delta=…)."
        case _ if flavor is PrivacyProfile:
            return "Say where: convert it with to_approximate(delta=…) at each δ of interest, and write these points."
        case _ if flavor is PureDP:
            return "It sets no largest loss: state it as PureDP only if its mechanism is pure."
        case GaussianDP() | ZeroConcentratedDP() | RenyiDP() if flavor is ConcentratedDP:
            return "Concentrated privacy is not closed under post-processing, this promise is: use ZeroConcentratedDP."
        case RenyiDP() if flavor is ZeroConcentratedDP:
            return "A bound on some moments says nothing of the others: use RenyiDP."
        case _ if flavor is GaussianDP:
            return "Moments do not bound every test between two neighbours by one between Gaussians: use RenyiDP."
    return f"State it as {flavor.__name__}."
