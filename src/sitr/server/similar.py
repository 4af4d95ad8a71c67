"""Questions like another one: the same words, whatever their order. What was answered already can be read for free."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sitr.ledger.entry import Entry

ALIKE = 0.6
"""The share of words that two similar questions have in common, at least."""

MOST = 5
"""How many similar questions are shown."""

_WORD = re.compile(r"\w+|[<>=]+")


def likeness(one: str, other: str) -> float:
    """The share of all words of two questions that both have; 1 for the same words.

    >>> likeness("SELECT COUNT(*) AS n FROM visits", "select count(*) as n from visits")
    1.0
    """
    first, second = (set(_WORD.findall(text.casefold())) for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 1.0


def similar(question: str, entries: Iterable[Entry]) -> list[Entry]:
    """The charges for similar questions, the most similar and then the newest first."""
    found = [(likeness(question, each.question), each.number, each) for each in entries]
    return [
        entry for alike, _, entry in sorted(found, key=lambda each: each[:2], reverse=True)[:MOST] if alike >= ALIKE
    ]
