"""A mixture of product distributions fitted to noisy marginals: within a component the columns are independent.

It is a graphical model with one hidden column. It can fit every pair of columns at once, where a model with a junction
tree must leave most pairs out, and rows are drawn from it without inference.

[ABKKMRS21, Alg. 1; LVW21]
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sitr.namespace import Later
from sitr.questions.synthetic.marginals import Marginal, Measured, Weights, group_sums

special = Later("scipy.special")

FIRST = 100
"""The number of components of the first model."""

MOST = 1600
"""The number of components of the largest model."""

STEPS = 600
"""Steps of gradient descent for the first model. After each doubling half as many are enough."""

RATE = 0.1
SPREAD = 0.5
"""The standard deviation of the logits at the start; components that are equal would stay equal."""

SPLIT = 0.5
"""The standard deviation of the logits that is added when a component is split in two."""

SMALLEST = 1e-5
"""The smallest probability at the start; gradient descent cannot leave 0."""

RARE = 1e-3
"""The probability that a correct model is reported to miss any of its marginals."""

Progress = Callable[[float], None]
Pair = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """P(x) = 1/K·Σ_k Π_i p_i(x_i | k): for each column a matrix with K rows of probabilities of its cells.

    `missed` are the pairs of columns whose noisy marginals differ from the model by more than noise explains.
    """

    products: tuple[Weights, ...]
    missed: tuple[Pair, ...] = ()

    @property
    def components(self) -> int:
        return len(self.products[0])

    def marginal(self, *columns: int) -> Weights:
        """The probabilities of the cells of one column, or of a pair."""
        if len(columns) == 1:
            return np.asarray(self.products[columns[0]].mean(axis=0))
        first, second = (self.products[column] for column in columns)
        return np.asarray(first.T @ second / self.components)


def fit(
    measured: Measured, *, first: int = FIRST, most: int = MOST, steps: int = STEPS, progress: Progress | None = None
) -> Mixture:
    """The smallest mixture that gradient descent finds to fit all marginals as closely as their noise allows.

    The model starts with `first` components. While it misses a marginal, each component is split in two, up to `most`.
    The result is a function of the noisy marginals: no random numbers are drawn and no other data are read.
    """
    goal = _Goal.of(measured)
    bar = _Bar(progress, first, most, steps)
    logits = _descent(goal, goal.start(first), steps, bar)
    while (missed := goal.missed(logits)) and 2 * len(logits) <= most:
        logits = _descent(goal, _split(logits), steps // 2, bar)
    bar.done()
    return Mixture(
        tuple(
            _spread(product, groups, share)
            for product, groups, share in zip(goal.columns(logits), measured.groups, measured.shares, strict=True)
        ),
        missed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Goal:
    """All marginals of pairs as one square matrix; the groups of a column begin at its place in `starts`.

    `pairs` are noisy shares, and `pair_weights` their precisions, 0 where nothing was measured. `alone` and
    `alone_weights` are the shares and precisions of single columns.
    """

    measured: tuple[Marginal, ...]
    total: float
    starts: np.ndarray[Any, np.dtype[np.int64]]
    sizes: np.ndarray[Any, np.dtype[np.int64]]
    pairs: Weights
    pair_weights: Weights
    alone: Weights
    alone_weights: Weights

    @classmethod
    def of(cls, measured: Measured) -> _Goal:
        """Single columns count by groups; their shares are consistent with the total already."""
        coarse = [group_sums(share, groups) for groups, share in zip(measured.groups, measured.shares, strict=True)]
        total = max(measured.total, 1.0)
        sizes = np.array([len(share) for share in coarse])
        ends = np.cumsum(sizes)
        pairs, weights = np.zeros((2, ends[-1], ends[-1]))
        for pair in measured.pairs:
            i, j = (slice(ends[place] - sizes[place], ends[place]) for place in pair.columns)
            pairs[i, j] = pair.counts / total
            pairs[j, i] = pair.counts.T / total
            weights[i, j] = weights[j, i] = (total / pair.deviation) ** 2
        together = [np.bincount(groups).mean() for groups in measured.groups]
        alone = [total**2 / single.deviation**2 / k for single, k in zip(measured.alone, together, strict=True)]
        return cls(
            measured.pairs, total, ends - sizes, sizes, pairs, weights, np.concatenate(coarse), np.repeat(alone, sizes)
        )

    def start(self, components: int) -> Weights:
        """The logits of the shares of single columns, perturbed in each component."""
        shape = (components, len(self.alone))
        return SPREAD * _normal(shape) + np.log(np.maximum(self.alone, SMALLEST))

    def probabilities(self, logits: Weights) -> Weights:
        """The softmax of the logits, within each component and column."""
        raised = np.exp(logits - self._wide(np.maximum.reduceat(logits, self.starts, axis=1)))
        return np.asarray(raised / self._wide(np.add.reduceat(raised, self.starts, axis=1)))

    def slope(self, logits: Weights) -> Weights:
        """The gradient of ½·Σ (fitted − noisy)²/s² over all marginals, times the number of components.

        With A the probabilities of K components, the fitted pairs are AᵀA/K: two matrix products for all of them.
        """
        share = self.probabilities(logits)
        residual = (share.T @ share / len(share) - self.pairs) * self.pair_weights
        by_share = share @ residual + (share.mean(axis=0) - self.alone) * self.alone_weights
        mean = np.add.reduceat(share * by_share, self.starts, axis=1)
        return np.asarray(share * (by_share - self._wide(mean)))

    def missed(self, logits: Weights) -> tuple[Pair, ...]:
        """The pairs for which Σ (fitted − noisy)²/s² is larger than noise explains.

        The squared noise in units of its variance has variance v, its kurtosis less 1. A sum over c cells, of variance
        v·c, is compared with the quantile of v/2·χ² with 2c/v degrees of freedom, which has the same mean and variance.
        A fitted model is nearer to its marginals than the true one, so this test is not sharp: it finds misfits that
        more components would repair.
        """
        share = self.probabilities(logits)
        squares = (share.T @ share / len(share) - self.pairs) ** 2 * self.pair_weights
        found = []
        for pair in self.measured:
            i, j = (slice(self.starts[place], self.starts[place] + self.sizes[place]) for place in pair.columns)
            half = (pair.noise.kurtosis - 1) / 2
            most = half * special.chdtri(pair.counts.size / half, RARE / len(self.measured))
            if squares[i, j].sum() > most:
                found.append(pair.columns)
        return tuple(found)

    def columns(self, logits: Weights) -> list[Weights]:
        return np.split(self.probabilities(logits), self.starts[1:], axis=1)

    def _wide(self, by_column: Weights) -> Weights:
        return np.repeat(by_column, self.sizes, axis=1)


def _descent(goal: _Goal, logits: Weights, steps: int, bar: _Bar) -> Weights:
    """Adam with a learning rate that falls to 0 along a cosine."""
    mean, square = np.zeros_like(logits), np.zeros_like(logits)
    for step in range(steps):
        slope = goal.slope(logits)
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope**2 - square)
        rate = RATE * (1 + math.cos(math.pi * step / steps)) / 2 / (1 - 0.9 ** (step + 1))
        logits = logits - rate * mean / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
        bar.step(len(logits))
    return logits


def _split(logits: Weights) -> Weights:
    """Twice as many components, two near each old one."""
    return np.repeat(logits, 2, axis=0) + SPLIT * _normal((2 * len(logits), logits.shape[1]))


def _normal(shape: tuple[int, int]) -> Weights:
    """Fixed numbers that look standard normal, from a public hash; they are not used as noise for privacy."""
    words = np.frombuffer(hashlib.shake_256(repr(shape).encode()).digest(4 * math.prod(shape)), dtype="<u4")
    return np.asarray(special.ndtri((words + 0.5) / 2.0**32).reshape(shape))


class _Bar:
    """Reports progress as a fraction of the work that the largest model would take."""

    def __init__(self, progress: Progress | None, first: int, most: int, steps: int) -> None:
        self._progress = progress
        doublings = max(0, int(math.log2(max(1, most // first))))
        self._whole = first * steps + sum(first * 2**i * (steps // 2) for i in range(1, doublings + 1))
        self._work = self._steps = 0

    def step(self, components: int) -> None:
        self._work += components
        self._steps += 1
        if self._progress is not None and self._steps % 50 == 0:
            self._progress(self._work / self._whole)

    def done(self) -> None:
        if self._progress is not None:
            self._progress(1.0)


def _spread(product: Weights, groups: np.ndarray[Any, np.dtype[np.int64]], share: Weights) -> Weights:
    """From groups to cells: within a group, cells are in proportion to their noisy shares."""
    together = group_sums(share, groups)[groups]
    even = 1 / np.bincount(groups)[groups]
    within = np.where(together > 0, share / np.where(together > 0, together, 1.0), even)
    spread: Weights = product[:, groups] * within
    spread /= spread.sum(axis=1, keepdims=True)
    return spread
