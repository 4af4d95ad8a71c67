"""Laws of many draws, changed as little as possible, so that together they give the shares that are wanted.

The law of each row, given the row before it, is a little wrong, because it follows from noisy tables. From row to row
of a person the errors add up: where values never decrease, they drift to the end of the year. The shares of the values
in the first row, the second row, … are known much better. So the laws of all rows with one place get one factor for
each value, the same for all of them: of all laws whose mean is what is wanted, these are the nearest to the laws that
were given, by their divergence (iterative proportional fitting).      [Csi75, Sec. 3]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitr.questions.synthetic.marginals import Weights

STEPS = 30
"""How many times all factors are changed."""

FEWEST = 30
"""With fewer laws, or fewer rows that say what is wanted, nothing is changed."""

MOST = 8.0
"""The largest logarithm of a factor: a value that no law allows cannot get its share."""

CHANCE = 2.0
"""What is wanted are shares in a sample: what is within this many standard deviations of them is left as it is."""


def levelled(logs: NDArray[np.float32], sample: NDArray[np.integer], weights: Weights) -> NDArray[np.float32]:
    """The logarithm of the factor of each value, from the logarithms of the laws, a row for each.

    The values of the weighted sample have the shares that are wanted, apart from chance.

    >>> laws = np.log(np.array([[0.9, 0.1], [0.5, 0.5]] * 50)).astype(np.float32)
    >>> more = levelled(laws, np.repeat([0, 1], [300_000, 700_000]), np.ones(1_000_000))
    >>> found = np.exp(laws.astype(float) + more)
    >>> (found / found.sum(axis=1, keepdims=True)).mean(axis=0).round(2).tolist()
    [0.3, 0.7]
    """
    more = np.zeros(logs.shape[1], dtype=np.float32)
    rows = weights.sum() ** 2 / max((weights**2).sum(), 1e-300)
    if min(len(logs), rows) < FEWEST:
        return more
    wanted = np.bincount(sample, weights, minlength=logs.shape[1]) / weights.sum()
    laws = np.exp(logs - logs.max(axis=1, keepdims=True)).astype(np.float64)
    wide = (
        CHANCE * np.sqrt(np.clip(wanted * (1 - wanted), 0.0, None) / rows) + 1 / rows
    )  # a share of 1 may be rounded up
    target = np.clip(_mean(laws), wanted - wide, wanted + wide)
    target /= target.sum()
    rare = 0.1 / len(logs)
    for _ in range(STEPS):
        have = _mean(laws * np.exp(more))
        more = np.clip(more + np.log((target + rare) / (have + rare)), -MOST, MOST).astype(np.float32)
    return more


def _mean(laws: Weights) -> Weights:
    """The mean of laws, after each is scaled to add up to 1."""
    found: Weights = (laws / laws.sum(axis=1, keepdims=True)).mean(axis=0)
    return found
