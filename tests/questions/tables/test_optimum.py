"""The least noise: no other division is better, and the dual proves it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from sitr.questions.tables.optimum import least_largest, least_sum
from tests.questions.tables.conftest import workload

ALL = [*combinations(range(4), 1), *combinations(range(4), 2), *combinations(range(4), 3)]


def problem(seed: int):
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 12, 4).tolist()
    wanted = workload(sizes, [ALL[place] for place in random.choice(len(ALL), 7, replace=False)])
    bases = wanted.bases()
    costs = np.array([wanted.weight(base) for base in bases])
    return wanted.matrix(bases), costs, random.uniform(0.1, 10, 7)


@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_the_least_sum(seed: int) -> None:
    matrix, costs, weights = problem(seed)
    found = least_sum(matrix, costs, weights)
    assert (costs / found.variances).sum() == pytest.approx(1.0)
    assert weights @ (matrix @ found.variances) == pytest.approx(found.value)
    assert found.gap == 0.0
    random = np.random.default_rng(seed)
    for _ in range(50):
        other = found.variances * random.uniform(0.9, 1.1, len(costs))
        other *= (costs / other).sum()
        assert weights @ (matrix @ other) > found.value


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_variance_is_within_a_thousandth_of_the_least(seed: int) -> None:
    matrix, costs, weights = problem(seed)
    found = least_largest(matrix, costs, weights)
    assert (costs / found.variances).sum() == pytest.approx(1.0)
    assert (weights * (matrix @ found.variances)).max() == pytest.approx(found.value)
    assert 0 <= found.gap <= 1e-3

    def largest(logs):
        variances = np.exp(logs)
        variances = variances * (costs / variances).sum()
        return np.log(weights * (matrix @ variances)).max()

    best = min(
        (minimize(largest, np.log(found.variances) + shift, method="Nelder-Mead").fun for shift in (0.0, 0.05)),
        default=0.0,
    )
    assert np.exp(best) >= found.bound * (1 - 1e-9)
    assert np.exp(best) <= found.value * (1 + 1e-9)


def test_a_bound_of_a_wrong_dual_would_be_found() -> None:
    """The sum of weights is one: without this, the bound exceeds what is reached."""
    matrix, costs, weights = problem(1)
    found = least_largest(matrix, costs, weights)
    unscaled = np.sqrt(costs * (matrix.T @ weights)).sum() ** 2
    assert unscaled > found.value


def test_equal_shares_are_never_better_for_any_table() -> None:
    """Independent noise on each of k tables has the variance k at μ = 1."""
    wanted = workload([10] * 5, [*combinations(range(5), 2)])
    bases = wanted.bases()
    costs = np.array([wanted.weight(base) for base in bases])
    found = least_largest(wanted.matrix(bases), costs, np.ones(10))
    assert found.value < 0.85 * 10
