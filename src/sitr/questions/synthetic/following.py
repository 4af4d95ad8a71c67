"""How the columns of a row follow from what is given: log-linear models of pairs, fitted to a weighted sample.

The sample is made from noisy tables, so that nothing here reads the data. The columns that are not given are drawn one
after another. Each has a multinomial model with one term for every atom of each column before it,

    ln p(c | x₁, x₂, …) = b(c) + Σᵢ Wᵢ(xᵢ, c) − ln Z,

the model of maximum entropy with the same tables of pairs (c, xᵢ), if all terms are free. They are kept small by a
normal prior of variance 1, which decides where the sample has few rows. The fit is convex.      [Agr13, Ch. 8]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.namespace import Later
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.weighted_rows import Potential, WeightedRows

optimize, sparse = Later("scipy.optimize"), Later("scipy.sparse")

SAMPLE = 20_000
"""The most rows that a model is fitted to. A larger sample is thinned out evenly, by weight."""

STEPS = 40
"""The most steps of the optimiser."""


def potentials(model: WeightedRows, *, given: int, total: float) -> tuple[Potential, ...]:
    """The terms of each column that is not given; `total` is the number of rows of the data, by noisy count."""
    ends = np.cumsum(model.weights)
    number = min(SAMPLE, len(ends))
    teeth = (np.arange(number) + 0.5) / number * ends[-1]
    rows = model.rows[np.minimum(np.searchsorted(ends, teeth), len(ends) - 1)].astype(np.int64)
    sizes = [int(atoms.max()) + 1 for atoms in model.atoms]
    found: list[Potential] = []
    for column in range(given, len(sizes)):
        found += _terms(rows, sizes, column, total)
    return tuple(found)


def _terms(rows: Codes, sizes: list[int], column: int, total: float) -> list[Potential]:
    """The terms of one column, given all columns before it."""
    starts = np.concatenate([[0], np.cumsum(sizes[:column])]).astype(np.int64)
    places = np.column_stack([rows[:, :column] + starts[:-1], np.full(len(rows), starts[-1])])  # the last one is b
    shape = (int(starts[-1]) + 1, sizes[column])
    whole = (len(rows), shape[0])
    ones = np.ones(places.size)
    before = sparse.csr_matrix((ones, places.ravel(), np.arange(0, places.size + 1, places.shape[1])), shape=whole)
    now, prior = rows[:, column], 1 / max(total, 1.0)

    def loss(flat: Weights) -> tuple[float, Weights]:
        terms = flat.reshape(shape)
        logs = before @ terms
        logs -= logs.max(axis=1, keepdims=True)
        sums = np.exp(logs)
        norm = sums.sum(axis=1)
        sums /= norm[:, None]
        own = np.arange(len(rows))
        value = float((np.log(norm) - logs[own, now]).mean()) + prior / 2 * float(flat @ flat)
        sums[own, now] -= 1
        return value, (before.T @ sums / len(rows) + prior * terms).ravel()

    start = np.zeros(shape)
    start[-1] = np.log((np.bincount(now, minlength=sizes[column]) + 0.5) / len(rows))
    flat: Any = optimize.minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    terms: NDArray[np.float32] = flat.reshape(shape).astype(np.float32)
    parts = [Potential((place, column), terms[starts[place] : starts[place + 1]]) for place in range(column)]
    return [Potential((column,), terms[-1]), *parts]
