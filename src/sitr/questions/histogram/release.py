"""The only place where noise is added to the exact counts of a histogram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Categories, Grid, Rule
from sitr.dataset.schema import Key
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.noise.coins import Coins
from sitr.numbers import exact
from sitr.questions.aggregate.keys import in_order
from sitr.questions.histogram.buckets import Starts, bin_scores, cut, deviations
from sitr.questions.histogram.counts import Histogram, with_bins
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.histogram.methods import Bins, Unlisted


def release(plan: HistogramPlan, counts: Mapping[Any, Any], *, coins: Coins) -> Histogram:
    """The histogram of these exact counts: by cell number, or for unlisted categories by key."""
    if plan.threshold is not None:
        return _unlisted(plan, counts, coins=coins)
    exactly = np.zeros(plan.grid.size, np.int64)
    places = np.fromiter(counts.keys(), np.intp, len(counts))
    exactly[places] = np.fromiter(counts.values(), np.int64, len(counts))
    if plan.prefixes is not None:
        total = int(exactly.sum()) if plan.tally.total_is_public else None
        noisy = plan.prefixes.release(exactly.reshape(plan.grid.shape), coins=coins).ravel()
        return Histogram.of(plan, plan.grid, ((noisy,), np.zeros(0, np.int64)), total=total)
    line = exactly if plan.grid.line is None else exactly[: plan.grid.line]
    special = exactly[len(line) :]
    total = int(exactly.sum()) if plan.tally.total_is_public else None
    grid, line = _chosen_bins(plan, line, coins=coins) if isinstance(plan.method, Bins) else (plan.grid, line)
    starts = _starts(plan, line, coins=coins) if isinstance(plan.choice, Noise) else None
    tree = plan.hierarchy
    measured = [line] if tree is None else tree.sums(line)
    if starts is not None:
        measured = [np.add.reduceat(line, starts)]
    secret = np.concatenate([*measured, special])
    if plan.sparse is None:
        noisy, empty = plan.noise.release(secret, coins=coins), None
    else:  # the γ pays for revealing which cells are empty
        noisy, empty = _sparsely(plan.sparse, secret, coins=coins), secret == 0
    *levels, beside = np.split(noisy, np.cumsum([len(level) for level in measured]))
    return Histogram.of(plan, grid, (tuple(levels), beside), starts=starts, total=total, empty=empty)


def _sparsely(sparse: SparseHistogram, counts: NDArray[np.int64], *, coins: Coins) -> NDArray[Any]:
    """Noise where there are people. Rows that no cell counts are in one more cell, which is not shown."""
    rest = [] if sparse.cells == len(counts) else [sparse.people - int(counts.sum())]
    return sparse.release(np.append(counts, np.array(rest, np.int64)), coins=coins)[: len(counts)]


def _chosen_bins(plan: HistogramPlan, line: NDArray[np.int64], *, coins: Coins) -> tuple[Grid, NDArray[np.int64]]:
    """The grid and the counts with the number of bins that was chosen privately."""
    assert isinstance(plan.method, Bins) and isinstance(plan.choice, Exponential)
    scores = bin_scores(line, bins=plan.method.candidates, mean_noise=exact(plan.mean_noise()))
    number = plan.method.candidates[plan.choice.release(scores, coins=coins)]
    return with_bins(plan.grid, number), np.add.reduceat(line, np.arange(0, len(line), len(line) // number))


def _starts(plan: HistogramPlan, line: NDArray[np.int64], *, coins: Coins) -> Starts:
    """The first cell of each bucket, chosen privately."""
    assert isinstance(plan.choice, Noise)
    exactly = deviations(line)
    noisy = plan.choice.in_granules().release(np.concatenate(exactly), coins=coins)
    levels = np.split(noisy, np.cumsum([len(level) for level in exactly])[:-1])
    return cut(list(levels), cells=len(line), mean_noise=plan.mean_noise())


def _unlisted(plan: HistogramPlan, counts: Mapping[tuple[Key, ...], tuple[int, ...]], *, coins: Coins) -> Histogram:
    """The categories whose noisy number of people reaches the threshold, in an order that does not depend on rows."""
    assert plan.threshold is not None
    candidates = in_order(counts)
    noisy = plan.threshold.release([int(counts[key][-1]) for key in candidates], coins=coins)
    shown = [(key[0], count) for key, count in zip(candidates, noisy, strict=True) if count is not None]
    (by,) = plan.tally.query.keys
    assert by.of.column is not None
    listed = [(key, count) for key, count in shown if key is not None]
    dropped = isinstance(plan.method, Unlisted) and plan.method.missing is Rule.DROP
    missing = [count for key, count in shown if key is None and not dropped]
    axis = Categories(by.of.column, tuple(key for key, _ in listed), Rule.DROP, Rule.CELL if missing else Rule.DROP)
    numbers = [count for _, count in listed] + missing
    cells = np.array(numbers) if numbers else np.zeros(0, np.int64)  # beyond 64 bits, Python's integers
    return Histogram.of(plan, Grid((axis,)), ((cells,), np.zeros(0, np.int64)))
