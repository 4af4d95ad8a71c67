"""Charts of composition theorems: the total ε of each theorem, by δ and by number of releases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.accounting.compare import Comparison, compare
from sitr.accounting.schedule import MOST_TIMES, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.numbers import exact
from sitr.report.chart.axis import Logarithmic, across, margin, written
from sitr.report.chart.ends import GAP, End, names
from sitr.report.chart.svg import (
    BLUE,
    GREY,
    ORANGE,
    RIGHT,
    heading,
    label,
    line,
    paragraph,
    polyline,
    svg,
    text,
    window,
)
from sitr.report.words.words import Words, in_words

COLOURS = (BLUE, ORANGE, "#3d9a35", "#b0468f", GREY, "#c4402b")
"""Each is visible on white and on black; curves of the same colour have different dashes."""
DASHES = ("", "7 4", "2 4")

FACTORS = (1, 3, 10, 30, 100)
"""The repetitions of the whole schedule in the chart by number of releases."""
DECADES = range(-3, 4)
"""The powers of ten by which δ is varied."""
MANY = 50
"""Above this many kinds of steps, a point takes seconds: only the ends and the middle of an axis are computed."""

_END, _HEIGHT, _FOOT, _GAP = 58.0, 240, 34, 18
_NAMES = 61.5
"""Where the names of the curves begin, in percent."""


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons along one axis."""

    title: str
    axis: str
    places: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    mark: tuple[float, str] | None = None
    """A place to be marked, and its name."""

    def curve(self, name: str) -> list[tuple[float, float]]:
        """The points where this theorem applies: the place and its upper bound on ε."""
        return [
            (place, row.outcome.upper)
            for place, comparison in zip(self.places, self.comparisons, strict=True)
            for row in comparison.rows
            if row.theorem.name == name and isinstance(row.outcome, Total)
        ]


def along_delta(comparison: Comparison, *, words: Words | None = None) -> Family:
    """The same schedule at several δ around the δ of the comparison."""
    words = in_words(words)
    deltas = (
        float(exact(comparison.delta) * Fraction(10) ** power) for power in _thinned(DECADES, comparison.schedule)
    )
    kept = tuple(delta for delta in deltas if 1e-300 < delta <= max(comparison.delta, 0.1))
    found = tuple(
        comparison if delta == comparison.delta else compare(comparison.schedule, delta=delta) for delta in kept
    )
    mark = (comparison.delta, words.accounting.given_delta(comparison.delta))
    return Family(words.accounting.totals(), "δ", kept, found, mark)


def along_releases(comparison: Comparison, *, words: Words | None = None) -> Family:
    """The same schedule once, three times and more often, at the δ of the comparison."""
    words = in_words(words)
    largest = max(part.times for part in comparison.schedule.parts)
    plans = [
        Schedule(tuple(replace(part, times=part.times * factor) for part in comparison.schedule.parts))
        for factor in _thinned(FACTORS, comparison.schedule)
        if largest * factor <= MOST_TIMES
    ]
    found = (comparison, *(compare(longer, delta=comparison.delta) for longer in plans[1:]))
    places = tuple(float(longer.releases) for longer in plans)
    return Family(words.accounting.repeated(comparison.delta), words.label("releases"), places, found)


def _thinned(places: Sequence[int], schedule: Schedule) -> Sequence[int]:
    many = len({part.promises for part in schedule.parts}) > MANY
    return places[:: len(places) // 2] if many else places


def chart(comparison: Comparison, *, words: Words | None = None) -> str:
    """Both panels, with the names at the ends of the curves; the tightest theorem at the given δ has a thick curve."""
    words = in_words(words)
    families = (along_delta(comparison, words=words), along_releases(comparison, words=words))
    return drawn(comparison, families, words=words)


def drawn(comparison: Comparison, families: tuple[Family, Family], *, words: Words | None = None) -> str:
    """The chart of curves that are known."""
    words = in_words(words)
    strokes = _strokes(comparison, families, words)
    note = words.accounting.curves(comparison.gamma, families[1].comparisons[-1].gamma)
    best = [stroke.full for stroke in strokes if stroke.thick]
    tightest = words.accounting.tightest(best[0], comparison.delta) if best else ""
    parts: list[str] = []
    top = 0.0
    for family in families:
        panel, top = _panel(family, strokes, words, top=top)
        parts += panel
    for sentence in (tightest, note):
        lines, height = paragraph(sentence, y=top + 2)
        parts, top = [*parts, *lines], top + height
    description = " ".join([note, *(f"{stroke.full};" for stroke in strokes)]).rstrip(";")
    title = words.accounting.compared()
    return svg(title, description, parts, height=top, direction=words.direction)


def _strokes(comparison: Comparison, families: Sequence[Family], words: Words) -> list[_Stroke]:
    """The theorems that have a curve."""
    best, say = comparison.tightest, words.accounting
    found = []
    for place, row in enumerate(comparison.rows):
        name = row.theorem.name
        if any(family.curve(name) for family in families):
            total = row.outcome if isinstance(row.outcome, Total) else None
            thick = best is not None and row.theorem == best.theorem
            found.append(_Stroke(name, place, say.curve(name), say.curve_total(name, total), thick=thick))
    return found


@dataclass(frozen=True, slots=True)
class _Stroke:
    """The style of one theorem, the same in both panels."""

    name: str
    place: int
    shown: str
    full: str
    """The whole name, with the total at the given δ."""
    thick: bool

    @property
    def colour(self) -> str:
        return COLOURS[self.place % len(COLOURS)]

    @property
    def style(self) -> str:
        dash = DASHES[self.place // len(COLOURS) % len(DASHES)]
        return f'stroke-width="{5 if self.thick else 2}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _panel(family: Family, strokes: Sequence[_Stroke], words: Words, *, top: float) -> tuple[list[str], float]:
    """The elements of a panel, and where they end."""
    curves = {stroke: family.curve(stroke.name) for stroke in strokes}
    heights, widths = _above(list(curves.values())), _along(family.places)
    parts, pane = heading(family.title, words.accounting.logarithmic("ε"), top=top)
    pane += 20 if family.mark else 8
    left = margin(written(heights.ticks(), words=words))
    lines, ends = [], []
    for stroke in sorted(strokes, key=lambda stroke: not stroke.thick):  # the thick curve lies below the others
        points = [(1000 * widths.share(x), _HEIGHT * (1 - heights.share(y))) for x, y in curves[stroke]]
        # A single point is a line of length 0, whose round ends make a dot.
        lines.append(polyline(points * 2 if len(points) == 1 else points, stroke=stroke.colour, more=stroke.style))
        if points:
            x, y = points[-1]
            place = left + (_END - left) * x / 1000
            ends.append(End(place, pane + y, stroke.shown, stroke.full, stroke.colour, bold=stroke.thick))
    below = max(_HEIGHT, round(GAP * (len(ends) - 1)))
    parts += [
        *_axes(family, heights, widths, left, pane, words),
        window(lines, x=left, y=pane, width=_END - left, height=_HEIGHT),
        *names(ends, x=_NAMES, room=RIGHT - _NAMES, top=pane, bottom=pane + below),
    ]
    return parts, pane + below + _FOOT + _GAP


def _axes(
    family: Family, heights: Logarithmic, widths: Logarithmic, left: float, pane: float, words: Words
) -> Iterator[str]:
    bottom, middle, wide = pane + _HEIGHT, (left + _END) / 2, _END - left
    ticks = heights.ticks()
    for tick, number in zip(ticks, written(ticks, words=words), strict=True):
        y = pane + _HEIGHT * (1 - heights.share(float(tick)))
        yield line(left, y, _END, y, more='stroke-opacity="0.2"')
        yield text(number, x=left - 1, y=y + 4, size=11, anchor="end", opacity=0.75)
    ticks = widths.ticks(most=4)
    places = [left + wide * widths.share(float(tick)) for tick in ticks]
    for x in places:
        yield line(x, bottom, x, bottom + 4, more='stroke-opacity="0.6"')
    yield from across(list(zip(places, written(ticks, words=words), strict=True)), y=bottom + 17)
    yield label(family.axis, x=middle, y=bottom + 32, room=wide, size=11, anchor="middle", opacity=0.75)
    if family.mark is not None:
        place, name = family.mark
        x = left + wide * widths.share(place)
        yield line(x, pane, x, bottom, more='stroke-opacity="0.7" stroke-dasharray="2 3"')
        yield label(name, x=x, y=pane - 5, room=wide, size=11, anchor="middle")


def _along(places: Sequence[float]) -> Logarithmic:
    """From the first place to the last."""
    low, high = math.log10(places[0]), math.log10(places[-1])
    return Logarithmic(low, high) if low < high else Logarithmic(low - 0.5, high + 0.5)


def _above(curves: Sequence[Sequence[tuple[float, float]]]) -> Logarithmic:
    """From the least value to the largest, with a margin, but at most ten times the top of the lowest curves.

    Curves that leave the chart have a name at its edge; they would squeeze the others, which matter, into one line.
    """
    lowest: dict[float, float] = {}
    for place, value in (point for curve in curves for point in curve):
        lowest[place] = min(value, lowest.get(place, value))
    reach = max(lowest.values(), default=1.0) or 1.0
    inside = [value for curve in curves for _, value in curve if reach * 1e-3 <= value <= reach * 10]
    low, high = min(inside, default=reach), max(inside, default=reach)
    room = 0.05 * math.log10(high / low) or 0.2
    return Logarithmic(math.log10(low) - room, math.log10(high) + room)
