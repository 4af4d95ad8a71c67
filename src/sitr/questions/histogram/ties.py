"""The choice of a rule for ties from the noisy counts, which reads no rows and costs nothing.

No rule is best for all data: if most cells are empty, the smallest counts are noise; if all counts are similar, they
are not. The noisy counts show which case it is. Their distribution is the distribution of the exact counts convolved
with a known noise. So the latter can be estimated, and with it the expected error of each rule.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitr.mechanisms.additive import Noise
from sitr.questions.histogram.projection import Ties, checked, lattice

Reals = NDArray[np.float64]

CANDIDATES = (Ties.DROP_SMALLEST, Ties.SOFT_THRESHOLD, Ties.PROPORTIONAL)
"""The rules to choose from. `Ties.BY_INDEX` is left out, because it always favours the first cells."""

_ROUNDS = 20
"""The number of EM steps; more of them would fit the noise."""

_EMPTY = 10.0
"""The number of empty cells that are added to the data of each EM step."""

_NEAR, _FAR = 8.0, 12.0
"""Noisy counts between −8 and 12 standard deviations of the noise share one estimate. For larger ones only the noise
matters."""


def best_ties(noisy: NDArray[Any], *, total: int, noise: Noise) -> Ties:
    """The rule with the smallest expected Σ|c_j − x_j|, given the noisy counts y and the law of their noise.

    >>> from sitr import Laplace
    >>> few, alike, noise = np.repeat([0, 40], [385, 15]), np.tile([1, 2], 200), Laplace(scale=2)
    >>> [best_ties(noise.release(counts), total=600, noise=noise).value for counts in (few, alike)]
    ['drop smallest', 'proportional']
    """
    losses = expected_losses(noisy, total=total, noise=noise)
    return min(CANDIDATES, key=lambda ties: losses[ties])


def expected_losses(noisy: NDArray[Any], *, total: int, noise: Noise) -> dict[Ties, float]:
    """E[Σ|c_j − X_j| given y] for the counts c of each rule.

    The X_j are modelled as independent draws from one law g. Then P(X = x | y) ∝ g(x)·f(y − x) with f the law of the
    noise. g is estimated by the EM algorithm: in each step it becomes the mean of P(X = x | y_j) over all cells. It
    starts as an exponential law with mean n/k. The sum n of the X_j is not used, so errors are overestimated if a few
    cells hold almost all rows.
    """
    y = checked(noisy, total)
    spread = noise.deviation
    near = y <= _FAR * spread
    step = max(1.0, float(math.floor(spread / 4)))
    start = -step * math.ceil(_NEAR * spread / step)
    place = np.maximum(0.0, np.floor((y[near] - start) / step)).astype(np.intp)
    sizes = np.bincount(place, minlength=1)
    support = _support(spread)
    centres: Reals = start + (step - 1) / 2 + step * np.arange(len(sizes), dtype=np.float64)
    posterior = _posterior(centres, sizes, support, noise, mean=total / len(y))
    below, mass = np.cumsum(posterior, axis=1), np.cumsum(posterior * support, axis=1)
    found = {}
    for ties in CANDIDATES:
        counts = lattice(noisy, total=total, ties=ties).astype(np.float64)
        at = np.searchsorted(support, counts[near], side="right") - 1
        # E|c − X| = c·(2F(c) − 1) + E[X] − 2·E[X; X ≤ c]
        share, part = below[place, at], mass[place, at]
        inner = counts[near] * (2 * share - 1) + mass[place, -1] - 2 * part
        found[ties] = float(inner.sum() + noise.mean_distance(counts[~near] - y[~near]).sum())
    return found


def _posterior(centres: Reals, sizes: NDArray[np.intp], support: Reals, noise: Noise, *, mean: float) -> Reals:
    """P(X = x | y), with one row for each bin of noisy counts."""
    logs = noise.log_density(centres[:, None] - support)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    law = np.diff(support, append=2 * support[-1] - support[-2]) * np.exp(-support / max(mean, 0.5)) + 1e-9
    found = likelihood * law
    for _ in range(_ROUNDS):
        found /= found.sum(axis=1, keepdims=True)
        law = sizes @ found
        law[0] += _EMPTY
        found = likelihood * (law / law.sum() + 1e-300)
    rows: Reals = found / found.sum(axis=1, keepdims=True)
    return rows


def _support(spread: float) -> Reals:
    """Whole numbers from 0: all of them at first, then in steps of a quarter of the number, at most half a spread."""
    found = [0.0]
    while found[-1] < (_FAR + 4) * spread or len(found) < 3:
        found.append(found[-1] + max(1.0, float(math.floor(min(found[-1] / 4, spread / 2)))))
    return np.array(found)
