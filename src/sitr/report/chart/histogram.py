"""The chart of a histogram: bars for one ordered column, tiles for two columns, else the largest cells."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, product

import numpy as np

from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.histogram.counts import Histogram
from sitr.report.chart.axis import across
from sitr.report.chart.line import FOOT, HEIGHT, Bars
from sitr.report.chart.svg import BLUE, LEFT, RIGHT, heading, label, line, pair, rect, svg
from sitr.report.figures import CONFIDENCE, Figures
from sitr.report.words.words import Words, in_words

MOST_TILES, MOST_ROWS = 48, 40
_ROW, _TILE, _NAMES = 30, 24, 30.0


def chart(histogram: Histogram, *, words: Words | None = None) -> str:
    """The chart as SVG; its text says what it leaves out."""
    words = in_words(words)
    say = words.histogram
    if histogram.counts.size == 0:
        nothing = label(say.nothing(), x=50, y=45, room=96, size=14, anchor="middle")
        return svg(say.title(histogram), say.nothing(), [nothing], height=80, direction=words.direction)
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
    """All cells as bars in order; if there are too many, neighbours share a bar. Cells beside the line are rows."""
    bars, say = Bars.of(histogram), words.histogram
    (axis,) = histogram.grid.axes
    notes = [say.together(bars.together)]
    if bars.unit is not None:
        notes.append(say.density(axis, bars.unit))
    if bars.hollow:
        notes.append(say.hollow(bars.hollow))
    parts, top = heading(say.title(histogram), *notes)
    parts += bars.svg(top=top + 8, words=words)
    top += 8 + HEIGHT + FOOT
    for place, name in islice(enumerate(say.cells(axis)), axis.ordinary, None):
        top += 18
        parts += pair(name, _with_interval(histogram, place, words), y=top)
    largest = _rounded(histogram, float(histogram.counts.max()))
    described = " ".join([say.bars(len(bars.bars), notes[0], largest=largest), *notes[1:]])
    return svg(say.title(histogram), described, parts, height=top + 8, direction=words.direction)


def _with_interval(histogram: Histogram, place: int, words: Words) -> str:
    """A count and its interval, if that has an end."""
    low, high = (float(part[place]) for part in histogram.ends(confidence=CONFIDENCE))
    count, shown = float(histogram.counts[place]), figures(histogram)
    if not math.isfinite(high):
        return words.numerals(_rounded(histogram, count))
    one = Estimate(Fraction(count), Fraction(low), Fraction(high))
    return f"{words.formula(shown.value(one))} ({words.interval(shown.low(one), shown.high(one))})"


def _tiles(histogram: Histogram, words: Words) -> str:
    """A tile for each cell of two columns; darker means a larger count."""
    say = words.histogram
    counts = histogram.counts.reshape(histogram.grid.shape)
    rows, columns = map(say.cells, histogram.grid.axes)
    fullest = float(max(counts.max(), 1.0))
    left, wide = _NAMES + 2, (RIGHT - _NAMES - 2) / len(columns)
    parts, top = heading(say.title(histogram), say.darkest(_rounded(histogram, fullest)))
    top += 4
    for i, row in enumerate(rows):
        parts.append(label(row, x=LEFT, y=top + _TILE * i + 16, room=_NAMES, size=11))
        for j in range(len(columns)):
            shade = max(0.0, float(counts[i, j])) / fullest
            more = f'fill-opacity="{0.04 + 0.96 * shade:.3f}"'
            parts.append(rect(left + wide * j, top + _TILE * i, wide * 0.96, _TILE - 1, fill=BLUE, more=more))
    bottom = top + _TILE * len(rows)
    parts += across([(left + wide * (j + 0.5), name) for j, name in enumerate(columns)], y=bottom + 16)
    described = say.tiles(len(rows), len(columns), _rounded(histogram, fullest))
    return svg(say.title(histogram), described, parts, height=bottom + 28, direction=words.direction)


def _largest(histogram: Histogram, words: Words) -> str:
    """The largest cells. Choosing them from noisy counts costs nothing."""
    say, size = words.histogram, len(histogram.counts)
    places = range(size) if size <= MOST_ROWS else np.argsort(-histogram.counts, kind="stable")[:MOST_ROWS].tolist()
    chosen = {int(place) for place in places}
    every = product(*map(say.cells, histogram.grid.axes))
    named = {place: names for place, names in enumerate(islice(every, max(chosen) + 1)) if place in chosen}
    low, high = histogram.ends(confidence=CONFIDENCE)
    limit = max(1.0, *(float(high[place]) for place in chosen if math.isfinite(high[place])))
    note = say.largest(MOST_ROWS, size)
    parts, top = heading(say.title(histogram), note)
    for place in places:
        count = float(histogram.counts[place])
        name = " · ".join(named[int(place)])
        parts += pair(name, words.numerals(_rounded(histogram, count)), y=top + 14)
        parts.append(rect(LEFT, top + 18, 98 * max(0.0, count) / limit, 10, fill=BLUE, more='fill-opacity="0.75"'))
        ends = [LEFT + 98 * min(limit, float(part[place])) / limit for part in (low, high)]
        parts.append(line(ends[0], top + 23, ends[1], top + 23, more='stroke-width="1.2"'))
        top += _ROW
    described = say.bars(len(chosen), note)
    return svg(say.title(histogram), described, parts, height=top + 8, direction=words.direction)
