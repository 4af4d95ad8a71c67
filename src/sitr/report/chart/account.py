"""Charts of a loss: δ at each ε, and ε by number of releases, each as a proved band."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.chart.axis import Logarithmic, across, margin, nice_ticks, written
from sitr.report.chart.svg import BLUE, GREY, heading, label, line, paragraph, polyline, svg, text, window
from sitr.report.words.words import Words, in_words

WIDTH = 0.01
"""The relative width of the band."""

SHARES = 12
"""The number of points at which ε is computed along the releases."""

DECADES = range(1, 13)
"""δ = 10⁻¹, 10⁻², …, and six powers of ten beyond the given δ."""

_END, _HEIGHT, _FOOT, _GAP = 96.0, 220, 34, 18

Points = tuple[tuple[float, float], ...]


def chart(loss: Loss, *, delta: float, words: Words | None = None) -> str:
    """Both panels in one chart; only the first if δ is 0 or 1."""
    words = in_words(words)
    both = 0.0 < delta < 1.0
    panels = [
        along_epsilon(loss, delta=delta, words=words),
        *([along_releases(loss, delta=delta, words=words)] if both else []),
    ]
    parts: list[str] = []
    top = 0.0
    for panel in panels:
        drawn, top = panel.svg(top=top)
        parts += [*drawn]
    note = words.accounting.bands()
    drawn, height = paragraph(note, y=top + 2)
    title = words.accounting.loss()
    return svg(title, note, [*parts, *drawn], height=top + height, direction=words.direction)


def along_epsilon(loss: Loss, *, delta: float, words: Words | None = None) -> Panel:
    """ε at powers of ten, drawn as δ at each ε."""
    words = in_words(words)
    beyond = math.ceil(-math.log10(delta)) + 6 if delta > 0.0 else 12
    places = [10.0**-power for power in range(1, min(300, max(DECADES[-1], beyond)) + 1)][:: 1 + beyond // 25]
    found = [(place, loss.epsilon(delta=place, relative=WIDTH)) for place in places]
    known = [(place, epsilon) for place, epsilon in found if math.isfinite(epsilon.upper)]
    under, over = _sides([(epsilon, place) for place, epsilon in known])
    across = words.accounting.axis("ε", whole=len(known) == len(found))
    title, upright = words.accounting.at_each("δ", "ε"), words.accounting.logarithmic("δ")
    mark = (delta, words.accounting.given_delta(delta)) if 0.0 < delta < 1.0 else None
    return Panel(title, across, upright, under, over, logarithmic=True, words=words, mark=mark)


def along_releases(loss: Loss, *, delta: float, words: Words | None = None) -> Panel:
    """ε after some of several equal releases, up to all; if they differ, after repetitions of the whole."""
    words = in_words(words)
    equal = len(loss.laws) == 1 and loss.laws[0][1] > 1
    law, times = loss.laws[0] if equal else (None, SHARES)
    places = sorted({max(1, round(times * share / SHARES)) for share in range(1, SHARES + 1)})
    parts = [(float(place), Loss.of(law, place) if law is not None else loss * place) for place in places]
    found = [(place, part.epsilon(delta=delta, relative=WIDTH)) for place, part in parts]
    known = [(place, epsilon) for place, epsilon in found if math.isfinite(epsilon.upper)]
    under, over = (tuple((place, getattr(one, side)) for place, one in known) for side in ("lower", "upper"))
    name = words.label("releases" if equal else "repetitions of the whole")
    axis = words.accounting.axis(name, whole=len(known) == len(found))
    return Panel(words.accounting.by_releases(delta), axis, "ε", under, over, logarithmic=False, words=words)


def _sides(points: list[tuple[Interval, float]]) -> tuple[Points, Points]:
    return tuple((x.lower, y) for x, y in points), tuple((x.upper, y) for x, y in points)


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: both ends of the band, and the axes."""

    title: str
    across: str
    upright: str
    under: Points
    over: Points
    logarithmic: bool
    """Whether the vertical axis is logarithmic."""
    words: Words = field(default_factory=in_words)
    mark: tuple[float, str] | None = None
    """A height to be marked, and its name."""

    def svg(self, *, top: float) -> tuple[list[str], float]:
        """The elements, and where they end."""
        parts, pane = heading(self.title, self.upright, top=top)
        pane += 8
        low, high = ([(1000 * x / self._last, self._y(y)) for x, y in side] for side in (self.under, self.over))
        drawn = [
            polyline([*low, *reversed(high)], stroke=GREY, more='stroke-opacity="0.5" stroke-width="5"'),
            polyline(high * 2 if len(high) == 1 else high, stroke=BLUE, more='stroke-width="2.5"'),
        ]
        curve = window(drawn, x=self._left, y=pane, width=_END - self._left, height=_HEIGHT)
        parts += [*self._axes(pane), curve, *self._marked(pane)]
        return parts, pane + _HEIGHT + _FOOT + _GAP

    def _axes(self, pane: float) -> Iterator[str]:
        for tick, write in self._upright_ticks():
            height = pane + self._y(tick)
            yield line(self._left, height, _END, height, more='stroke-opacity="0.2"')
            yield text(write, x=self._left - 1, y=height + 4, size=11, anchor="end", opacity=0.75)
        numbers = nice_ticks(Fraction(0), Fraction(self._last))
        places = [self._left + (_END - self._left) * float(number) / self._last for number in numbers]
        for x in places:
            yield line(x, pane + _HEIGHT, x, pane + _HEIGHT + 4, more='stroke-opacity="0.6"')
        yield from across(list(zip(places, written(numbers, words=self.words), strict=True)), y=pane + _HEIGHT + 17)
        middle = (self._left + _END) / 2
        yield label(self.across, x=middle, y=pane + _HEIGHT + 32, room=80, size=11, anchor="middle", opacity=0.75)

    def _marked(self, pane: float) -> Iterator[str]:
        """A line at the marked height; its name is where a falling curve is not: below it on the left, or above it."""
        if self.mark is None or not self.over:
            return
        value, name = self.mark
        y = self._y(value)
        if 0 <= y <= _HEIGHT:
            late = any(x > self._last / 2 and height > value for x, height in self.over)
            x, anchor, side = (self._left + 1, "start", 13) if late else (_END, "end", -4)
            yield line(self._left, pane + y, _END, pane + y, more='stroke-dasharray="2 3" stroke-opacity="0.7"')
            yield label(name, x=x, y=pane + y + side, room=60, size=11, anchor=anchor)

    @property
    def _left(self) -> float:
        """Where the pane begins, in percent."""
        return margin([write for _, write in self._upright_ticks()])

    @property
    def _last(self) -> float:
        """The end of the horizontal axis, which begins at 0."""
        return max((x for x, _ in self.over), default=1.0) or 1.0

    def _y(self, value: float) -> float:
        low, high = self._ends()
        share = math.log10(value) if self.logarithmic else value
        return _HEIGHT * (1 - (share - low) / (high - low))

    def _ends(self) -> tuple[float, float]:
        heights = [y for _, y in self.over] or [1.0]
        if not self.logarithmic:
            return 0.0, 1.05 * max(heights) or 1.0
        return math.log10(min(heights)) - 0.2, math.log10(max(heights)) + 0.2

    def _upright_ticks(self) -> list[tuple[float, str]]:
        low, high = self._ends()
        ticks = Logarithmic(low, high).ticks() if self.logarithmic else nice_ticks(Fraction(low), Fraction(high))
        return [(float(tick), write) for tick, write in zip(ticks, written(ticks, words=self.words), strict=True)]
