"""The writing of numbers and names: one function for each, and bounds stay bounds.

Errors and promises are rounded up; what is left of a budget is rounded down.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Self

from sitr.dataclass import dataclass
from sitr.dataset.schema import Kind
from sitr.errors import ISOLATES
from sitr.numbers import Number, exact
from sitr.questions.aggregate.expressions.typed import calendar
from sitr.questions.aggregate.functions.function import End, Estimate

CONFIDENCE = Fraction(95, 100)
"""The probability with which an interval of a report contains the exact number."""

_MINUS = "−"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the writing direction of the text after them."""

_OPENING, _CLOSING = ISOLATES[:-1], ISOLATES[-1]


def number(value: Number, *, decimals: int = 0) -> str:
    """A number with thousands separators, rounded to the nearest.

    >>> number(1234567), number(Fraction(-25, 2), decimals=1)
    ('1,234,567', '−12.5')
    """
    return _decimal(round(exact(value) * 10**decimals), decimals)


def error(width: Number) -> str:
    """The half-width of an interval, rounded up to two significant digits.

    >>> error(Fraction(123401, 1000)), error(88), error(0.0512)
    ('130', '88', '0.052')
    """
    return at_most(width, digits=2)


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


def step(value: Number) -> str:
    """The step of a column: exact if that is short, and else two digits, because nobody chose the others.

    >>> step(Fraction(1, 100)), step(250), step(Fraction(1, 2**16))
    ('0.01', '250', '≈ 1.5 × 10⁻⁵')
    """
    whole = exact(value) * Fraction(10) ** (5 - exponent(exact(value)))
    return about(value) if whole.denominator == 1 else f"≈ {about(value, digits=2)}"


def chance(probability: float) -> str:
    """An upper bound on a probability as "1 in N", with N rounded down.

    >>> chance(1e-6), chance(6.2712e-7), chance(0.3)
    ('1 in 1,000,000', '1 in 1,590,000', '1 in 3')
    """
    return f"1 in {at_least(Fraction(math.floor(1 / exact(probability))), digits=3)}"


def percent(share: Number) -> str:
    """A share in whole percent; small shares have one digit.

    >>> percent(Fraction(62, 100)), percent(Fraction(4, 1000)), percent(0)
    ('62%', '0.4%', '0%')
    """
    return f"{number(exact(share) * 100, decimals=0 if not 0 < share < Fraction(1, 100) else 1)}%"


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
    return text.translate(_PLAIN)


def displayed(text: str) -> str:
    """Harmless text of a report, which may hold isolates: each one that is opened is closed, so it ends with its text.

    Values of users are made `visible` where they enter a sentence. Isolates that do not match are drawn like others.

    >>> displayed("\u2068ward\u2069\u202e") == "\u2068ward\u2069�", displayed("\u2069ward\u2068")
    (True, '�ward�')
    """
    return text.translate(_ISOLATED if _matched(text) else _PLAIN)


def shortened(text: str, *, most: int) -> str:
    """The text, cut to at most `most` characters.

    >>> shortened("cardiology", most=6)
    'cardi…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class Rounded(str):
    """Text with rounded numbers, for people; `exact` is the same text with all digits, and `hint` what a page adds.

    By default the hint is the exact text. Where the error is not beside the number, the hint has both: this is what a
    rounded number on a page is checked with.

    >>> text = Rounded("440,000 ± 350,000", exact="437,621 ± 345,109")
    >>> text, text.exact
    ('440,000 ± 350,000', '437,621 ± 345,109')
    """

    __slots__ = ("exact", "hint")
    exact: str
    hint: str

    def __new__(cls, text: str, *, exact: str, hint: str | None = None) -> Self:
        made = super().__new__(cls, text)
        made.exact = exact
        made.hint = exact if hint is None else hint
        return made


def all_digits(text: str) -> str:
    """The text with all digits."""
    return text.exact if isinstance(text, Rounded) else text


@dataclass(frozen=True, slots=True)
class Figures:
    """How a number is shown beside its error: the error with two significant digits, the number to the same place.

    Errors and the ends of intervals are rounded outward: the interval, as shown, contains the computed one. The error
    is the error of the noise, the same in a preview and in every answer. It does not include the rounding of the
    number, which is at most a twentieth of it.

    >>> one = Estimate(Fraction(437621), Fraction(92512), Fraction(782730))
    >>> figures = Figures.fitting(one.error, step=Fraction(1))
    >>> figures.value(one), figures.error(one.error), figures.low(one), figures.high(one)
    ('440,000', '350,000', '90,000', '790,000')
    """

    place: int
    """The last power of ten that is shown: 4 for tens of thousands, −2 for hundredths."""
    rounds: bool
    """Whether numbers can be off because they are rounded."""

    @classmethod
    def fitting(cls, width: Fraction, *, step: Fraction | None) -> Figures:
        """The figures of numbers with an error of this size, all of them multiples of the `step`, if there is one."""
        place = exponent(max(width, step or Fraction(0)) or Fraction(1)) - 1
        last = place if step is None or place >= 0 else -_own_decimals(step, -place)
        return cls(last, rounds=step is None or (step / Fraction(10) ** last).denominator != 1)

    def value(self, one: Estimate) -> str:
        return _placed(_finite(one.value), self.place, round)

    def error(self, width: End) -> str:
        return _placed(_finite(width), self.place, math.ceil)

    def low(self, one: Estimate) -> str:
        return _placed(_finite(one.low), self.place, math.floor)

    def high(self, one: Estimate) -> str:
        return _placed(_finite(one.high), self.place, math.ceil)


@dataclass(frozen=True, slots=True)
class AllDigits:
    """The same with all digits: whole numbers exactly, others in 15 digits, the ends of intervals outward."""

    def value(self, one: Estimate) -> str:
        return _all_digits(_finite(one.value), round)

    def error(self, width: End) -> str:
        return _all_digits(_finite(width), math.ceil)

    def low(self, one: Estimate) -> str:
        return _all_digits(_finite(one.low), math.floor)

    def high(self, one: Estimate) -> str:
        return _all_digits(_finite(one.high), math.ceil)


def _finite(end: End | None) -> Fraction:
    """A number that is there and has a limit; reports write all others in words."""
    assert isinstance(end, Fraction)
    return end


def limit(end: End, rounding: Callable[[Fraction], int]) -> str:
    """The end of an interval in six digits, or a sign for no limit.

    >>> limit(-math.inf, math.floor), limit(Fraction(1, 3), math.ceil)
    ('−∞', '0.333334')
    """
    if isinstance(end, float):
        return "∞" if end > 0 else f"{_MINUS}∞"
    return _significant(end, 6, rounding)


@dataclass(frozen=True, slots=True)
class DateFigures:
    """The same for dates and times, whose numbers are days or seconds since 1970."""

    kind: Kind

    def value(self, one: Estimate) -> str:
        return calendar(_finite(one.value), self.kind).isoformat()

    def error(self, width: End) -> str:
        return _all_digits(_finite(width), math.ceil)

    def low(self, one: Estimate) -> str:
        return calendar(_finite(one.low), self.kind).isoformat()

    def high(self, one: Estimate) -> str:
        return calendar(_finite(one.high), self.kind).isoformat()


def legible(code: str) -> str:
    """Code with short numbers: fractions and long decimals in six digits.

    >>> legible("Noise(shift=Fraction(563, 2000), dilation=0.11596320624666163, freedom=3)")
    'Noise(shift=0.2815, dilation=0.115963, freedom=3)'
    """
    fractions = re.sub(r"Fraction\((-?\d+), (\d+)\)", lambda found: about(Fraction(int(found[1]), int(found[2]))), code)
    return re.sub(r"(?<![\w.])\d+\.\d{7,}(?![\w.])", lambda found: about(Fraction(found[0])), fractions)


def _all_digits(value: Fraction, rounding: Callable[[Fraction], int]) -> str:
    return number(value) if value.denominator == 1 else _significant(value, 15, rounding)


def _to(place: int, value: Fraction, rounding: Callable[[Fraction], int]) -> Fraction:
    """The value as a multiple of a power of ten."""
    return rounding(value / Fraction(10) ** place) * Fraction(10) ** place


def _placed(value: Fraction, place: int, rounding: Callable[[Fraction], int]) -> str:
    return number(_to(place, value, rounding), decimals=max(0, -place))


def _own_decimals(granularity: Fraction, most: int) -> int:
    """The number of decimals that a multiple of the granularity can have, at most `most`."""
    return next((places for places in range(most) if (granularity * 10**places).denominator == 1), most)


def _decimal(scaled: int, decimals: int) -> str:
    whole, part = divmod(abs(scaled), 10**decimals)
    return (_MINUS if scaled < 0 else "") + f"{whole:,}" + (f".{part:0{decimals}}" if decimals else "")


@lru_cache(4096)  # a report says most of its numbers several times
def _significant(value: Fraction, digits: int, rounding: Callable[[Fraction], int]) -> str:
    """Plain digits between 0.001 and 10¹⁵, a power of ten outside."""
    if value == 0:
        return "0"
    places = digits - 1 - exponent(value)
    scaled = rounding(value * Fraction(10) ** places)
    rounded = scaled / Fraction(10) ** places
    power = exponent(rounded) if rounded else 0
    if -3 <= power < 15:
        decimals = max(0, places)
        text = _decimal(int(rounded * 10**decimals), decimals)
        return text.rstrip("0").rstrip(".") if decimals else text
    mantissa = _significant(rounded / Fraction(10) ** power, digits, rounding)
    ten = power_of_ten(power)
    return ten if mantissa == "1" else f"{mantissa} × {ten}"


def power_of_ten(power: int) -> str:
    """A power of ten.

    >>> power_of_ten(-6)
    '10⁻⁶'
    """
    return "10" + str(power).translate(_SUPERSCRIPT)


def exponent(value: Fraction) -> int:
    """⌊log₁₀|value|⌋, exactly.

    >>> exponent(Fraction(1, 1000)), exponent(Fraction(999))
    (-3, 2)
    """
    size = abs(value)
    power = len(str(size.numerator)) - len(str(size.denominator))
    return power if size >= Fraction(10) ** power else power - 1


def _matched(text: str) -> bool:
    """Whether every isolate is closed, and nothing else is."""
    depth = 0
    for character in text:
        depth += (character in _OPENING) - (character == _CLOSING)
        if depth < 0:
            return False
    return depth == 0


def _drawn(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    refused = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or code & 0xFFFE == 0xFFFE
    return "�" if refused or character in _DIRECTIONS else character


class _Drawings(dict[int, str]):
    """How each character is drawn, found once: `str.translate` looks characters up here."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _drawn(chr(code))
        return found


_PLAIN = _Drawings()
_ISOLATED = _Drawings({ord(character): character for character in ISOLATES})
