"""The chart of a histogram: bars for one ordered column, tiles for two columns, else the largest cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.histogram.counts import Histogram
from sitr.report.chart.svg import BLUE, line, nice_ticks, placed, rect, svg, text
from sitr.report.figures import CONFIDENCE, Figures, short, shortened
from sitr.report.words.words import Words, in_words

Reals = NDArray[np.float64]

MOST_BARS, MOST_TILES, MOST_ROWS = 200, 48, 40
_LEFT, _WIDTH, _HEIGHT = 9.0, 89.0, 220
_HEAD, _FOOT, _ROW = 40, 44, 30


def chart(histogram: Histogram, *, words: Words | None = None) -> str:
    """The chart as SVG; its text says what it leaves out."""
    words = in_words(words)
    say = words.histogram
    if histogram.counts.size == 0:
        nothing = say.nothing()
        return svg(say.title(histogram), nothing, [text(nothing, x=50, y=45, size=14, anchor="middle")], height=80)
    if histogram.grid.line is not None:
        return _line_chart(histogram, words)
    shape = histogram.grid.shape
    if len(shape) == 2 and max(shape) <= MOST_TILES:
        return _tiles(histogram, words)
    return _largest(histogram, words)


def figures(histogram: Histogram) -> Figures:
    """How counts are shown: to the first two digits of the error of a measured one."""
    return Figures.fitting(Fraction(histogram.plan.error(confidence=CONFIDENCE)), step=step(histogram))


def step(histogram: Histogram) -> Fraction | None:
    """1 for whole counts; None for others."""
    return Fraction(1) if bool((histogram.counts == np.rint(histogram.counts)).all()) else None


def _rounded(histogram: Histogram, count: float) -> str:
    exact = Fraction(count)
    return figures(histogram).value(Estimate(exact, exact, exact))


def _line_chart(histogram: Histogram, words: Words) -> str:
    """All cells as bars in order; if there are too many, neighbours share a bar. The axis runs to the right."""
    say = words.histogram
    together = math.ceil(len(histogram.counts) / MOST_BARS)
    starts = np.arange(0, len(histogram.counts), together)
    counts = np.add.reduceat(histogram.counts, starts)
    low, high = histogram.ends(confidence=CONFIDENCE)
    whiskers = (low, np.minimum(high, _ceiling(histogram, high))) if together == 1 else None
    top = float(max(counts.max(initial=0.0), whiskers[1].max(initial=0.0) if whiskers else 0.0, 1.0))
    bottom = float(min(counts.min(initial=0.0), 0.0))
    (axis,) = histogram.grid.axes
    names = words.histogram.cells(axis)
    note = say.together(together)
    parts = [
        *placed(_heads(say.title(histogram), note), words),
        *_upright(bottom, top),
        *_bars(counts, whiskers, bottom, top),
        *_names([names[start] for start in starts]),
    ]
    described = say.bars(len(counts), note, largest=_rounded(histogram, float(counts.max())))
    return svg(say.title(histogram), described, parts, height=_HEAD + _HEIGHT + _FOOT)


def _ceiling(histogram: Histogram, high: Reals) -> float:
    """The end of the axis for intervals without a finite end."""
    finite = high[np.isfinite(high)]
    return float(finite.max(initial=1.0)) if finite.size else float(histogram.counts.max(initial=1.0))


def _y(value: float, bottom: float, top: float) -> float:
    return _HEAD + _HEIGHT * (1 - (value - bottom) / (top - bottom))


def _upright(bottom: float, top: float) -> Iterator[str]:
    for tick in nice_ticks(Fraction(bottom), Fraction(top)):
        y = _y(float(tick), bottom, top)
        yield line(_LEFT, y, _LEFT + _WIDTH, y, more=f'stroke-opacity="{0.7 if tick == 0 else 0.15}"')
        yield text(short(tick), x=_LEFT - 1, y=y + 4, size=11, opacity=0.75, anchor="end")


def _bars(counts: Reals, whiskers: tuple[Reals, Reals] | None, bottom: float, top: float) -> Iterator[str]:
    wide = _WIDTH / len(counts)
    for place, count in enumerate(counts.tolist()):
        x, zero, end = _LEFT + wide * place, _y(0.0, bottom, top), _y(count, bottom, top)
        high, far = min(zero, end), abs(zero - end)
        yield rect(x + wide * 0.05, high, wide * 0.9, far, fill=BLUE, more='fill-opacity="0.75"')
        if whiskers is not None:
            middle = x + wide / 2
            ends = [_y(float(part[place]), bottom, top) for part in whiskers]
            yield line(middle, ends[0], middle, ends[1], more='stroke-width="1.2"')


def _names(names: Sequence[str]) -> Iterator[str]:
    """Some of the labels, so that they do not overlap."""
    wide, every = _WIDTH / len(names), math.ceil(len(names) / 7)
    for place in range(0, len(names), every):
        x = _LEFT + wide * (place + 0.5)
        anchor = "start" if x < 15 else "end" if x > 90 else "middle"
        label = shortened(names[place], most=max(12, 84 // math.ceil(len(names) / every)))
        yield text(label, x=x, y=_HEAD + _HEIGHT + 18, size=11, opacity=0.8, anchor=anchor)


def _tiles(histogram: Histogram, words: Words) -> str:
    """A tile for each cell of two columns; darker means a larger count."""
    say = words.histogram
    counts = histogram.counts.reshape(histogram.grid.shape)
    rows, columns = map(say.cells, histogram.grid.axes)
    fullest = float(max(counts.max(), 1.0))
    left, wide = 22.0, 76.0 / len(columns)
    parts = [*_heads(say.title(histogram), say.darkest(_rounded(histogram, fullest)))]
    for i, row in enumerate(rows):
        parts.append(text(shortened(row, most=20), x=1, y=_HEAD + 24 * i + 16, size=11))
        for j in range(len(columns)):
            shade = max(0.0, float(counts[i, j])) / fullest
            more = f'fill-opacity="{0.04 + 0.96 * shade:.3f}"'
            parts.append(rect(left + wide * j, _HEAD + 24 * i, wide * 0.96, 23, fill=BLUE, more=more))
    every = math.ceil(len(columns) / 6)
    for j in range(0, len(columns), every):
        label = shortened(columns[j], most=14)
        parts.append(text(label, x=left + wide * j, y=_HEAD + 24 * len(rows) + 16, size=11, opacity=0.8))
    described = say.tiles(len(rows), len(columns), _rounded(histogram, fullest))
    return svg(say.title(histogram), described, placed(parts, words), height=_HEAD + 24 * len(rows) + 28)


def _largest(histogram: Histogram, words: Words) -> str:
    """The largest cells. Choosing them from noisy counts costs nothing."""
    say = words.histogram
    size = len(histogram.counts)
    places = range(size) if size <= MOST_ROWS else np.argsort(-histogram.counts, kind="stable")[:MOST_ROWS].tolist()
    chosen = {int(place) for place in places}
    every = product(*map(say.cells, histogram.grid.axes))
    named = {place: label for place, label in enumerate(islice(every, max(chosen) + 1)) if place in chosen}
    low, high = histogram.ends(confidence=CONFIDENCE)
    limit = max(1.0, *(float(high[place]) for place in chosen))
    note = say.largest(MOST_ROWS, size)
    parts = [*_heads(say.title(histogram), note)]
    for row, place in enumerate(places):
        top = _HEAD + _ROW * row
        count = float(histogram.counts[place])
        label = shortened(" · ".join(named[int(place)]), most=48)
        parts.append(text(label, x=1, y=top + 10))
        parts.append(text(_rounded(histogram, count), x=99, y=top + 10, anchor="end"))
        parts.append(rect(1, top + 14, 98 * max(0.0, count) / limit, 10, fill=BLUE, more='fill-opacity="0.75"'))
        ends = [1 + 98 * float(part[place]) / limit for part in (low, high)]
        parts.append(line(ends[0], top + 19, ends[1], top + 19, more='stroke-width="1.2"'))
    described = say.bars(len(chosen), note)
    return svg(say.title(histogram), described, placed(parts, words), height=_HEAD + _ROW * len(chosen) + 6)


def _heads(title: str, note: str) -> tuple[str, str]:
    """The title and a note beside it."""
    return text(title, x=1, y=16, size=15, weight=650), text(note, x=99, y=16, opacity=0.8, anchor="end")
