"""The elements of charts: self-contained SVG without scripts, fonts or addresses.

Horizontal positions are percentages, vertical positions and letters are in pixels: a chart fits any width without
scaling. Text and lines take the colour of the page; the few other colours stand out on white and on black.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from html import escape, unescape
from typing import Protocol

BLUE, ORANGE, GREY = "#0072b2", "#d07a00", "#8a94a0"
"""The palette, after Okabe and Ito: distinguishable with any colour vision, and by brightness alone."""

WIDTH = 800
"""The width of a chart in its own file, in pixels."""


class Written(Protocol):
    """Words that run in a direction."""

    @property
    def direction(self) -> str: ...


def svg(title: str, description: str, parts: Iterable[str], *, height: int) -> str:
    """A chart as wide as its place, with a title and a description in words."""
    return (
        f'<svg role="img" width="100%" height="{height}" direction="ltr" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )


def text(
    words: str, *, x: float, y: float, size: int = 12, anchor: str = "start", opacity: float = 1.0, weight: int = 400
) -> str:
    """Words in the colour of the page."""
    return (
        f'<text x="{x:.2f}%" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="currentColor" '
        f'fill-opacity="{opacity}" text-anchor="{anchor}" style="unicode-bidi: plaintext">{escape(words)}</text>'
    )


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = "currentColor", more: str = "") -> str:
    """A straight line."""
    return f'<line x1="{x1:.2f}%" y1="{y1:g}" x2="{x2:.2f}%" y2="{y2:g}" stroke="{stroke}" {more}/>'


def rect(x: float, y: float, width: float, height: float, *, fill: str, more: str = "") -> str:
    """A bar or a tile."""
    return f'<rect x="{x:.2f}%" y="{y:g}" width="{width:.2f}%" height="{height:g}" fill="{fill}" {more}/>'


def placed(parts: Iterable[str], words: Written) -> list[str]:
    """Parts that begin at the left, as they are; mirrored, to begin at the right, if the words run from the right.

    Not for curves: an axis of numbers runs from left to right in every language.
    """
    return list(parts) if words.direction == "ltr" else [mirrored(part) for part in parts]


def mirrored(part: str) -> str:
    """Words, a line or a bar, as far from the right as it was from the left.

    >>> mirrored(rect(10, 0, 30, 12, fill=BLUE))
    '<rect x="60.00%" y="0" width="30.00%" height="12" fill="#0072b2" />'
    >>> mirrored(line(10, 0, 30, 0))
    '<line x1="90.00%" y1="0" x2="70.00%" y2="0" stroke="currentColor" />'
    """
    wide = re.search(r'^<rect [^>]*width="([\d.]+)%"', part)
    far = 100 - (float(wide[1]) if wide else 0.0)
    part = re.sub(r'( x[12]?=")(-?[\d.]+)%', lambda found: f"{found[1]}{far - float(found[2]):.2f}%", part)
    ends = {"start": "end", "end": "start", "middle": "middle"}
    return re.sub(r'(text-anchor=")(\w+)', lambda found: found[1] + ends[found[2]], part, count=1)


def window(parts: Iterable[str], *, x: float, y: float, width: float, height: float) -> str:
    """A pane that is 1000 units wide, whatever its width on the page; nothing shows outside it."""
    return (
        f'<svg x="{x:.2f}%" y="{y:g}" width="{width:.2f}%" height="{height:g}" viewBox="0 0 1000 {height:g}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
    )


def polyline(points: Iterable[tuple[float, float]], *, stroke: str, more: str = "") -> str:
    """A curve inside a pane; its width is not stretched with it."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-linecap="round" '
        f'vector-effect="non-scaling-stroke" {more}/>'
    )


def nice_ticks(low: Fraction, high: Fraction, *, most: int = 5) -> list[Fraction]:
    """Round numbers at equal steps between low and high, at most `most` steps.

    >>> [str(tick) for tick in nice_ticks(Fraction(-3), Fraction(97))]
    ['0', '20', '40', '60', '80']
    """
    least = (high - low) / most
    power = Fraction(10) ** math.floor(math.log10(least))
    step = next(power * size for size in (1, 2, Fraction(5, 2), 5, 10, 20) if power * size >= least)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def titled(svg: str) -> str:
    """The title of a chart, as text.

    >>> titled(svg("Costs & days", "In words.", [], height=80))
    'Costs & days'
    """
    return unescape(svg.partition("<title>")[2].partition("</title>")[0])


def standalone(svg: str) -> str:
    """A chart as its own file, with a namespace and a size, so that it scales as an image.

    Inside a page, a chart needs no namespace and is as wide as its place.

    >>> standalone(svg("A title", "In words.", [], height=80))[:95]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 80" role="img" width="800" height="80"'
    """
    height = re.search(r'height="(\d+)"', svg)
    assert height is not None
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height[1]}" '
    return svg.replace("<svg ", opening, 1).replace('width="100%"', f'width="{WIDTH}"', 1)
