"""The best that an attacker can do with everything that was released, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.figures import about, at_least, at_most

FALSE_ALARMS = 0.01
"""The rate at which the test points at somebody who did not take part."""

WIDTH = 0.01
"""The relative width of the computed intervals."""


@dataclass(frozen=True, slots=True)
class Attack:
    """The best attack: the hits of a test with few false alarms, and the correct guesses from even odds."""

    hits: Interval
    guess: Interval

    @classmethod
    def on(cls, loss: Loss) -> Attack:
        guess = loss.posterior(prior=0.5, relative=WIDTH)
        return cls(loss.trade_off(fpr=FALSE_ALARMS, relative=WIDTH), Interval(max(0.5, guess.lower), guess.upper))

    def words(self) -> tuple[tuple[str, str], ...]:
        """A label and a sentence for each attack."""
        alarms = f"{about(100 * FALSE_ALARMS)}% false alarms"
        return (
            ("attacker", f"The best test of who took part detects {share(self.hits)} of them, with {alarms}."),
            (
                "guess",
                f"From even odds, the best guess of whether you took part is right {share(self.guess)} of the time.",
            ),
        )

    def to_dict(self) -> dict[str, object]:
        """For machines."""
        return {"false_alarms": FALSE_ALARMS, "hits": ends(self.hits), "guess": ends(self.guess)}


def share(bounds: Interval) -> str:
    """A probability in percent, rounded outward.

    >>> share(Interval(0.33151, 0.33179)), share(Interval(0.5, 0.5))
    ('33.1% to 33.2%', '50%')
    """
    low, high = at_least(100 * bounds.lower, digits=3), at_most(100 * min(1.0, bounds.upper), digits=3)
    return f"{low}%" if low == high else f"{low}% to {high}%"


def ends(bounds: Interval) -> dict[str, float | None]:
    """An interval for machines; an infinite end is None.

    >>> ends(Interval(1.0, float("inf")))
    {'lower': 1.0, 'upper': None}
    """
    return {
        side: end if end < float("inf") else None for side, end in (("lower", bounds.lower), ("upper", bounds.upper))
    }
