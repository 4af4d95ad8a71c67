"""The claimed and the verified trade-off curve in one picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sitr.audit.exact.claims import read_claim
from sitr.audit.exact.mechanism import FiniteMechanism
from sitr.audit.exact.trade_off import normal_curve, rates
from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.namespace import Later
from sitr.report.chart.svg import BLUE, GREY, LEFT, ORANGE, RIGHT, label, line, polyline, svg, text, window
from sitr.report.figures import about
from sitr.report.views import trade_off
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

PLACES = 400
DELTAS = (0.5, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6)
"""Where a promise of another flavor is converted to (ε, δ)."""

_LEFT, _SPAN, _HEIGHT, _TOP, _FOOT = 15.0, 83.0, 240, 30, 42
_TICKS = (0, 0.25, 0.5, 0.75, 1)

Curve = list[tuple[float, float]]


def picture(mechanism: FiniteMechanism, claim: object = None, *, words: Words | None = None) -> str:
    """An SVG: no test between neighbours lies above the verified curve, and the claim allows all below its own.

    The verified curve is a proved upper bound. Where it crosses the claimed one, the claim is broken.
    """
    words = in_words(words)
    title, across, upright = words.exact.picture()
    promise = None if claim is None else read_claim(claim)
    written = claim if isinstance(claim, str) else repr(claim)
    curves = [(BLUE, words.exact.verified(), "", verified_curve(mechanism))]
    if isinstance(promise, Promise) and (allowed := claimed_curve(promise)):
        curves.append((ORANGE, words.exact.claimed(written), 'stroke-dasharray="7 3"', allowed))
    blind: Curve = [(0.0, 0.0), (1.0, 1.0)]
    curves.append((GREY, words.certificate.blind(), 'stroke-dasharray="2 4"', blind))
    head = label(upright, x=LEFT, y=14, room=RIGHT - LEFT, opacity=0.8)
    parts = [head, *_frame(across, words), *_drawn(curves)]
    described = "; ".join(name for _, name, _, _ in curves)
    return svg(title, described, parts, height=_TOP + _HEIGHT + _FOOT, direction=words.direction)


def verified_curve(mechanism: FiniteMechanism) -> Curve:
    """The most true positives at each rate of false positives, from above."""
    fprs = np.concatenate(([0.0], np.geomspace(1e-6, 1.0, PLACES // 2), np.linspace(0.0, 1.0, PLACES // 2)))
    fprs = np.sort(fprs)
    _, most = rates(mechanism.pairs(), fprs)
    return [*zip(fprs.tolist(), most.tolist(), strict=True)]


def claimed_curve(promise: Promise) -> Curve:
    """The most true positives that a promise allows; nothing for a promise that bounds no test."""
    if isinstance(promise, RandomDP):
        return []
    if isinstance(promise, GaussianDP):
        fprs = np.linspace(0.0, 1.0, PLACES)
        return [*zip(fprs.tolist(), normal_curve(promise.mu, fprs).tolist(), strict=True)]
    points = list(promise.stated)
    if not points:
        for delta in DELTAS:
            try:
                found = ApproximateDP.implied_by(promise, delta=delta)
            except SitrError:
                continue
            if found is not None:
                points.append((found.epsilon, found.delta))
    return trade_off(tuple(points)) if points else []


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


def _drawn(curves: list[tuple[str, str, str, Curve]]) -> Iterator[str]:
    lines = [
        polyline([(1000 * x, _HEIGHT * (1 - y)) for x, y in curve], stroke=colour, more=f'stroke-width="2.5" {dashes}')
        for colour, _, dashes, curve in reversed(curves)
    ]
    yield window(lines, x=_LEFT, y=_TOP, width=_SPAN, height=_HEIGHT)
    for place, (colour, name, dashes, _) in enumerate(curves):
        y = _TOP + _HEIGHT - 20 * (len(curves) - place)
        yield line(48, y - 4, 53, y - 4, stroke=colour, more=f'stroke-width="2.5" {dashes}')
        yield label(name, x=55, y=y, room=44)
