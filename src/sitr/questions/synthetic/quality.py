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
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.synthetic.axes import MOST_CELLS, Codes
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.questions.synthetic.marginals import Marginal, Measured, Weights, group, grouped
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.quality_plan import QualityPlan, quality_plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.values import positions

MOST_TRIPLES = 500
"""Triples of columns are compared with a public table if there are at most this many."""

LEVELS = 8
"""The most groups of an ordered column in the noisy marginals that correlations are computed from."""


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
    single, pairs, ordered = found[: len(axes)], found[len(axes) :], _ordered(axes)
    ranges = [Figure((names[i],), _worst_range(axis, ours((i,)) - theirs((i,)))) for i, axis in ordered.items()]
    correlations = [
        Figure((names[i], names[j]), _correlation(ordered, synthetic, i, j) - _correlation(ordered, holdout, i, j))
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

    def text(self) -> str:
        return f"QUALITY OF SYNTHETIC {', '.join(self.portrait.plan.sheet.names)} FROM {self.table}"

    def plan(self, price: Promise, /) -> QualityPlan:
        """Noise for every distance, and for tables that show correlations."""
        return replace(quality_plan(self.portrait.plan.sheet, price, text=self.text()), about=self._about())

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
    places, ordered = _places(axes), _ordered(axes)
    size = max(1, portrait.size)
    noisy = plan.distances.release(distances(portrait, synthetic, codes), coins=coins)
    error = float(plan.distances.error()) / size
    figures = [
        Figure(tuple(names[place] for place in columns), max(0.0, float(number)) / size, error)
        for columns, number in zip([*places, *((place,) for place in ordered)], noisy, strict=True)
    ]
    correlations = _private_correlations(plan, portrait, synthetic, codes, ordered, coins)
    single, pairs, ranges = figures[: len(axes)], figures[len(axes) : len(places)], figures[len(places) :]
    return Quality(plan, tuple(single), tuple(pairs), tuple(ranges), tuple(correlations))


def distances(portrait: Portrait, synthetic: Codes, codes: Codes) -> list[int]:
    """Σ |c − s| of every column and pair, then the worst range of every ordered column: exact and secret.

    s are the counts that the synthetic rows predict, rounded, so that all numbers are integers.
    """
    axes, size = portrait.axes, max(1, portrait.size)
    expected, counted = _shares(portrait, synthetic), _counts(portrait, codes)

    def excess(columns: tuple[int, ...]) -> Codes:
        return counted(columns) - np.rint(expected(columns) * size).astype(np.int64)

    found = [int(np.abs(excess(columns)).sum()) for columns in _places(axes)]
    return found + [int(_worst_range(axis, excess((place,)))) for place, axis in _ordered(axes).items()]


def _places(axes: tuple[Drawable, ...]) -> list[tuple[int, ...]]:
    """Every column, then every pair."""
    return [(place,) for place in range(len(axes))] + list(combinations(range(len(axes)), 2))


def _ordered(axes: tuple[Drawable, ...]) -> dict[int, Granular]:
    """The columns in which neighbouring cells hold neighbouring values, by their positions."""
    return {place: axis for place, axis in enumerate(axes) if isinstance(axis, Granular)}


def _private_correlations(
    plan: QualityPlan, portrait: Portrait, synthetic: Codes, codes: Codes, ordered: dict[int, Granular], coins: Coins
) -> list[Figure]:
    """Correlations of a few levels of each column, with errors from the noise alone, to first order."""
    if not plan.pairs:
        return []
    axes, names = portrait.axes, portrait.plan.sheet.names
    shares = [portrait.marginal(place) for place in range(len(axes))]
    groups = [group(axis, share, LEVELS) for axis, share in zip(axes, shares, strict=True)]
    pairs = list(combinations(ordered, 2))
    figures = []
    for pair in grouped(pairs, codes, groups, plan.pairs, coins):
        i, j = pair.columns
        levels = [_levels(ordered[place], groups[place], shares[place]) for place in (i, j)]
        shape = pair.counts.shape
        number = groups[i][synthetic[:, i]] * shape[1] + groups[j][synthetic[:, j]]
        ours = np.bincount(number, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
        (true, error), (imitated, _) = (_correlated(each, levels, pair) for each in (pair.counts, ours))
        figures.append(Figure((names[i], names[j]), imitated - true, 1.96 * error))
    return figures


def _correlated(counts: Weights, levels: list[Weights], pair: Marginal) -> tuple[float, float]:
    """The correlation of two columns without NULL, from counts of levels, and its standard error from their noise.

    With standardised x and y, ∂r/∂c = (xy − r(x² + y²)/2)/n.
    """
    known = np.maximum(counts[: len(levels[0]), : len(levels[1])], 0.0)
    size = max(float(known.sum()), 1.0)
    x, y = (_standard(level, known.sum(axis=1 - axis) / size) for axis, level in enumerate(levels))
    r = min(1.0, max(-1.0, float(x @ known @ y) / size))
    slope = (np.outer(x, y) - r * (x[:, None] ** 2 + y[None, :] ** 2) / 2) / size
    return r, min(2.0, pair.deviation * float(np.sqrt((slope**2).sum())))


def _standard(level: Weights, share: Weights) -> Weights:
    centred = level - level @ share
    spread = math.sqrt(max(float(centred**2 @ share), 0.0))
    return centred / spread if spread > 0 else np.zeros_like(centred)


def _levels(axis: Granular, groups: Codes, share: Weights) -> Weights:
    """The mean position of each group of an ordered column, weighted by shares, which are public already."""
    values = axis.ordinary
    position, weight = positions(axis, np.arange(values)), share[:values] + 1e-12
    sums, weights = (np.bincount(groups[:values], weights=each) for each in (position * weight, weight))
    return np.asarray(sums / weights)


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


def _correlation(ordered: dict[int, Granular], codes: Codes, i: int, j: int) -> float:
    """The correlation of the middles of cells, over rows that have both values; 0 if one of them is constant."""
    x, y = (positions(ordered[place], codes[:, place]) for place in (i, j))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
