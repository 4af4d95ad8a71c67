"""Pictures of audits: the trade-off that a claim allows with what a test reaches, and bounds on ε beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitr.report.chart.svg import (
    BLUE,
    GREY,
    LEFT,
    ORANGE,
    RIGHT,
    heading,
    label,
    line,
    polyline,
    rect,
    svg,
    text,
    window,
)
from sitr.report.figures import about, at_least, at_most
from sitr.report.words.words import Words, in_words

Points = Sequence[tuple[float, float]]

_LEFT, _SPAN, _HEIGHT, _TOP, _FOOT = 15.0, 83.0, 240, 46, 42
_TICKS = (0, 0.25, 0.5, 0.75, 1)


def chart(claimed: Points, audited: Points, *, broken: bool, words: Words | None = None) -> str:
    """The largest share of true positives that the claim allows, and the one that a test surely reaches.

    Both curves are over the share of false positives. A claim is broken if the second curve is above the first.
    """
    words = in_words(words)
    title, across, upright = words.audit.trade_off()
    head = [label(title, x=LEFT, y=15, room=RIGHT - LEFT, size=15, weight=650)]
    head.append(label(upright, x=LEFT, y=34, room=RIGHT - LEFT, opacity=0.8))
    parts = [*head, *_frame(across, words), *_curves(claimed, audited, words)]
    height = _TOP + _HEIGHT + _FOOT
    return svg(title, words.audit.described(broken), parts, height=height, direction=words.direction)


def _frame(across: str, words: Words) -> Iterator[str]:
    for share in _TICKS:
        x, y = _LEFT + _SPAN * share, _TOP + _HEIGHT * (1 - share)
        written = words.numerals(f"{about(100 * share)}%")
        yield line(_LEFT, y, _LEFT + _SPAN, y, more='stroke-opacity="0.2"')
        yield line(x, _TOP + _HEIGHT, x, _TOP + _HEIGHT + 4, more='stroke-opacity="0.6"')
        yield text(written, x=_LEFT - 1, y=y + 4, size=11, anchor="end", opacity=0.8)
        anchor = "end" if share == 1 else "middle"  # the last number stays inside the chart
        yield text(written, x=x, y=_TOP + _HEIGHT + 17, size=11, anchor=anchor, opacity=0.8)
    yield label(across, x=RIGHT, y=_TOP + _HEIGHT + 36, room=RIGHT - LEFT, anchor="end", opacity=0.8)


def _curves(claimed: Points, audited: Points, words: Words) -> Iterator[str]:
    allowed, reached = ([(1000 * x, _HEIGHT * (1 - y)) for x, y in points] for points in (claimed, audited))
    blind = [(0.0, float(_HEIGHT)), (1000.0, 0.0)]
    drawn = [
        polyline(blind, stroke=GREY, more='stroke-width="1.5" stroke-dasharray="5 4"'),
        polyline(allowed, stroke=BLUE, more='stroke-width="2.5"'),
        polyline(reached, stroke=ORANGE, more='stroke-width="2.5" stroke-dasharray="7 4"'),
    ]
    yield window(drawn, x=_LEFT, y=_TOP, width=_SPAN, height=_HEIGHT)
    names = words.audit.curves()
    for place, (colour, name, dashes) in enumerate(
        ((BLUE, names[0], ""), (ORANGE, names[1], 'stroke-dasharray="7 4"'))
    ):
        y = _TOP + _HEIGHT - 40 + 20 * place
        yield line(50, y - 4, 55, y - 4, stroke=colour, more=f'stroke-width="2.5" {dashes}')
        yield label(name, x=57, y=y, room=41)


def bounds_chart(
    audited: float, *, lower: float | None, upper: float | None, delta: float, words: Words | None = None
) -> str:
    """The accountant's interval of ε, and the audited lower bound, on one axis that starts at 0.

    Without an accountant's lower end, its interval starts at 0; without an upper one, it is left out.
    """
    words = in_words(words)
    title, accountant, audit = words.audit.intervals(delta)
    parts, top = heading(title)
    most = 1.15 * max(audited, upper or 0.0, 0.1)

    def place(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * value / most

    y = top + 8
    if upper is not None:
        low = lower or 0.0
        shown = f"{at_least(low)} – {at_most(upper)}" if lower is not None else f"≤ {at_most(upper)}"
        parts.append(label(accountant, x=LEFT, y=y + 10, room=60))
        parts.append(text(words.numerals(shown), x=RIGHT, y=y + 10, anchor="end"))
        parts.append(rect(place(low), y + 16, max(place(upper) - place(low), 0.6), 14, fill=BLUE))
        y += 46
    parts.append(label(audit, x=LEFT, y=y + 10, room=60))
    parts.append(text(words.numerals(f"≥ {at_least(audited)}"), x=RIGHT, y=y + 10, anchor="end"))
    parts.append(rect(LEFT, y + 16, max(place(audited) - LEFT, 0.6), 14, fill=ORANGE, more='fill-opacity="0.35"'))
    parts.append(line(place(audited), y + 12, place(audited), y + 34, stroke=ORANGE, more='stroke-width="3"'))
    y += 46
    parts.append(line(LEFT, y, RIGHT, y, more='stroke-opacity="0.6"'))
    parts.append(text(words.numerals("0"), x=LEFT, y=y + 16, size=11, opacity=0.8))
    return svg(title, f"{accountant}; {audit}", parts, height=y + 26, direction=words.direction)
