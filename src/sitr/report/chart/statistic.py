"""The values of mechanisms as bars; negative bars point to the left."""

from __future__ import annotations

from fractions import Fraction

from sitr.questions.statistic.question import StatisticRelease
from sitr.report.chart.svg import BLUE, placed, rect, svg, text
from sitr.report.words.words import Words


def chart(release: StatisticRelease, *, words: Words) -> str:
    """A bar for each value."""
    say = words.statistic
    values = [value if isinstance(value, int | float | Fraction) else 0 for value in release.values]
    title, widest = say.title(release.plan), max([1e-300, *map(abs, map(float, values))])
    parts = [text(title, x=1, y=16, size=15, weight=650)]
    for row, (measured, value) in enumerate(zip(release.plan.measurements, values, strict=True)):
        top, long = 40 + 30 * row, 49 * abs(float(value)) / widest
        parts.append(text(type(measured.mechanism).__name__, x=1, y=top + 10))
        parts.append(text(say.value(release.values[row]), x=99, y=top + 10, anchor="end"))
        parts.append(rect(50 - long if value < 0 else 50, top + 14, long, 10, fill=BLUE))
    return svg(title, say.value(release.values), placed(parts, words), height=46 + 30 * len(values))
