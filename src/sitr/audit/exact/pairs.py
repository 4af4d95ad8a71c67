"""Directed pairs of rows, looked at many at once, with bounds on every rounding error.

A value v of a table stands for a true probability in v(1 ± r), where r is the table's rounding. Every function here
gives two arrays, one number below and one above the true figure of each pair, for all probabilities that the values may
stand for. Sums of m positive floats have a relative error of at most m·u, u = 2⁻⁵³ [Hig02, Sec. 4.2].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sitr.audit.exact.neighbors import Places
from sitr.audit.exact.table import Matrix, Table
from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

CELLS = 1 << 16
"""At most about this many probabilities are looked at at once: few enough for a processor's cache."""


class Ends(NamedTuple):
    """A proved interval for each of several pairs."""

    lower: Vector
    upper: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Directed pairs (P, Q) of rows of a table."""

    table: Table
    first: Places
    second: Places

    @classmethod
    def of(cls, table: Table, pairs: Places) -> Pairs:
        """Both directions of each pair."""
        return cls(table, np.concatenate((pairs[:, 0], pairs[:, 1])), np.concatenate((pairs[:, 1], pairs[:, 0])))

    def __len__(self) -> int:
        return len(self.first)

    def some(self, kept: Any) -> Pairs:
        """Only some of the pairs."""
        return Pairs(self.table, self.first[kept], self.second[kept])

    def forward(self) -> Pairs:
        """One direction of each pair."""
        return self.some(slice(0, len(self) // 2))

    def blocks(self) -> Iterator[tuple[Matrix, Matrix]]:
        """P and Q of a few pairs at a time."""
        step = max(1, CELLS // len(self.table.outcomes))
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            yield self.table.values[self.first[part]], self.table.values[self.second[part]]

    def each(self, bound: Callable[[Matrix, Matrix], Ends]) -> Ends:
        """The bounds of all pairs."""
        found = [bound(p, q) for p, q in self.blocks()]
        return Ends(np.concatenate([one.lower for one in found]), np.concatenate([one.upper for one in found]))

    @property
    def wrong(self) -> float:
        """The relative error of a probability, with room for the rounding of one product."""
        return self.table.rounding + 4 * ROUNDING

    @property
    def summed(self) -> float:
        """The relative error of a sum over all outcomes."""
        return (len(self.table.outcomes) + 16) * ROUNDING

    # The simple figures

    def infinite(self) -> Ends:
        """P(L = +∞): P's mass where Q has none."""
        return self.each(self._outside)

    def _outside(self, p: Matrix, q: Matrix) -> Ends:
        mass = np.where(q == 0.0, p, 0.0).sum(axis=1)
        error = self.wrong + self.summed
        return Ends(mass * (1 - error), np.minimum(1.0, mass * (1 + error)))

    def largest(self) -> Ends:
        """The largest loss, max ln P/Q; infinite where Q has none of an outcome of P."""

        def bound(p: Matrix, q: Matrix) -> Ends:
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.log(np.where(p > 0.0, p / q, 0.0).max(axis=1))
            off = self.loss_error(most)
            return Ends(np.where(np.isinf(most), most, most - off), np.where(np.isinf(most), most, most + off))

        return self.each(bound)

    def loss_error(self, losses: Vector) -> Vector:
        """The error of ln(P/Q): of both numbers, the quotient and the logarithm."""
        return 3 * self.wrong + FUNCTIONS * np.abs(np.where(np.isfinite(losses), losses, 0.0))

    def hockey_stick(self, low: float, high: float) -> Ends:
        """Σ(P − tQ)₊ for a t between two floats. It grows with every P and falls with every Q and with t."""
        return self.each(lambda p, q: Ends(self._over(p, q, high, -1), self._over(p, q, low, 1)))

    def _over(self, p: Matrix, q: Matrix, t: float, side: int) -> Vector:
        excess = p * (1 + side * self.wrong) - q * (t * (1 - side * self.wrong))
        total: Vector = np.maximum(excess, 0.0).sum(axis=1) * (1 + side * self.summed)
        return np.clip(total, 0.0, 1.0)

    def exceeding(self, low: float, high: float) -> Ends:
        """P(P/Q > t) for a t between two floats: outcomes whose ratio is too close to t count above only."""

        def bound(p: Matrix, q: Matrix) -> Ends:
            near = 3 * self.wrong
            sure = np.where(p * (1 - near) > q * high, p, 0.0).sum(axis=1)
            maybe = np.where(p * (1 + near) > q * low, p, 0.0).sum(axis=1)
            error = self.wrong + self.summed
            return Ends(sure * (1 - error), np.minimum(1.0, maybe * (1 + error)))

        return self.each(bound)
