"""How far a mechanism is from a promise: what is lost, in units of what the promise allows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP, Table
from sitr.loss.loss import RELATIVE, Loss
from sitr.mechanisms.mechanism import Mechanism
from sitr.numbers import Interval

KEPT, BROKEN = Interval(-math.inf, -math.inf), Interval(math.inf, math.inf)
"""Where there is a yes or a no, and no number."""

NEAR = 1e-9
"""So close to a target, or where a loss has no bound, the exact sums of promises may prove what losses do not."""


def excess(subject: Mechanism | Loss, target: Promise, *, relative: float = RELATIVE) -> Interval:
    """ln(lost/allowed): below 0 at its upper end, the target is kept, and that is proved.

    By the loss where it is known: ε at the target's δ, each point of a profile, the largest loss, each order of a
    table. Otherwise, and in all other flavors, by what the mechanism promises itself.

    >>> from sitr import Laplace
    >>> round(excess(Laplace(scale=10), PureDP(0.2)).upper, 6)  # ln(0.1/0.2)
    -0.693147
    """
    if not isinstance(target, Promise):
        raise InvalidPromise(
            wanted="A promise was wanted as the target.",
            given=f"{target!r} was given.",
            do="Write for example ApproximateDP(1.0, 1e-6).",
        )
    if isinstance(target, RandomDP):
        raise IncompatiblePromises(
            wanted="A target for every pair of neighbours was wanted.",
            given=f"{target!r} was given.",
            do="A random promise is about replacing one person by a newcomer, a loss about the neighbours of its "
            "mechanism: calibrate to the inner promise, for a mechanism that is about replacing.",
        )
    loss = _known(subject)
    match target:
        case PureDP(epsilon) | ApproximateDP(epsilon, 0.0) if loss is not None:
            largest = loss.max()
            found = _ratio(Interval(largest, largest), epsilon)
        case ApproximateDP() if loss is not None:
            found = _tail(loss, target, relative)
        case PrivacyProfile() if loss is not None:
            found = _worst(excess(loss, part, relative=relative) for part in target.parts)
        case RenyiDP(Table(points)) if loss is not None:
            found = _worst(_order(loss, order, bound, relative) for order, bound in points)
        case _:
            return KEPT if _promised(subject, target) else BROKEN
    if not isinstance(subject, Loss) and (0.0 <= found.upper < NEAR or found.upper == math.inf):
        with suppress(IncompatiblePromises):
            if subject.promise().covers(target):
                least = -math.ulp(0.0)
                return Interval(min(found.lower, least), least) if found.upper < NEAR else KEPT
    return found


def standing_out(subject: Mechanism | Loss, target: Promise) -> str:
    """Which part forbids the target all by itself; nothing if no single one does."""
    loss = _known(subject) if _told_by_loss(target) else None
    if loss is None:
        parts: tuple[Any, ...] = getattr(subject, "parts", (subject,))
        short = [f"{promise!r}" for promise in (part.promise() for part in parts) if not promise.covers(target)]
        return f"Of what its parts promise, {_alone(short, 'does', 'do')} not imply the target." if short else ""
    if excess(loss, target).lower == math.inf:
        if (mass := loss.infinite_mass()) > 0.0:
            return f"The loss is infinite with probability {mass:.3g}, which no ε allows for."
        if endless := [f"{law!r}" for law, _ in loss.laws if math.inf in (law.greatest, law.reversed().greatest)]:
            return f"{_alone(endless, 'has', 'have')} no largest loss, which only a δ above 0 allows for."
    large = [
        f"{law!r}" + (f", {times} times," if times > 1 else "")
        for law, times in loss.laws
        if excess(Loss(((law, times),)), target).lower > 0.0
    ]
    return f"Of its parts {_alone(large, 'exceeds', 'exceed')} the target." if large else ""


def _alone(names: list[str], one: str, several: str) -> str:
    """Parts of which each is enough.

    >>> _alone(["A"], "has", "have"), _alone(["A", "B"], "has", "have")
    ('A alone has', 'A and B each have')
    """
    return f"{' and '.join(names)} " + (f"alone {one}" if len(names) == 1 else f"each {several}")


def _told_by_loss(target: Promise) -> bool:
    """Is this a target that a loss can be compared with?"""
    match target:
        case PureDP() | ApproximateDP() | PrivacyProfile() | RenyiDP(Table()):
            return True
    return False


def _known(subject: Mechanism | Loss) -> Loss | None:
    """The loss, if it is known exactly."""
    if isinstance(subject, Loss):
        return subject
    try:
        return subject.loss()
    except InvalidPromise:
        return None


def _tail(loss: Loss, target: ApproximateDP, relative: float) -> Interval:
    if target.delta == 1.0:
        return KEPT
    # A loss reads δ as a float, a promise as the decimal that it prints as: the float before is below both.
    delta = math.nextafter(target.delta, 0.0)
    if target.epsilon == 0.0 or delta == 0.0:
        return _ratio(loss.delta(epsilon=target.epsilon, relative=relative), delta)
    return _ratio(loss.epsilon(delta=delta, relative=relative), target.epsilon)


def _order(loss: Loss, order: float, bound: float, relative: float) -> Interval:
    """D_α grows with α: the float after an order is above the decimal that is meant."""
    return _ratio(loss.renyi(order=math.nextafter(order, math.inf), relative=relative), bound)


def _promised(subject: Mechanism | Loss, target: Promise) -> bool:
    if isinstance(subject, Loss):
        raise InvalidPromise(
            wanted=f"A mechanism was wanted, whose own promise can be compared with {type(target).__name__}.",
            given="A Loss was given, which answers for one ε, δ or order at a time.",
            do="Ask for ApproximateDP, PrivacyProfile, PureDP or RenyiDP.at({…}), or give the mechanism itself.",
        )
    return subject.promise().covers(target)


def _worst(found: Iterable[Interval]) -> Interval:
    ends = [(one.lower, one.upper) for one in found]
    return Interval(max(low for low, _ in ends), max(high for _, high in ends))


def _ratio(found: Interval, allowed: float) -> Interval:
    """Floats divide so that a ratio below 1 is below 1 in truth."""
    return Interval(_log(found.lower, allowed), _log(found.upper, allowed))


def _log(number: float, allowed: float) -> float:
    if number <= 0.0:
        return -math.inf
    if allowed == 0.0 or number == math.inf:
        return math.inf
    ratio = number / allowed
    return math.log(ratio) if 0.0 < ratio < math.inf else math.log(number) - math.log(allowed)
