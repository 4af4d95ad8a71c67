"""Bounded range: the worst loss of an exponential mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.loss.law import FUNCTIONS, LossCells, SymmetricLaw, Vector, between, check, joined, log_one_minus_exp
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(frozen=True, slots=True)
class BoundedRangeLaw(SymmetricLaw):
    """The worst pair whose losses differ by at most η. An exponential mechanism with e^{ε·score/(2Δ)} has η = ε.

    δ(ε) = (1 − e^{(ε−η)/2})²/(1 − e^{−η}) is the worst of all such pairs.      [DDR20, Lemma 3.4]
    Its derivative in e^ε gives Q(L > l) = (e^{−(l+η)/2} − e^{−η})/(1 − e^{−η}), and by symmetry P(L ≤ l) = Q(L > −l).
    """

    range: float

    def __post_init__(self) -> None:
        check(self.range, "range", above=0.0)

    @property
    def greatest(self) -> float:
        return self.range

    def cells(self, edges: Vector) -> LossCells:
        inside = np.clip(edges, -self.range, self.range)
        error = FUNCTIONS * (8 + 4 * self.range) * np.ones_like(edges)
        p_below, p_above = self._tails(-inside)
        return joined(between(p_above, p_below, error), between(*self._tails(inside), error))

    def _tails(self, loss: Vector) -> tuple[Vector, Vector]:
        """ln of Q(L > l) = e^{−(l+η)/2}(1 − e^{(l−η)/2})/(1 − e^{−η}) and Q(L ≤ l) = (1 − e^{−(l+η)/2})/(1 − e^{−η}).

        Each is a product, not a difference from 1, so both are accurate where they are small.
        """
        whole = math.log(-math.expm1(-self.range))
        down = -(loss + self.range) / 2
        return down + log_one_minus_exp((loss - self.range) / 2) - whole, log_one_minus_exp(down) - whole
