"""The comparison of tables with peers: the formula of weighted marginals is right, and Sitr is not above it."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from benchmarks import tables_peers as peers


def test_sitr_is_not_above_the_best_weighted_marginals() -> None:
    """Residual noise is optimal among all linear methods, so no strategy of marginals is better; some come close."""
    codes = peers.data(4, 3, 400)
    exact, measured = peers.sitr_error(4, 3, codes)
    best = peers.weighted_marginals(4, 3)
    assert exact <= best * 1.0005
    assert best < 1.1 * exact
    assert best < peers.equal_shares(4)
    assert measured == pytest.approx(exact, rel=0.25)


def test_the_error_of_pairs_alone_is_that_of_least_squares() -> None:
    """Against matrices: measuring all pairs equally, and estimating the whole table."""
    d, m = 3, 2
    cells = np.array([*np.ndindex(*[m] * d)])
    rows = [
        [(cell[one], cell[other]) == (a, b) for cell in cells]
        for one, other in combinations(range(d), 2)
        for a in range(m)
        for b in range(m)
    ]
    strategy = np.array(rows, float) * math.sqrt(2 * peers.RHO / 3)
    wanted = np.array(rows, float)
    spread = wanted @ np.linalg.pinv(strategy.T @ strategy) @ wanted.T
    alone = math.sqrt(float(np.diag(spread).mean()))
    assert peers.weighted_marginals(d, m) <= alone * (1 + 1e-9)
    assert alone < peers.equal_shares(d)
