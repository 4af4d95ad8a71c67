"""How far a mechanism is from a target promise, by its loss where the loss is known, otherwise by its own promise."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.meaning import BROKEN, KEPT, RELATIVE
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism
from sitr.numbers import Interval

NEAR = 1e-9
"""This close to a target, exact sums of promises may prove what floats do not."""


def distance(subject: Mechanism | Loss, target: Promise, *, relative: float = RELATIVE) -> Interval:
    """ln(lost/allowed): if its upper end is below 0, the target is proved to be kept.

    >>> from sitr import Laplace, PureDP
    >>> round(distance(Laplace(scale=10), PureDP(0.2)).upper, 6)  # ln(0.1/0.2)
    -0.693147
    """
    if not isinstance(target, Promise):
        raise InvalidPromise(
            wanted="a promise as the target", given=repr(target), do="Write for example ApproximateDP(1.0, 1e-6)."
        )
    if isinstance(target, RandomDP):
        raise IncompatiblePromises(
            wanted="a target for every pair of neighbours",
            given=repr(target),
            do="Calibrate a mechanism about replacing one person to the inner promise.",
        )
    loss = known_loss(subject)
    if loss is None:
        return KEPT if subject.promise().covers(target) else BROKEN  # type: ignore[union-attr]
    found = target.excess(loss, relative=relative)
    # A loss that is a bound, or infinite, or at the target itself, may say less than the promise.
    unsure = found.upper >= 0.0 and (loss.bound or not NEAR <= found.upper < math.inf)
    if unsure and not isinstance(subject, Loss):
        with suppress(IncompatiblePromises):
            if subject.promise().covers(target):
                least = -math.ulp(0.0)
                return Interval(min(found.lower, least), least) if found.upper < NEAR else KEPT
    return found


def standing_out(subject: Mechanism | Loss, target: Promise) -> str:
    """A sentence about parts that exceed the target by themselves; empty if there is none."""
    loss = known_loss(subject)
    found = target.excess(loss) if loss is not None else KEPT
    if loss is None or (found.lower <= 0.0 and found.upper == math.inf and not isinstance(subject, Loss)):
        parts: tuple[Any, ...] = getattr(subject, "parts", (subject,))
        short = [f"{promise!r}" for promise in (part.promise() for part in parts) if not promise.covers(target)]
        return f"Of what its parts promise, {_alone(short, 'does', 'do')} not imply the target." if short else ""
    if found.lower == math.inf:
        if (mass := loss.infinite_mass()) > 0.0:
            return f"The loss is infinite with probability {mass:.3g}, which no ε allows for."
        if endless := [f"{law!r}" for law, _ in loss.laws if math.inf in (law.greatest, law.reversed().greatest)]:
            return f"{_alone(endless, 'has', 'have')} no largest loss, which only a δ above 0 allows for."
    large = [
        f"{law!r}" + (f", {times} times," if times > 1 else "")
        for law, times in loss.laws
        if target.excess(Loss(((law, times),))).lower > 0.0
    ]
    return f"Of its parts {_alone(large, 'exceeds', 'exceed')} the target." if large else ""


def known_loss(subject: Mechanism | Loss) -> Loss | None:
    """The loss, if there is one."""
    return subject if isinstance(subject, Loss) else subject.loss()


def _alone(names: list[str], one: str, several: str) -> str:
    """The subject and the verb of a sentence about parts of which each is enough.

    >>> _alone(["A"], "has", "have"), _alone(["A", "B"], "has", "have")
    ('A alone has', 'A and B each have')
    """
    return f"{' and '.join(names)} " + (f"alone {one}" if len(names) == 1 else f"each {several}")
