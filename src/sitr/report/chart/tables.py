"""The chart of released tables: the cells of the first one, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sitr.dataset.cells import NO_VALUE
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.tables.publication import PublishedTables, shown_measure
from sitr.questions.tables.workload import Node
from sitr.report.chart.svg import BLUE, LEFT, heading, line, pair, rect, svg
from sitr.report.figures import CONFIDENCE, Figures, visible
from sitr.report.words.words import Words, in_words

MOST_ROWS = 40
_ROW = 30


def labelled(publication: PublishedTables, node: Node, words: Words) -> list[tuple[str, ...]]:
    """The labels of each cell of a table, as a reader of this language reads them; one empty tuple for the total."""
    labels = [part.to_pylist() for part in publication.labels(node).values()]
    if not labels:
        return [()]
    nothing = words.aggregate.key(None)
    return [
        tuple(nothing if label == NO_VALUE else visible(label) for label in each) for each in zip(*labels, strict=True)
    ]


def chart(
    publication: PublishedTables,
    *,
    words: Words | None = None,
    node: Node | None = None,
    hidden: Sequence[bool] = (),
    most: int = MOST_ROWS,
) -> str:
    """The chart as SVG; its text says what it leaves out. It is of the first table if no other is named.

    Cells that are `hidden`, because they are too uncertain to publish, are not drawn.
    """
    words = in_words(words)
    say, plan = words.tables, publication.plan
    node, measure = plan.workload.tables[0] if node is None else node, shown_measure(plan)
    cells = np.nan_to_num(publication.cells(measure, node).ravel())
    low, high = (part.ravel() for part in publication.ends(measure, node, confidence=CONFIDENCE))
    names = [" · ".join(each) or say.total() for each in labelled(publication, node, words)]
    size = len(cells)
    places = [place for place in range(size) if not any(hidden[place : place + 1])]
    if len(places) > most:
        places = sorted(places, key=lambda place: -cells[place])[:most]
    form = Figures.fitting(Fraction(plan.error(measure, node, confidence=CONFIDENCE)), step=None)
    limit = max([1e-300, *(float(high[place]) for place in places)])
    note = say.drawn(len(places), size)
    parts, top = heading(say.title(plan, node, measure), note)
    for place in places:
        exact = Fraction(float(cells[place]))
        parts += pair(names[place], words.numerals(form.value(Estimate(exact, exact, exact))), y=top + 14)
        wide = 98 * max(0.0, float(cells[place])) / limit
        parts.append(rect(LEFT, top + 18, wide, 10, fill=BLUE, more='fill-opacity="0.75"'))
        ends = [LEFT + 98 * min(limit, max(0.0, float(part[place]))) / limit for part in (low, high)]
        parts.append(line(ends[0], top + 23, ends[1], top + 23, more='stroke-width="1.2"'))
        top += _ROW
    return svg(say.title(plan, node, measure), note, parts, height=top + 8, direction=words.direction)
