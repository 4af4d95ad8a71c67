"""Means of the values between two ranks: the median, every quantile, trimmed means and the mean itself."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sitr.errors import QuestionError
from sitr.numbers import Number, exact, within
from sitr.sensitivity.decay import largest_difference, outward, reach, reduced
from sitr.sensitivity.sample import Granules


class _RankMean:
    """f(X) = (x_l + … + x_r)/m, with m = r − l + 1 values, whose ranks depend on n alone.

    Let x_0 = low and x_{n+1} = high, likewise below and above these. If one person moves from the lowest ranks to the
    top, x_l leaves the sum and x_{r+1} enters; if one moves down, x_r leaves and x_{l−1} enters; no move does more:

        m·LS_0(Y) = max(y_{r+1} − y_l, y_r − y_{l−1}).

    k people make y_{r+1} as large as x_{r+1+a} and y_l as small as x_{l−b}, a + b = k, and not more. They can do so:
    between these two are m − 1 + k values, of which a are moved to the top, and b to the bottom. So

        m·LS_k(X) = max{x_j − x_i : i = l − p, j = r + q, p + q = k + 1, p ≥ 0, q ≥ 0}.

    For the median this is in [NRS07, Sec. 3.1], for trimmed means in [BS19]; the proof is the same for all ranks.
    """

    __slots__ = ()

    @abstractmethod
    def ranks(self, people: int, /) -> tuple[int, int]:
        """l and r, from 1 to n."""

    @property
    def power(self) -> int:
        return 1

    @property
    def whole(self) -> bool:
        return False

    def value(self, sample: Granules) -> Fraction:
        left, right = self.ranks(len(sample))
        return Fraction(_total(sample[left - 1 : right]), right - left + 1)

    def local(self, sample: Granules, low: int, high: int, *, distance: int = 0) -> Fraction:
        left, right = self.ranks(len(sample))
        down, up = _ends(sample, low, high, left, right)
        p = np.arange(min(distance, len(sample)) + 2)
        q = p[::-1]
        gaps = up[np.minimum(q, len(up) - 1)] - down[np.minimum(p, len(down) - 1)]
        return Fraction(int(gaps.max()), right - left + 1)

    def smooth(self, sample: Granules, low: int, high: int, *, dilation: Number) -> float:
        left, right = self.ranks(len(sample))
        beta = reduced(dilation)
        far = reach(high - low, dilation=beta) + 2  # one more than p + q = k + 1
        down, up = (end[:far] for end in _ends(sample, low, high, left, right))
        return outward(max(1.0, largest_difference(down, up, dilation=beta)) / (right - left + 1))

    def distance(self, sample: Granules, low: int, high: int, *, bound: Number) -> int:
        """For every q the least p with x_{l−p} < x_{r+q} − m·bound, by bisection."""
        left, right = self.ranks(len(sample))
        most = math.floor((right - left + 1) * exact(bound))
        if high - low <= most:
            return len(sample) + 1
        down, up = _ends(sample, low, high, left, right)
        p = len(down) - np.searchsorted(down[::-1], up - most, side="left")
        found = np.flatnonzero(p < len(down))
        return max(0, int(np.min(found + p[found])) - 1)


@dataclass(frozen=True, slots=True)
class Quantile(_RankMean):
    """The value of rank ⌈qn⌉, the smallest of all values for q = 0.

    >>> sample = np.array([1, 2, 4, 8])
    >>> Quantile(0.5).value(sample), Quantile(0.75).value(sample), Quantile(0).value(sample)
    (Fraction(2, 1), Fraction(4, 1), Fraction(1, 1))
    >>> [int(Quantile(0.5).local(sample, 0, 10, distance=k)) for k in range(4)]
    [2, 6, 8, 9]
    """

    level: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", within(self.level, name="level", of="a quantile", most=1))

    @property
    def whole(self) -> bool:
        return True

    def ranks(self, people: int, /) -> tuple[int, int]:
        rank = max(1, math.ceil(exact(self.level) * people))
        return rank, rank


@dataclass(frozen=True, slots=True)
class TrimmedMean(_RankMean):
    """The mean without the ⌊share·n⌋ smallest and the ⌊share·n⌋ largest values.

    >>> sample = np.array([0, 3, 4, 6, 6])
    >>> TrimmedMean(0.2).value(sample), TrimmedMean(0.2).local(sample, 0, 10)
    (Fraction(13, 3), Fraction(2, 1))
    >>> TrimmedMean(0).local(sample, 0, 10)
    Fraction(2, 1)
    """

    share: Number

    def __post_init__(self) -> None:
        share = within(self.share, name="share", of="a trimmed mean", most=0.5)
        object.__setattr__(self, "share", share)

    def ranks(self, people: int, /) -> tuple[int, int]:
        aside = math.floor(exact(self.share) * people)
        if 2 * aside >= people:
            raise QuestionError(
                wanted="a trimmed mean that leaves at least one value",
                given=f"a share of {self.share} on each side",
                do="Choose a smaller share, or the median.",
            )
        return aside + 1, people - aside


def quantile(level: Number, /) -> Quantile:
    """The value of rank ⌈qn⌉.

    >>> quantile(0.9)
    Quantile(level=Fraction(9, 10))
    """
    return Quantile(level)


def trimmed_mean(share: Number, /) -> TrimmedMean:
    """The mean without the ⌊share·n⌋ smallest and as many of the largest values.

    >>> trimmed_mean(0.1)
    TrimmedMean(share=Fraction(1, 10))
    """
    return TrimmedMean(share)


def _ends(sample: Granules, low: int, high: int, left: int, right: int) -> tuple[Granules, Granules]:
    """x_l, x_{l−1}, …, x_0 = low, and x_r, x_{r+1}, …, x_{n+1} = high."""
    return np.append(sample[:left][::-1], low), np.append(sample[right - 1 :], high)


def _total(values: Granules) -> int:
    """The sum, in 64 bits where these suffice."""
    size = max(abs(int(values[0])), abs(int(values[-1])))
    return int(values.sum()) if size * len(values) < 2**63 else sum(values.tolist())


median = Quantile(Fraction(1, 2))
"""The value of rank ⌈n/2⌉: for even n, the lower of the two middle values."""

mean = TrimmedMean(Fraction(0))
"""The mean of all values. One person can move it by at most (high − low)/n, and for all data by at least half of it."""
