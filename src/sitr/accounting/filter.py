"""A budget as a privacy filter: it consents to releases, one after another, until the promise is used up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction

from sitr.errors import BudgetExceeded
from sitr.flavors.arrows import Additive, express
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.loss.bounds import downward, exact, upward


@dataclass(frozen=True, slots=True)
class Filter:
    """A promise for everything together, and what was charged to it: prices with the number of times each was paid.

    It consents while Σ charges ≤ promise, parameter by parameter. That sum is a valid stopping rule even when every
    price is chosen after seeing earlier answers: pure and approximate [RRUV16, Thm 3.6], zero-concentrated
    [WRRW23, Thm 1].

    >>> from sitr import ZeroConcentratedDP
    >>> budget = Filter(ZeroConcentratedDP(0.5)).consent(ZeroConcentratedDP(0.2))
    >>> budget.remaining()
    ZeroConcentratedDP(rho=0.3)
    >>> budget.consent(ZeroConcentratedDP(0.31))
    Traceback (most recent call last):
    sitr.errors.BudgetExceeded: A price within the budget was wanted: zcdp(rho=0.3) of zcdp(rho=0.5) is left...
    """

    promise: Additive
    charges: tuple[tuple[Additive, int], ...] = ()

    def consent(self, price: Promise) -> Filter:
        """The filter after this charge, or `BudgetExceeded`."""
        charge = self.charge(price)
        after = Filter(self.promise, (*self.charges, (charge, 1)))
        if any(paid > promised for paid, promised in zip(after._totals(), _parameters(self.promise), strict=True)):
            left, whole = write(self.remaining()), write(self.promise)
            raise BudgetExceeded(
                wanted=f"A price within the budget was wanted: {left} of {whole} is left.",
                given=f"The question was priced at {write(charge)}.",
                do="Ask again at a price of at most what is left; nothing was spent and no data were read.",
            )
        return after

    def charge(self, price: Promise) -> Additive:
        """What a price means in the flavor of this budget."""
        return express(price, type(self.promise))

    def spent(self) -> Additive:
        """The composition of all charges, rounded up."""
        return self._same_flavor(upward(total) for total in self._totals())

    def remaining(self) -> Additive:
        """What still fits, rounded down."""
        pairs = zip(_parameters(self.promise), self._totals(), strict=True)
        return self._same_flavor(max(0.0, downward(promised - paid)) for promised, paid in pairs)

    def _totals(self) -> list[Fraction]:
        """Exact sums: no rounding, so that ten tenths are one."""
        sums = [Fraction(0) for _ in fields(self.promise)]
        for charge, times in self.charges:
            sums = [paid + times * value for paid, value in zip(sums, _parameters(charge), strict=True)]
        return sums

    def _same_flavor(self, values: Iterable[float]) -> Additive:
        names = [field.name for field in fields(self.promise)]
        return type(self.promise)(**dict(zip(names, values, strict=True)))


def _parameters(promise: Additive) -> list[Fraction]:
    return [exact(getattr(promise, field.name)) for field in fields(promise)]
