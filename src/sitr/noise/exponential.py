"""e^{−x} in floats with a proved error, from nothing but sums, products and quotients.

No standard bounds the error of a system's own `exp`. IEEE 754 bounds the four operations: each result is the exact one
times 1 + θ, |θ| ≤ u = 2^{−53}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Real = TypeVar("Real", float, NDArray[np.float64])
else:
    np, Real = Later("numpy"), TypeVar("Real")

SMALL = 0.3466
"""A little more than ½·ln 2."""

LARGE = 700.0
"""Beyond this, e^{−x} < 2^{−1009} is replaced by e^{−700}."""

_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 as a number of 32 bits, so that its product with an integer below 2^21 is exact, and the rest of it."""

_DEGREE = 13


def small_exponential(x: Real) -> Real:
    """e^{−x} for |x| ≤ 0.3466, to a relative 5u < 2^{−50}.

    It is t₁ of t_n = 1 − (x/n)·t_{n+1}, t₁₄ = 1, Taylor's sum of degree 13: that leaves out at most
    0.3466^14/14!·e^{0.3466} < 2^{−57}. Every t_n is at most 1.42. If t_{n+1} is off by e_{n+1}, then t_n is off by
    e_n ≤ 0.3466/n·(e_{n+1} + 2.1u·1.42) + 1.42u: so e₃ < 2u, e₂ < 2.3u, e₁ < 3.3u, and t₁ > 0.7.

    >>> round(small_exponential(0.25), 4)
    0.7788
    """
    t = 1 - x / _DEGREE
    for n in range(_DEGREE - 1, 0, -1):
        t = 1 - x / n * t
    return t


def exponential(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^{−x} for floats x ≥ 0: |result − e^{−x}| ≤ 2^{−49}·e^{−x} + 2^{−1009}.

    x = k·ln 2 + f, |f| < 0.3466, and e^{−x} = 2^{−k}·e^{−f}. As k ≤ 1010, k·high is exact and x − k·high is a float
    (Sterbenz), or off by u/2 where x is near ½·ln 2. k·low is below 2^{−22} and off by less than 2^{−74}; its
    subtraction adds at most u/2. So f is off by less than 2u, a relative error of 2u in e^{−f}; with the errors of the
    series this is 7u + 2^{−56} < 2^{−49}. Then 2^{−k} changes the exponent alone: no result is below 2^{−1011}.

    >>> exponential(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.3679]
    """
    x = np.minimum(x, LARGE)
    k = np.rint(x * (1 / math.log(2)))
    f = (x - k * _LN2_HIGH) - k * _LN2_LOW
    return np.ldexp(small_exponential(f), -k.astype(np.int32))
