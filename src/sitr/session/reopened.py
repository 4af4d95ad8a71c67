"""Kept answers, opened again from the ledger and the file alone."""

from __future__ import annotations

from sitr.ledger.ledger import Ledger
from sitr.questions.aggregate.release import Release
from sitr.questions.auto.question import AutoRelease
from sitr.questions.batch.question import BatchRelease
from sitr.questions.suggest.question import SuggestionRelease
from sitr.session.aggregate import AggregateAnswer
from sitr.session.answer import Answer
from sitr.session.auto import complete
from sitr.session.batch import BatchAnswer
from sitr.session.shelf import taken
from sitr.session.suggest import Suggestion


def reopened(ledger: Ledger, number: int) -> Answer:
    """The kept answer of an entry, as it was when it was released."""
    released, receipt = taken(ledger, number)
    match released:
        case AutoRelease():
            return AggregateAnswer(complete(released, receipt), receipt, None)
        case Release():
            return AggregateAnswer(released, receipt, None)
        case BatchRelease():
            return BatchAnswer(released, receipt, None)
        case SuggestionRelease():
            return Suggestion(released, receipt, None)
    return Answer(released, receipt, None)
