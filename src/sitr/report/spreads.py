"""What the histograms of a suggestion, and their cells, are called."""

from __future__ import annotations

import math

from sitr.questions.suggest.choose import Band
from sitr.questions.suggest.spreads import About, Spread
from sitr.report.figures import about
from sitr.report.words.words import Words


def name_of(spread: Spread, words: Words) -> str:
    """What a histogram is called."""
    if spread.about is About.VALUES:
        return words.suggest.histogram(spread.column)
    return words.label(spread.about.value)


def cell_of(cell: Band, words: Words) -> str:
    """The numbers of a cell."""
    return words.suggest.cell(*(_end(end) for end in (cell.low, cell.high)))


def _end(end: float) -> str:
    return about(end, digits=4) if math.isfinite(end) else "∞" if end > 0 else "−∞"
