"""The meaning of the numbers in plain sentences: the protocol of a language.

Every number in a sentence is a bound and is rounded so that it stays one. Reports take their sentences from here;
templates and charts hold only headings and labels. A language is one class in its own file, with its own templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.flavors.arrows import Kept
from sitr.mechanisms.additive import Noise
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import AggregatePlan
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
