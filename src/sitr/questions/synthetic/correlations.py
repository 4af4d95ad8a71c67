"""Correlations of synthetic rows beside those of the data, from noisy tables of a few levels of each column."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from sitr.dataset.cells import Drawable, Granular
from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.figures import Figure
from sitr.questions.synthetic.marginals import Marginal, Weights, group, grouped
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.quality_plan import QualityPlan
from sitr.questions.values import positions

LEVELS = 8
"""The most groups of an ordered column in the noisy marginals that correlations are computed from."""


def ordered_axes(axes: tuple[Drawable, ...]) -> dict[int, Granular]:
    """The columns in which neighbouring cells hold neighbouring values, by their positions."""
    return {place: axis for place, axis in enumerate(axes) if isinstance(axis, Granular)}


def private_correlations(
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


def correlation(ordered: dict[int, Granular], codes: Codes, i: int, j: int) -> float:
    """The correlation of the middles of cells, over rows that have both values; 0 if one of them is constant."""
    x, y = (positions(ordered[place], codes[:, place]) for place in (i, j))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
