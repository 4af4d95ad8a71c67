"""Broken mechanisms whose flaw is in how they treat rows: sensitivities, missing values, sizes, samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sitr.audit.corpus.naive import uniform_floats
from sitr.audit.corpus.specimen import Specimen
from sitr.flavors.pure import PureDP
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace
from sitr.numbers import downward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

UNIT = 1_000

AMPLIFIED = downward(math.log1p(0.5 * math.expm1(1.0)))
"""ln(1 + q(e^ε − 1)) for q = 1/2 and ε = 1."""


def noisy_sum(data: Sequence[float], size: int, coins: Coins, *, scale: float = 1.0) -> NDArray[Any]:
    """The sum of values in units, with noise on granules; NaN if one of them is."""
    total = sum(data)
    noise = discrete_laplace(scale=scale * UNIT, size=size, coins=coins)
    if math.isnan(total):
        return np.full(size, math.nan)
    return round(total * UNIT) + noise


def _mean(data: Sequence[int], size: int, coins: Coins) -> NDArray[Any]:
    return (sum(data) + discrete_laplace(scale=1, size=size, coins=coins)) / len(data)


def _noisy_mean(data: Sequence[int], size: int, coins: Coins) -> NDArray[Any]:
    """The mean with the noise fitted to 1/n, in granules."""
    n = len(data)
    return round(UNIT * sum(data) / n) + discrete_laplace(scale=UNIT / n, size=size, coins=coins)


def _rounded(data: float, size: int, coins: Coins) -> NDArray[Any]:
    return UNIT * math.floor(data + 0.5) + discrete_laplace(scale=UNIT, size=size, coins=coins)


def _local(data: Sequence[int], size: int, coins: Coins) -> NDArray[Any]:
    """The median with noise fitted to how far it moves on these very data."""
    ordered = sorted(data)
    middle = len(ordered) // 2
    moves = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
    exact = np.full(size, float(ordered[middle]))
    return exact + discrete_laplace(scale=moves, size=size, coins=coins) if moves else exact


def sampled_sum(data: int, size: int, coins: Coins, *, rate: float = 0.5) -> NDArray[Any]:
    """One person's value is in the sample with this probability; the others add up to 0."""
    taken = uniform_floats(size, coins) < rate
    return np.where(taken, data * UNIT, 0) + discrete_laplace(scale=UNIT, size=size, coins=coins)


def _capped(data: int, size: int, coins: Coins) -> NDArray[Any]:
    return np.minimum(data, data + discrete_laplace(scale=1, size=size, coins=coins))


DATA = (
    Specimen(
        "a NaN in the sum",
        PureDP(1.0),
        "One missing value makes the sum NaN, with or without noise.",
        "[CSVW22]",
        ((0.2, 0.7), (0.2, 0.7, math.nan)),
        noisy_sum,
        draws=10_000,
    ),
    Specimen(
        "private n used as if it were public",
        PureDP(1.0),
        "The noisy sum is divided by the exact number of rows: multiples of 1/3 and of 1/2 tell.",
        "[DMNS06]",
        ((1, 0, 1), (1, 0)),
        _mean,
    ),
    Specimen(
        "noise fitted to the private n",
        PureDP(1.0),
        "The sensitivity 1/n of a mean is that of this table; under add-remove, n and the scale change.",
        "[DMNS06]",
        ((1, 1), (1, 1, 0)),
        _noisy_mean,
    ),
    Specimen(
        "unclipped sum",
        PureDP(1.0),
        "The noise is fitted to values up to 1, but nothing clamps them.",
        "[DMNS06]",
        ((0.5, 0.5), (0.5, 0.5, 3.0)),
        noisy_sum,
    ),
    Specimen(
        "values rounded before the noise",
        PureDP(0.6),
        "Values move by at most 0.6, but after rounding to whole numbers they move by 1.",
        "[CSVW22]",
        (0.4, 1.0),
        _rounded,
    ),
    Specimen(
        "zero sensitivity",
        PureDP(1.0),
        "The median does not move when any one value of these data does, so it gets no noise; its neighbour gets some.",
        "[NRS07]",
        ((0, 0, 0, 0, 1), (0, 0, 0, 1, 1)),
        _local,
    ),
    Specimen(
        "sampling claimed with the wrong relation",
        PureDP(AMPLIFIED),
        "ln(1 + q(e^ε − 1)) is for adding or removing a person whose value is at most 1; a replaced one moves by 2.",
        "[BBG18, Thm 8]",
        (1, -1),
        sampled_sum,
    ),
    Specimen(
        "two rows of one person",
        PureDP(1.0),
        "The claim is for persons, the noise for rows, and somebody has two.",
        "[DR14]",
        ((), (1.0, 1.0)),
        noisy_sum,
    ),
    Specimen(
        "answer capped at the exact count",
        PureDP(1.0),
        "The noisy count is cut at the number of rows, which is private: the largest answer is that number.",
        "[DMNS06]",
        (4, 5),
        _capped,
    ),
)
