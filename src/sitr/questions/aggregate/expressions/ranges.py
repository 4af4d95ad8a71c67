"""Interval arithmetic on public ranges. An end is None where there is no public bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from sitr.dataclass import dataclass

MOST_DIGITS = 2**1030
"""Ends beyond this size are dropped: no double reaches them."""

HALF, SLACK = Fraction(1, 2), Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from `low` to `high`."""

    low: Fraction | None = None
    high: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            if end is not None and abs(end) > MOST_DIGITS:
                object.__setattr__(self, name, None)

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None

    def __add__(self, other: Range) -> Range:
        return Range(_sum(self.low, other.low), _sum(self.high, other.high))

    def __neg__(self) -> Range:
        return Range(_minus(self.high), _minus(self.low))

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        """Only of bounded ranges, or of numbers that are not negative."""
        if self.low is None or other.low is None:
            return Range()
        if self.high is None or other.high is None:
            return Range(self.low * other.low) if min(self.low, other.low) >= 0 else Range()
        ends = [one * two for one, two in product((self.low, self.high), (other.low, other.high))]
        return Range(min(ends), max(ends))

    def __truediv__(self, other: Range) -> Range:
        """Without a public bound if the divisor can be 0."""
        if other.low is None or other.high is None or other.low <= 0 <= other.high:
            return Range()
        return self * Range(Fraction(1) / other.high, Fraction(1) / other.low)

    def union(self, other: Range) -> Range:
        return Range(_both(min, self.low, other.low), _both(max, self.high, other.high))

    def clamped(self, low: Fraction, high: Fraction) -> Range:
        """After values beyond two numbers became the nearest of them."""
        new_low = low if self.low is None else min(max(self.low, low), high)
        new_high = high if self.high is None else max(min(self.high, high), low)
        return Range(new_low, new_high)

    def mapped(self, function: Callable[[Fraction], Fraction]) -> Range:
        """After a function that never decreases."""
        return Range(
            None if self.low is None else function(self.low), None if self.high is None else function(self.high)
        )

    def absolute(self) -> Range:
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return -self
        if self.low is None or self.high is None:
            return Range(Fraction(0))
        return Range(Fraction(0), max(-self.low, self.high))


def whole(range: Range) -> Range:
    """The nearest whole numbers of a range. An end next to a half counts as both of its neighbors, because what is
    computed with doubles may lie on either side.

    >>> whole(Range(Fraction(-3, 5), Fraction(12, 5))), whole(Range(Fraction(5, 2), Fraction(7, 2)))
    (Range(low=Fraction(-1, 1), high=Fraction(2, 1)), Range(low=Fraction(2, 1), high=Fraction(4, 1)))
    """
    low, high = range.low, range.high
    return Range(
        None if low is None else Fraction(math.ceil(low - HALF - SLACK * (1 + abs(low)))),
        None if high is None else Fraction(math.floor(high + HALF + SLACK * (1 + abs(high)))),
    )


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _minus(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def _both(
    choose: Callable[[Fraction, Fraction], Fraction], one: Fraction | None, other: Fraction | None
) -> Fraction | None:
    return None if one is None or other is None else choose(one, other)
