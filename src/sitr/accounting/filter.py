"""A budget as a privacy filter: it consents to releases, one after another, until the promise is used up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, cast

from typing_extensions import TypeVar

from sitr.accounting.coordinates import Filterable, at_least, at_most, charged, check, coordinates, total
from sitr.errors import BudgetExceeded
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise

Flavor_co = TypeVar("Flavor_co", bound=Filterable, default=Additive, covariant=True)
"""A budget's flavor; where none is named, one of the three that ledgers keep."""


@dataclass(frozen=True, slots=True)
class Filter(Generic[Flavor_co]):
    """A promise for everything together, and what was charged to it: prices with the number of times each was paid.

    It consents while Σ charges ≤ promise, coordinate by coordinate: ε; ε and δ; ρ and ξ; μ²; or ε at each order. That
    sum is a valid stopping rule even when every price is chosen after seeing earlier answers: pure and approximate
    [RRUV16, Thm 3.6], zero-concentrated [WRRW23, Thm 1], Rényi [FZ21, Thm 4.3], Gaussian [ST22]. Promises of other
    flavors are refused.

    >>> from sitr import ZeroConcentratedDP
    >>> budget = Filter(ZeroConcentratedDP(0.5)).consent(ZeroConcentratedDP(0.2))
    >>> budget.remaining()
    ZeroConcentratedDP(rho=0.3)
    >>> budget.consent(ZeroConcentratedDP(0.31))
    Traceback (most recent call last):
    sitr.errors.BudgetExceeded: A price within the budget was wanted: zcdp(rho=0.3) of zcdp(rho=0.5) is left...
    """

    promise: Flavor_co
    charges: tuple[tuple[Flavor_co, int], ...] = ()

    def __post_init__(self) -> None:
        coordinates(self.promise)  # refuses a flavor whose sums are no stopping rule
        check(self.charges, like=self.promise)
        if not self._fits(self._totals()):
            raise BudgetExceeded(
                wanted=f"Charges within {write(self.promise)} were wanted.",
                given="Those given add up to more.",
                do="No filter has consented to all of them: check where they were recorded.",
            )

    def consent(self, price: Promise) -> Filter[Flavor_co]:
        """The filter after this charge, or `BudgetExceeded`."""
        charge = self.charge(price)
        if not self._fits(total(((charge, 1),), start=self._totals())):
            left, whole = write(self.remaining()), write(self.promise)
            raise BudgetExceeded(
                wanted=f"A price within the budget was wanted: {left} of {whole} is left.",
                given=f"The question was priced at {write(charge)}.",
                do="Ask again at a price of at most what is left; nothing was spent and no data were read.",
            )
        return Filter(self.promise, (*self.charges, (charge, 1)))

    def charge(self, price: Promise) -> Flavor_co:
        """What a price means in the flavor of this budget."""
        return cast("Flavor_co", charged(price, like=self.promise))

    def spent(self) -> Flavor_co:
        """The composition of all charges, rounded up."""
        return cast("Flavor_co", at_least(self._totals(), like=self.promise))

    def remaining(self) -> Flavor_co:
        """What still fits, rounded down."""
        pairs = zip(coordinates(self.promise), self._totals(), strict=True)
        return cast("Flavor_co", at_most([promised - paid for promised, paid in pairs], like=self.promise))

    def _fits(self, totals: tuple[Fraction, ...]) -> bool:
        return all(paid <= promised for paid, promised in zip(totals, coordinates(self.promise), strict=True))

    def _totals(self) -> tuple[Fraction, ...]:
        return total(self.charges, start=tuple(Fraction(0) for _ in coordinates(self.promise)))
