"""Names at the ends of curves, pushed apart so that none covers another, each with a thin line to its curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sitr.report.chart.svg import label, line

GAP = 14.0
"""The least distance between the lines of two names, in pixels."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a curve: its place in percent and in pixels, its name, and its style."""

    x: float
    y: float
    name: str
    full: str
    stroke: str
    bold: bool = False


def names(ends: Sequence[End], *, x: float, room: float, top: float, bottom: float) -> Iterator[str]:
    """The names from x on, `room` percent wide, in the order of their curves from top to bottom."""
    sorted_ends = sorted(ends, key=lambda end: end.y)
    for end, y in zip(sorted_ends, apart([end.y for end in sorted_ends], top=top, bottom=bottom), strict=True):
        near = min(max(end.y, top), bottom)
        yield line(end.x, near, x - 1, y, stroke=end.stroke, more='stroke-width="1"')
        weight = 650 if end.bold else 400
        yield label(end.name, x=x, y=y + 4, room=room, size=11, weight=weight, full=end.full)


def apart(places: Sequence[float], *, top: float, bottom: float, gap: float = GAP) -> list[float]:
    """Ascending places moved as little as possible so that neighbours are a gap apart, between top and bottom.

    The sum of squared moves is least: places that would touch share the mean of what each asks for. If there is too
    little room for all of them, they keep their gap and go on below the bottom.

    >>> apart([10.0, 12.0, 90.0], top=0.0, bottom=100.0, gap=10)
    [6.0, 16.0, 90.0]
    >>> apart([99.0, 99.0], top=0.0, bottom=100.0, gap=10)
    [90.0, 100.0]
    """
    groups: list[tuple[float, int]] = []
    for index, place in enumerate(places):
        mean, size = place - gap * index, 1
        while groups and groups[-1][0] > mean:
            other, count = groups.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        groups.append((mean, size))
    highest = bottom - gap * (len(places) - 1)
    flat = [max(top, min(mean, highest)) for mean, size in groups for _ in range(size)]
    return [place + gap * index for index, place in enumerate(flat)]
