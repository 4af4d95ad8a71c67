"""How closely drawn rows follow the noisy tables that they were made from: free, because all of it is released.

Of what was measured twice, the second look counts: it has less noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sitr.dataclass import dataclass
from sitr.questions.synthetic.axes import MOST_CELLS, Codes
from sitr.questions.synthetic.marginals import Measured, Weights, shares
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.portrait import Portrait

MOST_TRIPLES = 120
"""Triples of columns are compared if there are at most this many."""

NORMAL = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z."""


@dataclass(frozen=True, slots=True)
class TableFit:
    """Σ |p − q| between rows and one noisy table, and what the noise of the table alone would make of it on average."""

    columns: tuple[str, ...]
    found: float
    noise: float

    @property
    def score(self) -> float:
        """1 − ½·Σ |p − q|: the share of rows that both have in the same cells."""
        return 1 - self.found / 2


@dataclass(frozen=True, slots=True)
class Agreement:
    """Every noisy table of one, two or three columns beside the rows."""

    tables: tuple[TableFit, ...]
    people: tuple[TableFit, ...] = ()
    """The tables of people, if the rows of each person are drawn together."""

    def of(self, columns: int) -> tuple[TableFit, ...]:
        """The tables of this number of columns."""
        return tuple(each for each in self.tables if len(each.columns) == columns)

    @property
    def score(self) -> float:
        """The mean score of pairs; of single columns if there are no pairs."""
        counted = self.of(2) or self.of(1)
        return sum(each.score for each in counted) / max(1, len(counted))


def agreement(portrait: Portrait, codes: Codes) -> Agreement:
    """Rows, as numbers of cells, beside all noisy tables. Noisy counts are made probabilities first."""
    measured, diary = portrait.measured, portrait.plan.diary
    people: tuple[TableFit, ...] = ()
    if diary is not None and measured.people is not None:
        fixed = 1 + len(diary.constant)
        people = fits(measured.people, codes[codes[:, fixed] == 0][:, :fixed])  # the first row of each person
    return Agreement(fits(measured, codes), people)


def fits(measured: Measured, codes: Codes) -> tuple[TableFit, ...]:
    names, total = measured.plan.sheet.names, max(measured.total, 1.0)
    found = []
    for columns, counts, deviation, groups in _tables(measured):
        parts = [by[codes[:, place]] for place, by in zip(columns, groups, strict=True)]
        cells = np.ravel_multi_index(tuple(parts), counts.shape) if len(codes) else np.empty(0, dtype=np.int64)
        ours = np.bincount(cells, minlength=counts.size) / max(1, len(codes))
        far = float(np.abs(ours - shares(counts.ravel(), total)).sum())
        noise = min(2.0, counts.size * deviation * NORMAL / total)
        found.append(TableFit(tuple(names[place] for place in columns), far, noise))
    return tuple(found)


Compared = tuple[tuple[int, ...], Weights, float, list[Codes]]
"""The columns of a table, its counts, the deviation of each, and the groups of the cells of each column."""


def _tables(measured: Measured) -> Iterator[Compared]:
    own = [np.arange(count) for count in measured.plan.sheet.grid.shape]
    if measured.plan.method is Method.JOINT:
        yield from _margins(measured, own)
        return
    for each in measured.alone_again or measured.alone:
        yield each.columns, each.counts, each.deviation, [own[place] for place in each.columns]
    for each, by in zip(measured.again, measured.again_groups, strict=True):
        yield each.columns, each.counts, each.deviation, [*by]
    twice = {each.columns for each in measured.again}
    for each in measured.pairs:
        if each.columns not in twice:
            yield each.columns, each.counts, each.deviation, [measured.groups[place] for place in each.columns]
    for each in measured.triples:
        yield each.columns, each.counts, each.deviation, [measured.triple_groups[place] for place in each.columns]


def _margins(measured: Measured, own: list[Codes]) -> Iterator[Compared]:
    """The margins of the one table of all columns: each cell is a sum of cells, with the noise of all of them."""
    (joint,) = measured.alone
    places = joint.columns
    for size in (1, 2, 3):
        if size == 3 and math.comb(len(places), 3) > MOST_TRIPLES:
            return
        for columns in combinations(places, size):
            counts: Weights = joint.counts.sum(axis=tuple(place for place in places if place not in columns))
            if counts.size <= MOST_CELLS:
                deviation = joint.deviation * math.sqrt(joint.counts.size / counts.size)
                yield columns, counts, deviation, [own[place] for place in columns]
