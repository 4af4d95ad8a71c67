"""The best that an attacker can do with everything that was released, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.paper import Facts
from sitr.report.views import FALSE_ALARMS, WIDTH
from sitr.report.words.words import Words, in_words


@dataclass(frozen=True, slots=True)
class Attack:
    """The best attack: the hits of a test with few false alarms, and the correct guesses from even odds."""

    hits: Interval
    guess: Interval

    @classmethod
    def on(cls, loss: Loss) -> Attack:
        guess = loss.posterior(prior=0.5, relative=WIDTH)
        return cls(loss.trade_off(fpr=FALSE_ALARMS, relative=WIDTH), Interval(max(0.5, guess.lower), guess.upper))

    def words(self, words: Words | None = None) -> Facts:
        """A label and a sentence for each attack."""
        words = in_words(words)
        say = words.accounting
        return ("attacker", say.hits(self.hits, alarms=FALSE_ALARMS)), ("guess", say.guess(self.guess))

    def to_dict(self) -> dict[str, object]:
        """For machines."""
        return {"false_alarms": FALSE_ALARMS, "hits": ends(self.hits), "guess": ends(self.guess)}


def ends(bounds: Interval) -> dict[str, float | None]:
    """An interval for machines; an infinite end is None.

    >>> ends(Interval(1.0, float("inf")))
    {'lower': 1.0, 'upper': None}
    """
    return {
        side: end if end < float("inf") else None for side, end in (("lower", bounds.lower), ("upper", bounds.upper))
    }
