"""The values of mechanisms as bars; negative bars point to the other side."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.questions.statistic.question import StatisticRelease
from sitr.report.chart.svg import BLUE, LEFT, RIGHT, heading, line, pair, rect, svg
from sitr.report.figures import visible
from sitr.report.words.words import Words, in_words

_ROW = 34


def chart(release: StatisticRelease, *, words: Words | None = None) -> str:
    """A bar for each value, all on one axis that holds 0."""
    words = in_words(words)
    say, title = words.statistic, words.statistic.title(release.plan)
    lengths = [_length(value) for value in release.values]
    widest = max([*map(abs, lengths), Fraction(0)]) or Fraction(1)
    zero = (LEFT + RIGHT) / 2 if min(lengths, default=0) < 0 else LEFT
    parts, top = heading(title)
    for measured, value, length in zip(release.plan.measurements, release.values, lengths, strict=True):
        long = (RIGHT - zero) * float(abs(length) / widest)
        parts += pair(visible(type(measured.mechanism).__name__), say.value(value), y=top + 12)
        parts.append(
            rect(zero - long if length < 0 else zero, top + 17, long, 10, fill=BLUE, more='fill-opacity="0.75"')
        )
        parts.append(line(zero, top + 15, zero, top + 29, more='stroke-opacity="0.7"'))
        top += _ROW
    return svg(title, say.value(release.values), parts, height=top + 4, direction=words.direction)


def _length(value: object) -> Fraction:
    """The length of a bar: 0 for what is no finite number."""
    return Fraction(value) if isinstance(value, int | float | Fraction) and math.isfinite(value) else Fraction(0)
