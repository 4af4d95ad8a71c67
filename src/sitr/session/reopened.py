"""Kept answers, opened again from the ledger and the file alone."""

from __future__ import annotations

from typing import Any

from sitr.ledger.ledger import Ledger
from sitr.ledger.receipt import Receipt
from sitr.questions.aggregate.release import Release
from sitr.questions.auto.question import AutoRelease
from sitr.questions.batch.question import BatchRelease
from sitr.questions.suggest.question import SuggestionRelease
from sitr.questions.tables.grouping import GroupedTables
from sitr.questions.tables.publication import PublishedTables
from sitr.session.aggregate import AggregateAnswer
from sitr.session.answer import Answer
from sitr.session.auto import complete
from sitr.session.batch import BatchAnswer
from sitr.session.grouping import GroupingAnswer
from sitr.session.shelf import taken
from sitr.session.suggest import Suggestion
from sitr.session.tables import TablesAnswer


def reopened(ledger: Ledger, number: int) -> Answer:
    """The kept answer of an entry, as it was when it was released."""
    return shown(*taken(ledger, number))


def shown(released: Any, receipt: Receipt) -> Answer:
    """What was released, as the answer that it is."""
    match released:
        case AutoRelease():
            return AggregateAnswer(complete(released, receipt), receipt, None)
        case Release():
            return AggregateAnswer(released, receipt, None)
        case GroupedTables():
            return GroupingAnswer(released, receipt, None)
        case PublishedTables():
            return TablesAnswer(released, receipt, None)
        case BatchRelease():
            return BatchAnswer(released, receipt, None)
        case SuggestionRelease():
            return Suggestion(released, receipt, None)
    return Answer(released, receipt, None)
