"""Charts of a loss: δ at each ε, and ε by number of releases, each as a proved band."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.chart.svg import BLUE, GREY, line, nice_ticks, placed, polyline, svg, text, window
from sitr.report.figures import about, at_most, short
from sitr.report.words.words import Words, in_words

WIDTH = 0.01
"""The relative width of the band."""

SHARES = 12
"""The number of points at which ε is computed along the releases."""

DECADES = range(1, 13)
"""δ = 10⁻¹, 10⁻², …, and six powers of ten beyond the given δ."""

_LEFT, _SPAN, _HEIGHT, _HEAD, _FOOT, _GAP, _EDGE = 9.0, 89.0, 220, 40, 34, 18, 1.0

Points = tuple[tuple[float, float], ...]


def chart(loss: Loss, *, delta: float, words: Words | None = None) -> str:
    """Both panels in one chart; only the first if δ is 0 or 1."""
    words = in_words(words)
    panels = [along_epsilon(loss, delta=delta, words=words)]
    if 0.0 < delta < 1.0:
        panels.append(along_releases(loss, delta=delta, words=words))
    parts: list[str] = []
    top = 0
    for panel in panels:
        parts.extend(panel.svg(words, top=top))
        top += _HEAD + _HEIGHT + _FOOT + _GAP
    note = words.accounting.bands()
    parts.extend(placed([text(note, x=_EDGE, y=top + 6, size=11, opacity=0.8)], words))
    return svg(words.label("Privacy loss: δ at each ε, and ε by number of releases"), note, parts, height=top + 16)


def along_epsilon(loss: Loss, *, delta: float, words: Words | None = None) -> Panel:
    """ε at powers of ten, drawn as δ at each ε."""
    words = in_words(words)
    beyond = math.ceil(-math.log10(delta)) + 6 if delta > 0.0 else 12
    places = [10.0**-power for power in range(1, min(300, max(DECADES[-1], beyond)) + 1)][:: 1 + beyond // 25]
    found = [(place, loss.epsilon(delta=place, relative=WIDTH)) for place in places]
    known = [(place, epsilon) for place, epsilon in found if math.isfinite(epsilon.upper)]
    under, over = _sides([(epsilon, place) for place, epsilon in known])
    across = "ε" if len(known) == len(found) else words.accounting.endless("ε")
    upright = words.label("δ, on a logarithmic axis")
    return Panel(words.label("δ at each ε"), across, upright, under, over, logarithmic=True)


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
    axis = words.label("releases") if equal else words.label("repetitions of the whole")
    axis = axis if len(known) == len(found) else words.accounting.endless(axis)
    return Panel(words.accounting.by_releases(at_most(delta)), axis, "ε", under, over, logarithmic=False)


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

    def svg(self, words: Words, *, top: int) -> Iterator[str]:
        pane = top + _HEAD
        yield from placed([text(self.title, x=_EDGE, y=top + 15, size=15, weight=650)], words)
        yield text(self.upright, x=_EDGE, y=top + 32, size=11, opacity=0.75)
        for tick, write in self._upright_ticks():
            height = pane + self._y(tick)
            yield line(_LEFT, height, _LEFT + _SPAN, height, more='stroke-opacity="0.2"')
            yield text(write, x=_LEFT - 1, y=height + 4, size=11, anchor="end", opacity=0.75)
        for place in nice_ticks(Fraction(0), Fraction(self._last)):
            x = _LEFT + _SPAN * float(place) / self._last
            anchor = "end" if x > 94 else "middle"
            yield line(x, pane + _HEIGHT, x, pane + _HEIGHT + 4, more='stroke-opacity="0.6"')
            yield text(short(place), x=x, y=pane + _HEIGHT + 17, size=11, anchor=anchor, opacity=0.75)
        yield text(self.across, x=_LEFT + _SPAN / 2, y=pane + _HEIGHT + 31, size=11, anchor="middle", opacity=0.75)
        low, high = ([(1000 * x / self._last, self._y(y)) for x, y in side] for side in (self.under, self.over))
        drawn = [
            polyline([*low, *reversed(high)], stroke=GREY, more='stroke-opacity="0.5" stroke-width="5"'),
            polyline(high * 2 if len(high) == 1 else high, stroke=BLUE, more='stroke-width="2.5"'),
        ]
        yield window(drawn, x=_LEFT, y=pane, width=_SPAN, height=_HEIGHT)

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
        if not self.logarithmic:
            return [(float(tick), about(tick)) for tick in nice_ticks(Fraction(low), Fraction(high))]
        powers = range(math.ceil(low), math.floor(high) + 1)
        return [(10.0**power, about(Fraction(10) ** power)) for power in powers[:: 1 + len(powers) // 8]]
