"""Charts of composition theorems: the total ε of each theorem, by δ and by number of releases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.accounting.compare import Comparison, compare
from sitr.accounting.schedule import MOST_TIMES, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.numbers import exact
from sitr.report.chart.svg import BLUE, GREY, ORANGE, line, nice_ticks, placed, polyline, svg, text, window
from sitr.report.figures import at_most, short
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

_EDGE, _LEFT, _WIDTH, _HEIGHT = 1.0, 9.0, 89.0, 240
_HEAD, _FOOT, _GAP = 40, 34, 18


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons along one axis."""

    title: str
    axis: str
    places: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    write: Callable[[float], str]

    def curve(self, name: str) -> list[tuple[float, float]]:
        """The points where this theorem applies: the place and its upper bound on ε."""
        return [
            (place, row.outcome.upper)
            for place, comparison in zip(self.places, self.comparisons, strict=True)
            for row in comparison.rows
            if row.theorem.name == name and isinstance(row.outcome, Total)
        ]


def along_delta(comparison: Comparison, words: Words | None = None) -> Family:
    """The same schedule at several δ around the δ of the comparison."""
    words = in_words(words)
    deltas = (
        float(exact(comparison.delta) * Fraction(10) ** power) for power in _thinned(DECADES, comparison.schedule)
    )
    kept = tuple(delta for delta in deltas if 1e-300 < delta <= max(comparison.delta, 0.1))
    found = tuple(
        comparison if delta == comparison.delta else compare(comparison.schedule, delta=delta) for delta in kept
    )
    return Family(words.label("Total ε at each δ"), "δ", kept, found, lambda value: at_most(value, digits=2))


def along_releases(comparison: Comparison, words: Words | None = None) -> Family:
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
    title = words.accounting.repeated(at_most(comparison.delta))
    return Family(title, words.label("releases"), places, found, short)


def _thinned(places: Sequence[int], schedule: Schedule) -> Sequence[int]:
    many = len({part.promises for part in schedule.parts}) > MANY
    return places[:: len(places) // 2] if many else places


def chart(comparison: Comparison, *, words: Words | None = None) -> str:
    """Both panels with one legend; the tightest theorem at the given δ has a thick curve."""
    words = in_words(words)
    families = (along_delta(comparison, words), along_releases(comparison, words))
    best = comparison.tightest
    strokes = [
        _Stroke(row.theorem.name, place, thick=best is not None and row.theorem == best.theorem)
        for place, row in enumerate(comparison.rows)
        if any(family.curve(row.theorem.name) for family in families)
    ]
    description = words.accounting.curves(comparison.gamma, families[1].comparisons[-1].gamma)
    parts: list[str] = []
    top = 0
    for family in families:
        parts.extend(_panel(family, strokes, words, top=top))
        top += _HEAD + _HEIGHT + _FOOT + _GAP
    # The given δ, among the others.
    mark = _LEFT + _WIDTH * _Scale.along(families[0].places).share(comparison.delta)
    parts.append(line(mark, _HEAD, mark, _HEAD + _HEIGHT, more='stroke-opacity="0.5" stroke-dasharray="2 3"'))
    parts.extend(placed([text(description, x=_EDGE, y=top + 10, size=11, opacity=0.8)], words))
    parts.extend(placed(_legend(comparison, strokes, words, top=top + 20), words))
    return svg(
        words.label("Composition theorems compared: total ε"), description, parts, height=top + 24 + 20 * len(strokes)
    )


@dataclass(frozen=True, slots=True)
class _Stroke:
    """The style of one theorem, the same in both panels."""

    name: str
    place: int
    thick: bool

    @property
    def colour(self) -> str:
        return COLOURS[self.place % len(COLOURS)]

    @property
    def style(self) -> str:
        dash = DASHES[self.place // len(COLOURS) % len(DASHES)]
        return f'stroke-width="{5 if self.thick else 2}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _panel(family: Family, strokes: Sequence[_Stroke], words: Words, *, top: int) -> Iterator[str]:
    curves = {stroke: family.curve(stroke.name) for stroke in strokes}
    heights = _Scale.above(list(curves.values()))
    widths = _Scale.along(family.places)
    pane = top + _HEAD
    yield from placed([text(family.title, x=_EDGE, y=top + 15, size=15, weight=650)], words)
    yield text(words.label("ε, on a logarithmic axis"), x=_EDGE, y=top + 32, size=11, opacity=0.75)
    for tick in heights.ticks():
        y = pane + _HEIGHT * (1 - heights.share(float(tick)))
        yield line(_LEFT, y, _LEFT + _WIDTH, y, more='stroke-opacity="0.2"')
        yield text(short(tick), x=_LEFT - 1, y=y + 4, size=11, anchor="end", opacity=0.75)
    for place in family.places:
        x = _LEFT + _WIDTH * widths.share(place)
        yield line(x, pane + _HEIGHT, x, pane + _HEIGHT + 4, more='stroke-opacity="0.6"')
        anchor = "end" if x > 94 else "middle"
        yield text(family.write(place), x=x, y=pane + _HEIGHT + 17, size=11, anchor=anchor, opacity=0.75)
    yield text(family.axis, x=_LEFT + _WIDTH / 2, y=pane + _HEIGHT + 31, size=11, anchor="middle", opacity=0.75)
    drawn = []
    for stroke in sorted(strokes, key=lambda stroke: not stroke.thick):  # the thick curve lies below the others
        points = [(1000 * widths.share(x), _HEIGHT * (1 - heights.share(y))) for x, y in curves[stroke]]
        # A single point is a line of length 0, whose round ends make a dot.
        drawn.append(polyline(points * 2 if len(points) == 1 else points, stroke=stroke.colour, more=stroke.style))
    yield window(drawn, x=_LEFT, y=pane, width=_WIDTH, height=_HEIGHT)


def _legend(comparison: Comparison, strokes: Sequence[_Stroke], words: Words, *, top: int) -> Iterator[str]:
    """Every theorem with its ε at the given δ, if it has one."""
    outcomes = {row.theorem.name: row.outcome for row in comparison.rows}
    for index, stroke in enumerate(strokes):
        y = top + 20 * index
        outcome = outcomes[stroke.name]
        value = f": ε = {at_most(outcome.upper)}" if isinstance(outcome, Total) else ""
        name = words.accounting.theorem(stroke.name) + value + (words.label(", the tightest") if stroke.thick else "")
        yield line(_EDGE, y + 8, _LEFT - 2, y + 8, stroke=stroke.colour, more=stroke.style)
        yield text(name, x=_LEFT, y=y + 12, weight=650 if stroke.thick else 400)


@dataclass(frozen=True, slots=True)
class _Scale:
    """A logarithmic axis."""

    low: float
    high: float

    @classmethod
    def along(cls, places: Sequence[float]) -> _Scale:
        """From the first place to the last."""
        low, high = math.log10(places[0]), math.log10(places[-1])
        return cls(low, high) if low < high else cls(low - 0.5, high + 0.5)

    @classmethod
    def above(cls, curves: Sequence[Sequence[tuple[float, float]]]) -> _Scale:
        """From the least value to the largest, with a margin, but at most ten times the top of the lowest curves.

        The legend names curves that leave the chart; they would squeeze the others, which matter, into one line.
        """
        lowest: dict[float, float] = {}
        for place, value in (point for curve in curves for point in curve):
            lowest[place] = min(value, lowest.get(place, value))
        reach = max(lowest.values(), default=1.0) or 1.0
        inside = [value for curve in curves for _, value in curve if reach * 1e-3 <= value <= reach * 10]
        low, high = min(inside, default=reach), max(inside, default=reach)
        room = 0.05 * math.log10(high / low) or 0.2
        return cls(math.log10(low) - room, math.log10(high) + room)

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end; zero, which has no logarithm, lies below the chart."""
        return (math.log10(value) - self.low) / (self.high - self.low) if value > 0.0 else -1.0

    def ticks(self) -> list[Fraction]:
        """1, 2, 5, 10, … if these are few; powers of ten if they are many; even steps if there are fewer than three."""
        fine = self._inside((1, 2, 5))
        if len(fine) >= 3:
            return fine if len(fine) <= 9 else self._inside((1,))
        return [tick for tick in nice_ticks(Fraction(10**self.low), Fraction(10**self.high)) if tick > 0]

    def _inside(self, digits: tuple[int, ...]) -> list[Fraction]:
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        ticks = (Fraction(10) ** power * digit for power in powers for digit in digits)
        return [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]
