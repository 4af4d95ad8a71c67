"""Sums, differences and quotients of measured numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.functions.joint import Joint

_ROUNDS = 6
"""How often an interval is made narrower with what it says about the weights of the noise."""


@dataclass(frozen=True, slots=True)
class Linear:
    """Σ a_j·(measured number j) + constant. Its interval is the quantile of the sum of the noises."""

    weights: tuple[Fraction, ...]
    constant: Fraction = Fraction(0)

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return not any(self.weights)

    def at(self, numbers: Sequence[Fraction]) -> Fraction:
        return sum((a * number for a, number in zip(self.weights, numbers, strict=True)), self.constant)

    def plus(self, other: Linear, times: Fraction = Fraction(1)) -> Linear:
        """The sum with a multiple of the other one."""
        weights = tuple(one + times * two for one, two in zip(self.weights, other.weights, strict=True))
        return Linear(weights, self.constant + times * other.constant)

    def times(self, factor: Fraction) -> Linear:
        return Linear(tuple(factor * weight for weight in self.weights), factor * self.constant)

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        value, width = self.at(numbers), noise.width(self.weights)
        return Estimate(value, value - width, value + width)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:  # noqa: ARG002 - it is the same everywhere
        return noise.width(self.weights)


@dataclass(frozen=True, slots=True)
class Quotient:
    """θ = above/below, between `low` and `high` if these are public.

    The exact numbers satisfy above − θ·below = 0, so that the same difference of the noisy numbers is a sum of noises
    with the weights a_j − θ·b_j. Its quantile is w(θ), and the set of all θ with |above − θ·below| ≤ w(θ) contains the
    exact quotient with probability 1 − α, whatever the data are.      [Fie54]

    The set is found from outside: while θ lies in a range, w(θ) is at most the bound of `Joint.up_to` for the largest
    weights in this range, which leaves a narrower range. Every step keeps all θ of the set. Without a public range, a
    first one is [−T, T], where T is so large that no θ beyond it can be in the set: with |θ| ≥ T the weights divided by
    θ are at most |b_j| + |a_j|/T, and if K is their bound, |below| − |above|/T > K excludes θ. Where the noise of
    `below` reaches 0, there is no such T, and the interval is unbounded.

    `count` is the place of the number of rows, if `below` is a multiple of it. The exact number is at least 1 where the
    quotient exists, so the shown quotient takes a noisy number below 1 for 1.
    """

    above: Linear
    below: Linear
    low: Fraction | None = None
    high: Fraction | None = None
    count: int | None = None

    def value(self, numbers: Sequence[Fraction]) -> Fraction | None:
        """The quotient of these numbers, within the range."""
        if self.count is not None:
            numbers = [max(n, Fraction(1)) if place == self.count else n for place, n in enumerate(numbers)]
        below = self.below.at(numbers)
        return None if below == 0 else self._inside(self.above.at(numbers) / below)

    def mapped(self, factor: Fraction, shift: Fraction = Fraction(0)) -> Quotient:
        """factor·θ + shift."""
        ends = [None if end is None else factor * end + shift for end in (self.low, self.high)]
        low, high = ends if factor >= 0 else reversed(ends)
        return Quotient(self.above.times(factor).plus(self.below, shift), self.below, low, high, self.count)

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        above, below, value = self.above.at(numbers), self.below.at(numbers), self.value(numbers)
        first = self._first(above, below, noise)
        if first is None:
            return Estimate(
                value, -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            )
        low, high, width = shrunk(first, lambda range_: solved(above, below, self._width(range_, noise)))
        return around(value, low, high, width, first)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:
        if self.low is None or self.high is None:
            return math.inf
        most = self.high - self.low
        if rows is None or self.count is None:
            return most
        return min(most, self._width((self.low, self.high), noise) / (rows * abs(self.below.weights[self.count])))

    def _inside(self, value: Fraction) -> Fraction:
        above = value if self.low is None else max(value, self.low)
        return above if self.high is None else min(above, self.high)

    def _width(self, range_: tuple[Fraction, Fraction], noise: Joint) -> Fraction:
        low, high = range_
        pairs = zip(self.above.weights, self.below.weights, strict=True)
        return noise.up_to([max(abs(a - low * b), abs(a - high * b)) for a, b in pairs])

    def _first(self, above: Fraction, below: Fraction, noise: Joint) -> tuple[Fraction, Fraction] | None:
        """A range outside of which there is nothing of the set; None if there is none."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if below == 0:
            return None
        far = 2 * (abs(above) + noise.up_to(self.above.weights)) / abs(below)
        for _ in range(4):
            far = far or Fraction(1)
            pairs = zip(self.above.weights, self.below.weights, strict=True)
            if abs(below) - abs(above) / far > noise.up_to([abs(b) + abs(a) / far for a, b in pairs]):
                return max(-far, self._inside(-far)), min(far, self._inside(far))
            far *= 4
        return None


Solved = tuple[Fraction, Fraction, Fraction] | None
"""The ends of a range and half of what noise alone makes of it; None if nothing is left."""


def shrunk(
    range_: tuple[Fraction, Fraction], narrower: Callable[[tuple[Fraction, Fraction]], Solved]
) -> tuple[Fraction, Fraction, Fraction]:
    """The range after as many rounds as help, each with what the last one left. An empty one has low > high."""
    low, high = range_
    width = high - low
    for _ in range(_ROUNDS):
        found = narrower((low, high))
        if found is None:
            break
        before, width = high - low, found[2]
        low, high = max(low, found[0]), min(high, found[1])
        if low > high or high - low > Fraction(99, 100) * before:
            break
    return low, high, width


def solved(above: Fraction, below: Fraction, width: Fraction) -> Solved:
    """All θ with |above − θ·below| ≤ width; None if `below` is 0, which says nothing about θ."""
    if below == 0:
        return None
    middle, half = above / below, width / abs(below)
    return middle - half, middle + half, half


def around(
    value: Fraction | None, low: Fraction, high: Fraction, width: Fraction, range_: tuple[Fraction, Fraction]
) -> Estimate:
    """An interval with the value in it.

    If no possible value fits the noisy numbers, the noise was larger than it is with the stated probability. Any
    interval is sound then, and the one as wide as usual around the nearest possible value misleads nobody.
    """
    if value is None:
        return Estimate(None, *range_) if low > high else Estimate(None, low, high)
    if low > high:
        low, high = max(range_[0], value - width), min(range_[1], value + width)
    return Estimate(value, min(low, value), max(high, value))
