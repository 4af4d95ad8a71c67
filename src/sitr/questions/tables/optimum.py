"""The least noise for many tables at one price, with a proof of how close to the least it is.

With u_T = σ_T², a table has the variance Σ_T a_T·u_T, and the price allows Σ_T p_T/u_T ≤ 1 (the unit of μ is 1 here).

- For weights w on the tables and v_T = Σ_S w_S·a_ST, the least Σ_S w_S·(variance of S) is (Σ_T √(p_T·v_T))², reached by
  u_T = √(p_T/v_T)·Σ_U √(p_U·v_U): by the inequality of Cauchy and Schwarz.
- For every such w ≥ 0 with Σ w = 1, a weighted mean of variances is at most the largest one. So g(w) = (Σ √(p_T·v_T))²
  is a lower bound on the least largest variance, whatever w is: the dual. At the optimum both are equal.
- A unit that can move in several ways j has several costs, Σ_T p_jT/u_T ≤ 1 for each. A weighted mean of them is at
  most the largest one, so that (Σ √(p_T·v_T))² with p = Σ λ_j·p_j is a lower bound, whatever λ ≥ 0 with Σ λ = 1 is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sitr.dataclass import dataclass

if TYPE_CHECKING:
    from scipy import sparse

Reals = NDArray[np.float64]

GAP = 1e-3
"""The search ends when the largest variance is proved to be within this part of the least possible one."""

_MOST = 5000
"""Steps of the search, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """σ² of each base at μ = 1, the value that it reaches, and a lower bound on what is possible."""

    variances: Reals
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """By how much the value exceeds the least possible one, at most, as a part of it."""
        return max(0.0, self.value / self.bound - 1)


def least_sum(matrix: sparse.csr_array, costs: Reals, weights: Reals) -> Optimum:
    """The least weighted sum of variances: a closed form, so the gap is zero.

    >>> from scipy.sparse import csr_array
    >>> least_sum(csr_array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2), np.ones(2)).variances.tolist()
    [2.0, 2.0]
    """
    wanted = matrix.T @ weights
    variances, value = _closed(costs, wanted)
    return Optimum(variances, float(value), float(value))


def least_largest(matrix: sparse.csr_array, costs: Reals, weights: Reals, *, gap: float = GAP) -> Optimum:
    """The least of the largest weighted variance.

    The dual is maximised by multiplying each table's weight by a power of its variance; the search keeps the best
    plan and the best bound of all steps, and the power falls when a step overshoots.
    """
    scaled = matrix.multiply(weights[:, None]).tocsr()
    dual = np.full(scaled.shape[0], 1 / scaled.shape[0])
    best: Optimum | None = None
    power, last = 1.0, np.inf
    for _ in range(_MOST):
        variances, bound = _closed(costs, scaled.T @ dual)
        found = scaled @ variances
        largest = float(found.max())
        if best is None or largest < best.value or bound > best.bound:
            value, plan = (largest, variances) if best is None or largest < best.value else (best.value, best.variances)
            best = Optimum(plan, value, float(bound) if best is None else max(best.bound, float(bound)))
        if best.gap <= gap:
            break
        ratio = largest / float(bound)
        power = max(0.1, power * 0.7) if ratio > last else min(1.5, power * 1.02)
        last = ratio
        dual = dual * (found / bound) ** power
        dual /= dual.sum()
    assert best is not None
    return best


def least_of_all(matrix: sparse.csr_array, costs: Reals, weights: Reals, *, largest: bool, gap: float = GAP) -> Optimum:
    """The same where every row of `costs` is one that the price must cover: the least of the largest weighted variance,
    or of their sum.

    Both duals are searched at once. A plan that overspends has its noise multiplied until it does not.

    >>> from scipy.sparse import csr_array
    >>> twice = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> least_of_all(csr_array(np.eye(2)), twice, np.ones(2), largest=False).variances.round(2).tolist()
    [1.0, 1.0]
    """
    scaled = matrix.multiply(weights[:, None]).tocsr()
    tables, ways = (np.full(size, 1 / size) for size in (scaled.shape[0], len(costs)))
    best: Optimum | None = None
    power, last = 1.0, np.inf
    for _ in range(_MOST):
        variances, bound = _closed(ways @ costs, scaled.T @ tables * (1 if largest else len(tables)))
        found, spent = scaled @ variances, costs @ (1 / variances)
        most = float(spent.max())
        value = float(found.max() if largest else found.sum()) * most
        if best is None or value < best.value or bound > best.bound:
            better = best is None or value < best.value
            best = Optimum(
                variances * most if better or best is None else best.variances,
                value if better or best is None else best.value,
                bound if best is None else max(best.bound, bound),
            )
        if best.gap <= gap:
            break
        ratio = value / bound
        power = max(0.1, power * 0.7) if ratio > last else min(1.5, power * 1.02)
        last = ratio
        ways = ways * spent**power
        ways /= ways.sum()
        if largest:
            tables = tables * (found / found.max()) ** power
            tables /= tables.sum()
    assert best is not None
    return best


def _closed(costs: Reals, wanted: Reals) -> tuple[Reals, float]:
    """The variances with the least Σ v·u, and this sum."""
    floor = np.maximum(wanted, wanted.max() * 1e-300)
    dear = np.maximum(costs, costs.max() * 1e-300)
    root = np.sqrt(dear * floor)
    return np.sqrt(dear / floor) * root.sum(), float(root.sum() ** 2)
