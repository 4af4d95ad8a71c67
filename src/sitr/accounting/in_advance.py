"""The tightest total of recorded charges, valid if they had been fixed in advance.

A budget adds parameters, because every sum that decides when to stop has to be valid for questions that were chosen
after answers. The exact losses of the same charges compose to less. That total is a fact about a plan that was fixed
before its first answer, and nothing else: no budget ever compares it with anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sitr.errors import WiderThanAsked
from sitr.namespace import Later

if TYPE_CHECKING:
    from sitr.accounting import compare, schedule
    from sitr.accounting.schedule import Part
else:  # they know all theorems, and most who look at a budget need none
    compare, schedule = Later("sitr.accounting.compare"), Later("sitr.accounting.schedule")

MOST = 64
"""The most different plans whose losses are added without being asked twice: each takes time."""


class NoTotal(Enum):
    """Why there is no total."""

    RANDOM = "random"
    """A random promise has no loss for the fraction γ of data."""
    MANY = "many"
    """More different plans than `MOST`."""
    UNPROVED = "unproved"
    """No theorem bounds all charges at this δ."""


@dataclass(frozen=True, slots=True)
class InAdvance:
    """The total ε at δ of charges, if they had been fixed in advance; or why there is none."""

    delta: float
    epsilon: float | None
    charges: int
    known: int
    """The number of charges whose plans are kept: the others count with the worst that their price allows."""
    obstacle: NoTotal | None = None
    summed: float | None = None
    """The ε at the same δ that the sum in the budget implies, to compare with."""

    @property
    def telling(self) -> bool:
        """Whether it says visibly more than the sum in the budget, or why there is no total."""
        return self.epsilon is None or self.summed is None or self.epsilon < 0.999 * self.summed


def total_in_advance(parts: Sequence[Part], *, delta: float, most: int | None = MOST) -> InAdvance:
    """The least ε at this δ that a theorem for schedules fixed in advance proves for all of these charges.

    Each part is a price, how often it was paid, and the loss of its plan where that is known.

    >>> from sitr.accounting.schedule import Part
    >>> from sitr.flavors.zero_concentrated import ZeroConcentratedDP
    >>> from sitr.loss import gaussian
    >>> total_in_advance([Part((ZeroConcentratedDP(0.125),), 4, known=gaussian(sigma=2))], delta=1e-6).epsilon
    4.88...
    >>> total_in_advance([Part((ZeroConcentratedDP(0.125),), 4)], delta=1e-6).epsilon
    5.22...
    """
    whole = schedule.Schedule(tuple(parts))
    known = sum(part.times for part in parts if part.known is not None)

    def found(epsilon: float | None, obstacle: NoTotal | None = None) -> InAdvance:
        return InAdvance(delta, epsilon, whole.releases, known, obstacle)

    if whole.random:
        return found(None, NoTotal.RANDOM)
    if most is not None and len(parts) > most:
        return found(None, NoTotal.MANY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)  # the upper end is valid, however wide the interval is
        named = [compare.named(name) for name in _THEOREMS]
        outcomes = [compare.curve(whole, theorem=theorem, deltas=[delta])[0].rows[0].outcome for theorem in named]
    proved = [outcome.upper for outcome in outcomes if not isinstance(outcome, str)]
    return found(min(proved)) if proved else found(None, NoTotal.UNPROVED)


_THEOREMS = ("loss", "zero_concentrated", "basic")
"""All of them hold for one schedule fixed in advance, so the least may be chosen afterwards."""
