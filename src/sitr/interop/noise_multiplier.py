"""The parameter that other libraries have: the noise for a move of one, and the share of people it is added for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from operator import index
from typing import SupportsIndex

from sitr.errors import InvalidPromise, quoted
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.numbers import float_above


def lost(noise: float, *, moves: int = 1) -> float:
    """What is lost with this much noise by a sum that moves by one or two: moves/noise, rounded upward.

    >>> lost(0.8), lost(0.8, moves=2)
    (1.25, 2.5)
    """
    return float_above(moves / Fraction(noise))


def noise_for(loss: float, *, moves: int = 1) -> float:
    """The noise with which no less than this is `lost`: just this, if any float is read so.

    >>> noise_for(1.25), noise_for(lost(1.3))
    (0.8, 1.3)
    """
    return written(moves / loss, lambda noise: lost(noise, moves=moves), least=loss)


def written(near: float, read: Callable[[float], float], *, least: float) -> float:
    """Of the floats around this one, that which is read as the least number that is enough; the shortest of several."""
    floats = [near]
    for _ in range(NEIGHBOURS):
        floats = [math.nextafter(floats[0], 0.0), *floats, math.nextafter(floats[-1], math.inf)]
    return min((one for one in floats if read(one) >= least), key=lambda one: (read(one), len(repr(one))))


NEIGHBOURS = 3
"""A quotient of floats that is divided by again is not farther off."""


def poisson(law: Law | None, *, rate: float) -> Loss:
    """The loss of one look at a Poisson sample, which may be nobody or everybody; none where there is no law."""
    if law is None or rate == 0.0:
        return Loss(())
    return Loss.of(law if rate == 1.0 else PoissonLaw(law, rate))


LEAST = 1e-100
"""With less noise than this for a move of one, squares of what is lost are beyond all floats."""


def checked_noise(value: object, name: str) -> float:
    """A noise multiplier, which must be a positive number."""
    number = _number(value)
    if not LEAST <= number < math.inf:
        raise InvalidPromise(
            wanted=f"{name} to be a number of at least {LEAST:g}",
            given=quoted(value) if number else "0, with which nothing is promised",
            do="Add noise, or leave the step out if it touches no data.",
        )
    return number


def checked_rate(value: object, name: str) -> float:
    """The probability with which a person is looked at."""
    number = _number(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidPromise(
            wanted=f"{name} to be a probability from 0 to 1",
            given=quoted(value),
            do="Divide the size of a batch by the number of people.",
        )
    return number


def checked_count(value: object, name: str, *, least: int = 0) -> int:
    """A whole number, of any library's type."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or index(value) < least:
        raise InvalidPromise(
            wanted=f"{name} to be a whole number of at least {least}",
            given=quoted(value),
            do="Choose one of these.",
        )
    return index(value)


def _number(value: object) -> float:
    return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
