"""A released histogram: noisy numbers, the counts estimated from them, and intervals that contain the exact counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.cells import Categories, Even, Grid
from sitr.errors import QuestionError
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.summed import sum_error
from sitr.numbers import Number
from sitr.questions.histogram.buckets import Starts, spread
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.histogram.hierarchy import Hierarchy
from sitr.questions.histogram.isotonic import Form, isotonic
from sitr.questions.histogram.methods import Bins, Unlisted
from sitr.questions.histogram.projection import MOST_TOTAL, Ties, lattice, nonnegative, simplex
from sitr.questions.histogram.ties import best_ties

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RangeEstimate:
    """A number and the interval that holds the exact one."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Noisy counts of all cells of a grid: the plan's own, or one that was chosen privately.

    `levels` are the measured numbers: the cells, or the sums of the stretches that begin at `starts`, or all levels of
    a tree, or the prefix sums over all cells, in whole steps of their noise. `special` are the measured counts of the
    cells beside the line (no value, outside), if they are measured apart. `counts` is estimated from both, perhaps
    `processed`. The exact `total` is known only where it is public, and which cells are `empty` only where a random
    promise allows it.
    """

    plan: HistogramPlan
    grid: Grid
    levels: tuple[NDArray[Any], ...]
    special: NDArray[Any]
    counts: Reals
    starts: Starts | None = None
    total: int | None = None
    processed: tuple[str, ...] = ()
    empty: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        plan: HistogramPlan,
        grid: Grid,
        measured: tuple[tuple[NDArray[Any], ...], NDArray[Any]],
        *,
        starts: Starts | None = None,
        total: int | None = None,
        empty: NDArray[np.bool_] | None = None,
    ) -> Histogram:
        """The counts that follow from the levels and the special cells that were measured."""
        levels, special = measured
        estimated = np.asarray(levels[0], np.float64)
        if plan.prefixes is not None:
            estimated = plan.prefixes.cells(levels[0])
        elif starts is not None:
            estimated = spread(estimated, starts, cells=grid.line or 0)
        elif plan.threshold is None and (tree := plan.hierarchy) is not None:
            estimated = tree.consistent(list(levels))[0]
        counts = np.concatenate([estimated, np.asarray(special, np.float64)])
        return cls(plan, grid, levels, special, counts, starts, total, empty=empty)

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        whole = self.grid.line is None or self.plan.prefixes is not None
        line = self.grid.size if whole else self.grid.line or 0
        sizes = (line,) if self._hierarchy is None else self._hierarchy.sizes
        if self.starts is not None:
            inside = len(self.starts) > 0 and self.starts[0] == 0 and self.starts[-1] < line
            if not inside or (np.diff(self.starts) < 1).any():
                return False
            sizes = (len(self.starts),)
        joined = isinstance(self.plan.choice, Noise)
        numbers = [*self.levels, self.special]
        shapes = [number.shape for number in numbers] == [(size,) for size in (*sizes, self.grid.size - line)]
        if not self._possible_grid() or joined != (self.starts is not None) or not shapes:
            return False
        integers = all(_whole(each) for each in numbers)
        public = type(self.total) is int and self.total >= 0 if self.plan.tally.total_is_public else self.total is None
        again = Histogram.of(self.plan, self.grid, (self.levels, self.special), starts=self.starts)
        same = np.allclose(self.counts, again.counts) and self.processed == ()
        return integers and public and same and self._possible_zeros()

    def _possible_grid(self) -> bool:
        match self.plan.method:
            case Unlisted():
                axis, *others = self.grid.axes
                least = self.plan.threshold.least if self.plan.threshold is not None else 0
                shown = (
                    not others
                    and isinstance(axis, Categories)
                    and axis.column == self.plan.tally.query.keys[0].of.column
                )
                return shown and all(count >= least for count in self.levels[0].tolist())
            case Bins(candidates):
                return any(self.grid == with_bins(self.plan.grid, bins) for bins in candidates)
        return self.grid == self.plan.grid

    def _possible_zeros(self) -> bool:
        """Only a random promise says which cells are empty, and then these have no noise."""
        if self.plan.sparse is None or self.empty is None:
            return self.plan.sparse is None and self.empty is None
        right = self.empty.shape == self.counts.shape and self.empty.dtype == np.bool_
        return right and not self.counts[self.empty].any()

    @property
    def _hierarchy(self) -> Hierarchy | None:
        return None if self.plan.tally.grid is None else self.plan.hierarchy

    # As a table

    def table(self) -> pa.Table:
        """One row for each cell: its label by column, the ends of ranges, and the count."""
        columns: dict[str, pa.Array] = {}
        for place, axis in enumerate(self.grid.axes):
            cells, name = list(axis.cells()), axis.column.name
            index = pa.array(np.indices(self.grid.shape)[place].ravel())
            columns[name] = pa.array([cell.label for cell in cells], pa.string()).take(index)
            if not isinstance(axis, Categories):
                columns[f"{name}_from"] = pa.array([_end(cell.low) for cell in cells]).take(index)
                columns[f"{name}_to"] = pa.array([_end(cell.high) for cell in cells]).take(index)
        return pa.table(columns | {"count": pa.array(self.counts)})

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `count_low` and `count_high`; see `ends`."""
        low, high = self.ends(confidence=confidence)
        return self.table().append_column("count_low", pa.array(low)).append_column("count_high", pa.array(high))

    def estimated_total(self) -> int:
        """The public total where there is one, otherwise the sum of the noisy counts, at least 0: it costs nothing."""
        return self.total if self.total is not None else min(MOST_TOTAL, max(0, round(float(self.counts.sum()))))

    # What a cell may hold

    def ends(self, *, confidence: Number = 0.95) -> tuple[Reals, Reals]:
        """The ends of the intervals that contain the exact counts with this probability, for each cell by itself.

        They follow from the noise alone, so that they hold whatever is done to the counts afterwards; a processed count
        may lie outside of its own interval. No count is below 0 or above a public total. Only the sum of joined cells
        was measured: each of them may hold anything between 0 and all of it. A cell that is known to be empty holds 0,
        and a cell that is known to have people holds at least 1.
        """
        if self.plan.prefixes is not None:
            far = self.plan.prefixes.cell_widths(confidence=confidence)
            estimated = self.plan.prefixes.cells(self.levels[0])
            end = math.inf if self.total is None else float(self.total)
            return np.clip(estimated - far, 0.0, end), np.clip(estimated + far, 0.0, end)
        exactly = float(self.plan.noise.error(confidence=confidence))
        special = np.asarray(self.special, np.float64)
        lows, highs = self._line_intervals(exactly, confidence)
        low, high = np.concatenate([lows, special - exactly]), np.concatenate([highs, special + exactly])
        most = np.full(len(low), math.inf if self.total is None else float(self.total))
        most[self._known_empty()] = 0.0
        return np.clip(low, self._least(), most), np.clip(high, self._least(), most)

    def over(self, places: NDArray[Any], *, confidence: Number = 0.95) -> RangeEstimate:
        """The sum over these cells, given by number, such as `np.arange(3, 8)` for a range.

        The interval is for this sum by itself, from the law of the summed noise: `sum_error`.
        """
        wanted = np.zeros(len(self.counts))
        wanted[places] = 1.0
        value = float(self.counts @ wanted)
        wanted[self._known_empty()] = 0.0  # there is no noise in them
        line = len(self.counts) - len(self.special)
        if self.starts is not None:
            return self._over_stretches(wanted[:line], wanted[line:], value, confidence)
        least, most = float(self._least() @ wanted), math.inf if self.total is None else float(self.total)
        if self.plan.prefixes is not None:
            middle = float(self.plan.prefixes.cells(self.levels[0]) @ wanted)
            far = self.plan.prefixes.width(wanted, confidence=confidence)
            return RangeEstimate(value, min(most, max(least, middle - far)), min(most, max(least, middle + far)))
        weights = [wanted[:line]]
        if (tree := self._hierarchy) is not None:
            weights = tree.weights(wanted[:line])
        measured = sum(float(w @ level) for w, level in zip(weights, self.levels, strict=True))
        middle = measured + float(wanted[line:] @ self.special)
        far = sum_error(self.plan.noise, np.concatenate([*weights, wanted[line:]]), confidence=confidence)
        return RangeEstimate(value, min(most, max(least, middle - far)), min(most, max(least, middle + far)))

    # Post-processing of the counts, which costs nothing

    def lattice(self, *, total: int | None = None, ties: Ties | None = None) -> Histogram:
        """The nearest whole counts of this total, by default the public or the estimated one: see `lattice`.

        Without `ties`, the rule is chosen from the noisy counts: see `best_ties`.
        """
        n = self._total(total)
        full = self.counts if self._known_empty().all() else self.counts[~self._known_empty()]
        rule = ties or best_ties(full, total=n, noise=self.plan.cell_noise)
        found = self._where_people_are(lambda counts: lattice(counts, total=n, ties=rule).astype(np.float64))
        return self._after(found, f"nearest whole counts of sum {n} ({rule.value})")

    def simplex(self, *, total: int | None = None) -> Histogram:
        """The nearest counts, in Euclidean length, that are not negative and have this total."""
        n = self._total(total)
        found = self._where_people_are(lambda counts: simplex(counts, total=n))
        return self._after(found, f"nearest counts of sum {n} in Euclidean length")

    def nonnegative(self) -> Histogram:
        """Negative counts put to zero."""
        return self._after(nonnegative(self.counts), "negative counts put to zero")

    def isotonic(self, form: Form) -> Histogram:
        """The nearest counts of this form, for cells in a line; special cells are not changed."""
        line = self.grid.line
        if line is None:
            raise QuestionError(
                wanted="cells in a line for a form, of one column of numbers or dates",
                given="categories, or several columns",
                do="Leave the form out.",
            )
        found = np.concatenate([isotonic(self.counts[:line], form=form), self.counts[line:]])
        return self._after(found, f"nearest counts with the form: {form.value}")

    def _known_empty(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.counts), np.bool_) if self.empty is None else self.empty

    def _least(self) -> Reals:
        """A lower bound on each exact count."""
        return np.zeros(len(self.counts)) if self.empty is None else (~self.empty).astype(np.float64)

    def _where_people_are(self, project: Callable[[Reals], Reals]) -> Reals:
        """Cells known to be empty stay so, unless all of them are."""
        empty = self._known_empty()
        if empty.all():
            return project(self.counts)
        found = np.zeros(len(self.counts))
        found[~empty] = project(self.counts[~empty])
        return found

    def _after(self, counts: Reals, what: str) -> Histogram:
        return replace(self, counts=counts, processed=(*self.processed, what))

    def _total(self, given: int | None) -> int:
        if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
            raise QuestionError(
                wanted="a public total, a whole number of at least 0",
                given=f"{given!r}",
                do="Leave it out to use the estimated total, which costs nothing.",
            )
        return self.estimated_total() if given is None else given

    def _line_intervals(self, exactly: float, confidence: Number) -> tuple[Reals, Reals]:
        if self.starts is not None:
            lengths = np.diff(self.starts, append=len(self.counts) - len(self.special))
            sums = np.asarray(self.levels[0], np.float64)
            low = np.where(lengths > 1, 0.0, sums - exactly)
            return np.repeat(low, lengths), np.repeat(sums + exactly, lengths)
        cells = np.asarray(self.levels[0], np.float64)
        low, high = cells - exactly, cells + exactly
        if (tree := self._hierarchy) is None or tree.levels == 1:
            return low, high
        best = tree.consistent(list(self.levels))[0]
        _, first, kind = np.unique(tree.kinds(), return_index=True, return_inverse=True)
        weights = (np.concatenate(tree.weights(np.arange(tree.cells) == one)) for one in first)
        far = np.array([sum_error(self.plan.noise, each, confidence=confidence) for each in weights])[kind]
        nearer = far < exactly
        return np.where(nearer, best - far, low), np.where(nearer, best + far, high)

    def _over_stretches(self, wanted: Reals, beside: Reals, value: float, confidence: Number) -> RangeEstimate:
        """A stretch that lies inside counts with its sum; a stretch that is cut, with anything from 0 to its sum."""
        assert self.starts is not None
        lengths = np.diff(self.starts, append=len(wanted))
        touched = np.add.reduceat(wanted, self.starts)
        sums, special = np.asarray(self.levels[0], np.float64), float(beside @ self.special)
        most = math.inf if self.total is None else float(self.total)

        def end(chosen: NDArray[np.bool_], sign: int) -> float:
            measured = np.concatenate([chosen.astype(np.float64), beside])
            far = sum_error(self.plan.noise, measured, confidence=confidence)
            return min(most, max(0.0, float(sums[chosen].sum()) + special + sign * far))

        return RangeEstimate(value, end(touched == lengths, -1), end(touched > 0, 1))


def with_bins(grid: Grid, bins: int) -> Grid:
    """The same line with another number of bins of equal width."""
    (axis,) = grid.axes
    assert isinstance(axis, Even)
    return Grid((replace(axis, bins=bins),))


def _whole(numbers: NDArray[Any]) -> bool:
    """Whether these are integers: Python integers where 64 bits may not suffice."""
    return numbers.dtype.kind in "iu" or (numbers.dtype.kind == "O" and all(type(each) is int for each in numbers))


def _end(end: Fraction | date | None) -> float | date | None:
    return float(end) if isinstance(end, Fraction) else end
