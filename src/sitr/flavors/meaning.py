"""Comparing a promise with a loss: how much of the promise the loss uses, and whether it keeps it."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Protocol

from sitr.errors import IncompatiblePromises, Undecided, WiderThanAsked
from sitr.numbers import Interval

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

RELATIVE = 1e-3
"""The default relative width of the interval from which a promise is read."""

KEPT, BROKEN = Interval(-math.inf, -math.inf), Interval(math.inf, math.inf)
"""The results for a proved yes or no where there is no number."""


class HasExcess(Protocol):
    """Anything that can be compared with a loss: a promise, or a curve of moments."""

    def excess(self, loss: Loss, /, *, relative: float) -> Interval:
        """ln(lost/allowed), as a proved interval."""


def ratio(found: Interval, allowed: float) -> Interval:
    """ln(found/allowed). A float quotient is below 1 only if the exact one is, for the decimals that floats stand for.

    >>> ratio(Interval(1.0, 1.0), 1.0), ratio(Interval(0.0, 0.0), 0.0) == KEPT
    (Interval(lower=0.0, upper=0.0), True)
    """
    return Interval(_log(found.lower, allowed), _log(found.upper, allowed))


def decided(promise: HasExcess, loss: Loss, *, widths: tuple[float, ...] = (1e-2, 1e-4, 1e-6)) -> bool:
    """Whether the loss keeps the promise. Both answers are proved; intervals are narrowed until one of them is.

    A loss that is only a bound never proves a "no".
    """
    found = Interval(-math.inf, math.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)
        for relative in widths:
            found = promise.excess(loss, relative=relative)
            if found.upper < 0.0:
                return True
            if found.lower > 0.0:
                if not loss.bound:
                    return False
                break
    least, most = (math.exp(min(one, 700.0)) for one in (found.lower, found.upper))
    used = f"between {least:.9g} and {most:.9g}" if most < 1e300 else f"at least {least:.9g}"
    if loss.bound:
        raise Undecided(
            given=f"The loss is only a bound, and does not prove {promise!r}: it uses {used} times what is allowed.",
            do=f"Compare it with a weaker promise, such as {type(promise).__name__}.of(loss).",
        )
    raise Undecided(
        given=f"It could not be decided whether the loss keeps {promise!r}: it uses {used} times what is allowed.",
        do=f"Compare it with a slightly weaker promise, such as {type(promise).__name__}.of(loss).",
    )


def above(number: float, *, what: str, do: str = "Ask for ApproximateDP.of(loss, delta=…) instead.") -> float:
    """The next float, which is at least this number also as the decimal that it prints as; an error if infinite."""
    if math.isinf(number):
        raise IncompatiblePromises(given=f"No bound on {what} of this loss could be proved.", do=do)
    return math.nextafter(number, math.inf) if number > 0.0 else 0.0


def _log(number: float, allowed: float) -> float:
    if number <= 0.0:
        return -math.inf
    if allowed == 0.0 or number == math.inf:
        return math.inf
    quotient = number / allowed
    return math.log(quotient) if 0.0 < quotient < math.inf else math.log(number) - math.log(allowed)
