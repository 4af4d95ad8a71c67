"""The account of a loss, as a few lines for people and as a dictionary for machines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.accounting.schedule import Schedule
from sitr.accounting.training import Training
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.random import RandomDP
from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.attack import Attack, ends
from sitr.report.figures import about, at_most
from sitr.report.headline import Headline
from sitr.report.paper import Facts
from sitr.report.text import terminal
from sitr.report.words.words import Words, in_words


@dataclass(frozen=True, slots=True)
class AccountedLoss:
    """A loss, its ε at a given δ or its δ at a given ε, and the best attack."""

    loss: Loss
    found: Interval
    attack: Attack
    delta: float | None = None
    epsilon: float | None = None
    """One of `delta` and `epsilon` is given; the other is `found`."""

    @classmethod
    def at_delta(cls, loss: Loss, delta: float, *, proved: float = math.inf) -> AccountedLoss:
        """The account at δ. `proved` is an ε that is already proved to be enough, if there is one."""
        found = loss.epsilon(delta=delta)
        return cls(loss, Interval(min(found.lower, proved), min(found.upper, proved)), Attack.on(loss), delta=delta)

    @classmethod
    def at_epsilon(cls, loss: Loss, epsilon: float) -> AccountedLoss:
        return cls(loss, loss.delta(epsilon=epsilon), Attack.on(loss), epsilon=epsilon)

    @property
    def largest_delta(self) -> float:
        """The given δ, or the upper bound that was found."""
        return self.found.upper if self.delta is None else self.delta

    def headline(self, words: Words | None = None) -> str:
        """The result in one line.

        >>> from sitr.loss.forms.gaussian import GaussianLaw
        >>> AccountedLoss.at_delta(Loss.of(GaussianLaw(1.0)), 1e-6).headline()
        'ε is between 4.886 and 4.887 at δ = 10⁻⁶'
        """
        words = in_words(words)
        say = words.accounting
        if self.epsilon is not None:
            return say.found("δ", self.found, "ε", about(self.epsilon))
        return say.found("ε", self.found, "δ", at_most(self.delta or 0.0))

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


def render(headline: str, rows: Facts, *, words: Words | None = None) -> RenderableType:
    """The headline, and its meaning below it."""
    words = in_words(words)
    return Group(Text(headline, style="bold"), terminal.facts(rows, words=words))


def schedule_rows(schedule: Schedule, account: AccountedLoss, *, words: Words | None = None) -> Facts:
    """The releases, the best attack, outright exposure, and γ.

    A schedule that protects only a random newcomer bounds no attack on you.
    """
    words = in_words(words)
    say, headline = words.accounting, account.reading()
    means = () if headline is None else (("meaning", say.meaning(headline.epsilon, headline.delta)),)
    return (
        ("releases", say.releases(schedule)),
        *(() if schedule.random else (*means, *account.attack.words(words))),
        ("outright", say.outright(account.loss.infinite_mass(), delta=account.largest_delta)),
        *((("random", say.random(schedule)),) if schedule.random else ()),
    )


def training_rows(training: Training, account: AccountedLoss, *, words: Words | None = None) -> Facts:
    """The training run, the best attack, and the assumptions."""
    words = in_words(words)
    say = words.accounting
    return (
        ("training", say.training(training)),
        ("noise", say.noise(training)),
        *account.attack.words(words),
        ("assumed", say.assumed()),
    )
