"""The meaning of the numbers in plain sentences: the protocol of a language, and functions that all languages share.

Every number in a sentence is a bound and is rounded so that it stays one. Reports take their sentences from here;
templates and charts hold only headings and labels. A language is one class in its own file, with its own templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, cast

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, Parts, RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit
from sitr.numbers import Number, ball, exact, upper
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import AggregatePlan
from sitr.report.figures import at_least, at_most, visible
from sitr.report.headline import Headline


class Protects(Protocol):
    """Says who is protected, and how two neighbouring tables differ."""

    @property
    def unit(self) -> Unit: ...

    @property
    def relation(self) -> Relation: ...


class Words(Protocol):
    """The sentences of a report in one language."""

    def flavor(self, promise: Kept, /) -> str:
        """The name of a promise's flavor."""

    def headline(self, headline: Headline, /) -> str:
        """The (ε, δ) in symbols, and what the promise alone implies if the noise does better."""

    def meaning(self, headline: Headline, query: Protects, /) -> str:
        """The meaning of the (ε, δ) of an answer for one person."""

    def odds(self, headline: Headline, query: Protects, /) -> str:
        """By how much the odds move; empty if the promise does not bound this."""

    def newcomer(self, promise: Kept, /) -> str:
        """Whom a random promise protects and what it assumes; empty for other promises."""

    def whole(self, promise: Kept, query: Protects, /) -> str:
        """The meaning of a budget's promise for all its answers together."""

    def reading(self, headline: Headline, /) -> str:
        """How these sentences follow from the promise, in symbols."""

    def protected(self, query: BoundedQuery, /) -> str:
        """Who is protected."""

    def unit(self, query: BoundedQuery, /) -> str:
        """The unit of protection in one word."""

    def contribution(self, query: BoundedQuery, /) -> str:
        """The most that one unit can contribute, and the rows that belong to no unit."""

    def error(self) -> str:
        """What an error means, and what it does not include."""

    def exposure(self, plan: AggregatePlan, /) -> str:
        """P(L = +∞), the probability that somebody is exposed outright."""

    def tail(self, plan: AggregatePlan, /) -> str:
        """The finite tail, which degrades gracefully."""

    def shown_keys(self, plan: AggregatePlan, /) -> str:
        """How it was decided which keys are shown."""

    def public(self, query: BoundedQuery, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""

    def noise(self, noise: Noise, /, *, granularity: Fraction = Fraction(1)) -> str:
        """The law of the noise and its scale, with the value of one granule."""

    def checks(self, plan: AggregatePlan, /) -> tuple[str, ...]:
        """The arithmetic from noise to price: one line per column and one for the sum."""

    def not_private(self) -> str:
        """The warning for an answer made with test coins."""

    def empty(self, plan: AggregatePlan, /) -> str:
        """What an answer without rows means."""

    def more(self, shown: int, total: int, /) -> str:
        """A note that only the first rows are shown, and how many more there are."""

    def largest(self, shown: int, total: int, /) -> str:
        """A note that all keys are drawn, or only the largest."""

    def chart(self, names: Sequence[str], /) -> str:
        """The title of a chart of these columns."""

    def budget(self, budget: Filter, charge: Kept | None, /) -> str:
        """What was spent, what is left, and what this answer took."""

    def key(self, part: Key, /) -> str:
        """A value of a grouping column."""

    def label(self, key: tuple[Key, ...], /) -> str:
        """A whole key in one line."""


def notation(promise: Kept, *, left: bool = False) -> str:
    """A promise in symbols and few digits, rounded up, or rounded down if it is what is `left`.

    >>> notation(ApproximateDP(1.0, 1e-6)), notation(ZeroConcentratedDP(0.33335), left=True)
    ('ε = 1, δ = 10⁻⁶', 'ρ = 0.3333')
    >>> notation(RandomDP(PureDP(1.0), 0.05, parts=(("newcomer", 0.04), ("largest pair", 0.01))))
    'ε = 1, γ = 0.05 (newcomer 0.04, largest pair 0.01), finite-sample'
    """
    write = at_least if left else at_most
    match promise:
        case PureDP(epsilon):
            return f"ε = {write(epsilon)}"
        case ApproximateDP(epsilon, delta):
            return f"ε = {write(epsilon)}, δ = {write(delta)}"
        case ZeroConcentratedDP(rho, xi=xi):
            return f"ρ = {write(rho)}" + (f", ξ = {write(xi)}" if xi else "")
        case RandomDP(inner, gamma, basis, parts):
            inside = notation(cast("Kept", inner), left=left)
            return f"{inside}, γ = {at_least(gamma)}" if left else f"{inside}, {exceptions(gamma, basis, parts)}"


def parameters(promise: Kept) -> dict[str, Fraction]:
    """The parameters of a promise by symbol; γ comes last.

    >>> parameters(RandomDP(PureDP(0.5), 0.25))
    {'ε': Fraction(1, 2), 'γ': Fraction(1, 4)}
    """
    match promise:
        case PureDP(epsilon):
            return {"ε": exact(epsilon)}
        case ApproximateDP(epsilon, delta):
            return {"ε": exact(epsilon), "δ": exact(delta)}
        case ZeroConcentratedDP(rho, xi=xi):
            return {"ρ": exact(rho), "ξ": exact(xi)}
        case RandomDP(inner, gamma):
            return {**parameters(cast("Kept", inner)), "γ": exact(gamma)}


BASES = {Basis.FINITE_SAMPLE: "finite-sample", Basis.ASYMPTOTIC: "asymptotic, as published"}
"""The bases of γ in words."""


def exceptions(gamma: float, basis: Basis, parts: Parts) -> str:
    """γ with its parts and its basis.

    >>> exceptions(0.05, Basis.ASYMPTOTIC, (("newcomer", 0.04),)), exceptions(0.0, Basis.FINITE_SAMPLE, ())
    ('γ = 0.05 (newcomer 0.04, others 0.01), asymptotic, as published', 'γ = 0')
    """
    if gamma == 0.0 and basis is Basis.FINITE_SAMPLE:
        return "γ = 0"
    listed = f" ({', '.join(map(' '.join, shares(gamma, parts)))})" if parts else ""
    return f"γ = {at_most(gamma)}{listed}, {BASES[basis]}"


def shares(gamma: float, parts: Parts, *, others: str = "others") -> list[tuple[str, str]]:
    """The parts of γ by name, rounded up, and the rest of γ.

    >>> shares(0.05, (("newcomer", 0.04),))
    [('newcomer', '0.04'), ('others', '0.01')]
    """
    left = exact(gamma) - sum((exact(share) for _, share in parts), Fraction(0))
    # A smaller rest comes from parts that were rounded down.
    rest = [(others, left)] if left > exact(gamma) / 10**9 else []
    named: list[tuple[str, Number]] = [*parts, *rest]
    return [(visible(name), at_most(share)) for name, share in named]


def odds(epsilon: float) -> str:
    """e^ε in few digits, rounded up.

    >>> odds(0.5), odds(1.0), odds(60.0), odds(1e9)
    ('1.65', '2.72', '1.15 × 10²⁶', 'e^1,000,000,000')
    """
    return at_most(upper(ball(epsilon).exp()), digits=3) if epsilon < 700 else f"e^{at_most(epsilon)}"
