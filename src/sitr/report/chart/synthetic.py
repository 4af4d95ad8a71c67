"""Synthetic rows in pictures: each column and the strongest pairs, beside the noisy tables they were made from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.portrait import Portrait
from sitr.report.chart.svg import BLUE, ORANGE, placed, rect, svg, text
from sitr.report.figures import shortened, visible
from sitr.report.words.words import Words, in_words

MOST_BARS = 24
_ENDS = 12
"""The longest label at the end of an axis, in characters."""
_ROW, _HEAD, _GAP, _AXIS = 18, 40, 24, 16
_SQUARE, _MOST_TILES, _MOST_MAPS = 150, 24, 4


def chart(portrait: Portrait, rows: Codes, *, words: Words | None = None) -> str:
    """Every column: the noisy shares above, those of the synthetic rows below; then a few pairs as maps, side by side.

    Only released numbers are drawn: a picture costs nothing.
    """
    words = in_words(words)
    parts: list[str] = []
    top = 0
    for place, axis in enumerate(portrait.axes):
        noisy, cells = _single(portrait, place), words.histogram.cells(axis)
        drawn, shown = _shares(rows[:, place], len(cells)), _shown(noisy)
        labels = [shortened(cells[cell], most=26) for cell in shown]
        sides = [side[shown] for side in (noisy, drawn)]
        if others := len(cells) - len(shown):
            labels.append(words.synthetic.others(others))
            sides = [
                np.append(some, max(0.0, side.sum() - some.sum()))
                for side, some in zip((noisy, drawn), sides, strict=True)
            ]
        parts.extend(_bars(visible(axis.column.name), labels, *sides, top=top, words=words))
        top += _HEAD + _ROW * len(labels) + _GAP
    for i, j in _strong(portrait):
        parts.extend(_maps(portrait, rows, i, j, top=top, words=words))
        top += _HEAD + _SQUARE + _AXIS + _GAP
    title, description = words.synthetic.chart()
    return svg(title, description, placed(parts, words), height=top)


def _bars(name: str, labels: list[str], noisy: Weights, drawn: Weights, *, top: int, words: Words) -> Iterator[str]:
    most = max(float(noisy.max(initial=0.0)), float(drawn.max(initial=0.0)), 1e-12)
    yield text(name, x=1, y=top + 16, size=15, weight=650)
    yield text(words.label("noisy table"), x=60, y=top + 32, size=11, anchor="end", opacity=0.8)
    yield text(words.label("synthetic rows"), x=99, y=top + 32, size=11, anchor="end", opacity=0.8)
    for place, label in enumerate(labels):
        y = top + _HEAD + _ROW * place
        yield text(label, x=1, y=y + 12, size=12)
        for start, share, colour in ((24.0, noisy[place], BLUE), (63.0, drawn[place], ORANGE)):
            yield rect(start, y + 3, 28 * float(share) / most, 11, fill=colour, more='fill-opacity="0.8"')
            yield text(f"{100 * float(share):.1f}%", x=start + 36, y=y + 12, size=11, anchor="end")


def _maps(portrait: Portrait, rows: Codes, i: int, j: int, *, top: int, words: Words) -> Iterator[str]:
    """Two maps of one pair, darker where there is more, each with the same scale and the ends of its axes."""
    columns = portrait.plan.sheet.names
    model = portrait.marginal(i, j)
    flat = rows[:, i] * model.shape[1] + rows[:, j]
    drawn = _shares(flat, model.size).reshape(model.shape)
    sides = [_tiles(model), _tiles(drawn)]
    most = max(float(side.max()) for side in sides) or 1.0
    yield text(words.synthetic.map(columns[i], columns[j]), x=1, y=top + 16, size=15, weight=650)
    (first, last), (left, right) = (_ends(portrait, place, words) for place in (i, j))
    yield text(first, x=1, y=top + _HEAD + 11, size=11, opacity=0.8)
    yield text(last, x=1, y=top + _HEAD + _SQUARE - 2, size=11, opacity=0.8)
    for start, label, side in ((20.0, "fitted model", sides[0]), (61.0, "synthetic rows", sides[1])):
        yield text(words.label(label), x=start, y=top + 32, size=11, opacity=0.8)
        yield text(left, x=start, y=top + _HEAD + _SQUARE + 13, size=11, opacity=0.8)
        yield text(right, x=start + 38, y=top + _HEAD + _SQUARE + 13, size=11, anchor="end", opacity=0.8)
        high, wide = _SQUARE / side.shape[0], 38 / side.shape[1]
        for row, column in zip(*np.nonzero(side > 0), strict=True):
            shade = math.sqrt(float(side[row, column]) / most)
            y = top + _HEAD + row * high
            yield rect(start + column * wide, y, wide, high, fill=BLUE, more=f'fill-opacity="{shade:.3f}"')


def _ends(portrait: Portrait, place: int, words: Words) -> tuple[str, str]:
    """The labels of the first and the last cell of a column."""
    cells = words.histogram.cells(portrait.axes[place])
    return shortened(cells[0], most=_ENDS), shortened(cells[-1], most=_ENDS)


def _tiles(table: Weights) -> Weights:
    """The table by at most 24 stripes each way, which are of equal width in cells."""
    for axis in (0, 1):
        size = table.shape[axis]
        stripes = np.arange(size) * min(size, _MOST_TILES) // size
        table = np.add.reduceat(table, np.flatnonzero(np.diff(stripes, prepend=-1)), axis=axis)
    return table


def _strong(portrait: Portrait) -> list[tuple[int, int]]:
    """The pairs whose fitted tables are farthest from independence."""

    def far(pair: tuple[int, int]) -> float:
        i, j = pair
        table = portrait.marginal(i, j)
        return float(np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum())

    return sorted(combinations(range(len(portrait.axes)), 2), key=far, reverse=True)[:_MOST_MAPS]


def _single(portrait: Portrait, place: int) -> Weights:
    if portrait.plan.method is Method.MARGINALS:
        return portrait.measured.shares[place]
    return portrait.marginal(place)


def _shares(codes: Codes, cells: int) -> Weights:
    return np.bincount(codes, minlength=cells) / max(1, len(codes))


def _shown(share: Weights) -> Codes:
    """All cells, or the largest in their order."""
    if len(share) <= MOST_BARS:
        return np.arange(len(share))
    return np.sort(np.argsort(-share, kind="stable")[:MOST_BARS])
