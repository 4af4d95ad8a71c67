"""The elements of charts: self-contained SVG without scripts, fonts or addresses.

Horizontal positions are percentages, vertical positions and letters are in pixels: a chart fits any width without
scaling. Text and lines take the colour of the page; the few other colours stand out on white and on black. Charts are
written for languages that run to the right; `svg` mirrors them for the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape

from sitr.report.chart.lettering import NARROW, cut, lines, width

BLUE, ORANGE, GREY = "#0072b2", "#d07a00", "#8a94a0"
"""The palette, after Okabe and Ito: distinguishable with any colour vision, and by brightness alone."""

WIDTH = 640
"""The width of a chart in its own file, in pixels."""

LEFT, RIGHT = 1.0, 99.0
"""The margins of a chart, in percent."""

SPACING = 1.35
"""The distance between two lines of text, as a multiple of the size of letters."""

_STYLE = (
    "<style>.sitr-chart{color:#1a232c;background:#fff}"
    "@media (prefers-color-scheme:dark){.sitr-chart{color:#e8edf2;background:#161e26}}"
    "@media print{.sitr-chart{color:#000;background:none}}</style>"
)
"""The colours of a chart in its own file, which has no page to take them from."""


def svg(title: str, description: str, parts: Iterable[str], *, height: float, direction: str = "ltr") -> str:
    """A chart as wide as its place, with a title and a description in words; mirrored if its language is "rtl"."""
    drawn = "".join(parts)
    return (
        f'<svg role="img" width="100%" height="{height:g}" direction="{direction}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        f"{_mirrored(drawn) if direction == 'rtl' else drawn}</svg>"
    )


def text(
    words: str,
    *,
    x: float,
    y: float,
    size: int = 12,
    anchor: str = "start",
    opacity: float = 1.0,
    weight: int = 400,
    full: str = "",
) -> str:
    """Words in the colour of the page; `full` is shown to readers who point at them."""
    more = f"<title>{escape(full)}</title>" if full and full != words else ""
    return (
        f'<text x="{x:.2f}%" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="currentColor" '
        f'fill-opacity="{opacity}" text-anchor="{anchor}" style="unicode-bidi: plaintext">{escape(words)}{more}</text>'
    )


def label(
    words: str,
    *,
    x: float,
    y: float,
    room: float,
    size: int = 12,
    anchor: str = "start",
    opacity: float = 1.0,
    weight: int = 400,
    full: str = "",
) -> str:
    """Words in a place that is `room` percent wide: what does not fit on a narrow screen is cut."""
    shown = cut(words, room * NARROW / 100, size=size, weight=weight)
    return text(shown, x=x, y=y, size=size, anchor=anchor, opacity=opacity, weight=weight, full=full or words)


def pair(left: str, right: str, *, y: float, size: int = 12, weight: int = 400, opacity: float = 1.0) -> list[str]:
    """Two texts in one line, at both margins of the chart; if there is too little room, the longer one is cut."""
    whole = RIGHT - LEFT - 3
    first, second = 100 * width(left, size=size, weight=weight) / NARROW, 100 * width(right) / NARROW
    second = min(second, max(whole / 2, whole - first))
    return [
        label(left, x=LEFT, y=y, room=whole - second, size=size, weight=weight),
        label(right, x=RIGHT, y=y, room=second, anchor="end", opacity=opacity),
    ]


def paragraph(
    words: str, *, y: float, size: int = 11, opacity: float = 0.8, weight: int = 400, most: int = 8
) -> tuple[list[str], float]:
    """Words in as many lines as they need, the first one at y, and the height of these lines."""
    found = lines(words, (RIGHT - LEFT) * NARROW / 100, size=size, weight=weight, most=most) if words else []
    step, full = round(SPACING * size), words if len(found) == most else ""
    drawn = [
        text(each, x=LEFT, y=y + step * place, size=size, opacity=opacity, weight=weight, full=full)
        for place, each in enumerate(found)
    ]
    return drawn, step * len(found)


def heading(title: str, *notes: str, top: float = 0) -> tuple[list[str], float]:
    """The title of a chart or a panel, notes below it in small letters, and where they end."""
    parts, height = paragraph(title, y=top + 15, size=15, weight=650, opacity=1.0, most=3)
    for note in notes:
        more, taken = paragraph(note, y=top + height + 13)
        parts, height = [*parts, *more], height + taken
    return parts, top + height + 6


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = "currentColor", more: str = "") -> str:
    """A straight line."""
    return f'<line x1="{x1:.2f}%" y1="{y1:g}" x2="{x2:.2f}%" y2="{y2:g}" stroke="{stroke}" {more}/>'


def rect(x: float, y: float, width: float, height: float, *, fill: str, more: str = "") -> str:
    """A bar or a tile."""
    return f'<rect x="{x:.2f}%" y="{y:g}" width="{width:.2f}%" height="{height:g}" fill="{fill}" {more}/>'


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


def titled(svg: str) -> str:
    """The title of a chart, as text.

    >>> titled(svg("Costs & days", "In words.", [], height=80))
    'Costs & days'
    """
    return unescape(svg.partition("<title>")[2].partition("</title>")[0])


def standalone(svg: str) -> str:
    """A chart as its own file: with a namespace, a size, so that it scales as an image, and colours, light or dark.

    Inside a page, a chart needs no namespace, is as wide as its place and has the colours of the page.

    >>> standalone(svg("A title", "In words.", [], height=80))[:114]
    '<svg xmlns="http://www.w3.org/2000/svg" class="sitr-chart" viewBox="0 0 640 80" role="img" width="640" height="80"'
    """
    height = re.search(r'height="([\d.]+)"', svg)
    assert height is not None
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" class="sitr-chart" viewBox="0 0 {WIDTH} {height[1]}" '
    whole = svg.replace("<svg ", opening, 1).replace('width="100%"', f'width="{WIDTH}"', 1)
    return whole.replace("</desc>", f"</desc>{_STYLE}", 1)


def _mirrored(drawn: str) -> str:
    """Elements at the same distance from the other margin. The anchors of text turn with the direction of the chart."""
    drawn = re.sub(r'( x[12]?=")([-\d.]+)%"', lambda found: f'{found[1]}{100 - float(found[2]):.2f}%"', drawn)
    wide = r'(<(?:rect|svg) x=")([-\d.]+)(%" y="[^"]*" width=")([\d.]+)'
    drawn = re.sub(wide, lambda found: f"{found[1]}{float(found[2]) - float(found[4]):.2f}{found[3]}{found[4]}", drawn)
    flipped = r'preserveAspectRatio="none"><g transform="matrix(-1 0 0 1 1000 0)">\1</g></svg>'
    return re.sub(r'preserveAspectRatio="none">(.*?)</svg>', flipped, drawn)
