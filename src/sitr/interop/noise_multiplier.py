"""The parameters of other libraries: a noise multiplier and a sampling rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real

from sitr.errors import InvalidPromise, quoted
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.numbers import float_above


def lost(noise: float, *, moves: int = 1) -> float:
    """The loss of a sum that moves by 1 or 2 under this noise: moves/noise, rounded upward.

    >>> lost(0.8), lost(0.8, moves=2)
    (1.25, 2.5)
    """
    return float_above(moves / Fraction(noise))


def noise_for(loss: float, *, moves: int = 1) -> float:
    """The noise whose loss is at least this, and exactly this if some float has it.

    >>> noise_for(1.25), noise_for(lost(1.3))
    (0.8, 1.3)
    """
    return written(moves / loss, lambda noise: lost(noise, moves=moves), least=loss)


def written(near: float, read: Callable[[float], float], *, least: float) -> float:
    """The float near `near` with the smallest `read(float)` of at least `least`; of several, the shortest to print."""
    floats = [near]
    for _ in range(NEIGHBOURS):
        floats = [math.nextafter(floats[0], 0.0), *floats, math.nextafter(floats[-1], math.inf)]
    return min((one for one in floats if read(one) >= least), key=lambda one: (read(one), len(repr(one))))


NEIGHBOURS = 3
"""How many floats a quotient can be off after two divisions."""


def poisson(law: Law | None, *, rate: float) -> Loss:
    """The loss of one release on a Poisson sample at a rate from 0 to 1; empty if there is no law."""
    if law is None or rate == 0.0:
        return Loss(())
    return Loss.of(law if rate == 1.0 else PoissonLaw(law, rate))


LEAST = 1e-100
"""The least noise multiplier: below it, squares of losses overflow."""


def checked_noise(value: object, name: str) -> float:
    """A noise multiplier, which must be a positive number."""
    number = _number(value)
    if not LEAST <= number < math.inf:
        raise InvalidPromise(
            wanted=f"{name} to be a number of at least {LEAST:g}",
            given=quoted(value) if number else "0, which promises nothing",
            do="Add noise, or leave the step out if it touches no data.",
        )
    return number


def checked_rate(value: object, name: str) -> float:
    """The probability that a person is in the sample."""
    number = _number(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidPromise(
            wanted=f"{name} to be a probability from 0 to 1",
            given=quoted(value),
            do="Divide the size of a batch by the number of people.",
        )
    return number


def _number(value: object) -> float:
    return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
