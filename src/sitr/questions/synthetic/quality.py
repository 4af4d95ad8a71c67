"""How good synthetic rows are, compared with a public hold-out for free or with the data themselves for a price."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations

import numpy as np

from sitr.dataset.cells import Drawable, Granular
from sitr.errors import QuestionError
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.summed import sum_error
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.synthetic.axes import MOST_CELLS, Codes
from sitr.questions.synthetic.correlations import correlation, ordered_axes, private_correlations
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.questions.synthetic.marginals import Measured, Weights
from sitr.questions.synthetic.moments import private_regression
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.quality_plan import MOST_TRIPLES, PLAIN, Judged, QualityPlan, quality_plan
from sitr.questions.synthetic.sheet import Sheet


def against(portrait: Portrait, synthetic: Codes, holdout: Codes, *, name: str) -> Quality:
    """Compare synthetic rows with the public table of this name; both are given as cell numbers."""
    if not len(synthetic) or not len(holdout):
        raise QuestionError(
            given="The synthetic rows or the public hold-out have no row with a cell in every column.",
            do="Draw more rows, or check that the hold-out has the same columns and values.",
        )
    axes, names = portrait.axes, portrait.plan.sheet.names
    ours, theirs = (_shares(portrait, codes) for codes in (synthetic, holdout))

    def apart(columns: tuple[int, ...]) -> Figure:
        return Figure(tuple(names[place] for place in columns), float(np.abs(ours(columns) - theirs(columns)).sum()))

    found = [apart(columns) for columns in _places(axes)]
    triples = combinations(range(len(axes)), 3) if math.comb(len(axes), 3) <= MOST_TRIPLES else ()
    single, pairs, ordered = found[: len(axes)], found[len(axes) :], ordered_axes(axes)
    ranges = [Figure((names[i],), _worst_range(axis, ours((i,)) - theirs((i,)))) for i, axis in ordered.items()]
    correlations = [
        Figure((names[i], names[j]), correlation(ordered, synthetic, i, j) - correlation(ordered, holdout, i, j))
        for i, j in combinations(ordered, 2)
    ]
    parts = tuple(single), tuple(pairs), tuple(ranges), tuple(correlations)
    return Quality(None, *parts, holdout=name, triples=tuple(map(apart, triples)))


def subgroups(portrait: Portrait, synthetic: Codes, holdout: Codes, target: int) -> tuple[Figure, ...]:
    """For each value of the target that both tables have: the mean Σ |p − q| of the other columns in these rows."""
    name, labels = portrait.plan.sheet.names[target], [cell.label for cell in portrait.axes[target].cells()]
    others = [place for place in range(len(portrait.axes)) if place != target]
    found = []
    for value, label in enumerate(labels):
        ours, theirs = (codes[codes[:, target] == value] for codes in (synthetic, holdout))
        if len(ours) and len(theirs):
            shares = [_shares(portrait, codes) for codes in (ours, theirs)]
            far = [float(np.abs(shares[0]((place,)) - shares[1]((place,))).sum()) for place in others]
            found.append(Figure((f"{name} = {label}",), sum(far) / len(far)))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class QualityQuestion:
    """How far synthetic rows, as numbers of cells, are from the data themselves."""

    portrait: Portrait
    synthetic: Codes
    table: str
    judged: Judged = PLAIN

    def text(self) -> str:
        return f"QUALITY OF SYNTHETIC {', '.join(self.portrait.plan.sheet.names)} FROM {self.table}"

    def plan(self, price: Promise, /) -> QualityPlan:
        """Noise for every distance, for tables that show correlations, and for what is asked for beside them."""
        planned, alone = self.portrait.plan, self.portrait.plan.diary is None
        made = quality_plan(planned.sheet, price, text=self.text(), looked=self.judged, regression=alone)
        return replace(made, about=self._about())

    def _about(self) -> str:
        """Other rows, in whatever order, are another question, although their columns and their noise are the same."""
        measured, rows = self.portrait.measured, self.synthetic[np.lexsort(self.synthetic.T)]
        found = sha256(repr((self.portrait.plan.sheet, measured.total, rows.shape, rows.dtype)).encode())
        for numbers in (rows, *measured.shares, *measured.groups):
            found.update(np.ascontiguousarray(numbers).tobytes())
        return found.hexdigest()

    def reading(self) -> Sheet | Diary:
        return self.portrait.plan.reading

    def answer(self, plan: QualityPlan, exact: Codes, /, *, coins: Coins) -> Quality:
        return privately(plan, self.portrait, self.synthetic, self.portrait.plan.coded(exact), coins=coins)

    def errors(self, plan: QualityPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of every distance, as a share of the rows."""
        return {"distance": float(plan.distances.error(confidence=confidence)) / max(1, self.portrait.size)}


@dataclass(frozen=True, slots=True, eq=False)
class QualityStage:
    """The second stage of synthetic rows whose plan has a `quality`: the first has measured the tables."""

    portrait: Portrait
    synthetic: Codes

    def reading(self) -> Sheet | Diary:
        return self.portrait.plan.reading

    def answer(self, plan: SynthesisPlan, exact: Codes, /, *, coins: Coins) -> Measured:
        """The tables of the first stage, and noisy figures beside them."""
        assert plan.quality is not None
        found = privately(plan.quality, self.portrait, self.synthetic, self.portrait.plan.coded(exact), coins=coins)
        return replace(self.portrait.measured, quality=replace(found, plan=None))


def privately(plan: QualityPlan, portrait: Portrait, synthetic: Codes, codes: Codes, *, coins: Coins) -> Quality:
    """Compare synthetic rows with the data. Shares are relative to the noisy number of rows, which is public."""
    axes, names = portrait.axes, portrait.plan.sheet.names
    places, ordered = _places(axes), ordered_axes(axes)
    size = max(1, portrait.size)
    noisy = plan.distances.release(distances(portrait, synthetic, codes), coins=coins)
    error = float(plan.distances.error()) / size
    figures = [
        Figure(tuple(names[place] for place in columns), max(0.0, float(number)) / size, error)
        for columns, number in zip([*places, *((place,) for place in ordered)], noisy, strict=True)
    ]
    correlations = private_correlations(plan, portrait, synthetic, codes, ordered, coins)
    single, pairs, ranges = figures[: len(axes)], figures[len(axes) : len(places)], figures[len(places) :]
    found = Quality(plan, tuple(single), tuple(pairs), tuple(ranges), tuple(correlations))
    if (noise := plan.noise("triples")) is not None:
        found = replace(found, triples=_private_triples(noise, portrait, synthetic, codes, coins))
    if plan.target is not None and (noise := plan.noise("subgroups")) is not None:
        found = replace(found, subgroups=_private_subgroups(noise, portrait, synthetic, codes, plan.target, coins))
    if plan.target is not None and (noise := plan.noise("regression")) is not None:
        lines = private_regression(axes, synthetic, codes, plan.target, noise, coins=coins)
        found = replace(found, regression=lines)
    return found


def distances(portrait: Portrait, synthetic: Codes, codes: Codes) -> list[int]:
    """Σ |c − s| of every column and pair, then the worst range of every ordered column: exact and secret.

    s are the counts that the synthetic rows predict, rounded, so that all numbers are integers.
    """
    axes, excess = portrait.axes, _excess(portrait, synthetic, codes)
    found = [int(np.abs(excess(columns)).sum()) for columns in _places(axes)]
    return found + [int(_worst_range(axis, excess((place,)))) for place, axis in ordered_axes(axes).items()]


def triple_distances(portrait: Portrait, synthetic: Codes, codes: Codes) -> list[int]:
    """Σ |c − s| of every triple: exact and secret."""
    excess = _excess(portrait, synthetic, codes)
    return [int(np.abs(excess(columns)).sum()) for columns in combinations(range(len(portrait.axes)), 3)]


def subgroup_distances(portrait: Portrait, synthetic: Codes, codes: Codes, target: int) -> Codes:
    """Σ |c − s| of every other column among the rows with each value of the target: exact and secret.

    s are the counts that the synthetic rows with this value predict, for the number of rows that the model gives it.
    """
    cells, sizes = portrait.plan.sheet.grid.shape, _subgroup_sizes(portrait, target)
    found = []
    for value in range(cells[target]):
        ours, theirs = (rows[rows[:, target] == value] for rows in (synthetic, codes))
        for place in _others(portrait, target):
            expected = np.bincount(ours[:, place], minlength=cells[place]) / max(1, len(ours)) * sizes[value]
            counted = np.bincount(theirs[:, place], minlength=cells[place])
            found.append(int(np.abs(counted - np.rint(expected).astype(np.int64)).sum()))
    return np.array(found, dtype=np.int64)


def _subgroup_sizes(portrait: Portrait, target: int) -> Weights:
    """The number of rows with each value of the target, by the model, which is public."""
    return portrait.marginal(target) * max(1, portrait.size)


def _others(portrait: Portrait, target: int) -> list[int]:
    return [place for place in range(len(portrait.axes)) if place != target]


def _private_triples(
    noise: Noise, portrait: Portrait, synthetic: Codes, codes: Codes, coins: Coins
) -> tuple[Figure, ...]:
    names, size = portrait.plan.sheet.names, max(1, portrait.size)
    noisy = noise.release(triple_distances(portrait, synthetic, codes), coins=coins)
    sets = combinations(range(len(names)), 3)
    return tuple(
        Figure(tuple(names[place] for place in columns), max(0.0, float(number)) / size, float(noise.error()) / size)
        for columns, number in zip(sets, noisy, strict=True)
    )


def _private_subgroups(
    noise: Noise, portrait: Portrait, synthetic: Codes, codes: Codes, target: int, coins: Coins
) -> tuple[Figure, ...]:
    """The mean of the other columns for each value that both the synthetic rows and the model have.

    The error of the mean follows from the exact law of the sum of its noise: that of one number, divided by √K, is too
    small where noise is a few whole numbers.
    """
    name, labels = portrait.plan.sheet.names[target], [cell.label for cell in portrait.axes[target].cells()]
    noisy = noise.release(subgroup_distances(portrait, synthetic, codes, target), coins=coins)
    means = np.asarray(noisy, dtype=np.float64).reshape(len(labels), -1).mean(axis=1)
    others = len(portrait.axes) - 1
    error = sum_error(noise, np.ones(others)) / others
    sizes, there = _subgroup_sizes(portrait, target), np.bincount(synthetic[:, target], minlength=len(labels))
    return tuple(
        Figure((f"{name} = {label}",), max(0.0, float(mean)) / size, error / size)
        for label, mean, size, rows in zip(labels, means.tolist(), sizes.tolist(), there, strict=True)
        if size >= 1 and rows
    )


def _excess(portrait: Portrait, synthetic: Codes, codes: Codes) -> Callable[[tuple[int, ...]], Codes]:
    """The counts of the data less those that the synthetic rows predict, rounded."""
    size, expected, counted = max(1, portrait.size), _shares(portrait, synthetic), _counts(portrait, codes)
    return lambda columns: counted(columns) - np.rint(expected(columns) * size).astype(np.int64)


def _places(axes: tuple[Drawable, ...]) -> list[tuple[int, ...]]:
    """Every column, then every pair."""
    return [(place,) for place in range(len(axes))] + list(combinations(range(len(axes)), 2))


def _shares(portrait: Portrait, codes: Codes) -> Callable[[tuple[int, ...]], Weights]:
    counts = _counts(portrait, codes)
    return lambda columns: counts(columns) / max(1, len(codes))


def _counts(portrait: Portrait, codes: Codes) -> Callable[[tuple[int, ...]], Codes]:
    """Counts of the cells of some columns; of groups of cells if together they have too many."""

    def of(columns: tuple[int, ...]) -> Codes:
        sizes = [portrait.plan.sheet.grid.shape[place] for place in columns]
        parts = [codes[:, place] for place in columns]
        if math.prod(sizes) > MOST_CELLS:
            parts = [portrait.measured.groups[place][part] for place, part in zip(columns, parts, strict=True)]
            sizes = [int(portrait.measured.groups[place].max()) + 1 for place in columns]
        number = parts[0]
        for part, size in zip(parts[1:], sizes[1:], strict=True):
            number = number * size + part
        return np.bincount(number, minlength=math.prod(sizes))

    return of


def _worst_range(axis: Granular, difference: Weights | Codes) -> float:
    """The largest |Σ over a range|: the sum over a range is a difference of two running sums."""
    running = np.append(0, np.cumsum(difference[: axis.ordinary]))
    return float(running.max() - running.min())
