"""The plan of a question with two stages, choose caps and then answer: the price of each is fixed in advance.

The first stage measures the histograms of a suggestion for `SHARE` of ε or ρ and no δ. Caps follow from them alone. The
second stage is the aggregate question with these caps, and its noise is fitted to the rest of the price, whichever caps
they are. So the price of each stage is a parameter that no answer can change, and pure ε, ρ, (ε, δ) and (ρ, δ) add up
even if the second mechanism depends on the answer of the first.      [DR14, Thm 3.16; BS16, Lemma 2.3 and Sec. 8]

Exact losses are another matter: that of the second stage differs a little between caps, and curves that are chosen
after an answer must not be added. So a plan with chosen caps claims the sum of its two prices and nothing more. With
caps of your own, the answer would have all of the price and not 90% of its ε or ρ: this is what the choice costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import bounding
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.auto.caps import CapPair
from sitr.questions.suggest.question import SuggestionPlan

SHARE = Fraction(1, 10)
"""The share of the price that chooses the caps."""


@dataclass(frozen=True, slots=True)
class AutoPlan(AggregatePlan):
    """The measurements of both stages, those of the answer first.

    Before the answer, its query has the caps of the description, and afterwards those that were chosen.
    """

    choosing: SuggestionPlan = field(kw_only=True)
    """The first stage."""
    rest: Additive = field(kw_only=True)
    """What the second stage keeps, whichever caps are chosen."""

    @property
    def answering(self) -> AggregatePlan:
        """The second stage alone."""
        many = len(self.measurements) - len(self.choosing.measurements)
        return AggregatePlan(self.measurements[:many], self.rest, self.text, self.query, self.counted)

    def at(self, caps: CapPair) -> AutoPlan:
        """The same plan, with the second stage at these caps."""
        return planned(caps.on(self.query), self.choosing, self.rest, self.price, self.text)

    def promise(self) -> Kept:
        """The sum of the prices of the two stages, which holds whichever caps are chosen."""
        return _sum(self.choosing.price, self.rest)

    def loss(self) -> Loss | None:
        """The largest loss of a pure promise; None for others, because the second mechanism is not known in advance."""
        found = self.promise()
        return bounding(found) if isinstance(found, PureDP) else None

    def check(self) -> None:
        """Refuse a stage that keeps less than its price, or prices of stages above what is charged."""
        self.choosing.check()
        self.answering.check()
        if not self.promise().covers(self.price):
            raise InvalidPromise(
                wanted=f"two stages that keep {self.price!r} together",
                given=f"stages that keep {self.promise()!r} only",
                do="Nothing was spent. Please report this: it is a bug in Sitr.",
            )


def planned(query: BoundedQuery, choosing: SuggestionPlan, rest: Additive, price: Kept, text: str) -> AutoPlan:
    """The plan for a query with some caps, whose answer is fitted to the rest of the price."""
    answering = fit(query, rest)
    measured = (*answering.measurements, *choosing.measurements)
    return AutoPlan(measured, price, text, query, answering.counted, choosing=choosing, rest=rest)


def stages(price: Promise, *, known: bool) -> tuple[Additive, Additive, Additive]:
    """What is charged, what the choice of caps may cost, and what is left for the answer: all of δ.

    Where all keys are known, noise uses no δ of zcdp(ρ, δ).

    >>> stages(ApproximateDP(1.0, 1e-6), known=True)[1:]
    (ApproximateDP(epsilon=0.1, delta=0.0), ApproximateDP(epsilon=0.9, delta=1e-06))
    """
    paid = affordable(price)
    if known and isinstance(paid, ApproximateZeroConcentratedDP):
        paid = ApproximateZeroConcentratedDP(paid.rho, 0.0)
    first, rest = paid.share(SHARE), paid.share(1 - SHARE)
    match paid, first, rest:
        case ApproximateDP(), ApproximateDP(), ApproximateDP():
            return paid, ApproximateDP(first.epsilon, 0.0), ApproximateDP(rest.epsilon, paid.delta)
        case ApproximateZeroConcentratedDP(), ApproximateZeroConcentratedDP(), ApproximateZeroConcentratedDP():
            used = ApproximateZeroConcentratedDP
            return paid, used(first.rho, 0.0), used(rest.rho, paid.delta)
    return paid, first, rest


def _sum(first: Kept, second: Kept) -> Kept:
    assert type(first) is type(second)
    return type(first).compose([first, second])  # type: ignore[list-item]
