"""How far a random newcomer moves a statistic, learned from the data: see `sitr.sensitivity.pairs`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.errors import DescriptionError
from sitr.numbers import Number, natural, within
from sitr.sensitivity.decay import outward
from sitr.sensitivity.differences import differences
from sitr.sensitivity.pairs import Heights, Ladder, Pairs, Ranked, disjoint, drawn, every, ordered, published
from sitr.sensitivity.ranks import Quantile, TrimmedMean
from sitr.sensitivity.spread import InterquartileRange
from sitr.sensitivity.statistic import Statistic
from sitr.sensitivity.subject import Computed, OnGrid, Rows, sized, subject

Indices = NDArray[np.int64]
Apart = Callable[[Any, Any], Any]
"""h: from two arrays with as many rows to one number for each row of both."""

_ALL = 2**22
"""The most pairs that are compared one by one; more are possible only for numbers on a grid."""


@dataclass(frozen=True, slots=True)
class RandomSensitivity:
    """A statistic of n people, and how far a random newcomer moves it, except for a fraction γ of all samples.

    Made by `random`. `h`, the bound on it and the accuracy are in the units of the statistic.
    """

    subject: OnGrid | Computed
    size: int
    gamma: Number
    pairs: Pairs
    h: Apart | None
    bound: Fraction | None
    accuracy: Fraction
    draws: int

    def __post_init__(self) -> None:
        pairs, statistic = self.pairs, self.subject.statistic
        if isinstance(self.subject, OnGrid):
            slope(self.subject.statistic, self.size)
        if isinstance(self.subject, OnGrid) != (self.h is None):
            raise _misfit(statistic, "h" if self.h is None else "no h, because its own is known")
        if pairs in (Pairs.EVERY, Pairs.DRAWN) and self.bound is None:
            raise _misfit(statistic, "a public bound on h, because not only disjoint pairs are compared")
        if pairs is Pairs.PUBLISHED and self.bound is not None:
            raise _misfit(statistic, "no bound on h, which the published rule does not use")
        reached = _widest(self.subject, self.size) if isinstance(self.subject, OnGrid) else Fraction(0)
        if self.bound is not None and self.bound < reached:
            raise _misfit(statistic, "a bound on h that is no smaller than its bounds imply")
        if pairs is Pairs.EVERY and self.h is not None and math.comb(self.size, 2) > _ALL:
            raise _misfit(statistic, f"pairs that are drawn, Pairs.DRAWN: {self.size} people have too many")
        self.ladder(miss=1)  # refuses a wrong γ, or too few people, now

    def ladder(self, *, miss: Number = 0) -> Ladder:
        """The ranks to compare. For drawn pairs, the probability `miss` of an unlucky draw belongs to δ."""
        match self.pairs:
            case Pairs.DISJOINT:
                return disjoint(self.size, gamma=self.gamma, bounded=self.bound is not None)
            case Pairs.EVERY:
                return every(self.size, gamma=self.gamma)
            case Pairs.DRAWN:
                return drawn(self.size, gamma=self.gamma, draws=self.draws, miss=miss)
            case Pairs.PUBLISHED:
                return published(self.size, gamma=self.gamma)

    def sample(self, values: Any, /) -> Rows:
        """The values of n people in their order, checked."""
        return sized(self.subject.sample(values), self.size)

    def scale(
        self, sample: Rows, /, *, dilation: Number, miss: Number = 0, chosen: tuple[Indices, Indices] | None = None
    ) -> float:
        """How many granules the rounded statistic moves, rounded up: a number that changes by a factor of at most e^β.

        With s = S/n + 2·accuracy that is s/g + 1. The added terms are the same for all data, and make ratios smaller.
        """
        ladder = self.ladder(miss=miss)
        if chosen is not None:
            ladder = replace(ladder, step=int(np.bincount(np.concatenate(chosen)).max()))
        unit, grain = self._granules, self.subject.granularity
        bound = None if self.bound is None else float(self.bound / (self.size * grain * unit))
        height = ladder.height(self._ranked(sample, chosen), dilation=dilation, bound=bound)
        return outward(height * float(unit) + float(2 * self.accuracy / grain) + 1)

    @property
    def _granules(self) -> Fraction:
        """How far one unit of the compared quantity moves the answer, in granules.

        Numbers on a grid are compared by their distance in granules, other rows by h, which is divided by n.
        """
        match self.subject:
            case OnGrid(statistic, _, fineness):
                return slope(statistic, self.size) * fineness
            case Computed(_, granularity):
                return 1 / (self.size * granularity)

    def _ranked(self, sample: Rows, chosen: tuple[Indices, Indices] | None) -> Ranked:
        match self.pairs:
            case Pairs.DRAWN:
                assert chosen is not None
                first, second = chosen
            case Pairs.EVERY:
                if isinstance(self.subject, OnGrid):
                    return differences(sample, low=self.subject.grid.low, high=self.subject.grid.high)
                first, second = np.triu_indices(self.size, 1)
            case _:
                first = np.arange(self.size // 2)
                second = first + self.size // 2
        return ordered(self._apart(sample[first], sample[second]))

    def _apart(self, first: Rows, second: Rows) -> Heights:
        if self.h is None:
            return np.asarray(np.abs(first - second), dtype=np.float64)
        # h must not depend on which of the two leaves, so the larger value counts.
        heights = np.asarray(np.maximum(self.h(first, second), self.h(second, first)), dtype=np.float64)
        if heights.shape != (len(first),) or not np.all((heights >= 0) & np.isfinite(heights)):
            raise DescriptionError(
                wanted="a function h with a finite number of at least 0 for each row of two arrays",
                given="something else",
                do="Let h bound n times the movement of the statistic, row by row.",
            )
        return heights


def slope(statistic: Statistic, size: int) -> Fraction:
    """|f(X) − f(X')| ≤ slope·|x − x'| if x' takes the place of x.

    Then the sorted values of X and X' differ by |x − x'| in total, all in one direction. So a mean of m of them moves
    by at most |x − x'|/m, and one of them, or the difference of two, by at most |x − x'|.

    >>> from sitr.sensitivity.ranks import mean, median
    >>> slope(mean, 10), slope(median, 10)
    (Fraction(1, 10), Fraction(1, 1))
    """
    match statistic:
        case Quantile() | TrimmedMean():
            left, right = statistic.ranks(size)
            return Fraction(1, right - left + 1)
        case InterquartileRange():
            return Fraction(1)
    raise DescriptionError(
        wanted="a statistic whose movement is known from the values of the one person who moves it",
        given=repr(statistic),
        do="Pass it as a function of an array, with a granularity and with h, a bound on n times the movement.",
    )


def random(
    statistic: Statistic | Callable[[Any], Any],
    *,
    size: int,
    gamma: Number,
    h: Apart | None = None,
    bound: Number | None = None,
    pairs: Pairs = Pairs.DISJOINT,
    draws: int | None = None,
    bounds: tuple[Number, Number] | None = None,
    granularity: Number | None = None,
    accuracy: Number | None = None,
) -> RandomSensitivity:
    """A rule for noise that protects a random newcomer, for all but a fraction γ of samples.      [HRW11, Sec. 6]

    Two conditions must hold. First, **|g(X) − g(X')| ≤ h(x, x')/n if x' takes the place of x**, for any two people and
    whoever the others are. (It is not enough that both sides have the same maximum.) For means, quantiles and the
    interquartile range, h is known. For any other function give h, the granularity of the answer, and as `accuracy` a
    public bound on its errors in floats; rows may have any number of columns, and are neither clamped nor rounded.

    Second, **the order of people must carry no information**: shuffle data that are sorted or grew over time.

    `size` is n. `bound` is a public Λ ≥ h. It makes γ smaller, but is multiplied by e^{−βγn/2} only: use it where n is
    large. `Pairs.EVERY` and `Pairs.DRAWN` need it. For statistics with a known h, `bounds` imply it, because values are
    clamped to them, and a smaller one is refused. For your own functions, a bound that is too small goes unnoticed.

    >>> from sitr.sensitivity.ranks import mean
    >>> rule = random(mean, size=1000, gamma=0.05, granularity=0.001)
    >>> below_1000 = np.arange(1000) ** 2 * 7919 % 997
    >>> rule.scale(rule.sample(below_1000), dilation=0.05) * float(rule.subject.granularity)
    0.755...
    """
    about = subject(statistic, size=natural(size, name="size", of="a sample"), bounds=bounds, granularity=granularity)
    many = max(size, 4096) if draws is None else natural(draws, name="draws", of="pairs")
    largest = None if bound is None else within(bound, name="bound", of="h")
    if isinstance(about, OnGrid) and pairs in (Pairs.EVERY, Pairs.DRAWN):
        if bounds is not None:
            largest = _widest(about, size) if largest is None else largest
        elif pairs is Pairs.EVERY:
            raise _misfit(statistic, "bounds, within which all pairs are compared")
    if isinstance(about, OnGrid) != (accuracy is None):
        raise _misfit(
            statistic, "as accuracy a bound on the errors of floats, or 0" if accuracy is None else "no accuracy"
        )
    error = within(accuracy or 0, name="accuracy", of="a statistic")
    return RandomSensitivity(about, size, gamma, pairs, h, largest, error, many)


def _widest(subject: OnGrid, size: int) -> Fraction:
    """The largest h for values clamped to the bounds."""
    return slope(subject.statistic, size) * size * subject.grid.width * subject.grid.granularity


def _misfit(statistic: object, wanted: str) -> DescriptionError:
    return DescriptionError(
        given=f"The sensitivity of {statistic!r} needs {wanted}.",
        do="The documentation of sitr.sensitivity.random explains h, bound and accuracy.",
    )
