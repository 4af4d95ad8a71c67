"""Two Gaussians, with somebody and without, and the privacy loss between them: L = ln P(z)/Q(z), and its tail beyond ε.

For P = N(1, σ²) and Q = N(0, σ²), the loss of z drawn from P is N(μ²/2, μ²) with μ = 1/σ.      [BW18, Lemma 3]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from sitr.report.chart.svg import BLUE, ORANGE, heading, label, line, polyline, svg, window
from sitr.report.words.words import Words, in_words

_HEIGHT, _POINTS, _LEFT, _WIDTH = 110, 160, 2.0, 96.0


def bell(x: float, *, mean: float, spread: float) -> float:
    """The height of a bell whose peak is 1."""
    return math.exp(-(((x - mean) / spread) ** 2) / 2)


def chart(sigma: float, epsilon: float, *, words: Words | None = None) -> str:
    """Two panels: both laws of the answer, and the law of the loss with its tail beyond ε."""
    words = in_words(words)
    say, mu = words.server, 1 / sigma
    parts: list[str] = []
    found, top = heading(say.bells, top=0)
    parts += found
    low, high = -3.5 * sigma, 1 + 3.5 * sigma
    curves = [_curve(partial(bell, mean=at, spread=sigma), low, high) for at in (0.0, 1.0)]
    pairs = zip(curves, (BLUE, ORANGE), strict=True)
    drawn = [polyline(each, stroke=color, more='stroke-width="2.5"') for each, color in pairs]
    parts.append(window(drawn, x=_LEFT, y=top, width=_WIDTH, height=_HEIGHT))
    parts.append(line(_LEFT, top + _HEIGHT, _LEFT + _WIDTH, top + _HEIGHT, more='stroke-opacity="0.4"'))
    top += _HEIGHT + 16
    parts.append(label(say.without_you, x=_LEFT, y=top, room=45))
    parts.append(label(say.with_you, x=_LEFT + _WIDTH, y=top, room=45, anchor="end"))
    found, top = heading(say.loss_of(epsilon), top=top + 14)
    parts += found
    mean, spread = mu * mu / 2, mu
    low, high = min(mean - 4 * spread, -0.2), max(mean + 4 * spread, epsilon * 1.15, 0.2)
    law = _curve(lambda x: bell(x, mean=mean, spread=spread), low, high)
    start = 1000 * (epsilon - low) / (high - low)
    tail = [(x, y) for x, y in law if x >= start]
    filled = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(start, float(_HEIGHT)), *tail, (1000.0, float(_HEIGHT))])
    parts.append(
        window(
            [
                f'<polygon points="{filled}" fill="{ORANGE}" fill-opacity="0.65"/>',
                polyline(law, stroke=BLUE, more='stroke-width="2.5"'),
                polyline([(start, 0), (start, _HEIGHT)], stroke="currentColor", more='stroke-width="1.5"'),
            ],
            x=_LEFT,
            y=top,
            width=_WIDTH,
            height=_HEIGHT,
        )
    )
    parts.append(line(_LEFT, top + _HEIGHT, _LEFT + _WIDTH, top + _HEIGHT, more='stroke-opacity="0.4"'))
    for value in sorted({0.0, epsilon}):
        x = _LEFT + _WIDTH * (value - low) / (high - low)
        parts.append(label(words.numerals(f"{value:g}"), x=x, y=top + _HEIGHT + 14, room=10, anchor="middle"))
    return svg(say.bells, say.loss_of(epsilon), parts, height=top + _HEIGHT + 20, direction=words.direction)


def _curve(height: Callable[[float], float], low: float, high: float) -> list[tuple[float, float]]:
    places = [low + (high - low) * place / _POINTS for place in range(_POINTS + 1)]
    return [(1000 * (x - low) / (high - low), _HEIGHT * (1 - 0.95 * height(x))) for x in places]
