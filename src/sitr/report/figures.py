"""The writing of numbers and names: one function for each, and bounds stay bounds.

Errors and promises are rounded up; what is left of a budget is rounded down.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.numbers import Number, exact
from sitr.questions.aggregate.fit import Shown
from sitr.questions.aggregate.functions.function import Estimate

CONFIDENCE = Fraction(95, 100)
"""The probability with which an interval of a report contains the exact number."""

_MINUS = "−"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the writing direction of the text after them."""


def number(value: Number, *, decimals: int = 0) -> str:
    """A number with thousands separators, rounded to the nearest.

    >>> number(1234567), number(Fraction(-25, 2), decimals=1)
    ('1,234,567', '−12.5')
    """
    return _decimal(round(exact(value) * 10**decimals), decimals)


def error(width: Number, *, decimals: int = 0) -> str:
    """The half-width of an interval, rounded up.

    >>> error(Fraction(123401, 1000), decimals=1)
    '123.5'
    """
    return _decimal(math.ceil(exact(width) * 10**decimals), decimals)


def at_most(value: Number, *, digits: int = 4) -> str:
    """An upper bound in few digits, rounded up.

    >>> at_most(0.5), at_most(Fraction(1, 3)), at_most(1e-6), at_most(6.2712e-7)
    ('0.5', '0.3334', '10⁻⁶', '6.272 × 10⁻⁷')
    """
    return _significant(exact(value), digits, math.ceil)


def at_least(value: Number, *, digits: int = 4) -> str:
    """A lower bound in few digits, rounded down.

    >>> at_least(Fraction(2, 3)), at_least(1234567)
    ('0.6666', '1,234,000')
    """
    return _significant(exact(value), digits, math.floor)


def about(value: Number, *, digits: int = 6) -> str:
    """A number in few digits, rounded to the nearest: for numbers that are not bounds, such as the scale of noise.

    >>> about(Fraction(20)), about(Fraction(200000001, 3))
    ('20', '66,666,700')
    """
    return _significant(exact(value), digits, round)


def chance(probability: float) -> str:
    """An upper bound on a probability as "1 in N", with N rounded down.

    >>> chance(1e-6), chance(6.2712e-7), chance(0.3)
    ('1 in 1,000,000', '1 in 1,590,000', '1 in 3')
    """
    return f"1 in {at_least(Fraction(math.floor(1 / exact(probability))), digits=3)}"


def counted(count: int, noun: str) -> str:
    """A count and its noun.

    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number(count)} {noun}" + ("" if count == 1 else "s")


def short(value: Number) -> str:
    """A number on an axis.

    >>> short(1200), short(3_400_000), short(-0.25), short(25_000_000_000)
    ('1,200', '3.4 M', '−0.25', '25 G')
    """
    fraction = exact(value)
    for power, letter in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (4, "k")):
        if abs(fraction) >= 10**power:
            size = 10 ** (3 if letter == "k" else power)
            return f"{about(fraction / size)} {letter}"
    return about(fraction)


def visible(text: str) -> str:
    """Harmless text: control characters are drawn, and nothing changes the writing direction.

    >>> visible("a\\nb\\x1b[31m")
    'a␊b␛[31m'
    """
    return "".join(_drawn(character) for character in text)


def shortened(text: str, *, most: int) -> str:
    """The text, cut to at most `most` characters.

    >>> shortened("cardiology", most=6)
    'cardi…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Figures:
    """The format of one column of an answer.

    Values and errors have the same decimals: enough for three digits of the error, at most as many as the granularity.
    The error includes the rounding of the value, so `value ± error` as shown contains the computed interval.
    """

    decimals: int
    rounding: Fraction
    """The most by which a value is off because it is rounded."""

    @classmethod
    def of(cls, column: Shown, shown: Sequence[Estimate] = ()) -> Figures:
        """The figures of a column at 95%: for its smallest error, or for the largest possible one before any answer."""
        width = min((each.error for each in shown), default=column.width(CONFIDENCE))
        return cls.fitting(width, step=column.aggregate.step)

    @classmethod
    def fitting(cls, width: Fraction, *, step: Fraction | None) -> Figures:
        """The figures of errors of this size; all values are multiples of the `step`, if there is one."""
        needed = max(0, 2 - _exponent(max(width, step or Fraction(0)) or Fraction(1)))
        if step is None:
            return cls(needed, Fraction(1, 2 * 10**needed))
        decimals = min(needed, _own_decimals(step, needed))
        whole = (step * 10**decimals).denominator == 1
        return cls(decimals, Fraction(0) if whole else Fraction(1, 2 * 10**decimals))

    def value(self, one: Estimate) -> str:
        return number(one.value, decimals=self.decimals)

    def error(self, width: Fraction) -> str:
        return error(width + self.rounding, decimals=self.decimals)

    def low(self, one: Estimate) -> str:
        return number(self._rounded(one) - self._width(one.value - one.low), decimals=self.decimals)

    def high(self, one: Estimate) -> str:
        return number(self._rounded(one) + self._width(one.high - one.value), decimals=self.decimals)

    def _rounded(self, one: Estimate) -> Fraction:
        return Fraction(round(one.value * 10**self.decimals), 10**self.decimals)

    def _width(self, width: Fraction) -> Fraction:
        return Fraction(math.ceil((width + self.rounding) * 10**self.decimals), 10**self.decimals)


def _own_decimals(granularity: Fraction, most: int) -> int:
    """The number of decimals that a multiple of the granularity can have, at most `most`."""
    return next((places for places in range(most) if (granularity * 10**places).denominator == 1), most)


def _decimal(scaled: int, decimals: int) -> str:
    whole, part = divmod(abs(scaled), 10**decimals)
    return (_MINUS if scaled < 0 else "") + f"{whole:,}" + (f".{part:0{decimals}}" if decimals else "")


def _significant(value: Fraction, digits: int, rounding: Callable[[Fraction], int]) -> str:
    """Plain digits between 0.001 and 10¹⁵, a power of ten outside."""
    if value == 0:
        return "0"
    places = digits - 1 - _exponent(value)
    scaled = rounding(value * Fraction(10) ** places)
    rounded = scaled / Fraction(10) ** places
    power = _exponent(rounded) if rounded else 0
    if -3 <= power < 15:
        decimals = max(0, places)
        text = _decimal(int(rounded * 10**decimals), decimals)
        return text.rstrip("0").rstrip(".") if decimals else text
    mantissa = _significant(rounded / Fraction(10) ** power, digits, rounding)
    ten = "10" + str(power).translate(_SUPERSCRIPT)
    return ten if mantissa == "1" else f"{mantissa} × {ten}"


def _exponent(value: Fraction) -> int:
    """⌊log₁₀|value|⌋, exactly."""
    size = abs(value)
    power = len(str(size.numerator)) - len(str(size.denominator))
    return power if size >= Fraction(10) ** power else power - 1


def _drawn(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    refused = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or code & 0xFFFE == 0xFFFE
    return "�" if refused or character in _DIRECTIONS else character
