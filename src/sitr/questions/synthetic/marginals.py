"""Noisy marginals: the only place where noise is added to counts of the rows that synthetic rows imitate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable, Granular, Rule
from sitr.mechanisms.additive import Noise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.histogram.projection import MOST_TOTAL, lattice, simplex
from sitr.questions.histogram.ties import best_ties
from sitr.questions.synthetic.axes import MOST_CELLS, Codes
from sitr.questions.synthetic.figures import Quality
from sitr.questions.synthetic.looks import FirstLook, choose
from sitr.questions.synthetic.plan import MOST_GROUPS, MOST_PAIRS, Method, SynthesisPlan
from sitr.questions.synthetic.triples import groups_of_triples, triples
from sitr.questions.synthetic.triples import shapes as shapes_of_triples

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Marginal:
    """Noisy counts by the cells, or groups of cells, of one or more columns; `columns` are positions in the plan."""

    columns: tuple[int, ...]
    noise: Noise
    counts: Weights

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each count."""
        return self.noise.deviation


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Everything that synthetic rows are computed from. It is released, so nothing computed from it is secret.

    `total` is the noisy number of rows, by all tables. `alone` are the marginals of single columns (or the one of all
    columns). `groups` maps the cells of each column to groups. If pairs of columns had to be chosen, `chosen_by` are
    the marginals that decided. `pairs` are the marginals of all pairs in the first look. The second look has all single
    columns, `alone_again`, and some pairs, `again`, each by groups of its own, `again_groups`. Its price is divided by
    what these columns and pairs weigh, `again_cells`: about the number of cells that hold more than noise, times how
    often their noise counts. `triples` are the marginals of all triples by `triple_groups` of each column, if they are
    wanted and the rows carry them. `shares` are the marginals of single columns, of both looks together, as
    probabilities.
    """

    plan: SynthesisPlan
    total: float
    alone: tuple[Marginal, ...]
    shares: tuple[Weights, ...]
    groups: tuple[Codes, ...] = ()
    chosen_by: tuple[Marginal, ...] = ()
    pairs: tuple[Marginal, ...] = ()
    alone_again: tuple[Marginal, ...] = ()
    again: tuple[Marginal, ...] = ()
    again_groups: tuple[tuple[Codes, ...], ...] = ()
    again_cells: tuple[int, ...] = ()
    triples: tuple[Marginal, ...] = ()
    triple_groups: tuple[Codes, ...] = ()
    quality: Quality | None = None
    """How far rows drawn from the model are from the data, without a plan: it is `plan.quality`."""
    people: Measured | None = None
    """The tables of people, if the rows of each person are drawn together: those above are of their steps."""

    def tables(self) -> tuple[Marginal, ...]:
        """All noisy marginals of the columns of the sheet."""
        return (*self.alone, *self.chosen_by, *self.pairs, *self.alone_again, *self.again, *self.triples)

    def noises(self) -> list[Noise]:
        """All noise that was added; together it costs what was charged."""
        return [*([] if self.people is None else self.people.noises()), *(each.noise for each in self.tables())]

    def possible(self) -> bool:
        """Whether `measure` could have returned this for its plan: the same columns and noise, and possible numbers.

        Marginals that are read from a file pass through here. An edited file can have other noisy counts, but no
        numbers that would make a later measurement of the data fail or overflow, and no noise that was never added.
        """
        plan, measured = self.plan, self
        if not self._beside():
            return False
        cells = plan.sheet.grid.shape
        places = tuple(range(len(cells)))
        if not isinstance(measured.total, float) or not -math.inf < measured.total <= MOST_TOTAL:
            return False
        if plan.method is Method.JOINT:
            whole = _are(measured.alone, [places], [cells], plan.division.alone())
            later = (*measured.alone_again, *measured.again, *measured.again_groups, *measured.again_cells)
            later = (*later, *measured.triples, *measured.triple_groups)
            rest = (*measured.groups, *measured.chosen_by, *measured.pairs, *later)
            return whole and not rest and _laws(measured.shares, [math.prod(cells)])
        singles: list[tuple[int, ...]] = [(place,) for place in places]
        known = _are(measured.alone, singles, [(count,) for count in cells], plan.division.alone())
        if not (known and _laws(measured.shares, cells) and _groupings(measured.groups, cells)):
            return False
        pairs: list[tuple[int, ...]] = list(combinations(places, 2))
        if (choice := plan.division.choosing()) is None:
            chosen = not measured.chosen_by
        else:
            chosen = _are(measured.chosen_by, pairs, None, choice.noises([1] * len(pairs)))
            pairs = [each.columns for each in measured.pairs if each.columns in pairs]
            chosen = chosen and len(set(pairs)) == MOST_PAIRS
        first = plan.division.looks()[0]
        again = [each.columns for each in measured.again]
        if not chosen or again != [pair for pair in pairs if pair in again] or not measured._by_groups(cells):
            return False
        shapes = _shapes([tuple(measured.groups[place] for place in pair) for pair in pairs])
        if not _are(measured.pairs, pairs, shapes, first.noises([i * j for i, j in shapes])):
            return False
        shapes = [*((count,) for count in cells), *_shapes(measured.again_groups)]
        noises = plan.division.again(measured.again_cells, triples=bool(measured.triples))
        second = _are((*measured.alone_again, *measured.again), [*singles, *again], shapes, noises)
        return second and self._triples_possible(cells)

    def _triples_possible(self, cells: Sequence[int]) -> bool:
        """Whether these are all triples, by groups of the columns, with their noise; or none."""
        if not self.triples and not self.triple_groups:
            return True
        if not self.plan.division.triples or not _groupings(self.triple_groups, cells):
            return False
        formed = shapes_of_triples(self.triple_groups)
        noises = self.plan.division.of_triples([math.prod(shape) for shape in formed])
        return _are(self.triples, triples(len(cells)), formed, noises)

    def _by_groups(self, cells: Sequence[int]) -> bool:
        """Whether each pair of the second look has groups of its two columns, and cells that hold something."""
        formed = len(cells) + len(self.again) == len(cells) + len(self.again_groups) == len(self.again_cells)
        return (
            formed
            and all(type(most) is int and 0 < most <= MOST_CELLS**2 for most in self.again_cells)
            and all(
                _groupings(by, [cells[place] for place in each.columns])
                for each, by in zip(self.again, self.again_groups, strict=True)
            )
        )

    def _beside(self) -> bool:
        """Whether the tables of people and the figures of the quality are those of the plan, and possible."""
        people, quality = self.people, self.quality
        if (None if people is None else people.plan) != self.plan.people:
            return False
        if people is not None and not people.possible():
            return False
        return quality is None or (self.plan.quality is not None and quality.possible())

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """Each count of the marginals of single columns, or of the one of all, with its interval."""
        sheet = self.plan.sheet
        people = [] if self.people is None else [self.people.intervals(confidence=confidence)]
        labels = [[cell.label for cell in axis.cells()] for axis in sheet.axes]
        rows: list[dict[str, Any]] = []
        for each in self.alone:
            far = float(each.noise.error(confidence=confidence))
            names = " × ".join(sheet.names[place] for place in each.columns)
            for place, count in np.ndenumerate(each.counts):
                cell = " × ".join(labels[i][code] for i, code in zip(each.columns, place, strict=True))
                rows.append({"columns": names, "cell": cell, "count": count})
                rows[-1] |= {"count_low": max(0.0, count - far), "count_high": max(0.0, count + far)}
        return pa.concat_tables([*people, pa.Table.from_pylist(rows)])


def measure(plan: SynthesisPlan, codes: Codes, *, coins: Coins) -> Measured:
    """Count single columns and add noise; then the same for pairs, twice, by groups made from the noisy counts."""
    axes, shape = plan.sheet.axes, plan.sheet.grid.shape
    if plan.method is Method.JOINT:
        whole = np.ravel_multi_index(tuple(codes.T), shape) if len(codes) else np.empty(0, dtype=np.int64)
        (joint,) = _noisy([tuple(range(len(axes)))], [whole], [shape], plan.division.alone(), coins)
        total = _at_most(float(joint.counts.sum()))
        return Measured(plan, total, (joint,), (joint_shares(joint, total),))
    singles = [(place,) for place in range(len(axes))]
    alone = _noisy(singles, list(codes.T), [(size,) for size in shape], plan.division.alone(), coins)
    total = _at_most(_total(alone))
    known = tuple(shares(each.counts, total) for each in alone)
    pairs: list[tuple[int, ...]] = list(combinations(range(len(axes)), 2))
    chosen_by: tuple[Marginal, ...] = ()
    if (choice := plan.division.choosing()) is not None:
        halves = [group(axis, share, 2) for axis, share in zip(axes, known, strict=True)]
        chosen_by = grouped(pairs, codes, halves, choice.noises([1] * len(pairs)), coins)
        coarse = [group_sums(share, groups) for share, groups in zip(known, halves, strict=True)]
        pairs = strongest(chosen_by, coarse, total)
    most = plan.division.groups(total)
    groups = tuple(group(axis, share, most) for axis, share in zip(axes, known, strict=True))
    first = Measured(plan, total, alone, known, groups, chosen_by, ())
    sizes = [int(each.max()) + 1 for each in groups]
    noises = plan.division.looks()[0].noises([sizes[i] * sizes[j] for i, j in pairs])
    return _again(replace(first, pairs=grouped(pairs, codes, groups, noises, coins)), codes, coins)


def _again(first: Measured, codes: Codes, coins: Coins) -> Measured:
    """The second look: the first one decides which pairs it has, and by which groups. The rows do not."""
    division, sheet = first.plan.division, first.plan.sheet
    total, cells = max(first.total, 1.0), sheet.grid.shape
    most = division.groups(first.total)
    levels = [
        _groupings_of(axis, share, groups, most)
        for axis, share, groups in zip(sheet.axes, first.shares, first.groups, strict=True)
    ]
    columns, chosen = choose(first_looks(first), total=total, division=division, shares=first.shares, groupings=levels)
    by = tuple(
        tuple(levels[place][level] for place, level in zip(each.columns, each.levels, strict=True)) for each in chosen
    )
    effective = (*columns, *(each.cells for each in chosen))
    thirds = groups_of_triples(division, first.shares, first.groups, first.total)
    noises = division.again(effective, triples=bool(thirds))
    singles = [each.columns for each in first.alone]
    alone = _noisy(singles, list(codes.T), [(count,) for count in cells], noises[: len(cells)], coins)
    again = _by([each.columns for each in chosen], codes, by, noises[len(cells) :], coins)
    three = _of_triples(first.plan, thirds, codes, coins)
    both = (precise_mean(*each) for each in zip(first.alone, alone, strict=True))
    counted = _at_most(_total([*first.alone, *first.pairs, *alone, *again, *three]))
    known = tuple(shares(counts, counted) for counts, _ in both)
    second = replace(first, total=counted, shares=known, alone_again=alone, again=again)
    return replace(second, again_groups=by, again_cells=effective, triples=three, triple_groups=thirds)


def _of_triples(plan: SynthesisPlan, groups: tuple[Codes, ...], codes: Codes, coins: Coins) -> tuple[Marginal, ...]:
    """The noisy marginals of all triples by these groups; none without groups."""
    if not groups:
        return ()
    formed, columns = shapes_of_triples(groups), triples(len(groups))
    noises = plan.division.of_triples([math.prod(shape) for shape in formed])
    parts = [each[codes[:, place]] for place, each in enumerate(groups)]
    numbers = (
        (parts[i] * shape[1] + parts[j]) * shape[2] + parts[k] for (i, j, k), shape in zip(columns, formed, strict=True)
    )
    return _noisy(columns, numbers, formed, noises, coins)


def _groupings_of(axis: Drawable, share: Weights, groups: Codes, most: int) -> list[Codes]:
    """The groups of a column, and finer ones: each time twice as many, so that groups of ordered cells are divided."""
    found = [groups]
    while most < axis.ordinary and 2 * most <= MOST_GROUPS:
        most *= 2
        finer = group(axis, share, most)
        if finer.max() > found[-1].max():
            found.append(finer)
    return found


def precise_mean(first: Marginal, second: Marginal) -> tuple[Weights, float]:
    """The counts of two marginals with the same cells, weighted by their precision, and their standard deviation."""
    here, there = first.deviation**-2, second.deviation**-2
    return (first.counts * here + second.counts * there) / (here + there), (here + there) ** -0.5


def first_looks(measured: Measured) -> list[FirstLook]:
    """The tables of the first look, each beside the table of independent columns."""
    coarse = [group_sums(share, groups) for share, groups in zip(measured.shares, measured.groups, strict=True)]
    return [
        FirstLook(each.columns, each.counts, each.deviation, np.outer(*(coarse[place] for place in each.columns)))
        for each in measured.pairs
    ]


def _shapes(by: Sequence[tuple[Codes, ...]]) -> list[tuple[int, ...]]:
    """The numbers of groups of the columns of each table."""
    return [tuple(int(groups.max()) + 1 for groups in each) for each in by]


def _are(
    found: Sequence[Marginal],
    columns: Sequence[tuple[int, ...]],
    shapes: Sequence[tuple[int, ...]] | None,
    noises: Sequence[Noise],
) -> bool:
    """Whether these are finite marginals of these columns, with this noise and, if given, these shapes."""
    described = [each.columns for each in found] == list(columns) and [each.noise for each in found] == [*noises]
    formed = shapes is None or [each.counts.shape for each in found] == list(shapes)
    return described and formed and all(bool(np.isfinite(each.counts).all()) for each in found)


def _laws(found: Sequence[Weights], sizes: Sequence[int]) -> bool:
    """Whether these are probabilities of this many cells each."""
    formed = [share.shape for share in found] == [(size,) for size in sizes]
    return formed and all(bool(share.min() >= 0 and abs(share.sum() - 1) < 1e-6) for share in found)


def _groupings(found: Sequence[Codes], sizes: Sequence[int]) -> bool:
    """Whether these map this many cells each to groups 0, 1, 2, …, none of them empty."""
    formed = [(each.shape, each.dtype.kind) for each in found] == [((size,), "i") for size in sizes]
    return formed and all(np.array_equal(np.unique(each), np.arange(each.max() + 1)) for each in found)


def _at_most(total: float) -> float:
    """The total, capped at the largest number of rows that can be computed with: a tiny price buys enormous noise."""
    return min(total, float(MOST_TOTAL))


def shares(counts: Weights, total: float) -> Weights:
    """The nearest probabilities: most noise in empty cells is removed, and the total is kept.

    >>> shares(np.array([6.0, 3.0, -1.0, 0.0]), 9.0).tolist()
    [0.666..., 0.333..., 0.0, 0.0]
    """
    kept = simplex(counts, total=max(total, 1.0))
    return np.asarray(kept / kept.sum())


def joint_shares(joint: Marginal, total: float) -> Weights:
    """The histogram perturbation method: the nearest whole counts with the total, with the best rule for ties.

    [HRW11, Sec. 2]
    """
    size, counts = max(1, round(total)), joint.counts.ravel()
    ties = best_ties(counts, total=size, noise=joint.noise)
    return np.asarray(lattice(counts, total=size, ties=ties) / size)


def group(axis: Drawable, share: Weights, most: int) -> Codes:
    """Group the cells of a column by their noisy shares, into at most `most` groups and one more for NULL.

    Ordered cells are grouped with their neighbours, into groups of about equal share. The most frequent keys stay
    alone, and all others form one group.

    >>> from sitr.dataset.cells import Categories
    >>> from sitr.dataset.schema import Column, Kind
    >>> ward = Categories(Column("ward", Kind.TEXT), ("a", "b", "c", "d"), missing=Rule.DROP)
    >>> group(ward, np.array([0.1, 0.5, 0.1, 0.3]), 3).tolist()
    [2, 0, 2, 1]
    """
    values = axis.ordinary
    if values <= most:
        return np.arange(len(share))
    known = share[:values]
    if isinstance(axis, Granular):
        middle = np.cumsum(known) - known / 2
        places = np.minimum(np.floor(middle / max(known.sum(), 1e-300) * most), most - 1)
        groups = np.unique(places, return_inverse=True)[1]
    else:
        groups = np.empty(values, dtype=np.int64)
        groups[np.argsort(-known, kind="stable")] = np.minimum(np.arange(values), most - 1)
    return np.append(groups, groups.max() + 1) if axis.missing is Rule.CELL else groups


def strongest(found: Sequence[Marginal], shares: Sequence[Weights], total: float) -> list[tuple[int, ...]]:
    """The pairs whose noisy marginals are farthest from independence; choosing them costs nothing more."""
    far = []
    for pair in found:
        i, j = pair.columns
        expected = np.outer(shares[i], shares[j]) * max(total, 1.0)
        # The squared distance without the part that noise adds on average, so that little noise is no disadvantage.
        far.append(float(((pair.counts - expected) ** 2).sum() - pair.counts.size * pair.deviation**2))
    order = sorted(range(len(found)), key=lambda place: -far[place])[:MOST_PAIRS]
    return [found[place].columns for place in sorted(order)]


def _total(alone: Sequence[Marginal]) -> float:
    """The number of rows: the mean of the sums of all marginals, weighted by their precision."""
    precision = [1 / (each.counts.size * each.deviation**2) for each in alone]
    sums = [float(each.counts.sum()) for each in alone]
    return sum(p * s for p, s in zip(precision, sums, strict=True)) / sum(precision)


def grouped(
    pairs: Sequence[tuple[int, ...]], codes: Codes, groups: Sequence[Codes], noises: Sequence[Noise], coins: Coins
) -> tuple[Marginal, ...]:
    """The noisy marginals of these pairs, by groups of cells."""
    return _by([(i, j) for i, j in pairs], codes, [(groups[i], groups[j]) for i, j in pairs], noises, coins)


def _by(
    pairs: Sequence[tuple[int, ...]],
    codes: Codes,
    by: Sequence[tuple[Codes, ...]],
    noises: Sequence[Noise],
    coins: Coins,
) -> tuple[Marginal, ...]:
    """The same, each pair by its own groups."""
    shapes = _shapes(by)
    numbers = (
        first[codes[:, i]] * shape[1] + second[codes[:, j]]
        for (i, j), (first, second), shape in zip(pairs, by, shapes, strict=True)
    )
    return _noisy(pairs, numbers, shapes, noises, coins)


def _noisy(
    columns: Sequence[tuple[int, ...]],
    numbers: object,
    shapes: Sequence[tuple[int, ...]],
    noises: Sequence[Noise],
    coins: Coins,
) -> tuple[Marginal, ...]:
    made = []
    for place, cell, shape, noise in zip(columns, numbers, shapes, noises, strict=True):  # type: ignore[call-overload]
        exact = np.bincount(cell, minlength=math.prod(shape))
        made.append(Marginal(place, noise, noise.release(exact, coins=coins).astype(np.float64).reshape(shape)))
    return tuple(made)


def group_sums(share: Weights, groups: Codes) -> Weights:
    """The share of each group."""
    return np.bincount(groups, weights=share).astype(np.float64)
