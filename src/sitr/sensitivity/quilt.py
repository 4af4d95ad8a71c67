"""Markov quilts: states that shield the rest of a series from one state, and the best of them for each time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sitr.namespace import Later
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.influence import Influences, spread

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

FIRST = 8
"""The distances that are tried first; then twice as many, until no larger one can be better."""

REMEMBERED = 4
"""The quilts of earlier times that are tried before a search."""


@dataclass(frozen=True, slots=True)
class Quilt:
    """The states a steps before and b steps after a time; either may be missing, and none is the empty quilt.

    Given its quilt, a state says nothing about the series beyond it. What is left are the times nearby, its own
    included.      [SWC17, Sec. 4.1]
    """

    before: int | None = None
    after: int | None = None

    def nearby(self, time: int, length: int) -> int:
        """How many times are on the near side: a + b − 1; i + b − 1 or T − i + a with one side; T without.

        >>> [Quilt(*sides).nearby(8, 100) for sides in ((5, 5), (None, 5), (5, None), (None, None))]
        [9, 12, 97, 100]
        """
        first = 1 if self.before is None else time - self.before + 1
        last = length if self.after is None else time + self.after - 1
        return last - first + 1

    def fits(self, time: int, length: int) -> bool:
        """Whether a series of this length has these states."""
        return (self.before or 0) < time and time + (self.after or 0) <= length


@dataclass(frozen=True, slots=True)
class Active:
    """The quilt that was chosen for a time, its number of nearby times and its influence, rounded up."""

    quilt: Quilt
    nearby: int
    influence: float


Goal = Callable[[Any, Any], Any]
"""(numbers of nearby times, influences) ↦ what is to be made small; infinite where a quilt is of no use."""


@dataclass(frozen=True, slots=True)
class QuiltSearch:
    """The best quilt for each time: least for `goal`, where `reach(least)` nearby times are too many to be better."""

    goal: Goal
    reach: Callable[[float], float]

    @classmethod
    def for_scale(cls, epsilon: Fraction) -> QuiltSearch:
        """The least nearby/(ε − e): the noise that a price needs."""
        allowed = float(epsilon)

        def goal(nearby: Any, influence: Any) -> Any:
            left = allowed - influence
            return np.where(left > 0, nearby / np.where(left > 0, left, 1.0), math.inf)

        return cls(goal, lambda least: least * allowed)

    @classmethod
    def for_loss(cls, rate: Fraction) -> QuiltSearch:
        """The least nearby·rate + e: the loss of noise with 1/σ = rate, or of several with that sum."""
        per_time = float(rate)
        return cls(lambda nearby, influence: nearby * per_time + influence, lambda least: least / per_time)

    def best(self, found: Influences, time: int, *, window: int = FIRST) -> Active:
        """The best quilt of a time, among all that there are. The `window` is where the search begins."""
        length = found.length
        while True:
            left, right = found.before(time, min(window, time - 1)), found.after(time, min(window, length - time))
            least, quilt = self._least(left, right, time, length)
            # A side that is farther away than this has more nearby times alone than a better quilt may have.
            if window >= min(length, self.reach(least) * (1 + 1e-9)):
                return self.active(found, time, quilt)
            window *= 2

    def _least(self, left: Any, right: Any, time: int, length: int) -> tuple[float, Quilt]:
        a, b = np.arange(1, len(left) + 1), np.arange(1, len(right) + 1)
        tried: list[tuple[float, Quilt]] = [(float(self.goal(length, 0.0)), Quilt())]
        if len(left):
            scores = self.goal(length - time + a, left.max(axis=1))
            tried.append((float(scores.min()), Quilt(before=int(a[scores.argmin()]))))
        if len(right):
            scores = self.goal(time + b - 1, right.max(axis=1))
            tried.append((float(scores.min()), Quilt(after=int(b[scores.argmin()]))))
        if len(left) and len(right):
            influence = np.full((len(a), len(b)), -math.inf)
            for pair in range(left.shape[1]):
                np.maximum(influence, left[:, pair, None] + right[None, :, pair], out=influence)
            scores = self.goal(a[:, None] + b[None, :] - 1, influence)
            place = np.unravel_index(int(scores.argmin()), scores.shape)
            tried.append((float(scores[place]), Quilt(int(a[place[0]]), int(b[place[1]]))))
        return min(tried, key=lambda one: one[0])

    @staticmethod
    def active(found: Influences, time: int, quilt: Quilt) -> Active:
        """A quilt of a time, with its influence."""
        influence = found.at(time, before=quilt.before, after=quilt.after)
        return Active(quilt, quilt.nearby(time, found.length), influence)

    def every(self, chain: Chain, length: int) -> Iterator[tuple[int, Active]]:
        """A quilt for each time at which two states are possible, ends included: the middle comes first.

        The largest goal of all times decides. So a time may keep a quilt of an earlier one if that is as good, but for
        a part in 10⁹, as the worst so far.
        """
        found, worst, window = Influences(chain, length), -math.inf, FIRST
        known: list[Quilt] = []
        for time in sorted(range(1, length + 1), key=lambda time: abs(2 * time - length - 1)):
            if not found.pairs(time):
                continue
            fitting = (quilt for quilt in known if quilt.fits(time, length))
            again = (self.active(found, time, quilt) for quilt in fitting)
            enough = next((one for one in again if self._goal(one) <= worst * (1 + 1e-9)), None)
            if enough is None:
                enough = self.best(found, time, window=window)
                worst = max(worst, self._goal(enough))
                window = max(FIRST, enough.quilt.before or 0, enough.quilt.after or 0)
                known = [enough.quilt, *(quilt for quilt in known if quilt != enough.quilt)][:REMEMBERED]
            yield time, enough

    def _goal(self, active: Active) -> float:
        return float(self.goal(active.nearby, active.influence))


Actives = tuple[tuple[tuple[int, Active], ...], ...]
"""For each chain, in the order of the times, their active quilts."""


@lru_cache(maxsize=64)
def fitted(chains: tuple[Chain, ...], length: int, epsilon: Fraction) -> tuple[Fraction, Actives]:
    """The least σ, over all quilts, that is enough for every chain at every time; and the quilts.

    σ = max over chains and times of min over quilts of nearby/(ε − e).      [SWC17, Alg. 2 and 3]
    """
    search = QuiltSearch.for_scale(epsilon)
    quilts = tuple(tuple(sorted(search.every(chain, length), key=lambda one: one[0])) for chain in chains)
    needed = [spread(one.nearby, epsilon=epsilon, influence=one.influence) for each in quilts for _, one in each]
    # The empty quilt has no influence, so there is always one with less than ε.
    assert None not in needed
    return max((sigma for sigma in needed if sigma is not None), default=Fraction(0)), quilts


@lru_cache(maxsize=64)
def lost(chains: tuple[Chain, ...], length: int, rate: Fraction) -> Fraction:
    """The loss of any number of releases with Σ1/σ = rate: max over chains and times of min of nearby·rate + e.

    Given the series outside of the nearby times, one state moves each answer by nearby/σ in terms of its noise; and
    the law of the series outside of them changes by e, once.
    """
    search = QuiltSearch.for_loss(rate)
    found = [one for chain in chains for _, one in search.every(chain, length)]
    return max((one.nearby * rate + Fraction(one.influence) for one in found), default=Fraction(0))
