"""The chart of several answers: the panels of each, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.questions.aggregate.release import Release
from sitr.report.chart.aggregate import panels
from sitr.report.chart.svg import heading, svg
from sitr.report.figures import visible
from sitr.report.words.words import Words, in_words

MOST_KEYS = 16
"""The most keys of each answer that are drawn."""

_GAP = 28


def chart(names: Sequence[str], releases: Sequence[Release], *, words: Words | None = None) -> str:
    """Every answer under its name, a panel for each column; only released numbers are drawn."""
    words = in_words(words)
    parts: list[str] = []
    top = 0.0
    for name, release in zip(names, releases, strict=True):
        empty = words.aggregate.none_left(len(release.keys)) if release.keys else words.aggregate.empty(release.plan)
        head, top = heading(visible(name), *(() if release.rows else (empty,)), top=top)
        parts += head
        if release.rows:
            drawn, _, top = panels(release, words, most=MOST_KEYS, top=top)
            parts += drawn
        top += _GAP
    title = words.batch.chart(len(names))
    return svg(title, words.batch.released(names), parts, height=top - _GAP, direction=words.direction)
