"""An odometer: what a sequence of releases has cost so far, without a limit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from sitr.accounting.coordinates import charged, total
from sitr.accounting.filter import Flavor_co
from sitr.errors import IncompatiblePromises
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP


@dataclass(frozen=True, slots=True)
class Odometer(Generic[Flavor_co]):
    """The start, and the exact sum since: an odometer records every release and refuses none.

    The total is the sum that a `Filter` would have compared with its budget. It holds if one stops at a total
    fixed in advance. For pure and approximate promises, with Σδ below a bound fixed in advance, it also holds at a
    moment chosen after seeing answers [RRUV16, Thm 3.6]. For zero-concentrated ones, `sitr.accounting.anytime` proves a
    larger total that does; for all others, this is a record of charges and no promise.

    >>> from sitr.flavors.gaussian import GaussianDP
    >>> Odometer(GaussianDP(0.0)).record(GaussianDP(3.0)).record(GaussianDP(4.0)).total()
    GaussianDP(mu=5.0)
    """

    start: Flavor_co
    paid: tuple[Fraction, ...] = ()
    """The exact sum of the start and of all that was recorded; the start if it is left out."""

    def __post_init__(self) -> None:
        begun = self.start.coordinates()  # refuses a flavor whose sums mean nothing for adaptive sequences
        if isinstance(self.start, RandomDP):
            raise IncompatiblePromises(
                wanted="a promise that adds up in any order, because an odometer refuses nothing",
                given=f"{self.start!r}, which allows random releases only before the first answer",
                do="Use a Filter, which refuses later ones.",
            )
        if not self.paid:
            object.__setattr__(self, "paid", begun)
        if len(self.paid) != len(begun) or any(so_far < first for so_far, first in zip(self.paid, begun, strict=True)):
            raise IncompatiblePromises(
                wanted=f"a sum that is at least the start, {self.start!r}, at every coordinate",
                given=repr(self.paid),
                do="Start with Odometer(start) and use record.",
            )

    def record(self, price: Promise) -> Odometer[Flavor_co]:
        """The odometer after this release, whatever it costs: one addition, however much was recorded before."""
        return Odometer(self.start, total(((charged(price, like=self.start), 1),), start=self.paid))

    def total(self) -> Flavor_co:
        """All that was recorded, and the start, rounded up."""
        return self.start.with_coordinates(self.paid, up=True)
