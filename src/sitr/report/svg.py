"""The elements of charts: horizontal positions in percent, vertical positions and letters in pixels."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def svg(title: str, description: str, parts: Iterable[str], *, height: int) -> str:
    """A chart as wide as its place, with a title and a description in words."""
    return (
        f'<svg role="img" width="100%" height="{height}" '
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
