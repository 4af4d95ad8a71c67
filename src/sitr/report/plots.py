"""Charts of an answer and of a budget: self-contained SVG without scripts, fonts or addresses.

Horizontal positions are percentages and text keeps its size, so that a chart fits any width without scaling.
Text and lines take the colour of the page; the few other colours stand out on white and on black.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.questions.aggregate.nodes import spell
from sitr.questions.aggregate.release import Release
from sitr.report.english import ENGLISH
from sitr.report.figures import CONFIDENCE, Figures, about, short, shortened, visible
from sitr.report.words import parameters

BLUE, ORANGE, GREY = "#0072b2", "#d07a00", "#8a94a0"
"""The palette, after Okabe and Ito: distinguishable with any colour vision, and by brightness alone."""

WIDTH = 800
"""The width of a chart in its own file, in pixels."""

MOST_KEYS = 40
_MOST_LETTERS = 34
_ROW, _HEAD, _FOOT, _GAP = 38, 42, 24, 22
_LEFT, _RIGHT = 1.0, 99.0
"""The ends of the horizontal axis, in percent."""
_PALE = 'fill-opacity="0.3"'


def chart(release: Release) -> str:
    """One panel for each column of an answer, a bar with a 95% whisker for each key.

    Beyond 40 keys, only those with the largest numbers in the first column are drawn, and the chart says so. Choosing
    them from noisy numbers costs nothing.
    """
    title = ENGLISH.chart([column.term.name for column in release.plan.columns])
    if not release.keys:
        return _empty(title, ENGLISH.empty(release.plan))
    drawn = _drawn(release)
    labels = [shortened(ENGLISH.label(release.keys[place]), most=_MOST_LETTERS) for place in drawn]
    parts: list[str] = []
    top = 0
    for index in range(len(release.plan.columns)):
        panel = _Panel.of(release, index, drawn)
        parts.extend(panel.svg(labels, top=top))
        top += panel.height(len(labels)) + _GAP
    note = ENGLISH.largest(len(drawn), len(release.keys))
    if len(drawn) < len(release.keys):
        parts.append(_text(note, x=_LEFT, y=top, size=12, opacity=0.8))
        top += 24
    return _svg(title, note, parts, height=top - _GAP)


def standalone(svg: str) -> str:
    """A chart as its own file, with a namespace and a size, so that it scales as an image.

    Inside a page, a chart needs no namespace and is as wide as its place.

    >>> standalone(_svg("A title", "In words.", [], height=80))[:95]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 80" role="img" width="800" height="80"'
    """
    height = re.search(r'height="(\d+)"', svg)
    assert height is not None
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height[1]}" '
    return svg.replace("<svg ", opening, 1).replace('width="100%"', f'width="{WIDTH}"', 1)


def budget_bar(budget: Filter, *, charge: Kept | None = None) -> str:
    """What is spent and what is left of a budget: a bar for each parameter of its promise.

    A `charge` that is already included in what is spent gets its own colour. The first charge closes γ, whatever is
    left of it.
    """
    parts: list[str] = []
    top = 0
    for symbol, promised, spent, last in _parameters(budget, charge):
        share, before = spent / promised, max(Fraction(0), spent - last) / promised
        left = "closed" if symbol == "γ" and budget.charges else f"{_percent(1 - share)} left"
        parts += [
            _text(f"{symbol} = {about(promised)}", x=0, y=top + 12, size=12),
            _text(left, x=100, y=top + 12, size=12, anchor="end"),
            _rect(0, top + 18, 100, 12, GREY, _PALE),
            _rect(0, top + 18, float(100 * before), 12, BLUE),
            _rect(float(100 * before), top + 18, float(100 * (share - before)), 12, ORANGE),
        ]
        top += 44
    spent_parts = [(BLUE, "spent")] if charge is None else [(BLUE, "spent before"), (ORANGE, "this answer")]
    for place, (colour, name) in enumerate([*spent_parts, (GREY, "left")]):
        parts.append(_rect(34 * place, top, 2, 10, colour, _PALE if colour == GREY else ""))
        parts.append(_text(name, x=34 * place + 3.5, y=top + 9, size=12))
    return _svg("The budget: spent and left", ENGLISH.budget(budget, charge), parts, height=top + 14)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One column: its values, its error and its axis, in the column's unit."""

    name: str
    aggregate: str
    figures: Figures
    granules: tuple[int, ...]
    width: Fraction
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, release: Release, index: int, drawn: list[int]) -> _Panel:
        column = release.plan.columns[index]
        granules = tuple(release.granules[place][index] for place in drawn)
        width = column.noise.error(confidence=CONFIDENCE) * column.granularity
        # At least one granule wide, so that there is an axis even if all values are zero.
        low = min(min(granules) * column.granularity - width, Fraction(0))
        high = max(max(granules) * column.granularity + width, low + column.granularity, Fraction(0))
        name, aggregate = visible(column.term.name), visible(spell(column.term.spelled))
        return cls(name, aggregate, Figures.of(column), granules, width, low, high)

    def height(self, rows: int) -> int:
        return _HEAD + _ROW * rows + _FOOT

    def x(self, value: Fraction) -> float:
        """The place of a value on the axis."""
        return _LEFT + float((value - self.low) / (self.high - self.low)) * (_RIGHT - _LEFT)

    def svg(self, labels: list[str], *, top: int) -> Iterator[str]:
        yield _text(shortened(self.name, most=_MOST_LETTERS), x=_LEFT, y=top + 15, size=15, weight=650)
        yield _text(f"± {self.figures.error()}", x=_RIGHT, y=top + 15, size=12, opacity=0.8, anchor="end")
        yield _text(shortened(self.aggregate, most=_MOST_LETTERS + 8), x=_LEFT, y=top + 31, size=11, opacity=0.75)
        ticks = [(tick, self.x(tick)) for tick in nice_ticks(self.low, self.high)]
        for place, (label, granules) in enumerate(zip(labels, self.granules, strict=True)):
            yield from self._bar(label, granules, [x for _, x in ticks], top + _HEAD + _ROW * place)
        for tick, x in ticks:
            anchor = "start" if x < 6 else "end" if x > 94 else "middle"
            bottom = top + self.height(len(labels)) - _FOOT
            yield _text(short(tick), x=x, y=bottom + 12, size=11, opacity=0.75, anchor=anchor)

    def _bar(self, label: str, granules: int, ticks: list[float], top: int) -> Iterator[str]:
        value = granules * self.figures.granularity
        zero, end = self.x(Fraction(0)), self.x(value)
        low, high = self.x(value - self.width), self.x(value + self.width)
        middle = top + 23
        # Grid lines are drawn only next to bars, so they never cross a word.
        for x in ticks:
            yield _line(x, top + 15, x, top + 31, f'stroke-opacity="{0.9 if x == zero else 0.2}"')
        yield _text(label, x=_LEFT, y=top + 12, size=12)
        yield _text(self.figures.value(granules), x=_RIGHT, y=top + 12, size=12, anchor="end")
        yield _rect(min(zero, end), top + 17, abs(end - zero), 12, BLUE, 'fill-opacity="0.75"')
        yield _line(low, middle, high, middle, 'stroke-width="1.5"')
        for x in (low, high):
            yield _line(x, middle - 4, x, middle + 4, 'stroke-width="1.5"')


def nice_ticks(low: Fraction, high: Fraction, *, most: int = 5) -> list[Fraction]:
    """Round numbers at equal steps between low and high, at most `most` steps.

    >>> [str(tick) for tick in nice_ticks(Fraction(-3), Fraction(97))]
    ['0', '20', '40', '60', '80']
    """
    least = (high - low) / most
    power = Fraction(10) ** math.floor(math.log10(least))
    step = next(power * size for size in (1, 2, Fraction(5, 2), 5, 10, 20) if power * size >= least)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _drawn(release: Release) -> list[int]:
    """The positions of the rows to draw: all in order, or the largest first if there are too many."""
    places = list(range(len(release.keys)))
    if len(places) <= MOST_KEYS:
        return places
    return sorted(places, key=lambda place: -release.granules[place][0])[:MOST_KEYS]


def _parameters(budget: Filter, charge: Kept | None) -> Iterator[tuple[str, Fraction, Fraction, Fraction]]:
    """Symbol, promised, spent and last charged, for every parameter whose promise is above zero."""
    spent = parameters(budget.spent())
    last = parameters(charge) if charge is not None else {}
    for symbol, promised in parameters(budget.promise).items():
        if promised > 0:
            yield symbol, promised, spent[symbol], last.get(symbol, Fraction(0))


def _percent(share: Fraction) -> str:
    """A share that is left, rounded down."""
    return f"{math.floor(max(Fraction(0), share) * 1000) / 10:g}%"


def _empty(title: str, sentence: str) -> str:
    first, _, rest = sentence.partition(". ")
    frame = _rect(0.5, 1, 99, 78, "none", 'rx="6" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="5 4"')
    return _svg(title, rest, [frame, _text(f"{first}.", x=50, y=45, size=14, anchor="middle")], height=80)


def _svg(title: str, description: str, parts: list[str], *, height: int) -> str:
    return (
        f'<svg role="img" width="100%" height="{height}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )


def _text(
    text: str, *, x: float, y: float, size: int, anchor: str = "start", opacity: float = 1.0, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.2f}%" y="{y}" font-size="{size}" font-weight="{weight}" fill="currentColor" '
        f'fill-opacity="{opacity}" text-anchor="{anchor}" style="unicode-bidi: plaintext">{escape(text)}</text>'
    )


def _rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x:.2f}%" y="{y}" width="{width:.2f}%" height="{height}" fill="{fill}" {more}/>'


def _line(x1: float, y1: float, x2: float, y2: float, more: str) -> str:
    return f'<line x1="{x1:.2f}%" y1="{y1}" x2="{x2:.2f}%" y2="{y2}" stroke="currentColor" {more}/>'
