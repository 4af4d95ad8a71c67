"""Noisy tables of counts: the only place where the rows behind synthetic ones meet noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sitr.noise.coins import Coins
from sitr.questions.histogram.projection import MOST_TOTAL, lattice, simplex
from sitr.questions.histogram.ties import best_ties
from sitr.questions.synthetic.axes import Axis, Codes
from sitr.questions.synthetic.plan import MOST_PAIRS, Method, Noise, SynthesisPlan, deviation

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Noisy counts by the groups of one or more columns; `columns` are places in the plan."""

    columns: tuple[int, ...]
    noise: Noise
    counts: Weights

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each count."""
        return deviation(self.noise)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """All that synthetic rows are made from, and all that is known of the data; from here on nothing is secret.

    `total` is the noisy number of rows. `alone` are the tables of single columns (or the one of all columns), `shares`
    the same as probabilities; `groups` say for each column which group a cell is in. `chosen_by` are the tables that
    the pairs were chosen by, if they were.
    """

    total: float
    alone: tuple[Table, ...]
    shares: tuple[Weights, ...]
    groups: tuple[Codes, ...] = ()
    chosen_by: tuple[Table, ...] = ()
    pairs: tuple[Table, ...] = ()

    def noises(self) -> list[Noise]:
        """Every noise that was added: together they cost what was charged."""
        return [table.noise for table in (*self.alone, *self.chosen_by, *self.pairs)]


def measure(plan: SynthesisPlan, codes: Codes, *, coins: Coins) -> Measured:
    """Count, and add noise: single columns first; then pairs of them, of groups that are made from the noisy counts."""
    axes = plan.sheet.axes
    if plan.method is Method.JOINT:
        shape = tuple(axis.cells for axis in axes)
        whole = np.ravel_multi_index(tuple(codes.T), shape) if len(codes) else np.empty(0, dtype=np.int64)
        (table,) = _noisy([tuple(range(len(axes)))], [whole], [shape], plan.alone(), coins)
        total = _at_most(float(table.counts.sum()))
        return Measured(total, (table,), (joint_shares(table, total),))
    alone = _noisy([(i,) for i in range(len(axes))], list(codes.T), [(a.cells,) for a in axes], plan.alone(), coins)
    total = _at_most(_total(alone))
    known = tuple(shares(table.counts, total) for table in alone)
    pairs: list[tuple[int, ...]] = list(combinations(range(len(axes)), 2))
    chosen_by: tuple[Table, ...] = ()
    if (choice := plan.choosing()) is not None:
        halves = [group(axis, share, 2) for axis, share in zip(axes, known, strict=True)]
        chosen_by = grouped(pairs, codes, halves, choice.noises([1] * len(pairs)), coins)
        coarse = [group_sums(share, groups) for share, groups in zip(known, halves, strict=True)]
        pairs = strongest(chosen_by, coarse, total)
    most = plan.groups(total)
    groups = tuple(group(axis, share, most) for axis, share in zip(axes, known, strict=True))
    sizes = [int(each.max()) + 1 for each in groups]
    noises = plan.paired().noises([sizes[i] * sizes[j] for i, j in pairs])
    return Measured(total, alone, known, groups, chosen_by, grouped(pairs, codes, groups, noises, coins))


def as_planned(plan: SynthesisPlan, measured: Measured) -> bool:
    """Whether `measure` could have made this for the plan: the same tables with the same noise, and possible numbers.

    Tables that were read from a file pass through here. Whoever edits a file can choose the noisy counts, but neither
    numbers with which a later measurement of the data would fail or overflow, nor a noise that was never added.
    """
    cells = [axis.cells for axis in plan.sheet.axes]
    places = tuple(range(len(cells)))
    if not isinstance(measured.total, float) or not -math.inf < measured.total <= MOST_TOTAL:
        return False
    if plan.method is Method.JOINT:
        whole = _tables_are(measured.alone, [places], [tuple(cells)], plan.alone())
        rest = (*measured.groups, *measured.chosen_by, *measured.pairs)
        return whole and not rest and _laws(measured.shares, [math.prod(cells)])
    singles: list[tuple[int, ...]] = [(place,) for place in places]
    known = _tables_are(measured.alone, singles, [(count,) for count in cells], plan.alone())
    if not (known and _laws(measured.shares, cells) and _groupings(measured.groups, cells)):
        return False
    pairs: list[tuple[int, ...]] = list(combinations(places, 2))
    if (choice := plan.choosing()) is None:
        chosen = not measured.chosen_by
    else:
        chosen = _tables_are(measured.chosen_by, pairs, None, choice.noises([1] * len(pairs)))
        pairs = [table.columns for table in measured.pairs if table.columns in pairs]
        chosen = chosen and len(set(pairs)) == MOST_PAIRS
    sizes = [int(each.max()) + 1 for each in measured.groups]
    shapes: list[tuple[int, ...]] = [(sizes[i], sizes[j]) for i, j in pairs]
    return chosen and _tables_are(measured.pairs, pairs, shapes, plan.paired().noises([i * j for i, j in shapes]))


def _tables_are(
    tables: Sequence[Table],
    columns: Sequence[tuple[int, ...]],
    shapes: Sequence[tuple[int, ...]] | None,
    noises: Sequence[Noise],
) -> bool:
    """Tables of these columns, with these shapes if they are given, and with this noise."""
    described = [table.columns for table in tables] == list(columns) and [table.noise for table in tables] == [*noises]
    formed = shapes is None or [table.counts.shape for table in tables] == list(shapes)
    return described and formed and all(bool(np.isfinite(table.counts).all()) for table in tables)


def _laws(found: Sequence[Weights], sizes: Sequence[int]) -> bool:
    """Probabilities of this many cells each."""
    formed = [share.shape for share in found] == [(size,) for size in sizes]
    return formed and all(bool(share.min() >= 0 and abs(share.sum() - 1) < 1e-6) for share in found)


def _groupings(found: Sequence[Codes], sizes: Sequence[int]) -> bool:
    """Groups 0, 1, 2, … of this many cells each, none of them empty."""
    formed = [(each.shape, each.dtype.kind) for each in found] == [((size,), "i") for size in sizes]
    return formed and all(np.array_equal(np.unique(each), np.arange(each.max() + 1)) for each in found)


def _at_most(total: float) -> float:
    """A number of rows that can be computed with: a tiny price buys noise that is larger than any data set."""
    return min(total, float(MOST_TOTAL))


def shares(counts: Weights, total: float) -> Weights:
    """The nearest probabilities: what is left of noise in empty cells is cut, and the total is kept.

    >>> shares(np.array([6.0, 3.0, -1.0, 0.0]), 9.0).tolist()
    [0.666..., 0.333..., 0.0, 0.0]
    """
    kept = simplex(counts, total=max(total, 1.0))
    return np.asarray(kept / kept.sum())


def joint_shares(table: Table, total: float) -> Weights:
    """The histogram perturbation method: the nearest whole counts with the total, by the best rule for ties.

    [HRW11, Sec. 2]
    """
    size, counts = max(1, round(total)), table.counts.ravel()
    ties = best_ties(counts, total=size, noise=table.noise)
    return np.asarray(lattice(counts, total=size, ties=ties) / size)


def group(axis: Axis, share: Weights, most: int) -> Codes:
    """The cells of a column in at most so many groups, made from noisy shares: neighbours of equal weight where cells
    have an order, else the largest cells and one group of all others. NULL is one more group.

    >>> from sitr.dataset.schema import Kind
    >>> group(Axis("ward", Kind.TEXT, keys=("a", "b", "c", "d")), np.array([0.1, 0.5, 0.1, 0.3]), 3).tolist()
    [2, 0, 2, 1]
    """
    values = axis.cells - axis.nulls
    if values <= most:
        return np.arange(axis.cells)
    known = share[:values]
    if axis.ordered:
        middle = np.cumsum(known) - known / 2
        places = np.minimum(np.floor(middle / max(known.sum(), 1e-300) * most), most - 1)
        groups = np.unique(places, return_inverse=True)[1]
    else:
        groups = np.empty(values, dtype=np.int64)
        groups[np.argsort(-known, kind="stable")] = np.minimum(np.arange(values), most - 1)
    return np.append(groups, groups.max() + 1) if axis.nulls else groups


def strongest(tables: Sequence[Table], shares: Sequence[Weights], total: float) -> list[tuple[int, ...]]:
    """The pairs that are farthest from independence, as far as noisy tables of them tell: a choice that costs nothing
    more than these."""
    far = []
    for table in tables:
        i, j = table.columns
        expected = np.outer(shares[i], shares[j]) * max(total, 1.0)
        # The square of the distance, less what noise alone adds to it; a table that needs less noise is no stronger.
        far.append(float(((table.counts - expected) ** 2).sum() - table.counts.size * table.deviation**2))
    order = sorted(range(len(tables)), key=lambda place: -far[place])[:MOST_PAIRS]
    return [tables[place].columns for place in sorted(order)]


def _total(alone: Sequence[Table]) -> float:
    """Each table tells the number of rows, with its own error: their mean, weighted by precision."""
    precision = [1 / (table.counts.size * table.deviation**2) for table in alone]
    sums = [float(table.counts.sum()) for table in alone]
    return sum(p * s for p, s in zip(precision, sums, strict=True)) / sum(precision)


def grouped(
    pairs: Sequence[tuple[int, ...]], codes: Codes, groups: Sequence[Codes], noises: Sequence[Noise], coins: Coins
) -> tuple[Table, ...]:
    """The tables of these pairs, by groups of values, each with its noise."""
    sizes = [int(each.max()) + 1 for each in groups]
    coarse = [each[column] for each, column in zip(groups, codes.T, strict=True)]
    numbers = (coarse[i] * sizes[j] + coarse[j] for i, j in pairs)
    return _noisy(pairs, numbers, [(sizes[i], sizes[j]) for i, j in pairs], noises, coins)


def _noisy(
    columns: Sequence[tuple[int, ...]],
    numbers: object,
    shapes: Sequence[tuple[int, ...]],
    noises: Sequence[Noise],
    coins: Coins,
) -> tuple[Table, ...]:
    made = []
    for place, cell, shape, noise in zip(columns, numbers, shapes, noises, strict=True):  # type: ignore[call-overload]
        exact = np.bincount(cell, minlength=math.prod(shape))
        made.append(Table(place, noise, noise.release(exact, coins=coins).astype(np.float64).reshape(shape)))
    return tuple(made)


def group_sums(share: Weights, groups: Codes) -> Weights:
    """The shares of groups."""
    return np.bincount(groups, weights=share).astype(np.float64)
