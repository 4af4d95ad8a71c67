"""Rows of features, each no longer than a public norm, and the lengths that bound what one row does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb

from sitr.learn.losses import ABOVE, Numbers

BLOCK = 2**16
"""Numbers per block: about as many as fit into the cache."""

MOST_ROWS = 2**11
"""The most rows per block: rounding errors add up over one block only."""

LONGEST = 1e100
"""Computations with rows of this length, and with their squares, do not overflow."""

LEAST = 1e-150
"""More than the length of a row whose squares are all too small for a float."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """n rows of d numbers. Each depends on one given row only: the row times its factor, with a constant appended.

    The constant feature is the intercept, which is penalised like every other weight: that is what makes the objective
    strongly convex in all of them. A row that is longer than 10¹⁰⁰ becomes zero.

    >>> rows = TrainingRows.clipped(np.array([[3.0, 4.0], [0.3, 0.4]]), norm=1.0, constant=1.0)
    >>> [block.predicted(np.array([1.0, 0.0, 0.0])).round(2).tolist() for block in rows.blocks()]
    [[0.6, 0.3]]
    >>> rows.lengths.round(3).tolist(), rows.longest
    ([1.414, 1.118], 1.41...)
    """

    features: Numbers
    factors: Numbers | None
    lengths: Numbers
    """Upper bounds on the Euclidean length of each row, the constant included."""

    longest: float | None
    """A public upper bound on all lengths; None without a norm."""

    constant: float
    """The public number in the last column of every row; 0 if there is no such column."""

    @classmethod
    def clipped(cls, features: Numbers, *, norm: float | None, constant: float) -> TrainingRows:
        # The order in which the squares of a row are added depends only on d.
        with np.errstate(over="ignore", under="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", features, features))
        if np.any(absurd := lengths > LONGEST):
            features = features.copy()
            features[absurd], lengths[absurd] = 0.0, 0.0
        factors = None
        if norm is not None and np.any(long := lengths > norm):
            factors = np.ones(len(features))
            factors[long] = norm / lengths[long]
            lengths[long] = norm
        return cls(
            features=features,
            factors=factors,
            lengths=_extended(lengths, constant),
            longest=None if norm is None else float(_extended(np.array([norm]), constant)[0]),
            constant=float(constant),
        )

    def __len__(self) -> int:
        return len(self.features)

    @property
    def size(self) -> int:
        return int(self.features.shape[1]) + (self.constant > 0)

    @property
    def block(self) -> int:
        return max(64, min(MOST_ROWS, BLOCK // self.size if self.size else MOST_ROWS))

    def blocks(self) -> Iterator[RowBlock]:
        for start in range(0, len(self), self.block):
            part = slice(start, min(len(self), start + self.block))
            factors = None if self.factors is None else self.factors[part]
            yield RowBlock(part, self.features[part], factors, self.constant)


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some of the rows, without a copy: factors are applied to results computed from the features."""

    part: slice
    features: Numbers
    factors: Numbers | None
    constant: float

    def predicted(self, weights: Numbers) -> Numbers:
        """x·w for each row."""
        if not self.constant:
            return np.asarray(self._scaled(self.features @ weights))
        return np.asarray(self._scaled(self.features @ weights[:-1]) + self.constant * weights[-1])

    def summed(self, slopes: Numbers) -> Numbers:
        """Σ φ'·x."""
        total = self._scaled(slopes) @ self.features
        return np.append(total, self.constant * slopes.sum()) if self.constant else np.asarray(total)

    def add_bowed(self, bends: Numbers | None, total: Numbers) -> None:
        """Add Σ φ''·x·xᵀ to the total; without `bends`, φ'' is 1 in every row."""
        given = self.features.shape[1]
        root = None if bends is None else np.sqrt(bends)
        factors = self.factors if root is None else self._scaled(root)
        heavy = self.features if factors is None else self.features * factors[:, None]
        total[:given, :given] += heavy.T @ heavy
        if self.constant:
            column = np.full(len(heavy), self.constant) if root is None else self.constant * root
            edge = column @ heavy
            total[given, :given] += edge
            total[:given, given] += edge
            total[given, given] += column @ column

    def rows(self) -> list[list[arb]]:
        """The rows themselves, exactly."""
        factors = np.ones(len(self.features)) if self.factors is None else self.factors
        last = [arb(self.constant)] if self.constant else []
        return [
            [arb(number) * arb(factor) for number in row] + last
            for row, factor in zip(self.features.tolist(), factors.tolist(), strict=True)
        ]

    def _scaled(self, numbers: Numbers) -> Numbers:
        return numbers if self.factors is None else numbers * self.factors


def _extended(lengths: Numbers, constant: float) -> Numbers:
    return ((np.hypot(lengths, constant) if constant else lengths) + LEAST) * ABOVE
