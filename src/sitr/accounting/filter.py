"""A budget as a privacy filter: it consents to releases, one after another, until the promise is used up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar, cast, get_args

from sitr.accounting.coordinates import at_most, charged, check, total
from sitr.dataclass import dataclass
from sitr.errors import BudgetExceeded, IncompatiblePromises
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.random import Basis, RandomDP

Flavor = TypeVar("Flavor", bound=Promise)
if TYPE_CHECKING:
    import typing_extensions

    Flavor_co = typing_extensions.TypeVar("Flavor_co", bound=Promise, default=Kept, covariant=True)
    """A budget's flavor; where none is named, one of those that ledgers keep."""
else:  # Python 3.11 knows no defaults, and only type checkers need them
    Flavor_co = TypeVar("Flavor_co", bound=Promise, covariant=True)


@dataclass(frozen=True, slots=True)
class Filter(Generic[Flavor_co]):
    """A promise for everything together, and the exact sum of what was charged to it.

    It consents while Σ charges ≤ promise, coordinate by coordinate: ε; ε and δ; ρ and ξ; ρ and δ; μ²; or ε at each
    order. That sum is a valid stopping rule even when every price is chosen after seeing earlier answers: pure and
    approximate [RRUV16, Thm 3.6], zero-concentrated with or without a δ [WRRW23, Thm 1], Rényi [FZ21, Thm 4.3],
    Gaussian [ST22].

    A budget may have a γ: RandomDP around one of these. **A random price is then accepted as the first charge only**;
    a plan fixed in advance, `Composed`, is one charge. After it, or without it, come prices that are not random, of any
    number and chosen as before. Proof: before the first answer nothing is known of the data, so the first mechanism
    does not depend on them, nor does its set B of pairs (X, X') for which it breaks its inner promise, and P(B) ≤ γ.
    Fix a pair outside of B. For it the first mechanism keeps its inner promise, and all later ones keep theirs, which
    hold for every pair; so to this pair the stopping rule of the inner flavor applies. A second random mechanism,
    chosen after an answer, has a set of its own that may be aimed at these very data: the union over all that might
    have been chosen is bounded by nothing, and so it is refused, however small its γ. Data are assumed exchangeable.

    >>> from sitr import ZeroConcentratedDP
    >>> budget = Filter(ZeroConcentratedDP(0.5)).consent(ZeroConcentratedDP(0.2))
    >>> budget.remaining()
    ZeroConcentratedDP(rho=0.3)
    >>> budget.consent(ZeroConcentratedDP(0.31))
    Traceback (most recent call last):
    sitr.errors.BudgetExceeded: Expected a price within the zcdp(rho=0.3) of zcdp(rho=0.5) that is left, got...
    """

    promise: Flavor_co
    charges: int = 0
    """The number of charges so far."""
    paid: tuple[Fraction, ...] = ()
    """The exact sum of all charges, coordinate by coordinate; zeros if it is left out."""
    first: RandomDP | None = None
    """The random charge, if one was made. To a budget with a γ, all others are charged in the flavor inside it."""

    def __post_init__(self) -> None:
        promised = self.promise.coordinates()  # refuses a flavor whose sums are no stopping rule
        if not self.paid and not self.charges:
            object.__setattr__(self, "paid", tuple(Fraction(0) for _ in promised))
        if len(self.paid) != len(promised) or min(self.paid) < 0 or not self._possible():
            raise IncompatiblePromises(
                wanted=f"the number of charges to {write(self.promise)} and their exact sum",
                given=f"{self.charges!r} charges with the sum {self.paid!r}",
                do="Start with Filter(promise) and use consent, or rebuild the filter with replay(promise, charges).",
            )
        if not self._fits(self.paid):
            raise BudgetExceeded(
                given=f"The charges add up to more than {write(self.promise)}.",
                do="No filter has consented to all of them: check where they were recorded.",
            )

    def consent(self, price: Promise) -> Filter[Flavor_co]:
        """The filter after this charge; `BudgetExceeded`, or `IncompatiblePromises` if no price like it can be paid.

        One addition: the cost does not depend on how many charges there were.
        """
        charge = self.charge(price)
        if isinstance(charge, RandomDP) and self.charges:
            raise _late(self.promise, given=f"{write(charge)} after an earlier answer")
        paid = total(((charge, 1),), start=self.paid)
        if not self._fits(paid):
            left, whole = write(self.remaining()), write(self.promise)
            raise BudgetExceeded(
                wanted=f"a price within the {left} of {whole} that is left",
                given=write(charge),
                do="Pay less, or stop if nothing is left; nothing was spent and no data were read.",
            )
        first = charge if isinstance(charge, RandomDP) else self.first
        return Filter(self.promise, self.charges + 1, paid, first)

    def charge(self, price: Promise) -> Promise:
        """A price in the flavor of this budget; a price that is not random, in the flavor inside it."""
        try:
            return charged(price, like=self.promise)
        except IncompatiblePromises:
            if not (type(price) in get_args(Additive) and type(self.promise) in get_args(Additive)):
                raise
            if isinstance(self.promise, GaussianDP):
                raise IncompatiblePromises(
                    wanted=f"a price that the Gaussian budget {write(self.promise)} can pay",
                    given=write(price),
                    do=f"Write for example {write(self.promise.share(Fraction(1, 10)))} or pure(0.1): moments and "
                    "(ε, δ) do not bound every test between two neighbours.",
                ) from None
        raise IncompatiblePromises(
            wanted=f"a price in the flavor of the budget, {write(self.promise)}",
            given=write(price),
            do=f"Write for example {write(cast('Additive', self.promise).share(Fraction(1, 10)))}; a price in another "
            "flavor needs a budget in it.",
        )

    def before(self, charge: Promise) -> Filter[Flavor_co]:
        """The filter before its last charge, which was this one.

        >>> from sitr import GaussianDP
        >>> after = Filter(GaussianDP(1.0)).consent(GaussianDP(0.6)).consent(GaussianDP(0.8))
        >>> after.before(GaussianDP(0.8)).spent()
        GaussianDP(mu=0.6)
        """
        zeros = tuple(Fraction(0) for _ in self.paid)
        cost = total(((charge, 1),), start=zeros)
        paid = tuple(whole - part for whole, part in zip(self.paid, cost, strict=True))
        return Filter(self.promise, self.charges - 1, paid, self.first if self.charges > 1 else None)

    def spent(self) -> Flavor_co:
        """The composition of all charges, rounded up; its γ has the basis and the parts of the random charge."""
        spent = self.promise.with_coordinates(self.paid, up=True)
        if not isinstance(spent, RandomDP):
            return spent
        basis, parts = (self.first.basis, self.first.parts) if self.first else (Basis.FINITE_SAMPLE, ())
        return cast("Flavor_co", replace(spent, basis=basis, parts=parts))

    def remaining(self) -> Flavor_co:
        """What still fits, rounded down. After the first charge no γ is left, even if that charge used less of it."""
        pairs = zip(self.promise.coordinates(), self.paid, strict=True)
        left = at_most([promised - paid for promised, paid in pairs], like=self.promise)
        if isinstance(left, RandomDP) and self.charges:
            left = replace(left, gamma=0.0)
        return cast("Flavor_co", left)

    def _fits(self, totals: tuple[Fraction, ...]) -> bool:
        return all(paid <= promised for paid, promised in zip(totals, self.promise.coordinates(), strict=True))

    def _possible(self) -> bool:
        """A random charge is one of the charges, and made to a budget with a γ."""
        if self.first is None:
            return self.charges >= 0
        return self.charges > 0 and isinstance(self.promise, RandomDP)


def replay(promise: Flavor, charges: Iterable[tuple[Promise, int]]) -> Filter[Flavor]:
    """The filter after charges that were recorded: prices, oldest first, with the number of times each was paid.

    A random price is refused here, too, unless it is the first charge.

    >>> from sitr import PureDP
    >>> replay(PureDP(1), [(PureDP(0.1), 3), (PureDP(0.2), 2)]).remaining()
    PureDP(epsilon=0.3)
    """
    zeros = Filter(promise).paid
    recorded = tuple(charges)
    check(recorded, like=promise)
    if any(isinstance(charge, RandomDP) and (place or times > 1) for place, (charge, times) in enumerate(recorded)):
        raise _late(promise, given="a random charge that is not the first")
    first = recorded[0][0] if recorded else None
    return Filter(
        promise,
        sum(times for _, times in recorded),
        total(recorded, start=zeros),
        first if isinstance(first, RandomDP) else None,
    )


def _late(promise: Promise, *, given: str) -> IncompatiblePromises:
    return IncompatiblePromises(
        wanted=f"a random price only as the first charge to {write(promise)}",
        given=given,
        do="Fix all random mechanisms in advance and charge them together, as Composed: one that is chosen after an "
        "answer may point at the very data for which it promises nothing. Nothing was spent and no data were read.",
    )
