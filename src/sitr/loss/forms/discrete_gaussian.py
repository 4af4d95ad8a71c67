"""Gaussian noise on the integers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.loss.law import (
    FUNCTIONS,
    ROUNDING,
    TOO_MANY,
    LossCells,
    Masses,
    SymmetricLaw,
    Vector,
    between,
    check,
    joined,
    log_one_minus_exp,
)
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

special = Later("scipy.special")

TABULATED = 1000.0
"""Up to this σ all tails are summed; beyond, they are normal tails with a correction."""

REACH = 45.0
"""Beyond this many σ the mass is below e^{−1000}, and rough bounds on it suffice."""

LARGEST_SIGMA = 1e9
"""Sums over more integers are out of reach."""


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw(SymmetricLaw):
    """P(Y = y) ∝ e^{−y²/(2σ²)} on an integer that moves by Δ: the loss at y is (2yΔ − Δ²)/(2σ²) for P = Y + Δ, Q = Y.

    [CKS20, Def. 1]
    """

    sigma: float
    shift: int

    def __post_init__(self) -> None:
        check(self.sigma, "sigma", above=0.0, below=LARGEST_SIGMA)
        check(self.shift, "shift", above=0.0, below=2.0**52)

    @property
    def greatest(self) -> float:
        return math.inf

    @property
    def blur(self) -> float:
        """y = lσ²/Δ + Δ/2 is off by 4R(|l|σ²/Δ + Δ/2), and l by Δ/σ² times that."""
        return 8 * ROUNDING * (1 + (self.shift / self.sigma) ** 2)

    def atoms(self, low: float, high: float, /) -> Vector | None:
        """One for each y within reach of 0 or of Δ."""
        reach = math.ceil(REACH * self.sigma)
        ends = np.array((low, high)) * (self.sigma**2 / self.shift) + self.shift / 2
        first, last = np.clip((np.floor(ends[0]), np.ceil(ends[1])), -reach, self.shift + reach)
        if last - first >= TOO_MANY:
            return None
        found: Vector = (np.arange(first, last + 1) - self.shift / 2) * (self.shift / self.sigma**2)
        return found

    def cells(self, edges: Vector) -> LossCells:
        # The last y whose loss is not above the edge.
        last = np.floor(edges * (self.sigma**2 / self.shift) + self.shift / 2)
        if self.sigma > TABULATED:
            return joined(_smooth(self.sigma, last - self.shift), _smooth(self.sigma, last))
        return joined(_tabulated(self.sigma, last - self.shift), _tabulated(self.sigma, last))

    def log_moment_above(self, tilt: float, edge: float) -> float:
        """e^{λ(λ+1)Δ²/(2σ²)} times the tail of the same noise around (1 + λ)Δ, by completing the square.

        A sum of e^{−y²/2σ²} over the integers is at least max(1, σ√(2π)); over those at least t ≥ 0 away, at
        most e^{−t²/2σ²} times 1 + σ√(π/2), and over all that are shifted by any number, at most 1 + σ√(2π).
        """
        last = math.floor(
            edge * (self.sigma**2 / self.shift) * (1 - 4 * ROUNDING) + self.shift / 2 * (1 - 2 * ROUNDING)
        )
        place = last - (1 + tilt) * self.shift * (1 + 4 * ROUNDING)
        size = tilt * (tilt + 1) * (self.shift / self.sigma) ** 2 / 2
        least = max(1.0, self.sigma * math.sqrt(2 * math.pi))
        if place <= 0:
            bound = math.log((1 + self.sigma * math.sqrt(2 * math.pi)) / least)
        else:
            bound = math.log((1 + self.sigma * math.sqrt(math.pi / 2)) / least) - (place / self.sigma) ** 2 / 2
        return size + bound + FUNCTIONS * (4 + size + abs(bound))


def _smooth(sigma: float, last: Vector) -> Masses:
    """For large σ, by Euler and Maclaurin: Σ_{y>n} f(y) = ∫f + f′/24 at n + ½, to within ∫|f⁗|/384.      [DLMF, 2.10.1]

    With x = (n + ½)/σ that is Φ(−x) − xφ(x)/(24σ²), to within a factor 1 ± (3 + |x|)⁴/(384σ⁴): the mean of
    |He₄(t)| over t > x is less than (3 + |x|)⁴. The sum of all e^{−y²/2σ²} is σ√(2π)(1 ± e^{−σ²}).
    """
    x = np.clip((last + 0.5) / sigma, -1e50, 1e50)
    size = np.abs(x)
    tails = []
    for side in (-x, x):
        log_tail = special.log_ndtr(side)
        hazard = np.exp(np.minimum(-size * size / 2 - math.log(2 * math.pi) / 2 - log_tail, np.log1p(size)))
        tails.append(log_tail + np.log1p(np.clip(side * hazard / (24 * sigma * sigma), -0.5, 0.5)))
    # Where that expansion is too inaccurate, a sum of a decreasing function still lies between the integrals from
    # half a step before and after.
    error = np.minimum(((3 + size) / sigma) ** 4, 1 + (2 + size) / sigma)
    return between(tails[0], tails[1], 2 * FUNCTIONS * (1 + size * size) + error, steps=last)


def _tabulated(sigma: float, last: Vector) -> Masses:
    """ln of the mass of integers above one place and up to the next, by P(Y ≥ m) = e^{−m²/2σ²}·S(m)/Z for m ≥ 1."""
    sums = _table(sigma)
    above, below = (last + 1, -last)  # how far out the two tails begin; one of them is at least 1
    beyond, outer = len(sums) - 1, np.maximum(above, below)
    logs = np.log(sums[np.minimum(outer, beyond).astype(np.int64)]) - math.log(2 * sums[0] - 1)
    logs -= (outer / sigma) * (outer / sigma) / 2
    rest = log_one_minus_exp(logs)
    # Beyond the table, S is between 1 and the last entry.
    error = FUNCTIONS * (4 + 3 * sigma) + np.where(outer > beyond, math.log(sums[-1]), 0.0)
    return between(np.where(above >= 1, logs, rest), np.where(above >= 1, rest, logs), error, steps=last)


@lru_cache(maxsize=64)
def _table(sigma: float) -> Vector:
    return np.array(tail_sums(sigma, math.ceil(REACH * sigma) + 2))


@lru_cache(maxsize=64)
def tail_sums(sigma: float, table: int) -> tuple[float, ...]:
    """S(m) = Σ_{i≥0} e^{−((m+i)² − m²)/2σ²} for 0 ≤ m < `table`, by S(m) = 1 + e^{−(2m+1)/2σ²}·S(m + 1) from far out.

    An error of S(m + 1) counts 1 − 1/S(m) times in S(m), where S(m) ≤ 1 + σ√(π/2); each place adds less than
    10R. So all are accurate to within 10R·(1 + 1.26σ) if the recurrence starts n places beyond the table, because
    S(m) ≤ 1/(1 − e^{−m/σ²}) too: of the first error, at most min(e^{−nm/σ²}, e^{−n/(1+1.26σ)}) ≤ e^{−42} is left.
    """
    start = table + math.ceil(42 * min(1 + 1.26 * sigma, sigma * sigma / table)) + 2
    scale = -0.5 / (sigma * sigma)
    sums, here = [], 1.0
    for m in range(start - 1, -1, -1):
        here = 1.0 + math.exp((2 * m + 1) * scale) * here
        sums.append(here)
    return tuple(sums[::-1][:table])
