"""The account of a loss, as a few lines for people and as a dictionary for machines."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.schedule import Schedule
from sitr.accounting.training import Training
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.random import RandomDP
from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.attack import Attack, ends
from sitr.report.comparison import outright, random_words
from sitr.report.figures import about, at_least, at_most, counted, number
from sitr.report.headline import Headline
from sitr.report.words.english.meaning import likelihood

Rows = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Account:
    """A loss, its ε at a given δ or its δ at a given ε, and the best attack."""

    loss: Loss
    found: Interval
    attack: Attack
    delta: float | None = None
    epsilon: float | None = None
    """One of `delta` and `epsilon` is given; the other is `found`."""

    @classmethod
    def at_delta(cls, loss: Loss, delta: float, *, proved: float = math.inf) -> Account:
        """The account at δ. `proved` is an ε that is already proved to be enough, if there is one."""
        found = loss.epsilon(delta=delta)
        return cls(loss, Interval(min(found.lower, proved), min(found.upper, proved)), Attack.on(loss), delta=delta)

    @classmethod
    def at_epsilon(cls, loss: Loss, epsilon: float) -> Account:
        return cls(loss, loss.delta(epsilon=epsilon), Attack.on(loss), epsilon=epsilon)

    @property
    def largest_delta(self) -> float:
        """The given δ, or the upper bound that was found."""
        return self.found.upper if self.delta is None else self.delta

    def headline(self) -> str:
        """The result in one line.

        >>> from sitr.loss.forms.gaussian import GaussianLaw
        >>> Account.at_delta(Loss.of(GaussianLaw(1.0)), 1e-6).headline()
        'ε is between 4.886 and 4.887 at δ = 10⁻⁶'
        """
        symbol, given = ("δ", f"ε = {about(self.epsilon)}") if self.epsilon is not None else ("ε", _delta(self.delta))
        return f"{symbol} {between(self.found)} at {given}"

    def reading(self, *, gamma: float | None = None) -> Headline | None:
        """The proved (ε, δ), as in all reports; None if there is no finite ε. A schedule may also have a γ."""
        epsilon = self.found.upper if self.epsilon is None else self.epsilon
        if epsilon == math.inf:
            return None
        promise = ApproximateDP(epsilon, min(1.0, self.largest_delta))
        return Headline(
            promise if gamma is None else RandomDP(promise, gamma), promise.delta, epsilon, odds=None, exact=epsilon
        )

    def to_dict(self, *, gamma: float | None = None) -> dict[str, object]:
        """For machines: exact bounds, not rounded."""
        headline = self.reading(gamma=gamma)
        return {
            "epsilon": ends(self.found) if self.epsilon is None else self.epsilon,
            "delta": ends(self.found) if self.delta is None else self.delta,
            "headline": headline and headline.to_dict(),
            "infinite_mass": self.loss.infinite_mass(),
            "attack": self.attack.to_dict(),
        }


def between(bounds: Interval) -> str:
    """An interval in words, rounded outward.

    >>> between(Interval(2.3806, 2.3822)), between(Interval(0.0, 1e-9)), between(Interval(0.5, 0.5))
    ('is between 2.38 and 2.383', 'is at most 10⁻⁹', 'is 0.5')
    """
    if bounds.upper == float("inf"):
        infinite = bounds.lower == float("inf")
        return "is infinite" if infinite else f"is at least {at_least(bounds.lower)}, with no upper bound,"
    low, high = at_least(bounds.lower), at_most(bounds.upper)
    if low == high:
        return f"is {high}"
    return f"is between {low} and {high}" if bounds.lower > 0.0 else f"is at most {high}"


def render(headline: str, rows: Iterable[tuple[str, str]]) -> RenderableType:
    """The headline, and its meaning below it."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, sentence in rows:
        grid.add_row(name, Text(sentence))
    return Group(Text(headline, style="bold"), grid)


def schedule_rows(schedule: Schedule, account: Account) -> Rows:
    """The releases, the best attack, outright exposure, and γ.

    A schedule that protects only a random newcomer bounds no attack on you.
    """
    rows = [
        ("releases", f"{counted(schedule.releases, 'release')} in {counted(len(schedule.parts), 'step')}."),
        *(() if schedule.random else (*_meaning(account), *account.attack.words())),
        ("outright", outright(account.loss.infinite_mass(), delta=account.largest_delta)),
    ]
    if schedule.random:
        rows.append(("random", random_words(schedule)))
    return tuple(rows)


def _meaning(account: Account) -> Rows:
    """The meaning of the (ε, δ) of a schedule; empty if there is none."""
    if (headline := account.reading()) is None:
        return ()
    points = ((headline.epsilon, headline.delta),)
    return (
        ("meaning", likelihood(points, sides=("with your data", "without them"), evidence="all releases together")),
    )


def training_rows(training: Training, account: Account) -> Rows:
    """The training run, the best attack, and the assumptions."""
    seen = "1 epoch" if training.epochs == 1 else f"{about(training.epochs)} epochs"
    return (
        (
            "training",
            f"{counted(training.examples, 'example')}, {seen} in batches of about {number(training.batch)}: "
            f"{counted(training.steps, 'step')} at a rate of {about(training.rate, digits=4)}.",
        ),
        ("noise", f"σ = {about(training.sigma)} times the norm to which gradients are clipped."),
        *account.attack.words(),
        ("assumed", ASSUMED),
    )


ASSUMED = (
    "Every step draws a new batch, each example independently (Poisson sampling), and nobody sees which examples were "
    "drawn. One example is added or removed. Shuffled batches are another mechanism; these figures do not apply to it."
)


def _delta(delta: float | None) -> str:
    return f"δ = {at_most(delta or 0.0)}"
