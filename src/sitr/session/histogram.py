"""A released histogram. Rounding, smoothing and summing it is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.errors import QuestionError, unknown_name
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.histogram.counts import Histogram, RangeEstimate
from sitr.questions.histogram.draw import draw_rows
from sitr.questions.histogram.isotonic import Form
from sitr.questions.histogram.projection import Ties
from sitr.questions.histogram.question import histogram_question
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request


@dataclass(frozen=True, slots=True, repr=False)
class HistogramAnswer(Answer):
    """Counts with their intervals."""

    @property
    def histogram(self) -> Histogram:
        """The counts with all measurements."""
        assert isinstance(self.released, Histogram)
        return self.released

    @property
    def counts(self) -> NDArray[np.float64]:
        """The count of each cell, the last column varying fastest."""
        return self.histogram.counts

    def over(self, first: int, last: int, *, confidence: Number = 0.95) -> RangeEstimate:
        """The sum of the cells from `first` to `last`, both included, with its interval."""
        size = len(self.counts)
        if not 0 <= first <= last < size:
            raise QuestionError(
                wanted=f"a range of cells with 0 ≤ first ≤ last ≤ {size - 1}",
                given=f"{first!r} to {last!r}",
                do="Number the cells from 0, in the order of the table.",
            )
        return self.histogram.over(np.arange(first, last + 1), confidence=confidence)

    def rectangle(self, ranges: Mapping[str, tuple[int, int]], *, confidence: Number = 0.95) -> RangeEstimate:
        """The sum over the cells from `first` to `last` of each named column, with its interval.

        Cells of a column are numbered from 0, in the order of the table; of columns without a range, all cells count.
        """
        grid = self.histogram.grid
        names = [axis.column.name for axis in grid.axes]
        wanted = np.ones(grid.shape, np.bool_)
        for name, (first, last) in ranges.items():
            if name not in names:
                raise unknown_name(name, names, lacks="The histogram has no column")
            axis = names.index(name)
            if not 0 <= first <= last < grid.shape[axis]:
                raise QuestionError(
                    wanted=f"a range of cells with 0 ≤ first ≤ last ≤ {grid.shape[axis] - 1}",
                    given=f"{first!r} to {last!r}",
                    do="Number the cells from 0, in the order of the table.",
                )
            inside = np.zeros(grid.shape[axis], np.bool_)
            inside[first : last + 1] = True
            wanted &= inside.reshape([-1 if place == axis else 1 for place in range(len(names))])
        return self.histogram.over(np.flatnonzero(wanted), confidence=confidence)

    def lattice(self, *, total: int | None = None, ties: Ties | None = None) -> HistogramAnswer:
        """The nearest nonnegative integer counts, in ℓ1 distance, with this total."""
        return replace(self, released=self.histogram.lattice(total=total, ties=ties))

    def simplex(self, *, total: int | None = None) -> HistogramAnswer:
        """The nearest nonnegative counts, in Euclidean distance, with this total."""
        return replace(self, released=self.histogram.simplex(total=total))

    def nonnegative(self) -> HistogramAnswer:
        """Negative counts set to zero."""
        return replace(self, released=self.histogram.nonnegative())

    def isotonic(self, form: Form) -> HistogramAnswer:
        """The nearest counts, in Euclidean distance, that rise, fall or have one peak."""
        return replace(self, released=self.histogram.isotonic(form))

    def draw(self, rows: int, *, coins: Coins | None = None) -> pa.Table:
        """This many synthetic rows, drawn from the noisy counts: free, and as often as you like.

        Each row falls into a cell with the probability of its count, and takes a value of that cell. Rows in a cell
        without values of its own, such as "(no value)" or "(other)", are NULL in that column. For several columns and
        good relations between them, use `Budget.synthesize` instead.
        """
        return self._stamped(draw_rows(self.histogram, rows, coins=coins if coins is not None else system_coins()))


def requested(at: Desk, columns: tuple[str, ...], *, where: Expression | None, **said: Any) -> Request[HistogramAnswer]:
    """A histogram of these columns: see `Budget.histogram`."""
    question = histogram_question(at.table, columns, where=where, **said)
    if question.needs_rows:
        question = replace(question, rows=at.backend.size())
    return Request(question, at, HistogramAnswer)
