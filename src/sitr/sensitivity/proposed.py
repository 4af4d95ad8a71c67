"""Propose-test-release: a proposed sensitivity, and how far the data are from exceeding it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sitr.numbers import Number, natural, positive
from sitr.sensitivity.sample import Quantiser, read
from sitr.sensitivity.smoothed import RoundedStatistic, known
from sitr.sensitivity.statistic import Statistic


@dataclass(frozen=True, slots=True)
class Proposed(RoundedStatistic):
    """A statistic on a public grid, with a proposed sensitivity of `bound` granules.

    >>> from sitr.sensitivity.ranks import median
    >>> rule = propose_test_release(median, proposal=2, bounds=(0, 100), granularity=1)
    >>> rule.distance([40, 41, 42, 43, 44]), rule.distance([3, 4, 42, 98, 99])
    (2, 0)
    """

    bound: int

    def __post_init__(self) -> None:
        # A statistic that moves by 3/2 granules moves by 2 once it is rounded.
        bound = natural(self.bound, name="bound", of="a proposal")
        object.__setattr__(self, "bound", bound)

    def distance(self, values: Any) -> int:
        """How many people must be replaced until one more can move the statistic by more than the bound.

        One person changes this distance by at most 1. It is n + 1 if no data exceed the bound, and as secret as the
        data.
        """
        return self.statistic.distance(self.grid.granules(values), self.grid.low, self.grid.high, bound=self.bound)


def propose_test_release(
    statistic: Statistic, *, proposal: Number, bounds: tuple[Number, Number], granularity: Number | None = None
) -> Proposed:
    """Propose that one person moves this statistic by at most `proposal`, which is rounded up to whole granules.

    Choose it without looking at the data, in the unit of the data (for the variance, in its square).

    >>> from sitr.sensitivity.ranks import median
    >>> propose_test_release(median, proposal=0.25, bounds=(0, 200)).bound
    2048
    """
    grid = Quantiser.of(bounds, granularity=granularity)
    granule = grid.granularity ** known(statistic).power
    positive(proposal, name="proposal", of="a statistic")
    return Proposed(statistic, grid, math.ceil(read(proposal, granularity=grid.granularity) / granule))
