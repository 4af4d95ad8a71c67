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
from sitr.report.chart.lettering import NARROW, width
from sitr.report.chart.svg import BLUE, LEFT, ORANGE, RIGHT, heading, label, rect, svg, text
from sitr.report.figures import visible
from sitr.report.words.words import Words, in_words

MOST_BARS = 24
_ROW, _HEAD, _GAP, _AXIS = 18, 18, 20, 18
_NAMES, _BAR, _STARTS = 34.0, 18.0, (37.0, 69.0)
"""The room for names, the longest bar, and where the bars of both sides begin, in percent."""
_MAP, _MAPS = 38.0, (22.0, 61.0)
_SQUARE, _MOST_TILES, _MOST_MAPS = 150, 24, 4


def chart(portrait: Portrait, rows: Codes, *, words: Words | None = None) -> str:
    """Every column: the noisy shares above, those of the synthetic rows below; then a few pairs as maps, side by side.

    Only released numbers are drawn: a picture costs nothing.
    """
    words = in_words(words)
    parts: list[str] = []
    top = 0.0
    for place, axis in enumerate(portrait.axes):
        noisy, cells = _single(portrait, place), words.histogram.cells(axis)
        drawn, shown = _shares(rows[:, place], len(cells)), _shown(noisy)
        labels = [cells[cell] for cell in shown]
        sides = [side[shown] for side in (noisy, drawn)]
        if others := len(cells) - len(shown):
            labels.append(words.synthetic.others(others))
            sides = [
                np.append(some, max(0.0, side.sum() - some.sum()))
                for side, some in zip((noisy, drawn), sides, strict=True)
            ]
        head, top = heading(visible(axis.column.name), top=top)
        parts += [*head, *_bars(labels, *sides, top=top, words=words)]
        top += _HEAD + _ROW * len(labels) + _GAP
    for i, j in _strong(portrait):
        columns = portrait.plan.sheet.names
        head, top = heading(words.synthetic.map(columns[i], columns[j]), top=top)
        parts += [*head, *_maps(portrait, rows, i, j, top=top, words=words)]
        top += _HEAD + _SQUARE + _AXIS + _GAP
    title, description = words.synthetic.chart()
    return svg(title, description, parts, height=top, direction=words.direction)


def _bars(labels: list[str], noisy: Weights, drawn: Weights, *, top: float, words: Words) -> Iterator[str]:
    most = max(float(noisy.max(initial=0.0)), float(drawn.max(initial=0.0)), 1e-12)
    ends = (_STARTS[1] - 3, RIGHT)
    for end, name in zip(ends, ("noisy table", "synthetic rows"), strict=True):
        yield label(words.label(name), x=end, y=top + 11, room=30, size=11, anchor="end", opacity=0.8)
    for place, name in enumerate(labels):
        y = top + _HEAD + _ROW * place
        yield label(name, x=LEFT, y=y + 12, room=_NAMES)
        for start, end, share, colour in zip(_STARTS, ends, (noisy, drawn), (BLUE, ORANGE), strict=True):
            part = float(share[place])
            yield rect(start, y + 3, _BAR * part / most, 11, fill=colour, more='fill-opacity="0.8"')
            yield text(words.numerals(f"{100 * part:.1f}%"), x=end, y=y + 12, size=11, anchor="end")


def _maps(portrait: Portrait, rows: Codes, i: int, j: int, *, top: float, words: Words) -> Iterator[str]:
    """Two maps of one pair, darker where there is more, each with the same scale and the ends of its axes."""
    model = portrait.marginal(i, j)
    flat = rows[:, i] * model.shape[1] + rows[:, j]
    drawn = _shares(flat, model.size).reshape(model.shape)
    sides = [_tiles(model), _tiles(drawn)]
    most = max(float(side.max()) for side in sides) or 1.0
    (first, last), (left, right) = (_ends(portrait, place, words) for place in (i, j))
    yield label(first, x=LEFT, y=top + _HEAD + 11, room=_MAPS[0] - 2, size=11, opacity=0.8)
    yield label(last, x=LEFT, y=top + _HEAD + _SQUARE - 2, room=_MAPS[0] - 2, size=11, opacity=0.8)
    below = top + _HEAD + _SQUARE + 14
    for start, name, side in zip(_MAPS, ("fitted model", "synthetic rows"), sides, strict=True):
        yield label(words.label(name), x=start, y=top + 11, room=_MAP, size=11, opacity=0.8)
        yield label(left, x=start, y=below, room=_beside(right), size=11, opacity=0.8)
        yield label(right, x=start + _MAP, y=below, room=_beside(left), size=11, anchor="end", opacity=0.8)
        high, wide = _SQUARE / side.shape[0], _MAP / side.shape[1]
        for row, column in zip(*np.nonzero(side > 0), strict=True):
            shade = math.sqrt(float(side[row, column]) / most)
            y = top + _HEAD + row * high
            yield rect(start + column * wide, y, wide, high, fill=BLUE, more=f'fill-opacity="{shade:.3f}"')


def _beside(other: str) -> float:
    """The room for a word below a map: half of it, and what the word at its other end leaves of the other half."""
    return max(_MAP / 2 - 1, _MAP - 2 - 100 * width(other, size=11) / NARROW)


def _ends(portrait: Portrait, place: int, words: Words) -> tuple[str, str]:
    """The labels of the first and the last cell of a column."""
    cells = words.histogram.cells(portrait.axes[place])
    return cells[0], cells[-1]


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
