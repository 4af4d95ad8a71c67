"""Histograms of one column of numbers or dates: bars over a true axis.

A bar is as wide as its cell. If cells differ in width, heights are densities, so that areas are counts; otherwise a
cell of four whole numbers beside cells of three would look like a tooth that is not in the data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Axis, Cell, Dates
from sitr.dataset.schema import Kind
from sitr.questions.histogram.counts import Histogram
from sitr.report.chart.axis import across, fits, margin, nice_ticks, written
from sitr.report.chart.svg import BLUE, line, rect, text
from sitr.report.figures import CONFIDENCE, exponent
from sitr.report.words.words import Words, in_words

Reals = NDArray[np.float64]

MOST_BARS, MOST_EDGES = 200, 9
HEIGHT, FOOT = 220, 26
_END = 98.0
_MONTHS = Fraction(31, 28)
"""Months differ by this factor in length, and count as equal."""


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """One cell, or several neighbours: where it begins and ends, its width, its count, and the ends of its interval."""

    low: Fraction
    high: Fraction
    width: Fraction
    count: float
    ends: tuple[float, float] | None

    def over(self, unit: Fraction) -> DrawnBar:
        """The same with counts for each `unit` of width."""
        times = float(unit / self.width)
        ends = None if self.ends is None else (self.ends[0] * times, self.ends[1] * times)
        return replace(self, count=self.count * times, ends=ends)


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of a histogram."""

    axis: Axis
    bars: tuple[DrawnBar, ...]
    together: int
    """How many cells share a bar."""
    hollow: int
    """How many bars are not drawn, because no whole number belongs to them."""
    unit: Fraction | None
    """Counts are for each unit of width; None if all widths are equal, and counts are simply counts."""

    @classmethod
    def of(cls, histogram: Histogram) -> Bars:
        (axis,) = histogram.grid.axes
        cells = list(islice(axis.cells(), axis.ordinary))
        spans = _spans(axis, cells)
        together = math.ceil(len(cells) / MOST_BARS)
        low, high = histogram.ends(confidence=CONFIDENCE)
        high = np.minimum(high, _ceiling(histogram, high))
        found = []
        for start in range(0, len(cells), together):
            part = slice(start, min(start + together, len(cells)))
            if some := [span for span in spans[part] if span is not None]:
                ends = (float(low[start]), float(high[start])) if together == 1 else None
                width = sum((end - begin for begin, end in some), Fraction(0))
                found.append(DrawnBar(some[0][0], some[-1][1], width, float(histogram.counts[part].sum()), ends))
        hollow = math.ceil(len(cells) / together) - len(found)
        unit = _unit(axis, [bar.width for bar in found])
        bars = found if unit is None else [bar.over(unit) for bar in found]
        return cls(axis, tuple(bars), together, hollow, unit)

    def svg(self, *, top: float, words: Words | None = None) -> Iterator[str]:
        """The bars with both axes."""
        words = in_words(words)
        ends = [end for bar in self.bars for end in (bar.ends or ())]
        values = [0.0, *(bar.count for bar in self.bars), *ends]
        low, high = min(values), max(values)
        # At least one high, so that there is an axis even if all counts are zero.
        high = high if high > low else low + 1.0
        ticks = nice_ticks(Fraction(low), Fraction(high))
        numbers = written(ticks, words=words)
        left = margin(numbers)

        def up(value: float) -> float:
            return top + HEIGHT * (1 - (value - low) / (high - low))

        for tick, number in zip(ticks, numbers, strict=True):
            y = up(float(tick))
            yield line(left, y, _END, y, more=f'stroke-opacity="{0.7 if tick == 0 else 0.15}"')
            yield text(number, x=left - 1, y=y + 4, size=11, opacity=0.75, anchor="end")
        for bar in self.bars:
            begin, end = self._x(bar.low, left), self._x(bar.high, left)
            gap = min(0.1, 0.05 * (end - begin))
            high_end, far = min(up(0.0), up(bar.count)), abs(up(0.0) - up(bar.count))
            yield rect(begin + gap, high_end, end - begin - 2 * gap, far, fill=BLUE, more='fill-opacity="0.75"')
            if bar.ends is not None:
                middle = (begin + end) / 2
                yield line(middle, up(bar.ends[0]), middle, up(bar.ends[1]), more='stroke-width="1.2"')
        yield from across(self._places(left, words), y=top + HEIGHT + 18)

    def _x(self, value: Fraction, left: float) -> float:
        first, last = self.bars[0].low, self.bars[-1].high
        return left + float((value - first) / (last - first)) * (_END - left)

    def _places(self, left: float, words: Words) -> list[tuple[float, str]]:
        """The names of dates; all edges of cells if these are few and short; otherwise round numbers."""
        if isinstance(self.axis, Dates):
            first_cells = islice(self.axis.cells(), 0, self.axis.ordinary, self.together)
            pairs = zip(first_cells, self.bars, strict=True)
            return [(self._x((bar.low + bar.high) / 2, left), words.numerals(_day(cell))) for cell, bar in pairs]
        first, last = self.bars[0].low, self.bars[-1].high
        cells = list(islice(self.axis.cells(), self.axis.ordinary))
        for ticks in ([*_numbers(cells)] if len(cells) < MOST_EDGES else [], nice_ticks(first, last)):
            inside = [min(max(tick, first), last) for tick in ticks]
            places = [
                (self._x(tick, left), number) for tick, number in zip(inside, written(ticks, words=words), strict=True)
            ]
            if places and fits(places):
                break
        return places


def _numbers(cells: Sequence[Cell]) -> Iterator[Fraction]:
    """The edges of cells of numbers."""
    for end in (cells[0].low, *(cell.high for cell in cells)):
        assert isinstance(end, Fraction)
        yield end


def _day(cell: Cell) -> str:
    """A week is named by its first day."""
    return cell.label.partition(" ")[0]


Span = tuple[Fraction, Fraction]


def _spans(axis: Axis, cells: Sequence[Cell]) -> list[Span | None]:
    """Where the values of each cell begin and end; None if no whole number belongs to it, but some to another one.

    Whole numbers and days are one unit wide: a cell of whole numbers reaches half a unit beyond its first and last.
    """
    if isinstance(axis, Dates):
        return [(_ordinal(cell.low), _ordinal(cell.high) + 1) for cell in cells]
    edges, half = list(_numbers(cells)), Fraction(1, 2)
    ranges: list[Span | None] = list(pairwise(edges))
    if axis.column.kind is not Kind.INTEGER:
        return ranges
    firsts = [math.ceil(edge) for edge in edges[:-1]] + [math.floor(edges[-1]) + 1]
    whole = [(low - half, high - half) if low < high else None for low, high in pairwise(firsts)]
    return whole if any(whole) else ranges


def _ordinal(day: Fraction | date | None) -> Fraction:
    assert isinstance(day, date)
    return Fraction(day.toordinal())


def _unit(axis: Axis, widths: Sequence[Fraction]) -> Fraction | None:
    """None if all widths are equal; the width of most cells; or a day, or a power of ten below the least width."""
    least, most = min(widths), max(widths)
    if most == least or (isinstance(axis, Dates) and most <= _MONTHS * least):
        return None
    ((usual, times),) = Counter(widths).most_common(1)
    if 2 * times > len(widths):
        return usual
    return Fraction(1) if isinstance(axis, Dates) else Fraction(10) ** exponent(least)


def _ceiling(histogram: Histogram, high: Reals) -> float:
    """The end of the axis for intervals without a finite end."""
    finite = high[np.isfinite(high)]
    return float(finite.max(initial=1.0)) if finite.size else float(histogram.counts.max(initial=1.0))
