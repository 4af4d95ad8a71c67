"""One Gaussian loss: δ(ε) and ε(δ) in closed form, proved in Arb."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sitr.loss.forms.gaussian import hockey_stick
from sitr.loss.law import FUNCTIONS
from sitr.loss.moments import LARGEST
from sitr.loss.normal_tail import normal_tail
from sitr.numbers import Interval, lower, upper
from sitr.precision import precision

NEAR = Fraction(1, 2**44)
"""A relative margin for μ, which is rounded if it comes from many Gaussians: far above its rounding error."""

HUGE = 1e5
"""Beyond this μ the loss is μ²/2 ± 40μ, except with a probability that is smaller than every positive float."""

APART = 512
"""How many floats apart the ends of a bisected interval may be: a relative 1.1e-13."""


@precision()
def gaussian_delta(mu: float, epsilon: float) -> Interval:
    """δ(ε)."""
    if mu > HUGE:
        near = _huge(mu)
        return Interval(float(epsilon < near.lower) * (1 - FUNCTIONS), float(epsilon < near.upper) or FUNCTIONS)
    least, most = (hockey_stick(size, Fraction(epsilon)) for size in _sizes(mu))
    # `lower` and `upper` round the decimal that is printed; the float itself may be half a unit farther in.
    return Interval(max(0.0, math.nextafter(lower(least), -math.inf)), min(1.0, math.nextafter(upper(most), math.inf)))


@lru_cache(1024)
def gaussian_epsilon(mu: float, delta: float) -> Interval:
    """ε(δ) by bisection: δ(ε) is proved to exceed δ at the lower end, and not to exceed it at the upper end."""
    most = _huge(mu)  # its upper end holds for every μ
    if mu > HUGE:
        return most
    small, large = _sizes(mu)
    # The answer holds for the float and for the decimal that it prints as. A float is a ball of radius 0.
    targets = [arb(math.nextafter(delta, end)) for end in (1.0, 0.0)]
    near = _nearly(mu, delta, most.upper)
    places = (near * (1 - 1e-9), min(near * (1 + 1e-9), most.upper), most.upper)
    return Interval(
        bisected(lambda epsilon: bool(hockey_stick(small, epsilon) > targets[0]), places)[0],
        bisected(lambda epsilon: not bool(hockey_stick(large, epsilon) <= targets[1]), places)[1],
    )


def _nearly(mu: float, delta: float, most: float) -> float:
    """About ε(δ), in floats: where the bisection in Arb begins."""
    low, high = 0.0, most
    for _ in range(100):
        middle = (low + high) / 2
        place, other = middle / mu - mu / 2, middle / mu + mu / 2
        tail = math.exp(normal_tail(abs(place))[0])
        above = (tail if place >= 0 else 1 - tail) - math.exp(middle + normal_tail(other)[0])
        low, high = (middle, high) if above > delta else (low, middle)
    return high


def _huge(mu: float) -> Interval:
    return Interval(
        max(0.0, min(mu * (mu / 2 - 40), LARGEST) * (1 - FUNCTIONS)),
        mu * (mu / 2 + 40) * (1 + FUNCTIONS) + math.ulp(0.0),
    )


def _sizes(mu: float) -> tuple[Fraction, Fraction]:
    return Fraction(mu) * (1 - NEAR), Fraction(mu) * (1 + NEAR)


def bisected(beyond: Callable[[Fraction], bool], places: tuple[float, float, float]) -> tuple[float, float]:
    """An ε that is beyond (or 0) and a larger one that is not, at most `APART` floats apart; both 0 if 0 is not beyond.

    The answer is probably between the first two places, and the last one is known not to be beyond. Nonnegative floats
    have the order of their bits, read as integers below 2^63, so halving the distance between two of them ends after at
    most 63 steps.
    """
    if not beyond(Fraction(0)):
        return 0.0, 0.0
    low, high = 0, _bits(places[2])
    for place in sorted(map(_bits, places[:2])):
        if low < place < high:
            low, high = (place, high) if beyond(Fraction(_from_bits(place))) else (low, place)
    while high - low > APART:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(Fraction(_from_bits(middle))) else (low, middle)
    return _from_bits(low), _from_bits(high)


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _from_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])
