"""The chart of an answer: a bar with its interval for each key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest

from sitr.dataset.schema import Kind
from sitr.questions.aggregate.expressions.typed import calendar
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.chart.axis import across, nice_ticks, written
from sitr.report.chart.svg import BLUE, LEFT, RIGHT, label, line, pair, paragraph, rect, svg
from sitr.report.figures import CONFIDENCE, Dates, Figures, visible
from sitr.report.forms import forms
from sitr.report.words.words import Words, in_words

MOST_KEYS = 40
_ROW, _HEAD, _FOOT, _GAP = 38, 42, 24, 22


def chart(release: Release, *, words: Words | None = None, most: int = MOST_KEYS) -> str:
    """One panel for each column of an answer, a bar with a 95% whisker for each key.

    Beyond `most` keys, only those with the largest numbers in the first column are drawn, and the chart says so.
    Choosing them from noisy numbers costs nothing.
    """
    words = in_words(words)
    say = words.aggregate
    title = say.chart([column.name for column in release.plan.columns])
    if not release.keys:
        return _empty(title, say.empty(release.plan), words)
    drawn = _drawn(release, most)
    labels = [say.label(release.keys[place]) for place in drawn]
    parts: list[str] = []
    top = 0.0
    for index in range(len(release.plan.columns)):
        panel = _Panel.of(release, index, drawn, words)
        parts.extend(panel.svg(labels, top=top))
        top += panel.height(len(labels)) + _GAP
    note = say.largest(len(drawn), len(release.keys))
    if len(drawn) < len(release.keys):
        lines, height = paragraph(note, y=top, size=12)
        parts, top = [*parts, *lines], top + height + _GAP
    return svg(title, note, parts, height=top - _GAP, direction=words.direction)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One column: its values, its error and its axis, in the column's unit."""

    name: str
    aggregate: str
    shown: tuple[Estimate, ...]
    figures: tuple[Figures | Dates, ...]
    error: str
    low: Fraction
    high: Fraction
    base: Fraction
    """Where bars begin: 0, or the first of the dates."""
    kind: Kind | None

    @classmethod
    def of(cls, release: Release, index: int, drawn: list[int], words: Words) -> _Panel:
        column = release.plan.columns[index]
        shown = tuple(release.estimates(column, confidence=CONFIDENCE, rows=drawn))
        kind, step = column.aggregate.kind, column.aggregate.step
        lows, highs = [one.low for one in shown], [one.high for one in shown]
        base = Fraction(0) if kind is None else min(lows)
        # At least one step wide, so that there is an axis even if all values are zero.
        low = min(*lows, base)
        high = max(*highs, low + (step or 1), base)
        figures = tuple(forms(column, shown))
        widest, form = max(zip((one.error for one in shown), figures, strict=True), key=lambda pair: pair[0])
        ranks = column.ranks(confidence=CONFIDENCE)
        error = f"± {form.error(widest)}" if ranks is None else words.ranks.error(ranks)
        return cls(visible(column.name), visible(column.sql), shown, figures, error, low, high, base, kind)

    def height(self, rows: int) -> int:
        return _HEAD + _ROW * rows + _FOOT

    def x(self, value: Fraction) -> float:
        """The place of a value on the axis."""
        return LEFT + float((value - self.low) / (self.high - self.low)) * (RIGHT - LEFT)

    def svg(self, labels: list[str], *, top: float) -> Iterator[str]:
        yield from pair(self.name, self.error, y=top + 15, size=15, weight=650, opacity=0.8)
        yield label(self.aggregate, x=LEFT, y=top + 31, room=RIGHT - LEFT, size=11, opacity=0.75)
        ticks = nice_ticks(self.low, self.high)
        places = [self.x(tick) for tick in ticks]
        for place, (name, one, figures) in enumerate(zip(labels, self.shown, self.figures, strict=True)):
            yield from self._bar(name, one, figures.value(one), places, top + _HEAD + _ROW * place)
        bottom = top + self.height(len(labels)) - _FOOT
        days = [] if self.kind is None else [calendar(tick, self.kind).isoformat()[:10] for tick in ticks]
        yield from across(list(zip(places, days or written(ticks), strict=True)), y=bottom + 12)

    def _bar(self, name: str, one: Estimate, value: str, ticks: list[float], top: float) -> Iterator[str]:
        zero, end = self.x(self.base), self.x(one.value)
        low, high = self.x(one.low), self.x(one.high)
        middle = top + 23
        # Grid lines are drawn only next to bars, so they never cross a word.
        for x in ticks:
            yield line(x, top + 15, x, top + 31, more=f'stroke-opacity="{0.9 if x == zero else 0.2}"')
        yield from pair(name, value, y=top + 12)
        yield rect(min(zero, end), top + 17, abs(end - zero), 12, fill=BLUE, more='fill-opacity="0.75"')
        yield line(low, middle, high, middle, more='stroke-width="1.5"')
        for x in (low, high):
            yield line(x, middle - 4, x, middle + 4, more='stroke-width="1.5"')


def _drawn(release: Release, most: int) -> list[int]:
    """The positions of the rows to draw: all in order, or the largest first if there are too many."""
    places = list(range(len(release.keys)))
    if len(places) <= most:
        return places
    first = release.values(release.plan.columns[0])
    return nlargest(most, places, key=first.__getitem__)


def _empty(title: str, sentence: str, words: Words) -> str:
    first, _, rest = sentence.partition(". ")
    dashed = 'rx="6" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="5 4"'
    frame = rect(0.5, 1, 99, 78, fill="none", more=dashed)
    said = label(f"{first}.", x=50, y=45, room=96, anchor="middle")
    return svg(title, rest, [frame, said], height=80, direction=words.direction)
