"""Smooth sensitivity: a bound on how far one person moves a statistic of these data, which itself changes slowly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sitr.errors import QuestionError
from sitr.numbers import Number
from sitr.sensitivity.sample import Quantiser
from sitr.sensitivity.statistic import Statistic


@dataclass(frozen=True, slots=True)
class RoundedStatistic:
    """A statistic on a public grid, rounded to whole granules."""

    statistic: Statistic
    grid: Quantiser

    @property
    def granularity(self) -> Fraction:
        """The granule of the answer, in which `centre` is counted."""
        return self.grid.granularity**self.statistic.power

    def check(self, people: int) -> None:
        """Refuse a number of people for which the statistic cannot be computed, whatever their values.

        The statistic is tried on made-up values, so that nothing is read.
        """
        low, high = self.grid.low, self.grid.high
        self.statistic.local(np.full(people, low, dtype=np.int64), low, high)

    def centre(self, values: Any) -> int:
        """The statistic, rounded to whole granules: ⌊f + ½⌋. If f moves by at most a whole bound, so does this."""
        return rounded(self.statistic.value(self.grid.granules(values)))


@dataclass(frozen=True, slots=True)
class Smooth(RoundedStatistic):
    """A statistic on a public grid, and for every sample X a scale s(X) for its noise.

    For all X and X' that differ by replacing one person: |f(X) − f(X')| ≤ min(s(X), s(X')) and |ln s(X)/s(X')| ≤ β.
    [NRS07, Def. 2.1]

    >>> from sitr.sensitivity.ranks import median
    >>> rule = smooth(median, bounds=(0, 100), granularity=1)
    >>> rule.centre([3, 41.3, 42, 43, 99]), round(rule.scale([3, 41.3, 42, 43, 99], 0.1), 6)
    (42, 71.118549)
    """

    def scale(self, values: Any, dilation: Number) -> float:
        """s(X) = S(X), or S(X) + 1 where the statistic had to be rounded: it then moves by at most ⌈S⌉ granules.

        It is as secret as the data, and at least one granule.
        """
        found = self.statistic.smooth(self.grid.granules(values), self.grid.low, self.grid.high, dilation=dilation)
        return found if self.statistic.whole else math.nextafter(found + 1.0, math.inf)


def smooth(statistic: Statistic, *, bounds: tuple[Number, Number], granularity: Number | None = None) -> Smooth:
    """A rule that fits the noise of a statistic to its smooth sensitivity, for values between these bounds.

    >>> from sitr.sensitivity.ranks import median
    >>> smooth(median, bounds=(0, 200)).grid
    Quantiser(low=0, high=1638400, granularity=Fraction(1, 8192))
    """
    return Smooth(known(statistic), Quantiser.of(bounds, granularity=granularity))


def rounded(value: Fraction) -> int:
    """The nearest integer, ⌊x + ½⌋.

    >>> rounded(Fraction(3, 2)), rounded(Fraction(-3, 2))
    (2, -1)
    """
    return math.floor(value + Fraction(1, 2))


def known(statistic: Statistic) -> Statistic:
    """The statistic, if its sensitivities are known."""
    if not isinstance(statistic, Statistic):
        raise QuestionError(
            wanted="a statistic whose sensitivities are known",
            given=repr(statistic),
            do="Use median, quantile(q), trimmed_mean(share), mean, interquartile_range or variance.",
        )
    return statistic
