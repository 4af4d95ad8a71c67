"""How good synthetic rows are: measured on a public hold-out for nothing, or on the data themselves for a price."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from sitr.errors import QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import Coins, Keystream
from sitr.numbers import square_root_upward
from sitr.questions.synthetic.axes import MOST_CELLS, Axis, Codes
from sitr.questions.synthetic.plan import Noise, SynthesisPlan, affordable, ways_to_pay
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.tables import Table, Weights, group, grouped

LEVELS = 8
"""Groups of an ordered column in the tables that correlations are told from, where these are paid for."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """How far off one thing is; `error` is the half-width of its 95% interval, 0 where nothing was noisy."""

    columns: Names
    found: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Quality:
    """`single` and `pairs`: Σ |p − q| over the cells of a marginal, from 0 to 2 but for noise. `ranges`: the largest
    error of the share of any range of an ordered column. `correlations`: synthetic less true. `paid` is what was
    charged; None if the rows were compared with the public table `holdout`, for free. `scores`: the accuracy on the
    hold-out after training on synthetic rows, and after training on real ones. `private` is False if any of the noise
    in these figures, or in the rows that they are about, was made with test coins."""

    single: tuple[Figure, ...]
    pairs: tuple[Figure, ...]
    ranges: tuple[Figure, ...]
    correlations: tuple[Figure, ...]
    paid: Promise | None = None
    scores: tuple[float, float] | None = None
    holdout: str | None = None
    private: bool = True

    @property
    def mean_single(self) -> float:
        """Over all columns."""
        return _mean(self.single)

    @property
    def mean_pairs(self) -> float:
        """Over all pairs."""
        return _mean(self.pairs)


def against(portrait: Portrait, synthetic: Codes, holdout: Codes, *, name: str) -> Quality:
    """Synthetic rows beside those of the public table of this name, both as numbers of cells."""
    if not len(synthetic) or not len(holdout):
        raise QuestionError(
            wanted="Two tables with rows were wanted, synthetic ones and a public hold-out.",
            given="One of them has no row that has a cell in every column.",
            do="Draw more rows, or check that the hold-out has the same columns and values.",
        )
    axes = portrait.axes
    names = [axis.name for axis in axes]
    ours, theirs = (_shares(portrait, codes) for codes in (synthetic, holdout))
    told = [
        Figure(tuple(names[place] for place in columns), float(np.abs(ours(columns) - theirs(columns)).sum()))
        for columns in _places(axes)
    ]
    single, pairs, ordered = told[: len(axes)], told[len(axes) :], _ordered(axes)
    ranges = [Figure((names[i],), _worst_range(axes[i], ours((i,)) - theirs((i,)))) for i in ordered]
    correlations = [
        Figure((names[i], names[j]), _correlation(axes, synthetic, i, j) - _correlation(axes, holdout, i, j))
        for i, j in combinations(ordered, 2)
    ]
    return Quality(
        tuple(single), tuple(pairs), tuple(ranges), tuple(correlations), holdout=name, private=portrait.private
    )


@dataclass(frozen=True, slots=True)
class QualityPlan:
    """The price of a private look at the data: the same noise on every distance, and tables for correlations.

    One unit of m rows moves each Σ |c − s| of counts by at most Δ₁, the ℓ1 distance of the counts themselves, and the
    largest error of a range by no more: a vector of M such numbers moves by MΔ₁ in sum and by √M·Δ₁ in length.
    """

    price: Promise
    distances: Noise
    tables: tuple[Noise, ...]


def plan(portrait: Portrait, price: Promise) -> QualityPlan:
    """Half of the price for the distances, half for the correlations, if there are two ordered columns.

    An approximate price buys Laplace or Gaussian noise, whichever errs less.
    """
    return min(
        (_plan(portrait, each) for each in ways_to_pay(affordable(price))), key=lambda made: made.distances.error()
    )


def _plan(portrait: Portrait, price: Additive) -> QualityPlan:
    axes = portrait.axes
    made = SynthesisPlan(portrait.plan.sheet, price, portrait.plan.method)
    ordered = sum(axis.ordered for axis in axes)
    numbers = len(axes) + math.comb(len(axes), 2) + ordered
    related = math.comb(ordered, 2)
    half = made.whole.part(Fraction(1, 2)) if related else made.whole
    moved = portrait.plan.sheet.distance().l1
    if isinstance(half.price, PureDP):
        noise: Noise = Laplace.fitting(half.price, sensitivity=numbers * moved)
    else:
        noise = Gaussian.fitting(half.price, sensitivity=square_root_upward(Fraction(numbers * moved**2)))
    return QualityPlan(made.price, noise, tuple(half.noises([1] * related) if related else ()))


def privately(plan: QualityPlan, portrait: Portrait, synthetic: Codes, codes: Codes, *, coins: Coins) -> Quality:
    """Synthetic rows beside the data themselves. Shares are of the noisy number of rows, which is known already."""
    axes = portrait.axes
    places, ordered = _places(axes), _ordered(axes)
    size = max(1, portrait.size)
    noisy = plan.distances.release(distances(portrait, synthetic, codes), coins=coins)
    error = float(plan.distances.error()) / size
    figures = [
        Figure(tuple(axes[place].name for place in columns), max(0.0, float(number)) / size, error)
        for columns, number in zip([*places, *((place,) for place in ordered)], noisy, strict=True)
    ]
    correlations = _private_correlations(plan, portrait, synthetic, codes, ordered, coins)
    single, pairs, ranges = figures[: len(axes)], figures[len(axes) : len(places)], figures[len(places) :]
    # Only the keystream itself counts as private: other coins may claim what they like.
    private = portrait.private and type(coins) is Keystream
    return Quality(tuple(single), tuple(pairs), tuple(ranges), tuple(correlations), paid=plan.price, private=private)


def distances(portrait: Portrait, synthetic: Codes, codes: Codes) -> list[int]:
    """Exact and secret: Σ |c − s| of every column and pair, then the worst range of every ordered column, in rows.

    What the synthetic rows would count, s, is rounded: integers, whatever the rows hold.
    """
    axes, size = portrait.axes, max(1, portrait.size)
    expected, counted = _shares(portrait, synthetic), _counts(portrait, codes)

    def excess(columns: tuple[int, ...]) -> Codes:
        return counted(columns) - np.rint(expected(columns) * size).astype(np.int64)

    found = [int(np.abs(excess(columns)).sum()) for columns in _places(axes)]
    return found + [int(_worst_range(axes[place], excess((place,)))) for place in _ordered(axes)]


def _places(axes: tuple[Axis, ...]) -> list[tuple[int, ...]]:
    """Every column, then every pair."""
    return [(place,) for place in range(len(axes))] + list(combinations(range(len(axes)), 2))


def _ordered(axes: tuple[Axis, ...]) -> list[int]:
    return [place for place, axis in enumerate(axes) if axis.ordered]


def _private_correlations(
    plan: QualityPlan, portrait: Portrait, synthetic: Codes, codes: Codes, ordered: list[int], coins: Coins
) -> list[Figure]:
    """From noisy tables of a few levels, the same levels for both; errors by the noise alone, to first order."""
    if not plan.tables:
        return []
    axes = portrait.axes
    shares = [portrait.marginal(place) for place in range(len(axes))]
    groups = [group(axis, share, LEVELS) for axis, share in zip(axes, shares, strict=True)]
    pairs = list(combinations(ordered, 2))
    figures = []
    for table in grouped(pairs, codes, groups, plan.tables, coins):
        i, j = table.columns
        levels = [_levels(axes[place], groups[place], shares[place]) for place in (i, j)]
        shape = table.counts.shape
        number = groups[i][synthetic[:, i]] * shape[1] + groups[j][synthetic[:, j]]
        ours = np.bincount(number, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
        (true, error), (imitated, _) = _told(table.counts, levels, table), _told(ours, levels, table)
        figures.append(Figure((axes[i].name, axes[j].name), imitated - true, 1.96 * error))
    return figures


def _told(counts: Weights, levels: list[Weights], table: Table) -> tuple[float, float]:
    """The correlation of a table of levels without NULL, and its standard error from the noise of the counts.

    With standardised x and y, ∂r/∂c = (xy − r(x² + y²)/2)/n.
    """
    known = np.maximum(counts[: len(levels[0]), : len(levels[1])], 0.0)
    size = max(float(known.sum()), 1.0)
    x, y = (_standard(level, known.sum(axis=1 - axis) / size) for axis, level in enumerate(levels))
    r = min(1.0, max(-1.0, float(x @ known @ y) / size))
    slope = (np.outer(x, y) - r * (x[:, None] ** 2 + y[None, :] ** 2) / 2) / size
    return r, min(2.0, table.deviation * float(np.sqrt((slope**2).sum())))


def _standard(level: Weights, share: Weights) -> Weights:
    centred = level - level @ share
    spread = math.sqrt(max(float(centred**2 @ share), 0.0))
    return centred / spread if spread > 0 else np.zeros_like(centred)


def _levels(axis: Axis, groups: Codes, share: Weights) -> Weights:
    """The mean position of each group of an ordered column, by the shares that are public by now."""
    values = axis.cells - axis.nulls
    position, weight = axis.positions(np.arange(values)), share[:values] + 1e-12
    sums, weights = (np.bincount(groups[:values], weights=each) for each in (position * weight, weight))
    return np.asarray(sums / weights)


def _shares(portrait: Portrait, codes: Codes) -> Callable[[tuple[int, ...]], Weights]:
    counts = _counts(portrait, codes)
    return lambda columns: counts(columns) / max(1, len(codes))


def _counts(portrait: Portrait, codes: Codes) -> Callable[[tuple[int, ...]], Codes]:
    """Counts of the cells of one or two columns; of groups of cells where a pair has too many."""

    def of(columns: tuple[int, ...]) -> Codes:
        sizes = [portrait.axes[place].cells for place in columns]
        parts = [codes[:, place] for place in columns]
        if math.prod(sizes) > MOST_CELLS:
            parts = [portrait.measured.groups[place][part] for place, part in zip(columns, parts, strict=True)]
            sizes = [int(portrait.measured.groups[place].max()) + 1 for place in columns]
        number = parts[0] if len(parts) == 1 else parts[0] * sizes[1] + parts[1]
        return np.bincount(number, minlength=math.prod(sizes))

    return of


def _worst_range(axis: Axis, difference: Weights | Codes) -> float:
    """The largest |Σ over a range|: a range is a difference of two running sums."""
    running = np.append(0, np.cumsum(difference[: axis.cells - axis.nulls]))
    return float(running.max() - running.min())


def _correlation(axes: tuple[Axis, ...], codes: Codes, i: int, j: int) -> float:
    """Of the middles of cells, over rows that have both values; 0 where one does not vary."""
    x, y = (axes[place].positions(codes[:, place]) for place in (i, j))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _mean(figures: tuple[Figure, ...]) -> float:
    return sum(figure.found for figure in figures) / len(figures) if figures else 0.0
