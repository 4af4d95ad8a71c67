"""Axes: few, round numbers, all of an axis written in the same way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sitr.numbers import Number
from sitr.report.chart.lettering import NARROW, cut, width
from sitr.report.chart.svg import text
from sitr.report.figures import about, exponent, number, power_of_ten
from sitr.report.words.words import Words, in_words

MOST = 4
"""The most steps of an axis: more numbers would touch each other on a telephone."""

_SIZE = 11
"""The size of the numbers, in pixels."""

_LONGEST = 96.0
"""The most room for a name below an axis, in pixels."""


def nice_ticks(low: Fraction, high: Fraction, *, most: int = MOST) -> list[Fraction]:
    """Round numbers at equal steps between low and high, at most `most` steps.

    >>> [str(tick) for tick in nice_ticks(Fraction(-3), Fraction(97), most=5)]
    ['0', '20', '40', '60', '80']
    """
    least = (high - low) / most
    power = Fraction(10) ** exponent(least)
    step = next(power * size for size in (1, 2, Fraction(5, 2), 5, 10, 20) if power * size >= least)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def written(ticks: Sequence[Fraction], *, words: Words | None = None) -> list[str]:
    """All numbers of an axis in one way: in plain digits, with the same letter, or as powers of ten.

    Even steps have the same decimals.

    >>> written([Fraction(0), Fraction(2500), Fraction(5000)]), written([Fraction(5000), Fraction(10_000)])
    (['0', '2,500', '5,000'], ['5 k', '10 k'])
    >>> written([Fraction(1, 10**power) for power in (4, 3, 2)]), written([Fraction(0), Fraction(1, 2), Fraction(1)])
    (['10⁻⁴', '10⁻³', '10⁻²'], ['0', '0.5', '1.0'])
    """
    words = in_words(words)
    return [words.numerals(number) for number in _written(ticks, words)]


def _written(ticks: Sequence[Fraction], words: Words) -> list[str]:
    sizes = [abs(tick) for tick in ticks if tick]
    if not sizes:
        return ["0" for _ in ticks]
    largest, smallest = exponent(max(sizes)), exponent(min(sizes))
    plain = largest < 4 and smallest >= -3
    if not plain and all(size == Fraction(10) ** exponent(size) for size in sizes):
        return ["0" if not tick else ("−" if tick < 0 else "") + power_of_ten(exponent(tick)) for tick in ticks]
    even = len({after - before for before, after in pairwise(ticks)}) < 2
    if plain and not even:
        return [about(tick) for tick in ticks]
    if plain or (even and -3 <= largest < 4 and smallest >= -5):
        return _decimals(ticks)
    power = 3 * (largest // 3)
    if power in words.scales:
        return [
            "0" if not tick else f"{words.formula(about(tick / 10**power))} {words.scales[power]}" for tick in ticks
        ]
    scale = Fraction(10) ** largest
    return ["0" if not tick else f"{about(tick / scale, digits=3)} × {power_of_ten(largest)}" for tick in ticks]


def _decimals(ticks: Sequence[Fraction]) -> list[str]:
    places = next(
        places for places in range(12) if places == 11 or all((t * 10**places).denominator == 1 for t in ticks)
    )
    return [number(tick, decimals=places) if tick else "0" for tick in ticks]


@dataclass(frozen=True, slots=True)
class Logarithmic:
    """A logarithmic axis between two powers of ten, which need not be whole."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end; zero, which has no logarithm, lies below the axis."""
        return (math.log10(value) - self.low) / (self.high - self.low) if value > 0.0 else -1.0

    def ticks(self, *, most: int = 6) -> list[Fraction]:
        """Powers of ten if there are three or more, every second or third if there are many; else 1, 2, 5, 10, ….

        Even steps if the axis is so short that these are fewer than three.
        """
        powers = self._inside((1,))
        if len(powers) > 2:
            return powers[:: math.ceil(len(powers) / most)]
        for digits in ((1, 2, 5), (1, Fraction(3, 2), 2, 3, 4, 5, 6, 8)):
            if 3 <= len(fine := self._inside(digits)) <= most:
                return fine
        return [tick for tick in nice_ticks(Fraction(10**self.low), Fraction(10**self.high)) if tick > 0]

    def _inside(self, digits: Sequence[Number]) -> list[Fraction]:
        whole = range(math.floor(self.low), math.ceil(self.high) + 1)
        ticks = (Fraction(10) ** power * Fraction(digit) for power in whole for digit in digits)
        return [tick for tick in ticks if self.low - 1e-9 <= _log(tick) <= self.high + 1e-9]


def _log(value: Fraction) -> float:
    """log₁₀, also of numbers that are no floats."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def margin(numbers: Sequence[str]) -> float:
    """Where a pane begins, in percent, so that the numbers of its upright axis fit beside it."""
    return max(9.0, 100 * max((width(each, size=_SIZE) for each in numbers), default=0.0) / NARROW + 2)


def across(places: Sequence[tuple[float, str]], *, y: float) -> Iterator[str]:
    """Numbers or names below an axis, at places in percent: all of them, or every second or third if these fit."""
    shown = [(x, cut(name, _LONGEST, size=_SIZE)) for x, name in places]
    every = next((each for each in range(1, len(places) + 1) if fits(shown[::each])), 1)
    for (x, name), (_, full) in zip(shown[::every], places[::every], strict=True):
        yield text(name, x=x, y=y, size=_SIZE, anchor=_anchor(x, name), opacity=0.75, full=full)


def fits(places: Sequence[tuple[float, str]]) -> bool:
    """Whether these words do not touch each other on a narrow screen.

    >>> fits([(10, "0"), (50, "100")]), fits([(10, "a long name"), (20, "another")])
    (True, False)
    """
    ends = [_ends(x, name) for x, name in places]
    return all(before[1] + 2 <= after[0] for before, after in pairwise(ends))


def _anchor(x: float, name: str) -> str:
    """Words near a margin stay inside the chart."""
    half = 50 * width(name, size=_SIZE) / NARROW
    return "start" if x - half < 0 else "end" if x + half > 100 else "middle"


def _ends(x: float, name: str) -> tuple[float, float]:
    wide = 100 * width(name, size=_SIZE) / NARROW
    start = {"start": x, "middle": x - wide / 2, "end": x - wide}[_anchor(x, name)]
    return start, start + wide
