"""Location estimates: the mean, and an M-estimator that outliers hardly move."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np

from sitr.errors import DescriptionError
from sitr.flavors.price import Price
from sitr.learn.estimator import Estimator
from sitr.learn.losses import ABOVE, Huber, Numbers
from sitr.learn.minimiser import Objective
from sitr.learn.perturbation import Movement, granules, output_perturbed
from sitr.learn.rows import LEAST, TrainingRows
from sitr.numbers import Number, power_of_two, square_root_upward

_STEPS = 2**20
"""The largest length of a row, in granules of the rows, if there is a norm."""

_FARTHEST = 2**40
"""The largest length of a row, in granules, without a norm: such rows can be summed exactly."""


class PrivateMean(Estimator):
    """The mean of the rows, each no longer than `norm`: h(x, x') = ‖x − x'‖, at most twice the norm.

    Every row is rounded to a public grid by itself; the sum is exact. Without a norm, which only RandomDP allows, a
    granularity must be given, and rows longer than 2⁴⁰ granules are shortened to that. A value that is not a finite
    number counts as 0.

    >>> from sitr import PureDP
    >>> rows = np.tile([[0.3, -0.5]], (100_000, 1))
    >>> PrivateMean(PureDP(1.0), norm=1.0).fit(rows).location_.round(1)
    array([ 0.3, -0.5])
    """

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        norm: Number | None = None,
        granularity: Number | None = None,
    ) -> None:
        super().__init__(promise, epsilon=epsilon, delta=delta, rho=rho, granularity=granularity)
        self.norm = norm

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        promise, grain = self._promised(), self._grain()
        if self.norm is not None:
            norm = self._positive("norm")
            step = power_of_two(norm / _STEPS)
        elif grain is not None:
            norm, step = grain * _FARTHEST, grain
        else:
            raise DescriptionError(
                wanted="norm=…, the largest length of a row, or with RandomDP granularity=…",
                given="neither",
                do="Choose one of them without looking at the data.",
            )
        features = self._features(X)
        count, size = features.shape
        rows = TrainingRows.clipped(features, norm=float(norm), constant=False)
        whole = _granules(rows, float(step))
        total = sum((np.add.reduce(part, axis=0).astype(object) for part in _split(whole)), np.zeros(size, object))
        half = count // 2

        def pairs() -> Numbers:
            apart = (whole[:half] - whole[half : 2 * half]).astype(np.float64)
            return np.asarray(np.sqrt(np.square(apart).sum(axis=1)) * (float(step) * ABOVE))

        longest = norm * Fraction(ABOVE) ** 2 + square_root_upward(Fraction(size)) * step / 2
        most = None if self.norm is None else 2 * longest
        released = output_perturbed(
            lambda _: [Fraction(int(column)) * step / count for column in total],
            size=size,
            movement=Movement(count, most, pairs),
            promise=promise,
            granularity=grain or power_of_two(2 * longest / count / granules(promise)),
        )
        self.location_ = self._keep(released)
        return self


def _granules(rows: TrainingRows, step: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows in granules. Dividing by a power of two is exact, so each row is rounded once; otherwise twice."""
    found = np.empty(rows.features.shape, dtype=np.int64)
    for block in rows.blocks():
        whole = block.features if block.factors is None else block.features * block.factors[:, None]
        found[block.part] = np.rint(whole / step)
    return found


def _split(granules: np.ndarray[Any, np.dtype[np.int64]]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Parts of 2²⁰ rows: their sums of numbers below 2⁴² fit into 64 bits."""
    return [granules[start : start + 2**20] for start in range(0, len(granules), 2**20)]


class PrivateHuberMean(Estimator):
    """For each column the m that minimises (1/n)·Σ φ(m − x_i) + (Λ/2)m²; φ is a square up to `cut` and a line beyond.

    The score φ' is at most `cut` and a contraction: h(x, x') = ‖min(2·cut, |x − x'|)‖/Λ. No bounds on the data are
    needed; the price is that the estimate is drawn towards 0, by about the factor 1 + Λ. A value that is not a finite
    number counts as 0.      [Hub64]

    >>> from sitr import PureDP
    >>> rows = np.tile([[0.25], [0.25], [0.25], [1e9]], (25_000, 1))
    >>> PrivateHuberMean(PureDP(1.0), cut=0.1, regularization=0.05).fit(rows).location_.round(1)
    array([0.3])
    """

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        cut: Number = 1.35,
        regularization: Number = 0.01,
        granularity: Number | None = None,
    ) -> None:
        super().__init__(promise, epsilon=epsilon, delta=delta, rho=rho, granularity=granularity)
        self.cut = cut
        self.regularization = regularization

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        promise, grain = self._promised(), self._grain()
        cut, curvature = float(self._positive("cut")), self._positive("regularization")
        features = self._features(X)
        count, size = features.shape
        half = count // 2
        ones = TrainingRows.clipped(np.empty((count, 0)), norm=1.0, constant=True)
        columns = [Objective(ones, np.ascontiguousarray(column), Huber(cut), curvature) for column in features.T]
        root = square_root_upward(Fraction(size))

        def centre(within: Fraction) -> list[Fraction]:
            return [point for column in columns for point in column.minimum(within=within / root)]

        def pairs() -> Numbers:
            with np.errstate(over="ignore"):
                apart = np.minimum(2.0 * cut, np.abs(features[:half] - features[half : 2 * half]))
            return np.asarray((np.sqrt(np.square(apart).sum(axis=1)) + LEAST) * (ABOVE / float(curvature)))

        most, longest = 2 * Fraction(cut) * root / curvature, Fraction(ABOVE) ** 2
        fine = columns[0].granularity(moved=most / count, parts=granules(promise), longest=longest)
        released = output_perturbed(
            centre,
            size=size,
            movement=Movement(count, most, pairs),
            promise=promise,
            granularity=grain or 2 * power_of_two(root) * fine,  # each column must be √d times as near
        )
        self.location_ = self._keep(released)
        return self
