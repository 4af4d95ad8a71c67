"""Exact numbers, outward rounding, and the checks of parameters.

A float that a user writes stands for **the decimal number it prints as**: `0.1` is one tenth, not
0.1000000000000000055. Sums and comparisons of privacy parameters are made on those exact numbers, so that
0.1 + 0.2 spends exactly a budget of 0.3. A number that no float represents is rounded outward, never in favour of a
guarantee.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational, Real
from operator import index

from flint import arb, fmpq

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter, quoted

Number = int | float | Fraction
"""The types that users may pass for a privacy parameter."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number that is proved to lie between two floats.

    >>> 2.0 in Interval(1.5, 2.5), Interval(1.5, 2.5).width
    (True, 1.0)
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def __contains__(self, number: float, /) -> bool:
        return self.lower <= number <= self.upper


def largest(found: Iterable[Interval]) -> Interval:
    """The largest of several numbers, each known as an interval.

    >>> largest((Interval(1.0, 4.0), Interval(2.0, 3.0)))
    Interval(lower=2.0, upper=4.0)
    """
    ends = [(one.lower, one.upper) for one in found]
    return Interval(max(low for low, _ in ends), max(high for _, high in ends))


_LARGEST = Fraction(repr(sys.float_info.max))

_FAR = 2000
"""A power of two beyond all floats, in either direction."""


def exact(number: Number | Rational) -> Fraction:
    """The number that a float stands for: the shortest decimal that prints as this float.

    >>> exact(0.1), exact(1e-6), exact(3)
    (Fraction(1, 10), Fraction(1, 1000000), Fraction(3, 1))
    """
    if type(number) is float and math.isfinite(number):
        return _decimal(number)
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    try:
        known = math.isfinite(number)  # this refuses text, which float would read
    except (TypeError, ValueError):
        known = False
    if not known:
        raise InvalidParameter(
            wanted="a finite number", given=quoted(number), do="Write it as 3, 0.1 or Fraction(1, 3)."
        )
    return Fraction(repr(float(number)))  # a numpy scalar prints differently


@lru_cache(maxsize=4096)
def _decimal(number: float) -> Fraction:
    """The decimal that a float prints as; remembered, because a budget is compared with its promise again and again."""
    return Fraction(repr(number))


def upward(number: Number) -> float:
    """The least float that stands for at least this number.

    >>> upward(Fraction(3, 10)), exact(upward(Fraction(1, 3))) > Fraction(1, 3)
    (0.3, True)
    """
    target = exact(number)
    candidate = _nearest(target)
    while exact(candidate) < target:
        candidate = math.nextafter(candidate, math.inf)
    return candidate


def downward(number: Number) -> float:
    """The greatest float that stands for at most this number.

    >>> downward(Fraction(3, 10)), exact(downward(Fraction(1, 3))) < Fraction(1, 3)
    (0.3, True)
    """
    return 0.0 - upward(-exact(number))  # 0.0 − 0.0 is 0.0, but −(0.0) is −0.0


def float_below(number: Number) -> float:
    """The largest float whose binary value is at most this number; `downward` compares the decimal that it prints as.

    >>> Fraction(float_below(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    nearest = _nearest(exact(number))
    return nearest if Fraction(nearest) <= exact(number) else math.nextafter(nearest, -math.inf)


def float_above(number: Number) -> float:
    """The least float whose binary value is at least this number."""
    return -float_below(-exact(number))


def _nearest(target: Fraction) -> float:
    if abs(target) > _LARGEST:
        raise _too_large()
    return float(target)


def _too_large() -> InvalidParameter:
    return InvalidParameter(
        wanted="a number below 1.8e308", given="a larger one", do="Use numbers that a float can hold."
    )


def ball(number: Number) -> arb:
    """The number as an Arb ball, which carries its own error through every function.

    >>> ball(0.1).contains(fmpq(1, 10))
    True
    """
    fraction = exact(number)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def upper(number: arb) -> float:
    """The least float, as `exact` reads it, known to be at least every number in the ball.

    >>> upper(ball(0.5).exp()) > 1.6487212707001281
    True
    """
    point = number.upper()
    return upward(_fraction(point, away=bool(point > 0)))


def lower(number: arb) -> float:
    """The greatest float, as `exact` reads it, known to be at most every number in the ball."""
    point = number.lower()
    return downward(_fraction(point, away=bool(point < 0)))


def probability(bound: arb) -> float:
    """A bound on a probability, rounded up: at most 1, even if the ball is unbounded.

    A positive number below every float becomes the least float at once: written out, e^(−10²⁰) would fill the memory.
    """
    if bound <= 0:
        return 0.0
    if bound < arb(2) ** -1074:
        return math.ulp(0.0)
    return upper(bound) if bound < 1 else 1.0


def _fraction(point: arb, *, away: bool) -> Fraction:
    """An Arb ball of radius zero is mantissa · 2^exponent.

    A point closer to zero than every float becomes zero, or with `away` a number between zero and the least float: its
    exponent may have more digits than memory has bits.
    """
    mantissa, exponent = (int(part) for part in point.man_exp())
    size = mantissa.bit_length() + exponent
    if mantissa and size < -_FAR:
        return Fraction(mantissa // abs(mantissa), 2**_FAR) if away else Fraction(0)
    if mantissa and size > _FAR:
        raise _too_large()
    return Fraction(mantissa) * Fraction(2) ** exponent


def square_root_upward(number: Fraction, *, bits: int = 64) -> Fraction:
    """A rational at or above √number, exact for squares, otherwise within a relative 2⁻ᵇⁱᵗˢ.

    >>> square_root_upward(Fraction(9, 4))
    Fraction(3, 2)
    >>> Fraction(2) < square_root_upward(Fraction(2)) ** 2 < Fraction(2) + Fraction(1, 2**60)
    True
    """
    if number < 0:
        raise InvalidParameter(
            wanted="a number of at least 0", given=quoted(number), do="Only such numbers have roots."
        )
    p, q = number.numerator, number.denominator
    root_p, root_q = math.isqrt(p), math.isqrt(q)
    if root_p * root_p == p and root_q * root_q == q:
        return Fraction(root_p, root_q)
    # √(p/q) = √(p·q·4ˢ) / (q·2ˢ); s makes the integer root at least `bits` bits long.
    shift = max(0, bits - (p * q).bit_length() // 2 + 1)
    return Fraction(math.isqrt(p * q << 2 * shift) + 1, q << shift)


def power_of_two(number: Fraction) -> Fraction:
    """The largest power of two that is at most this number.

    >>> power_of_two(Fraction(5)), power_of_two(Fraction(1, 5)), power_of_two(Fraction(1, 4))
    (Fraction(4, 1), Fraction(1, 8), Fraction(1, 4))
    """
    power = Fraction(2) ** (number.numerator.bit_length() - number.denominator.bit_length())
    return power if power <= number else power / 2


def least_whole(holds: Callable[[int], bool], *, least: int = 0) -> int:
    """The least integer, from `least` on, for which a condition holds; once true, it must stay true.

    >>> least_whole(lambda n: n * n >= 50), least_whole(lambda n: True, least=3)
    (8, 3)
    """
    low, step = least - 1, 1
    while not holds(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# Checks of parameters. `name` and `of` are for the message: the scale of Laplace, the size of a sample.


def finite(number: object) -> Fraction | None:
    """The exact number; None for anything else, such as text, a boolean or infinity.

    >>> finite(0.5), finite("0.5"), finite(True), finite(math.inf)
    (Fraction(1, 2), None, None, None)
    """
    if isinstance(number, bool) or not isinstance(number, Real | Decimal):
        return None
    return exact(number) if isinstance(number, Rational) or math.isfinite(number) else None  # type: ignore[arg-type]


def positive(number: Number, *, name: str, of: str) -> Fraction:
    """A finite number above 0, exactly.

    >>> positive(0.1, name="scale", of="noise")
    Fraction(1, 10)
    """
    value = finite(number)
    if value is None or value <= 0:
        raise InvalidParameter(
            wanted=f"{name} of {of} to be a finite number above 0", given=quoted(number), do="Choose a larger number."
        )
    return value


def within(number: Number, *, name: str, of: str, least: Number = 0, most: Number | None = None) -> Fraction:
    """A finite number in this range, ends included, exactly.

    >>> within(0.25, name="rate", of="a sample", most=1)
    Fraction(1, 4)
    """
    value = finite(number)
    if value is None or value < exact(least) or (most is not None and value > exact(most)):
        limits = f"a finite number of at least {least}" if most is None else f"a number from {least} to {most}"
        raise InvalidParameter(
            wanted=f"{name} of {of} to be {limits}", given=quoted(number), do="Choose a number in that range."
        )
    return value


def inside(number: Number, *, name: str = "confidence", of: str = "an interval", example: Number = 0.95) -> Fraction:
    """A number strictly between 0 and 1, exactly. No bound holds for noise with a confidence of 1.

    >>> inside(0.95)
    Fraction(19, 20)
    """
    value = finite(number)
    if value is None or not 0 < value < 1:
        raise InvalidParameter(
            wanted=f"{name} of {of} to be strictly between 0 and 1",
            given=quoted(number),
            do=f"Choose for example {example}.",
        )
    return value


def natural(number: int, *, name: str, of: str, least: int = 1, most: int | None = None) -> int:
    """A whole number in this range, as an integer of Python: numpy's integers wrap around.

    >>> natural(3, name="candidates", of="Exponential")
    3
    """
    try:
        value = None if isinstance(number, bool) else index(number)
    except TypeError:
        value = None
    if value is None or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidParameter(
            wanted=f"{name} of {of} to be a whole number {limits}", given=quoted(number), do="Choose one of these."
        )
    return value


def flag(choice: bool, *, name: str, of: str) -> bool:
    """True or False, and nothing that only resembles them: a flag may halve the noise."""
    if not isinstance(choice, bool):
        raise InvalidParameter(
            wanted=f"{name} of {of} to be True or False", given=quoted(choice), do="Choose one of the two."
        )
    return choice


def granule(number: Number, *, of: str) -> Fraction:
    """A granularity, exactly: a float stands for the decimal it prints as, but a power of two for itself.

    >>> granule(0.1, of="Laplace"), granule(2.0**-40, of="Laplace") == Fraction(1, 2**40)
    (Fraction(1, 10), True)
    """
    grain = positive(number, name="granularity", of=of)
    return Fraction(number) if isinstance(number, float) and math.frexp(number)[0] == 0.5 else grain
