"""The trade-off of membership attacks: the most true positives that any test reaches, by its false positives."""

from __future__ import annotations

from collections.abc import Iterator

from sitr.report.chart.svg import BLUE, GREY, LEFT, RIGHT, label, line, polyline, svg, text, window
from sitr.report.figures import about
from sitr.report.views import Views, trade_off
from sitr.report.words.words import Words, in_words

_LEFT, _SPAN, _HEIGHT, _TOP, _FOOT = 15.0, 83.0, 240, 30, 42
_TICKS = (0, 0.25, 0.5, 0.75, 1)


def chart(views: Views, *, rows: bool = False, words: Words | None = None) -> str:
    """The curve below which every attack stays, above the diagonal of blind guessing.

    The curve is a proved upper bound at every place, because it follows the lines that each (ε, δ) allows. It is about
    people, or about `rows` where each row is protected alone.
    """
    words = in_words(words)
    say = words.certificate
    title, across, upright = say.trade_off(rows=rows)
    described = say.no_attack() if views.detected is None else say.attack(views.detected, rows=rows)
    head = label(upright, x=LEFT, y=14, room=RIGHT - LEFT, opacity=0.8)
    parts = [head, *_frame(across, words), *_curves(views, words)]
    return svg(title, described, parts, height=_TOP + _HEIGHT + _FOOT, direction=words.direction)


def _frame(across: str, words: Words) -> Iterator[str]:
    for share in _TICKS:
        x, y = _LEFT + _SPAN * share, _TOP + _HEIGHT * (1 - share)
        written = words.numerals(f"{about(100 * share)}%")
        yield line(_LEFT, y, _LEFT + _SPAN, y, more='stroke-opacity="0.2"')
        yield line(x, _TOP + _HEIGHT, x, _TOP + _HEIGHT + 4, more='stroke-opacity="0.6"')
        yield text(written, x=_LEFT - 1, y=y + 4, size=11, anchor="end", opacity=0.8)
        yield text(written, x=x, y=_TOP + _HEIGHT + 17, size=11, anchor=_anchor(share), opacity=0.8)
    yield label(across, x=RIGHT, y=_TOP + _HEIGHT + 36, room=RIGHT - LEFT, anchor="end", opacity=0.8)


def _anchor(share: float) -> str:
    """The last number stays inside the chart."""
    return "end" if share == 1 else "middle"


def _curves(views: Views, words: Words) -> Iterator[str]:
    corners = [(1000 * x, _HEIGHT * (1 - y)) for x, y in trade_off(views.points)]
    blind = [(0.0, float(_HEIGHT)), (1000.0, 0.0)]
    drawn = [
        polyline(blind, stroke=GREY, more='stroke-width="1.5" stroke-dasharray="5 4"'),
        polyline(corners, stroke=BLUE, more='stroke-width="2.5"'),
    ]
    yield window(drawn, x=_LEFT, y=_TOP, width=_SPAN, height=_HEIGHT)
    for place, (colour, name, dashes) in enumerate(
        ((BLUE, words.certificate.any_attack(), ""), (GREY, words.certificate.blind(), 'stroke-dasharray="5 4"'))
    ):
        y = _TOP + _HEIGHT - 40 + 20 * place
        yield line(58, y - 4, 63, y - 4, stroke=colour, more=f'stroke-width="2.5" {dashes}')
        yield label(name, x=65, y=y, room=34)
