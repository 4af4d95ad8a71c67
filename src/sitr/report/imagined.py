"""The table of an answer about invented rows: its numbers and their errors, not what was left out."""

from __future__ import annotations

from dataclasses import replace

from sitr.questions.aggregate.release import Release
from sitr.report.aggregate_rows import answer_table
from sitr.report.paper import PaperTable
from sitr.report.words.words import Words, in_words


def imagined_table(release: Release, *, words: Words | None = None) -> PaperTable:
    """Keys, numbers with their errors, and intervals. What would be left out cannot be imagined."""
    found = answer_table(release, (), in_words(words))
    many = len(found.columns)
    return replace(found, rows=lambda: (row[:many] for row in found.rows()), notes=tuple)
