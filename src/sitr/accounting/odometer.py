"""An odometer: what a sequence of releases has cost so far, without a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, cast

from sitr.accounting.coordinates import at_least, charged, check, coordinates, total
from sitr.accounting.filter import Flavor_co
from sitr.errors import IncompatiblePromises
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP


@dataclass(frozen=True, slots=True)
class Odometer(Generic[Flavor_co]):
    """Where it started, and what was recorded since: it never refuses, it tells.

    The total is the sum that a `Filter` would have compared with its budget. It holds for whoever stops at a total
    fixed in advance. For pure and approximate promises, with Σδ below a bound fixed in advance, it also holds at a
    moment chosen after seeing answers [RRUV16, Thm 3.6]; for the others that is not known without a further cost.

    >>> from sitr.flavors.gaussian import GaussianDP
    >>> Odometer(GaussianDP(0.0)).record(GaussianDP(3.0)).record(GaussianDP(4.0)).total()
    GaussianDP(mu=5.0)
    """

    start: Flavor_co
    charges: tuple[tuple[Flavor_co, int], ...] = ()

    def __post_init__(self) -> None:
        coordinates(self.start)  # refuses a flavor whose sums mean nothing for adaptive sequences
        if isinstance(self.start, RandomDP):
            raise IncompatiblePromises(
                wanted="A promise that adds up in any order was wanted: an odometer records, and refuses nothing.",
                given=f"{self.start!r} was given, which takes random releases only before the first answer.",
                do="Use a Filter, which sees to that.",
            )
        check(self.charges, like=self.start)

    def record(self, price: Promise) -> Odometer[Flavor_co]:
        """The odometer after this release, whatever it costs."""
        return Odometer(self.start, (*self.charges, (cast("Flavor_co", charged(price, like=self.start)), 1)))

    def total(self) -> Flavor_co:
        """All that was recorded, and the start, rounded up."""
        return cast("Flavor_co", at_least(total(self.charges, start=coordinates(self.start)), like=self.start))
