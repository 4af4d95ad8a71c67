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
from sitr.report.aggregate_bias import left_out_notes
from sitr.report.chart.axis import across, nice_ticks, written
from sitr.report.chart.svg import BLUE, LEFT, RIGHT, label, line, pair, paragraph, rect, svg
from sitr.report.figures import CONFIDENCE, about, visible
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
    rows = release.rows
    if not rows:
        return _empty(title, say.none_left(len(release.keys)) if release.keys else say.empty(release.plan), words)
    parts, note, top = panels(release, words, most=most)
    return svg(title, note, parts, height=top, direction=words.direction)


def panels(release: Release, words: Words, *, most: int = MOST_KEYS, top: float = 0.0) -> tuple[list[str], str, float]:
    """The panels of an answer that has rows, a note about them, and where they end."""
    say, rows, drawn = words.aggregate, release.rows, _drawn(release, most)
    labels = [say.label(rows[place]) for place in drawn]
    parts: list[str] = []
    for index in range(len(release.plan.columns)):
        panel = _Panel.of(release, index, drawn, words)
        parts.extend(panel.svg(labels, words, top=top))
        top += panel.height(len(labels)) + _GAP
    note = say.largest(len(drawn), len(rows))
    if len(drawn) < len(rows):
        lines, height = paragraph(note, y=top, size=12)
        parts, top = [*parts, *lines], top + height + _GAP
    for sentence in left_out_notes(release, words):
        lines, height = paragraph(sentence, y=top, size=12)
        parts, top = [*parts, *lines], top + height + _GAP
    return parts, note, top - _GAP


@dataclass(frozen=True, slots=True)
class _Panel:
    """One column: its values, its error and its axis, in the column's unit."""

    name: str
    aggregate: str
    shown: tuple[Estimate, ...]
    values: tuple[str, ...]
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
        lows = [one.low for one in shown if isinstance(one.low, Fraction)]
        base = Fraction(0) if kind is None else min(lows)
        # At least one step wide, so that there is an axis even if all values are zero.
        ends = [end for one in shown for end in (one.low, one.high, one.value) if isinstance(end, Fraction)]
        low = min([*ends, base])
        high = max([*ends, low + (step or 1), base])
        limited = [one for one in shown if one.limited]
        figures = iter(forms(column, limited))
        texts, widest = [], (Fraction(0), "∞" if len(limited) < len(shown) else "0")
        for one in shown:
            if one.value is None or not one.bounded:
                texts.append("" if one.value is None else about(one.value))
                continue
            form = next(figures)
            texts.append(form.value(one))
            assert isinstance(one.error, Fraction)
            if len(limited) == len(shown) and one.error >= widest[0]:
                widest = (one.error, form.error(one.error))
        ranks = column.ranks(confidence=release.sure(CONFIDENCE))
        error = f"± {widest[1]}" if ranks is None else words.ranks.error(ranks)
        plain = visible(column.name)
        name = words.aggregate.unmeasured(plain) if release.plan.query.unmeasured else plain
        return cls(name, visible(column.sql), shown, tuple(texts), error, low, high, base, kind)

    def height(self, rows: int) -> int:
        return _HEAD + _ROW * rows + _FOOT

    def x(self, value: Fraction) -> float:
        """The place of a value on the axis."""
        return LEFT + float((value - self.low) / (self.high - self.low)) * (RIGHT - LEFT)

    def svg(self, labels: list[str], words: Words, *, top: float) -> Iterator[str]:
        yield from pair(self.name, words.numerals(self.error), y=top + 15, size=15, weight=650, opacity=0.8)
        yield label(self.aggregate, x=LEFT, y=top + 31, room=RIGHT - LEFT, size=11, opacity=0.75)
        ticks = nice_ticks(self.low, self.high)
        places = [self.x(tick) for tick in ticks]
        for place, (name, one, value) in enumerate(zip(labels, self.shown, self.values, strict=True)):
            yield from self._bar(name, one, words.numerals(value), places, top + _HEAD + _ROW * place)
        bottom = top + self.height(len(labels)) - _FOOT
        days = [] if self.kind is None else [calendar(tick, self.kind).isoformat()[:10] for tick in ticks]
        yield from across(list(zip(places, days or written(ticks, words=words), strict=True)), y=bottom + 12)

    def _bar(self, name: str, one: Estimate, value: str, ticks: list[float], top: float) -> Iterator[str]:
        zero, end = self.x(self.base), self.x(one.value if one.value is not None else self.base)
        # A whisker without an end goes to the edge, and has no bar across it.
        low, high = (
            self.x(end) if isinstance(end, Fraction) else edge for end, edge in ((one.low, LEFT), (one.high, RIGHT))
        )
        middle = top + 23
        # Grid lines are drawn only next to bars, so they never cross a word.
        for x in ticks:
            yield line(x, top + 15, x, top + 31, more=f'stroke-opacity="{0.9 if x == zero else 0.2}"')
        yield from pair(name, value, y=top + 12)
        yield rect(min(zero, end), top + 17, abs(end - zero), 12, fill=BLUE, more='fill-opacity="0.75"')
        yield line(low, middle, high, middle, more='stroke-width="1.5"')
        for x in (x for x, end in ((low, one.low), (high, one.high)) if isinstance(end, Fraction)):
            yield line(x, middle - 4, x, middle + 4, more='stroke-width="1.5"')


def _drawn(release: Release, most: int) -> list[int]:
    """The positions of the rows to draw: all in order, or the largest first if there are too many."""
    places = list(range(len(release.rows)))
    if len(places) <= most:
        return places
    first = release.values(release.plan.columns[0])
    known = [place for place in places if first[place] is not None]
    return nlargest(most, known, key=lambda place: first[place] or Fraction(0)) or places[:most]


def _empty(title: str, sentence: str, words: Words) -> str:
    first, _, rest = sentence.partition(". ")
    dashed = 'rx="6" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="5 4"'
    frame = rect(0.5, 1, 99, 78, fill="none", more=dashed)
    said = label(f"{first}.", x=50, y=45, room=96, anchor="middle")
    return svg(title, rest, [frame, said], height=80, direction=words.direction)
