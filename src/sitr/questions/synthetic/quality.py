"""How good synthetic rows are, compared with a public hold-out for free or with the data themselves for a price."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from sitr.dataset.cells import Drawable, Granular
from sitr.errors import QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import Coins, Keystream
from sitr.numbers import square_root_upward
from sitr.questions.synthetic.axes import MOST_CELLS, Codes
from sitr.questions.synthetic.marginals import Marginal, Weights, group, grouped
from sitr.questions.synthetic.plan import Noise, SynthesisPlan, affordable, ways_to_pay
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.values import positions

LEVELS = 8
"""The most groups of an ordered column in the noisy marginals that correlations are computed from."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The error of one statistic; `error` is the half-width of its 95% interval, 0 if no noise was added."""

    columns: Names
    found: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Quality:
    """How far synthetic rows are from the data, or from a public table.

    `single` and `pairs` are Σ |p − q| over the cells of a marginal, from 0 to 2 apart from noise. `ranges` are the
    largest errors of the share of any range of an ordered column. `correlations` are synthetic minus true. `paid` is
    the price, or None if the rows were compared with the public table `holdout` for free. `scores` are the accuracy on
    the hold-out after training on synthetic rows and after training on real ones. `private` is False if any of the
    noise, here or in the rows, was drawn with test coins.
    """

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
        """The mean over all columns."""
        return _mean(self.single)

    @property
    def mean_pairs(self) -> float:
        """The mean over all pairs."""
        return _mean(self.pairs)


def against(portrait: Portrait, synthetic: Codes, holdout: Codes, *, name: str) -> Quality:
    """Compare synthetic rows with the public table of this name; both are given as cell numbers."""
    if not len(synthetic) or not len(holdout):
        raise QuestionError(
            given="The synthetic rows or the public hold-out have no row with a cell in every column.",
            do="Draw more rows, or check that the hold-out has the same columns and values.",
        )
    axes, names = portrait.axes, portrait.plan.sheet.names
    ours, theirs = (_shares(portrait, codes) for codes in (synthetic, holdout))
    found = [
        Figure(tuple(names[place] for place in columns), float(np.abs(ours(columns) - theirs(columns)).sum()))
        for columns in _places(axes)
    ]
    single, pairs, ordered = found[: len(axes)], found[len(axes) :], _ordered(axes)
    ranges = [Figure((names[i],), _worst_range(axis, ours((i,)) - theirs((i,)))) for i, axis in ordered.items()]
    correlations = [
        Figure((names[i], names[j]), _correlation(ordered, synthetic, i, j) - _correlation(ordered, holdout, i, j))
        for i, j in combinations(ordered, 2)
    ]
    return Quality(
        tuple(single), tuple(pairs), tuple(ranges), tuple(correlations), holdout=name, private=portrait.private
    )


@dataclass(frozen=True, slots=True)
class QualityPlan:
    """The price and the noise of a private comparison: the same noise on every distance, and pairs for correlations.

    One unit moves each Σ |c − s| over counts c by at most Δ₁, the ℓ1 distance of the counts, and the largest error of a
    range by at most Δ₁ too. So it moves a vector of M such numbers by at most MΔ₁ in ℓ1 and √M·Δ₁ in ℓ2.
    """

    price: Promise
    distances: Noise
    pairs: tuple[Noise, ...]


def plan(portrait: Portrait, price: Promise) -> QualityPlan:
    """Half of the price pays for the distances and half for the correlations, if there are two ordered columns.

    An approximate price buys Laplace or Gaussian noise, whichever has the smaller error.
    """
    return min(
        (_plan(portrait, each) for each in ways_to_pay(affordable(price))), key=lambda made: made.distances.error()
    )


def _plan(portrait: Portrait, price: Additive) -> QualityPlan:
    axes = portrait.axes
    made = SynthesisPlan(portrait.plan.sheet, price, portrait.plan.method)
    ordered = len(_ordered(axes))
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
    # Only the system's keystream counts as private, whatever other coins claim.
    private = portrait.private and type(coins) is Keystream
    return Quality(tuple(single), tuple(pairs), tuple(ranges), tuple(correlations), paid=plan.price, private=private)


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
    """Counts of the cells of one or two columns; of groups of cells if a pair has too many."""

    def of(columns: tuple[int, ...]) -> Codes:
        sizes = [portrait.plan.sheet.grid.shape[place] for place in columns]
        parts = [codes[:, place] for place in columns]
        if math.prod(sizes) > MOST_CELLS:
            parts = [portrait.measured.groups[place][part] for place, part in zip(columns, parts, strict=True)]
            sizes = [int(portrait.measured.groups[place].max()) + 1 for place in columns]
        number = parts[0] if len(parts) == 1 else parts[0] * sizes[1] + parts[1]
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


def _mean(figures: tuple[Figure, ...]) -> float:
    return sum(figure.found for figure in figures) / len(figures) if figures else 0.0
