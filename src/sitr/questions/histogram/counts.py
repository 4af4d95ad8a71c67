"""Released counts: the noisy measurements, the estimates from them, and intervals for the exact counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Categories, Even, Grid, Rule
from sitr.dataset.schema import Key
from sitr.errors import QuestionError
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.summed import sum_error
from sitr.noise.coins import Coins, Keystream
from sitr.numbers import Number, exact
from sitr.questions.aggregate.answer import in_order
from sitr.questions.histogram.buckets import Starts, bin_scores, cut, deviations, spread
from sitr.questions.histogram.fit import Bins, Plan, Unlisted
from sitr.questions.histogram.isotonic import Form, isotonic
from sitr.questions.histogram.projection import MOST_TOTAL, Ties, lattice, nonnegative, simplex
from sitr.questions.histogram.ties import best_ties

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate and an interval for the exact number."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Noisy counts of all cells.

    `levels` are noisy measurements: the cells, the sums of the buckets that begin at `starts`, or all levels of a tree.
    `special` are the noisy counts of the cells after a line (outside, no value). `counts` are the estimates from these,
    with the names of later steps in `processed`. An exact `total` is known only if it is public, and which cells are
    `empty` only if a random promise allows it.
    """

    plan: Plan
    levels: tuple[NDArray[Any], ...]
    special: NDArray[Any]
    counts: Reals
    private: bool
    starts: Starts | None = None
    total: int | None = None
    processed: tuple[str, ...] = ()
    empty: NDArray[np.bool_] | None = None

    @property
    def grid(self) -> Grid:
        return self.plan.grid

    def estimated_total(self) -> int:
        """The public total if there is one, otherwise the sum of the noisy counts, at least 0."""
        return self.total if self.total is not None else min(MOST_TOTAL, max(0, round(float(self.counts.sum()))))

    # Intervals

    def intervals(self, *, confidence: Number = 0.95) -> tuple[Reals, Reals]:
        """Lower and upper ends that contain the exact count of each cell with this probability, cell by cell.

        They come from the noise alone, so they are valid whatever was done to the counts later, and a processed count
        may lie outside its interval. No count is below 0 or above a public total. Of a bucket of several cells only the
        sum was measured, so each of its cells has from 0 to the whole sum. A cell known to be empty has 0, and a cell
        known not to be empty has at least 1.
        """
        exactly = float(self.plan.noise.error(confidence=confidence))
        special = np.asarray(self.special, np.float64)
        lows, highs = self._line_intervals(exactly, confidence)
        low, high = np.concatenate([lows, special - exactly]), np.concatenate([highs, special + exactly])
        most = np.full(len(low), math.inf if self.total is None else float(self.total))
        most[self._known_empty()] = 0.0
        return np.clip(low, self._least(), most), np.clip(high, self._least(), most)

    def over(self, places: NDArray[Any], *, confidence: Number = 0.95) -> Estimate:
        """The sum over cells, given by number, such as `np.arange(3, 8)` for a range.

        The interval is for this sum alone and follows from the law of the noise of all measurements: `sum_error`.
        """
        wanted = np.zeros(len(self.counts))
        wanted[places] = 1.0
        value = float(self.counts @ wanted)
        wanted[self._known_empty()] = 0.0  # they have no noise
        line = len(self.counts) - len(self.special)
        if self.starts is not None:
            return self._over_stretches(wanted[:line], wanted[line:], value, confidence)
        weights = [wanted[:line]]
        if (tree := self.plan.hierarchy) is not None:
            weights = tree.weights(wanted[:line])
        measured = sum(float(w @ level) for w, level in zip(weights, self.levels, strict=True))
        middle = measured + float(wanted[line:] @ self.special)
        far = sum_error(self.plan.noise, np.concatenate([*weights, wanted[line:]]), confidence=confidence)
        least, most = float(self._least() @ wanted), math.inf if self.total is None else float(self.total)
        return Estimate(value, min(most, max(least, middle - far)), min(most, max(least, middle + far)))

    # Free processing of the counts

    def lattice(self, *, total: int | None = None, ties: Ties | None = None) -> Histogram:
        """The nearest whole counts with this total, by default the public or the estimated one: see `lattice`.

        By default the rule for ties is chosen from the noisy counts: see `best_ties`.
        """
        n = self._total(total)
        full = self.counts if self._known_empty().all() else self.counts[~self._known_empty()]
        rule = ties or best_ties(full, total=n, noise=self.plan.noise)
        found = self._where_people_are(lambda counts: lattice(counts, total=n, ties=rule).astype(np.float64))
        return self._after(found, f"nearest whole counts of sum {n} ({rule.value})")

    def simplex(self, *, total: int | None = None) -> Histogram:
        """The nearest counts in Euclidean distance that are not negative and have this total."""
        n = self._total(total)
        found = self._where_people_are(lambda counts: simplex(counts, total=n))
        return self._after(found, f"nearest counts of sum {n} in Euclidean length")

    def nonnegative(self) -> Histogram:
        """Counts with negative ones set to zero."""
        return self._after(nonnegative(self.counts), "negative counts put to zero")

    def isotonic(self, form: Form) -> Histogram:
        """The nearest counts of this form, for cells in a line; special cells keep their counts."""
        line = self.grid.line
        if line is None:
            raise QuestionError(
                wanted="a histogram of one column of numbers or dates",
                given="categories or several columns, which have no order",
                do="Leave the form out.",
            )
        found = np.concatenate([isotonic(self.counts[:line], form=form), self.counts[line:]])
        return self._after(found, f"nearest counts with the form: {form.value}")

    def _known_empty(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.counts), np.bool_) if self.empty is None else self.empty

    def _least(self) -> Reals:
        """The smallest possible count of each cell."""
        return np.zeros(len(self.counts)) if self.empty is None else (~self.empty).astype(np.float64)

    def _where_people_are(self, project: Callable[[Reals], Reals]) -> Reals:
        """Project the counts of cells that may have rows; cells known to be empty stay empty, unless all are."""
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
                wanted="a total that is a whole number of at least 0",
                given=repr(given),
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
        if (tree := self.plan.hierarchy) is None or tree.levels == 1:
            return low, high
        best = tree.consistent(list(self.levels))[0]
        _, first, kind = np.unique(tree.kinds(), return_index=True, return_inverse=True)
        weights = (np.concatenate(tree.weights(np.arange(tree.cells) == one)) for one in first)
        far = np.array([sum_error(self.plan.noise, each, confidence=confidence) for each in weights])[kind]
        nearer = far < exactly
        return np.where(nearer, best - far, low), np.where(nearer, best + far, high)

    def _over_stretches(self, wanted: Reals, beside: Reals, value: float, confidence: Number) -> Estimate:
        """Buckets that are wanted as a whole are in the sum; of others, any part from nothing to everything."""
        assert self.starts is not None
        lengths = np.diff(self.starts, append=len(wanted))
        touched = np.add.reduceat(wanted, self.starts)
        sums, special = np.asarray(self.levels[0], np.float64), float(beside @ self.special)
        most = math.inf if self.total is None else float(self.total)

        def end(chosen: NDArray[np.bool_], sign: int) -> float:
            measured = np.concatenate([chosen.astype(np.float64), beside])
            far = sum_error(self.plan.noise, measured, confidence=confidence)
            return min(most, max(0.0, float(sums[chosen].sum()) + special + sign * far))

        return Estimate(value, end(touched == lengths, -1), end(touched > 0, 1))


def release(plan: Plan, counts: Mapping[Any, Any], *, coins: Coins) -> Histogram:
    """Add noise to exact counts, given by cell number or, for unlisted categories, by key: the only place that does."""
    private = type(coins) is Keystream
    if plan.threshold is not None:
        return _unlisted(plan, counts, coins=coins, private=private)
    exactly = np.zeros(plan.grid.size, np.int64)
    places = np.fromiter(counts.keys(), np.intp, len(counts))
    exactly[places] = np.fromiter(counts.values(), np.int64, len(counts))
    line = exactly if plan.grid.line is None else exactly[: plan.grid.line]
    special = exactly[len(line) :]
    total = int(exactly.sum()) if plan.tally.total_is_public else None
    if isinstance(plan.method, Bins):
        plan, line = _rebinned(plan, line, coins=coins)
    starts = _starts(plan, line, coins=coins) if isinstance(plan.choice, Laplace | Gaussian) else None
    tree = plan.hierarchy
    measured = [line] if tree is None else tree.sums(line)
    if starts is not None:
        measured = [np.add.reduceat(line, starts)]
    secret = np.concatenate([*measured, special])
    if plan.sparse is None:
        noisy, empty = plan.noise.release(secret, coins=coins), None
    else:  # which cells are empty is released too, and the γ pays for that
        noisy, empty = _sparsely(plan.sparse, secret, coins=coins), secret == 0
    ends = np.cumsum([len(level) for level in measured])
    levels = tuple(np.asarray(part) for part in np.split(noisy, ends)[:-1])
    beside = noisy[ends[-1] :]
    estimated = np.asarray(levels[0], np.float64)
    if starts is not None:
        estimated = spread(estimated, starts, cells=len(line))
    elif tree is not None:
        estimated = tree.consistent(list(levels))[0]
    cells = np.concatenate([estimated, np.asarray(beside, np.float64)])
    return Histogram(plan, levels, beside, cells, private, starts, total, empty=empty)


def _sparsely(sparse: SparseHistogram, counts: NDArray[np.int64], *, coins: Coins) -> NDArray[Any]:
    """Noise where there are rows. Rows in no cell are in one more cell, which is not released."""
    rest = [] if sparse.cells == len(counts) else [sparse.people - int(counts.sum())]
    return sparse.release(np.append(counts, np.array(rest, np.int64)), coins=coins)[: len(counts)]


def _rebinned(plan: Plan, line: NDArray[np.int64], *, coins: Coins) -> tuple[Plan, NDArray[np.int64]]:
    """The plan and the counts with a privately chosen number of bins."""
    assert isinstance(plan.method, Bins) and isinstance(plan.choice, Exponential)
    (axis,) = plan.grid.axes
    assert isinstance(axis, Even)
    scores = bin_scores(line, bins=plan.method.candidates, mean_noise=exact(plan.mean_noise()))
    number = plan.method.candidates[plan.choice.release(scores, coins=coins)]
    grid = Grid((replace(axis, bins=number),))
    summed = np.add.reduceat(line, np.arange(0, len(line), len(line) // number))
    return replace(plan, tally=replace(plan.tally, grid=grid)), summed


def _starts(plan: Plan, line: NDArray[np.int64], *, coins: Coins) -> Starts:
    """The privately chosen starts of the buckets."""
    assert isinstance(plan.choice, Laplace | Gaussian)
    exactly = deviations(line)
    noisy = plan.choice.in_granules().release(np.concatenate(exactly), coins=coins)
    levels = np.split(noisy, np.cumsum([len(level) for level in exactly])[:-1])
    return cut(list(levels), cells=len(line), mean_noise=plan.mean_noise())


def _unlisted(
    plan: Plan, counts: Mapping[tuple[Key, ...], tuple[int, ...]], *, coins: Coins, private: bool
) -> Histogram:
    """The categories whose noisy number of people reaches the threshold, in an order independent of the rows."""
    assert plan.threshold is not None
    candidates = in_order(counts)
    noisy = plan.threshold.release([int(counts[key][-1]) for key in candidates], coins=coins)
    shown = [(key[0], count) for key, count in zip(candidates, noisy, strict=True) if count is not None]
    (column,) = plan.tally.query.keys
    listed = [(key, count) for key, count in shown if key is not None]
    dropped = isinstance(plan.method, Unlisted) and plan.method.missing is Rule.DROP
    missing = [count for key, count in shown if key is None and not dropped]
    axis = Categories(column, tuple(key for key, _ in listed), Rule.DROP, Rule.CELL if missing else Rule.DROP)
    known = replace(plan, tally=replace(plan.tally, grid=Grid((axis,))))
    cells = np.array([count for _, count in listed] + missing, np.int64)
    return Histogram(known, (cells,), np.zeros(0, np.int64), cells.astype(np.float64), private)
