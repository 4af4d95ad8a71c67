"""A step seen in one flavor: the best promise of that flavor that any of its promises implies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sitr.accounting.curves import LaplaceMoments, Least, SampledGaussian
from sitr.accounting.schedule import Part, Schedule
from sitr.errors import IncompatiblePromises, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express, obstacle
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Points, Promise
from sitr.flavors.pure import ResponseCurve
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

Flavor = TypeVar("Flavor")
Wanted = TypeVar("Wanted", bound=Promise)


class Inapplicable(SitrError):
    """A composition theorem that does not apply; `reason` says why, in a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(given=f"{reason}.", do="Use another theorem.")
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.reason,))


def as_approximate(part: Part, *, delta: float) -> ApproximateDP:
    """The least ε at this δ.

    >>> from sitr.flavors.pure import PureDP
    >>> as_approximate(Part((GaussianDP(1.0), PureDP(9.0))), delta=1e-6)
    ApproximateDP(epsilon=4.8865..., delta=1e-06)
    """
    return min(_all(part, lambda promise: _approximate(promise, delta)), key=lambda promise: promise.epsilon)


def as_profile(part: Part, *, floor: float, places: int = 64) -> PrivacyProfile:
    """All known (ε, δ), down to δ = floor where a tail has no end; moments are used only if nothing else is known.

    A smooth tail is evaluated at this many places; more places cost time.
    """
    try:
        found = _all(part, lambda promise: _profile(promise, floor, places))
    except Inapplicable:
        found = _all(part, lambda promise: _profile_of_moments(promise, floor, max(2, places // 4)))
    return (
        found[0] if len(found) == 1 else PrivacyProfile(tuple(point for profile in found for point in profile.points))
    )


def as_concentrated(part: Part) -> ConcentratedDP:
    """Mean and spread of the loss; of several, the one with the least spread."""
    return min(_all(part, _to(ConcentratedDP)), key=lambda promise: (promise.tau, promise.mu))


def as_zero_concentrated(part: Part) -> ZeroConcentratedDP:
    """A line above all moments; of several, the one that is lowest at order 2.

    >>> as_zero_concentrated(Part((GaussianDP(0.5),)))
    ZeroConcentratedDP(rho=0.125)
    """
    return min(_all(part, _to(ZeroConcentratedDP)), key=lambda promise: 2 * exact(promise.rho) + exact(promise.xi))


def as_renyi(part: Part) -> RenyiDP:
    """The least curve above all moments: of several, at each order the lowest."""
    found = tuple(dict.fromkeys(promise.curve for promise in _all(part, _to(RenyiDP))))
    # Laplace noise is one way to keep its largest loss, and its own moments are lower than the worst ones.
    least = min((curve.epsilon for curve in found if isinstance(curve, LaplaceMoments)), default=math.inf)
    curves = tuple(curve for curve in found if not (isinstance(curve, ResponseCurve) and curve.epsilon >= least))
    return RenyiDP(curves[0] if len(curves) == 1 else Least(curves))


def as_gaussian(part: Part) -> GaussianDP:
    """The Gaussian with the least μ that bounds every test."""
    return min(_all(part, _to(GaussianDP)), key=lambda promise: promise.mu)


def each(schedule: Schedule, view: Callable[[Part], Flavor]) -> list[tuple[Flavor, int]]:
    """Every step in one flavor, with its number of times; a step that has no such view is named."""
    seen: dict[tuple[Promise, ...], Flavor] = {}
    for place, part in enumerate(schedule.parts, start=1):
        try:
            if part.promises not in seen:
                seen[part.promises] = view(part)
        except Inapplicable as none:
            raise Inapplicable(f"{part.called(place)}: {none.reason}") from None
    return [(seen[part.promises], part.times) for part in schedule.parts]


def _all(part: Part, arrow: Callable[[Promise], Flavor]) -> list[Flavor]:
    """The promises that the arrow can convert, converted; if there is none, the reason for the first."""
    found, reasons = [], []
    for promise in part.promises:
        try:
            found.append(arrow(promise))
        except Inapplicable as none:
            reasons.append(none)
    if not found:
        raise Inapplicable(reasons[0].reason)
    return found


def _to(flavor: type[Wanted]) -> Callable[[Promise], Wanted]:
    """The conversion to a flavor; where there is none, `Inapplicable` with the reason."""

    def converted(promise: Promise) -> Wanted:
        try:
            return express(promise, flavor)
        except IncompatiblePromises:
            raise _none(promise, flavor) from None

    return converted


def _none(promise: Promise, flavor: type[Promise]) -> Inapplicable:
    reason = obstacle(promise, flavor).reason
    return Inapplicable(f"{reason[0].lower()}{reason[1:]}")


def _approximate(promise: Promise, delta: float) -> ApproximateDP:
    if delta < promise.infinite_mass():
        raise Inapplicable(f"its δ is {promise.infinite_mass()}, and {delta} is left for it")
    if promise.stated:
        return PrivacyProfile(promise.stated).to_approximate(delta=delta)
    if isinstance(promise, RandomDP):
        raise _none(promise, ApproximateDP)
    if delta <= 0.0:
        raise Inapplicable("its loss has a tail without end: that needs a δ above 0")
    match promise:
        case RenyiDP(LaplaceMoments() | SampledGaussian() as law):
            return law.to_approximate(delta=delta)  # its own tail is exact, and no bound by moments is better
    return express(promise, ApproximateDP, delta=delta)


def _profile(promise: Promise, floor: float, places: int) -> PrivacyProfile:
    match promise:
        case RenyiDP(LaplaceMoments() as laplace):
            return PrivacyProfile(_smooth(laplace, laplace.epsilon, places))
        case GaussianDP() if floor > 0.0:
            return PrivacyProfile(_smooth(promise, promise.to_approximate(delta=floor).epsilon, places))
        case RenyiDP(SampledGaussian(rate, mu)) if 0.0 < floor < rate:
            noise = GaussianDP(mu)
            whole = _smooth(noise, noise.to_approximate(delta=floor / rate).epsilon, places)
            return PrivacyProfile(_on_sample(whole, rate))
    return _to(PrivacyProfile)(promise)


def _smooth(promise: GaussianDP | LaplaceMoments, last: float, places: int) -> Points:
    epsilons = [last * place / places for place in range(places)]
    return tuple((epsilon, promise.delta(epsilon=epsilon)) for epsilon in (*epsilons, last))


def _on_sample(points: Points, rate: float) -> Points:
    """`amplified` at many points, in floats, rounded up.

    With u = 2⁻⁵³, q, ε and δ within u of what they print as, and expm1 and log1p within 4 ulp, which is 8u: the ε found
    is within (ε + 20)u and the δ within 3u of the true one, and both print as something within u of themselves.
    """
    epsilons, deltas = np.array(points).T
    least = 16 * math.ulp(0.0)  # the smallest floats have no digits to spare: each step is within one of them
    with np.errstate(over="ignore"):  # then ε itself is the bound
        smaller = np.log1p(rate * np.expm1(epsilons)) * (1 + (epsilons + 32) * 2.0**-52) + least
    rarer = rate * deltas * (1 + 2.0**-50) + least
    return tuple(zip(np.minimum(epsilons, smaller).tolist(), np.minimum(deltas, rarer).tolist(), strict=True))


def _profile_of_moments(promise: Promise, floor: float, places: int) -> PrivacyProfile:
    """A bound on the tail at each of several δ, evenly spread in the logarithm."""
    deltas = [floor ** (place / places) for place in range(1, places + 1)] if floor else [0.0]
    return PrivacyProfile(tuple((_approximate(promise, delta).epsilon, delta) for delta in deltas))
