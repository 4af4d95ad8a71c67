"""The chart of a suggestion: the noisy histograms from which caps and bounds were chosen."""

from __future__ import annotations

from sitr.questions.aggregate.nodes import text as spelled
from sitr.questions.suggest.choose import Found
from sitr.questions.suggest.question import SuggestionRelease
from sitr.report.chart.svg import BLUE, LEFT, RIGHT, heading, label, rect, svg
from sitr.report.figures import about
from sitr.report.spreads import cell_of, name_of
from sitr.report.words.words import Words, in_words

_ROW, _GAP, _START, _BAR = 18, 16, 36.0, 48.0


def chart(release: SuggestionRelease, *, words: Words | None = None) -> str:
    """A bar for each cell that is not empty, as far as the noise lets us know."""
    words = in_words(words)
    parts: list[str] = []
    top, plan = 0.0, release.plan
    for place, (spread, counts) in enumerate(zip(plan.spreads, release.counts, strict=True)):
        cells = Found(spread, counts, plan.noise(place)).cells
        head, top = heading(name_of(spread, words), top=top)
        parts += head
        most = max((cell.people for cell in cells), default=1.0)
        for cell in cells:
            parts.append(label(cell_of(cell, words), x=LEFT, y=top + 12, room=_START - 3))
            parts.append(rect(_START, top + 3, _BAR * cell.people / most, 11, fill=BLUE, more='fill-opacity="0.75"'))
            parts.append(label(words.numerals(about(cell.people)), x=RIGHT, y=top + 12, room=13, anchor="end"))
            top += _ROW
        top += _GAP
    title = words.suggest.released(spelled(plan.target.query))
    return svg(title, words.suggest.one_cell(), parts, height=top, direction=words.direction)
