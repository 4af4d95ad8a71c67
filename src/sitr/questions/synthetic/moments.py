"""A linear regression on synthetic rows beside the same one on the data, from one noisy table of products.

Every row of the data is a vector w of whole numbers: R for the constant, then for each column either one number from
−R to R (an ordered column, 0 at the mean of the synthetic rows and for NULL) or an R in at most one of several places
(a column of keys, nowhere for its most frequent value). What is measured is Σ w_a·w_b over the rows, for all a ≤ b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable, Granular, size
from sitr.mechanisms.additive import Noise
from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.figures import Coefficient
from sitr.questions.synthetic.products import RESOLUTION

Reals = NDArray[np.float64]

MOST_TERMS = 12
"""The most terms of one column of keys: those of its most frequent values but the first."""

FEWEST = 30
"""A value has a term if at least this many synthetic rows have it."""

SURE = 1.959964
"""95% of a normal distribution lie within this many standard deviations."""

SEEN = 4.0
"""A term is left out if noise explains, up to this factor, what it adds to the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The numbers of a row, by the cells of its columns. It is made from synthetic rows, and so public.

    `values` has the numbers of each cell of each column, a row for each cell. The target comes last; if its values are
    keys, it is R for the most frequent one.
    """

    order: tuple[int, ...]
    values: tuple[Codes, ...]
    names: tuple[str, ...]
    """The terms, without the constant and the target."""
    units: Reals
    """What one in each term, and in the target, is in the numbers of a row: a standard deviation, or R."""

    def sums(self, codes: Codes) -> Codes:
        """Σ w_a·w_b for all a ≤ b, exactly."""
        wide = self.rows(codes).astype(np.float64)  # sums of products of small whole numbers are exact below 2^53
        whole = np.rint(wide.T @ wide).astype(np.int64)
        return np.asarray(whole[np.triu_indices(len(whole))])

    def rows(self, codes: Codes) -> Codes:
        """The numbers of each row."""
        parts = [value[codes[:, place]] for place, value in zip(self.order, self.values, strict=True)]
        return np.column_stack([np.full(len(codes), RESOLUTION, dtype=np.int64), *parts])


def design(axes: tuple[Drawable, ...], synthetic: Codes, target: int) -> Design:
    """The numbers by which rows are described, given synthetic ones."""
    order = [place for place in range(len(axes)) if place != target]
    values, names, units = [], [], []
    for place in (*order, target):
        axis, codes = axes[place], synthetic[:, place]
        if isinstance(axis, Granular):
            numbers, unit = _ordered(axis, codes)
            values.append(numbers[:, None])
            found = [(axis.column.name, unit)]
        else:
            kept = _frequent(size(axis), codes)
            kept = kept[:1] if place == target else kept[1:]
            values.append(RESOLUTION * (np.arange(size(axis))[:, None] == kept[None, :]).astype(np.int64))
            labels = [cell.label for cell in axis.cells()]
            found = [(f"{axis.column.name} = {labels[value]}", float(RESOLUTION)) for value in kept]
        names += [name for name, _ in found]
        units += [unit for _, unit in found]
    return Design((*order, target), tuple(values), tuple(names[:-1]), np.array(units))


def private_regression(
    axes: tuple[Drawable, ...], synthetic: Codes, codes: Codes, target: int, noise: Noise, *, coins: Coins
) -> tuple[Coefficient, ...]:
    """The coefficients of least squares for the target, given all other columns, by synthetic rows and by the data.

    As beside a public table, ordered columns count in standard deviations, of the synthetic rows. The error is the 95%
    half-width of the difference of both coefficients, if both tables were independent samples of one population, with
    the noise: with Σ w_a·w_b in place of A and b, the solution of Aβ = b moves by A⁻¹(δb − δA·β), to first order.
    """
    made = design(axes, synthetic, target)
    noisy = np.asarray(noise.release(made.sums(codes), coins=coins), dtype=np.float64)
    ours = made.sums(synthetic).astype(np.float64)
    if not made.names or not len(synthetic):
        return ()
    real, drawn = (_matrix(each, 2 + len(made.names)) for each in (noisy, ours))
    kept = _kept(real, drawn, noise.deviation)
    both = [_solved(each, kept, deviation) for each, deviation in ((drawn, 0.0), (real, noise.deviation))]
    scale = np.append(RESOLUTION, made.units)
    found = []
    for at, term in enumerate(kept[1:], start=1):
        unit = scale[term] / scale[-1]
        (one, s), (other, t) = ((beta[at] * unit, math.sqrt(max(0.0, variance[at])) * unit) for beta, variance in both)
        found.append(Coefficient(made.names[term - 1], float(one), float(other), SURE * math.hypot(s, t)))
    return tuple(found)


def _ordered(axis: Granular, codes: Codes) -> tuple[Codes, float]:
    """The number of each cell, and how many of them are a standard deviation of the rows."""
    cells = np.arange(size(axis))
    known = codes[codes < axis.ordinary]
    middle = float(known.mean()) if len(known) else (axis.ordinary - 1) / 2
    widest = max(middle, axis.ordinary - 1 - middle, 1e-9)
    numbers = np.where(cells < axis.ordinary, np.rint((cells - middle) / widest * RESOLUTION), 0).astype(np.int64)
    spread = float(known.std()) if len(known) else 0.0
    return np.clip(numbers, -RESOLUTION, RESOLUTION), (spread or 1.0) / widest * RESOLUTION


def _frequent(cells: int, codes: Codes) -> Codes:
    """The most frequent values, in this order; always the first one."""
    counts = np.bincount(codes, minlength=cells)
    order = np.argsort(-counts, kind="stable")[: 1 + MOST_TERMS]
    return np.asarray(order[(counts[order] >= FEWEST) | (np.arange(len(order)) == 0)])


def _matrix(sums: Reals, wide: int) -> Reals:
    found = np.zeros((wide, wide))
    found[np.triu_indices(wide)] = sums
    return found + np.triu(found, 1).T


def _kept(real: Reals, drawn: Reals, deviation: float) -> list[int]:
    """The constant and the terms that are neither explained by those before them nor hidden by noise, in both tables.

    Each is judged by what is left of its square after a regression on those kept so far.
    """
    kept, hidden = [0], SEEN * deviation
    for term in range(1, len(real) - 1):
        left = []
        for each in (real, drawn):
            beside = each[np.ix_(kept, [term])][:, 0]
            left.append(each[term, term] - beside @ np.linalg.pinv(each[np.ix_(kept, kept)]) @ beside)
        if left[0] > hidden * math.sqrt(len(real)) and left[1] > 1e-8 * max(drawn[term, term], 1e-300):
            kept.append(term)
    return kept


def _solved(whole: Reals, kept: list[int], deviation: float) -> tuple[Reals, Reals]:
    """The coefficients, and the variance of each: of a sample of this size, and of the noise of the sums.

    Noise of variance σ² in each sum moves δb − δA·β by variances σ²(1 + |β|²) and covariances σ²·β_a·β_b.
    """
    inverse = np.linalg.pinv(whole[np.ix_(kept, kept)])
    beta = inverse @ whole[kept, -1]
    rows = max(1.0, whole[0, 0] / RESOLUTION**2)
    rest = max(0.0, float(whole[-1, -1] - beta @ whole[kept, -1])) / rows
    noise = np.outer(beta, beta)
    np.fill_diagonal(noise, 1 + float(beta @ beta))
    moved = deviation**2 * inverse @ noise @ inverse
    return beta, rest * np.diag(inverse) + np.diag(moved)
