"""Released counts: what was measured, what is estimated from it, and the intervals that hold the exact counts."""

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
    """A number and the interval that holds the exact one."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Noisy counts of all cells.

    `levels` are the numbers that got noise: the cells, or the sums of the stretches that begin at `starts`, or all
    levels of a tree. `special` are the counts of the cells beside the line (no value, outside). `counts` is what is
    estimated from them, perhaps `processed`. Exact totals are known only where they are public, and which cells are
    `empty` only where a random promise allows it.
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
        """The public total where there is one, otherwise the sum of the noisy counts, at least 0: it costs nothing."""
        return self.total if self.total is not None else min(MOST_TOTAL, max(0, round(float(self.counts.sum()))))

    # What a cell may hold

    def intervals(self, *, confidence: Number = 0.95) -> tuple[Reals, Reals]:
        """Ends between which the exact count of each cell lies with this probability, for each cell by itself.

        They come from the noise alone, so they hold whatever was done to the counts afterwards; a processed count may
        lie outside of its own. No count is below 0, nor above a public total. Inside a stretch of joined cells only
        its sum was measured: there a cell holds anything from nothing to all of it. A cell known to be empty holds 0,
        and one known not to be at least 1.
        """
        exactly = float(self.plan.noise.error(confidence=confidence))
        special = np.asarray(self.special, np.float64)
        lows, highs = self._line_intervals(exactly, confidence)
        low, high = np.concatenate([lows, special - exactly]), np.concatenate([highs, special + exactly])
        most = np.full(len(low), math.inf if self.total is None else float(self.total))
        most[self._known_empty()] = 0.0
        return np.clip(low, self._least(), most), np.clip(high, self._least(), most)

    def over(self, places: NDArray[Any], *, confidence: Number = 0.95) -> Estimate:
        """The sum over these cells, given by number, such as `np.arange(3, 8)` for a range.

        The interval is for this sum by itself, from the law of the noise of all that was measured: `sum_error`.
        """
        wanted = np.zeros(len(self.counts))
        wanted[places] = 1.0
        value = float(self.counts @ wanted)
        wanted[self._known_empty()] = 0.0  # there is no noise in them
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

    # What is done to the counts afterwards, free of cost

    def lattice(self, *, total: int | None = None, ties: Ties | None = None) -> Histogram:
        """The nearest whole counts of this total, by default the public or the estimated one: see `lattice`.

        Without `ties`, the rule is chosen from the noisy counts: see `best_ties`.
        """
        n = self._total(total)
        full = self.counts if self._known_empty().all() else self.counts[~self._known_empty()]
        rule = ties or best_ties(full, total=n, noise=self.plan.noise)
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
        """The nearest counts of this form, for cells in a line; those beside it stay as they are."""
        line = self.grid.line
        if line is None:
            raise QuestionError(
                wanted="A form is one of cells in a line: one column of numbers or dates.",
                given="Categories, or several columns, were given.",
                do="Leave it out.",
            )
        found = np.concatenate([isotonic(self.counts[:line], form=form), self.counts[line:]])
        return self._after(found, f"nearest counts with the form: {form.value}")

    def _known_empty(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.counts), np.bool_) if self.empty is None else self.empty

    def _least(self) -> Reals:
        """What each cell holds at least."""
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
                wanted="A public total is a whole number of at least 0.",
                given=f"{given!r} was given.",
                do="Leave it out to use the estimated one, which costs nothing.",
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
        """Stretches that are wanted as a whole are in the sum; of one that is cut, anything from nothing to all."""
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
    """The only place where exact counts meet noise: by cell number, or for unlisted categories by key."""
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
    else:  # which cells are empty is told beside the counts: that is what the γ is for
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
    """Noise where there are people. Rows that are counted nowhere are in one more cell, which is not shown."""
    rest = [] if sparse.cells == len(counts) else [sparse.people - int(counts.sum())]
    return sparse.release(np.append(counts, np.array(rest, np.int64)), coins=coins)[: len(counts)]


def _rebinned(plan: Plan, line: NDArray[np.int64], *, coins: Coins) -> tuple[Plan, NDArray[np.int64]]:
    """The plan and the counts with the number of bins that was chosen privately."""
    assert isinstance(plan.method, Bins) and isinstance(plan.choice, Exponential)
    (axis,) = plan.grid.axes
    assert isinstance(axis, Even)
    scores = bin_scores(line, bins=plan.method.candidates, mean_noise=exact(plan.mean_noise()))
    number = plan.method.candidates[plan.choice.release(scores, coins=coins)]
    grid = Grid((replace(axis, bins=number),))
    summed = np.add.reduceat(line, np.arange(0, len(line), len(line) // number))
    return replace(plan, tally=replace(plan.tally, grid=grid)), summed


def _starts(plan: Plan, line: NDArray[np.int64], *, coins: Coins) -> Starts:
    """Where buckets begin, chosen privately."""
    assert isinstance(plan.choice, Laplace | Gaussian)
    exactly = deviations(line)
    noisy = plan.choice.in_granules().release(np.concatenate(exactly), coins=coins)
    levels = np.split(noisy, np.cumsum([len(level) for level in exactly])[:-1])
    return cut(list(levels), cells=len(line), mean_noise=plan.mean_noise())


def _unlisted(
    plan: Plan, counts: Mapping[tuple[Key, ...], tuple[int, ...]], *, coins: Coins, private: bool
) -> Histogram:
    """The categories whose noisy number of people reaches the threshold, in an order that says nothing of the rows."""
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
