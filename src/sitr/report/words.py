"""What the numbers mean, in plain sentences: the functions that every language has, and what they share.

Every number in a sentence is a bound and is rounded so that it stays one. A report takes all its sentences from
here; only headings and labels stand in templates and pictures. A language is one class in a file of its own,
with templates beside these.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, upper
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.query.cost import Plan
from sitr.query.rewrite import BoundedQuery
from sitr.query.schema import Key
from sitr.report.figures import at_least, at_most

READING_DELTA = 1e-6
"""The probability of the event that a zero-concentrated promise is read without, for want of a better choice."""


class Words(Protocol):
    """The sentences of a report in one language."""

    def flavor(self, promise: Additive, /) -> str:
        """The name of a promise's flavor."""

    def meaning(self, promise: Additive, query: BoundedQuery, /) -> str:
        """What a promise means for one person."""

    def whole(self, promise: Additive, query: BoundedQuery, /) -> str:
        """The same for all that a budget pays for."""

    def reading(self, promise: Additive, /) -> str:
        """Where that meaning comes from, in symbols."""

    def protected(self, query: BoundedQuery, /) -> str:
        """Who is protected."""

    def unit(self, query: BoundedQuery, /) -> str:
        """What is protected, in a word."""

    def contribution(self, query: BoundedQuery, /) -> str:
        """What one unit could contribute at most, and which rows belong to none."""

    def error(self) -> str:
        """What an error means, and what is not in it."""

    def exposure(self, plan: Plan, /) -> str:
        """P(L = +∞): somebody exposed outright."""

    def tail(self, plan: Plan, /) -> str:
        """The finite tail, which degrades gracefully."""

    def shown_keys(self, plan: Plan, /) -> str:
        """How it was decided which keys are shown."""

    def public(self, query: BoundedQuery, /) -> tuple[str, ...]:
        """What was assumed to be known to everybody."""

    def noise(self, noise: Laplace | Gaussian, /, *, granularity: Fraction = Fraction(1)) -> str:
        """The law of the noise and its scale, in granules of this worth."""

    def checks(self, plan: Plan, /) -> tuple[str, ...]:
        """The arithmetic from noise to price, a line for each column and one for the sum."""

    def not_private(self) -> str:
        """The warning where the coins were not private."""

    def empty(self, plan: Plan, /) -> str:
        """What an answer without rows means."""

    def more(self, shown: int, total: int, /) -> str:
        """That only the first rows of an answer are shown, and how many more there are."""

    def largest(self, shown: int, total: int, /) -> str:
        """That only the largest keys are drawn, or all."""

    def chart(self, names: Sequence[str], /) -> str:
        """The title of a picture of these columns."""

    def budget(self, budget: Filter, charge: Additive | None, /) -> str:
        """What was spent, what is left, and what this answer took."""

    def key(self, part: Key, /) -> str:
        """A value of a grouping column."""

    def label(self, key: tuple[Key, ...], /) -> str:
        """A whole key in one line."""


def notation(promise: Additive, *, left: bool = False) -> str:
    """A promise in symbols and few digits, rounded up; down if it is what is `left`.

    >>> notation(ApproximateDP(1.0, 1e-6)), notation(ZeroConcentratedDP(0.33335), left=True)
    ('ε = 1, δ = 10⁻⁶', 'ρ = 0.3333')
    """
    write = at_least if left else at_most
    match promise:
        case PureDP(epsilon):
            return f"ε = {write(epsilon)}"
        case ApproximateDP(epsilon, delta):
            return f"ε = {write(epsilon)}, δ = {write(delta)}"
        case ZeroConcentratedDP(rho, xi=xi):
            return f"ρ = {write(rho)}" + (f", ξ = {write(xi)}" if xi else "")


def odds(epsilon: float) -> str:
    """e^ε in few digits, rounded up.

    >>> odds(0.5), odds(1.0), odds(60.0), odds(1e9)
    ('1.65', '2.72', '1.15 × 10²⁶', 'e^1,000,000,000')
    """
    return at_most(upper(ball(epsilon).exp()), digits=3) if epsilon < 700 else f"e^{at_most(epsilon)}"


def loss_quantile(promise: ZeroConcentratedDP, *, delta: float) -> float:
    """ε with P(L > ε) ≤ δ, rounded up.

    ε = ξ + ρ + 2√(ρ ln(1/δ)), since P(L > ξ + ρ + λ) ≤ e^{−λ²/(4ρ)} for all λ > 0.      [BS16, Lemma 3.5]

    This is more than the ε of (ε, δ)-differential privacy, which lets L exceed it with a probability above δ.

    >>> loss_quantile(ZeroConcentratedDP(0.05), delta=1e-6)
    1.712...
    """
    rho = ball(promise.rho)
    return upper(ball(promise.xi) + rho + 2 * (rho * -ball(delta).log()).sqrt())
