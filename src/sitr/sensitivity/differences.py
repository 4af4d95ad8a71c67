"""How far apart all pairs of numbers are, without looking at every pair."""

from __future__ import annotations

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from sitr.sensitivity.pairs import Heights, Ranked
from sitr.sensitivity.sample import Granules

_CELLS = 2**20
"""The number of equal cells between the bounds."""


def differences(granules: Granules, *, low: int, high: int) -> Ranked:
    """The k-th smallest of |x − x'| over all n(n−1)/2 pairs of numbers from low to high, for any k counted from 1.

    With c_v numbers in cell v, Σ_v c_v·c_{v+d} pairs are d > 0 cells apart, (Σ_v c_v² − n)/2 are in one cell. These
    sums are the coefficients of a product of two polynomials, Σ c_v·x^v and Σ c_v·x^{−v}: exact integers. The time does
    not depend on the numbers, and hardly on how many there are.

    If the bounds are more than 2^20 granules apart, cells of w > 1 granules are needed. Two numbers d cells apart then
    count as dw + w − 1 apart, the largest possible distance.

    >>> differences(np.array([1, 4, 4, 10]), low=0, high=10)(np.arange(1, 7))
    array([0., 3., 3., 6., 6., 9.])
    """
    wide = (high - low) // _CELLS + 1
    cells = (high - low) // wide + 1
    counts = np.bincount((granules - low) // wide, minlength=cells)
    # A polynomial drops its trailing zeros: no two numbers are that far apart.
    apart = (fmpz_poly(counts.tolist()) * fmpz_poly(counts[::-1].tolist())).coeffs()[cells - 1 :]
    pairs = np.array([int(count) for count in apart], dtype=np.int64)
    pairs[0] = (pairs[0] - len(granules)) // 2
    up_to = np.cumsum(pairs)

    def at(ranks: NDArray[np.int64]) -> Heights:
        found = np.searchsorted(up_to, ranks) * wide + (wide - 1)
        return np.minimum(found, high - low).astype(np.float64)

    return at
