"""How far a mechanism is from a promise: what is lost, in units of what the promise allows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP, Table
from sitr.loss.bounds import Bounds
from sitr.loss.loss import RELATIVE, Loss
from sitr.mechanisms.mechanism import Mechanism

KEPT, BROKEN = Bounds(-math.inf, -math.inf), Bounds(math.inf, math.inf)
"""Where there is a yes or a no, and no number."""

NEAR = 1e-9
"""So close to a target the exact sums of promises may still prove what rounded losses do not."""


def excess(subject: Mechanism | Loss, target: Promise, *, relative: float = RELATIVE) -> Bounds:
    """ln(lost/allowed): below 0 at its upper end, the target is kept, and that is proved.

    By the loss where it is known: ε at the target's δ, each point of a profile, the largest loss, each order of a
    table. Otherwise, and in all other flavors, by what the mechanism promises itself.

    >>> from sitr import Laplace
    >>> round(excess(Laplace(scale=10), PureDP(0.2)).upper, 6)  # ln(0.1/0.2)
    -0.693147
    """
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
            found = _ratio(Bounds(largest, largest), epsilon)
        case ApproximateDP() if loss is not None:
            found = _tail(loss, target, relative)
        case PrivacyProfile() if loss is not None:
            found = _worst(excess(loss, part, relative=relative) for part in target.parts)
        case RenyiDP(Table(points)) if loss is not None:
            found = _worst(_ratio(loss.renyi(order=order, relative=relative), bound) for order, bound in points)
        case _:
            return KEPT if _promised(subject, target) else BROKEN
    if 0.0 <= found.upper < NEAR and not isinstance(subject, Loss):
        with suppress(IncompatiblePromises):
            least = -math.ulp(0.0)
            return Bounds(min(found.lower, least), least) if subject.promise().covers(target) else found
    return found


def standing_out(subject: Mechanism | Loss, target: Promise) -> str:
    """Which part of the loss forbids the target all by itself; nothing if no single one does."""
    loss = _known(subject)
    if loss is None:
        return ""
    if (mass := loss.infinite_mass()) > 0.0 and excess(loss, target).lower == math.inf:
        return f"The loss is infinite with probability {mass:.3g}, which no ε allows for."
    alone = [
        f"{law!r}" + (f", {times} times," if times > 1 else "")
        for law, times in loss.laws
        if len(loss.laws) > 1 and excess(Loss(((law, times),)), target).lower > 0.0
    ]
    return f"Of its parts {' and '.join(alone)} alone exceeds the target." if alone else ""


def _known(subject: Mechanism | Loss) -> Loss | None:
    """The loss, if it is known exactly."""
    if isinstance(subject, Loss):
        return subject
    try:
        return subject.loss()
    except InvalidPromise:
        return None


def _tail(loss: Loss, target: ApproximateDP, relative: float) -> Bounds:
    if target.delta == 1.0:
        return KEPT
    # A loss reads δ as a float, a promise as the decimal that it prints as: the float before is below both.
    delta = math.nextafter(target.delta, 0.0)
    if target.epsilon == 0.0 or delta == 0.0:
        return _ratio(loss.delta(epsilon=target.epsilon, relative=relative), delta)
    return _ratio(loss.epsilon(delta=delta, relative=relative), target.epsilon)


def _promised(subject: Mechanism | Loss, target: Promise) -> bool:
    if isinstance(subject, Loss):
        raise InvalidPromise(
            wanted=f"A mechanism was wanted, whose own promise can be compared with {type(target).__name__}.",
            given="A Loss was given, which answers for one ε, δ or order at a time.",
            do="Ask for ApproximateDP, PrivacyProfile, PureDP or RenyiDP.at({…}), or give the mechanism itself.",
        )
    return subject.promise().covers(target)


def _worst(found: Iterable[Bounds]) -> Bounds:
    ends = [(one.lower, one.upper) for one in found]
    return Bounds(max(low for low, _ in ends), max(high for _, high in ends))


def _ratio(found: Bounds, allowed: float) -> Bounds:
    """Floats divide so that a ratio below 1 is below 1 in truth."""
    return Bounds(_log(found.lower, allowed), _log(found.upper, allowed))


def _log(number: float, allowed: float) -> float:
    if number <= 0.0:
        return -math.inf
    if allowed == 0.0 or number == math.inf:
        return math.inf
    ratio = number / allowed
    return math.log(ratio) if 0.0 < ratio < math.inf else math.log(number) - math.log(allowed)
