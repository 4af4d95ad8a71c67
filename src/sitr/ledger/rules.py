"""The rules of a data set that its steward sets: the least price, the rate of questions, and what needs approval.

A price of 1e-100 would buy the time that an answer takes for nothing, so a steward can set the least price and how many
questions are answered in a period. Both are about the whole data set, whoever asks: analysts may work together. What is
kept is returned for free and does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sitr.errors import InvalidUse, NotAllowed, quoted
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import Promise


@dataclass(frozen=True, slots=True)
class Rules:
    """What is refused before a charge. Empty fields refuse nothing."""

    least: str = ""
    """The least price, in the flavor of the budget: no coordinate of a price may be below its coordinate here."""
    questions: int = 0
    """The most charges within `seconds`; 0 if there is no limit."""
    seconds: int = 0
    """The period of the rate."""
    approval: str = ""
    """Prices above this one, at any coordinate, need an approved request."""

    def check_price(self, price: Promise) -> None:
        """Refuse a price below the least one. The price has the budget's flavor."""
        if self.least and any(
            paid < least for paid, least in zip(price.coordinates(), parse(self.least).coordinates(), strict=True)
        ):
            raise NotAllowed(
                wanted=f"a price of at least {self.least}, which the steward set",
                given=write(price),
                do="Pay more; nothing was spent and no data were read.",
            )

    def check_rate(self, earlier: datetime | None, now: datetime) -> None:
        """Refuse a charge too soon after the one that is `questions` charges ago. A clock that went back counts."""
        if earlier is not None and earlier > now - timedelta(seconds=self.seconds):
            raise NotAllowed(
                given=f"{self.questions} questions were answered within {self.seconds} seconds, and the steward allows "
                "no more.",
                do="Wait and ask again; nothing was spent and no data were read.",
            )

    def needs_approval(self, price: Promise) -> bool:
        """Whether this price waits for approval. The price has the budget's flavor."""
        if not self.approval:
            return False
        limit = parse(self.approval).coordinates()
        return any(paid > most for paid, most in zip(price.coordinates(), limit, strict=True))


FREE = Rules()
"""No rules."""


def check_rate_of(questions: object, seconds: object) -> None:
    """Refuse a rate that is none."""
    for value in (questions, seconds):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**9:
            raise InvalidUse(
                wanted="a rate of whole numbers, such as 60 questions in 3600 seconds",
                given=quoted(value),
                do="Correct it; nothing was changed.",
            )
    if bool(questions) != bool(seconds):
        raise InvalidUse(
            wanted="a rate of questions with a period", given="only one of both", do="Give both; nothing was changed."
        )
