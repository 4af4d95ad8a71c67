"""Confidence bounds on a probability, from counts: exact ones for a fixed number of draws, and anytime-valid ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sitr.namespace import Later

if TYPE_CHECKING:
    from scipy import special
else:
    special = Later("scipy.special")

_OUTWARD = 1e-11
"""Bounds are moved outward by this share, which is more than the error of the functions that compute them."""


class Bounds(Protocol):
    """One-sided confidence bounds on the probability of an event, each of which may fail with a given probability."""

    def lower(self, hits: int, draws: int, *, failure: float) -> float:
        """At most the probability, except with probability `failure`."""

    def upper(self, hits: int, draws: int, *, failure: float) -> float:
        """At least the probability, except with probability `failure`."""


@dataclass(frozen=True, slots=True)
class ClopperPearson:
    """The exact bounds for a number of draws that was fixed in advance.      [CP34]

    The lower bound is the p with P(Bin(n, p) ≥ k) = failure, a quantile of the law Beta(k, n − k + 1).

    >>> bounds = ClopperPearson()
    >>> bounds.lower(0, 100, failure=0.05), round(bounds.upper(0, 100, failure=0.05), 6)
    (0.0, 0.029513)
    """

    def lower(self, hits: int, draws: int, *, failure: float) -> float:
        if hits <= 0:
            return 0.0
        return float(special.betaincinv(hits, draws - hits + 1, failure)) * (1.0 - _OUTWARD)

    def upper(self, hits: int, draws: int, *, failure: float) -> float:
        return 1.0 - self.lower(draws - hits, draws, failure=failure)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Bounds that hold at all numbers of draws at once, so that one may stop whenever one likes.

    Bet against each p with a likelihood that is mixed over a Beta(a, b) prior:

        M_n(p) = B(a + k, b + n − k) / (B(a, b)·pᵏ·(1 − p)ⁿ⁻ᵏ).

    If p is the probability, M_n(p) is a martingale that starts at 1: given the past, the next draw multiplies it by the
    ratio of two laws, whose mean is 1. So P(M_n(p) ≥ 1/failure for some n) ≤ failure by Ville's inequality, and
    {p: M_n(p) < 1/failure} contains the probability at all n at once with probability 1 − failure. The set is an
    interval, because ln M_n is convex in p. The prior must be fixed before the first draw; a good one comes from
    earlier draws, which are not counted again.      [Rob70; WR24]

    >>> bounds = Mixture(hits=30, misses=70)
    >>> 0.2 < bounds.lower(300, 1_000, failure=0.01) < 0.3 < bounds.upper(300, 1_000, failure=0.01) < 0.4
    True
    """

    hits: float = 0.0
    """Events among the earlier draws, which make the prior Beta(hits + ½, misses + ½)."""
    misses: float = 0.0

    def lower(self, hits: int, draws: int, *, failure: float) -> float:
        return self._end(hits, draws, failure=failure, a=self.hits + 0.5, b=self.misses + 0.5)

    def upper(self, hits: int, draws: int, *, failure: float) -> float:
        return 1.0 - self._end(draws - hits, draws, failure=failure, a=self.misses + 0.5, b=self.hits + 0.5)

    @staticmethod
    def _end(k: int, n: int, *, failure: float, a: float, b: float) -> float:
        """The lower end: the p below k/n at which ln M_n = ln(1/failure), found by bisection and kept outside."""
        if k == 0 or n == 0:
            return 0.0
        mixed = float(special.betaln(a + k, b + n - k) - special.betaln(a, b)) + math.log(failure)

        def excluded(p: float) -> bool:
            rest = (n - k) * math.log1p(-p) if k < n else 0.0
            return mixed - k * math.log(p) - rest >= 1e-7  # more than the error of these logarithms

        low, high = 0.0, k / n if k < n else math.nextafter(1.0, 0.0)
        for _ in range(100):
            middle = (low + high) / 2
            if high - low <= 1e-10 * high or middle in (low, high):
                break
            low, high = (middle, high) if middle > 0.0 and excluded(middle) else (low, middle)
        return low
