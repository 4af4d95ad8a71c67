"""Broken mechanisms that choose or compare: sparse vectors, noisy maxima, thresholds, tests before a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sitr.audit.corpus.naive import uniform_floats
from sitr.audit.corpus.specimen import Specimen
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

UNIT = 100


def above(
    data: Sequence[int],
    size: int,
    coins: Coins,
    *,
    threshold: float,
    query: float | None,
    most: int | None,
    shown: bool = False,
) -> NDArray[Any]:
    """The sparse vector technique: is each value above a noisy threshold of 0? 1 for yes, 0 for no, −1 after the end.

    `threshold` and `query` are the scales of the noise in units; it stops after `most` times yes. With `shown`, the
    noisy value that passed is released in place of yes, and NaN in place of no.
    """
    values = np.asarray(data) * UNIT
    rho = discrete_laplace(scale=threshold * UNIT, size=(size, 1), coins=coins)
    nu = 0 if query is None else discrete_laplace(scale=query * UNIT, size=(size, len(values)), coins=coins)
    noisy = values + nu
    yes = noisy >= rho
    ended = np.cumsum(yes, axis=1) - yes >= (most if most is not None else len(values) + 1)
    if shown:
        return np.where(ended, math.inf, np.where(yes, noisy / UNIT, math.nan))
    return np.where(ended, -1, yes.astype(np.int64))


def noisy_max(data: Sequence[int], size: int, coins: Coins, *, scale: float, value: bool) -> Any:
    """The place of the largest noisy value, or this value itself."""
    noisy = np.asarray(data) * UNIT + discrete_laplace(scale=scale * UNIT, size=(size, len(data)), coins=coins)
    return noisy.max(axis=1) if value else noisy.argmax(axis=1)


def exponential(data: Sequence[float], size: int, coins: Coins, *, rate: float) -> NDArray[Any]:
    """A candidate with probability ∝ e^{rate·quality}, drawn in floats."""
    weights = np.exp(rate * np.asarray(data, dtype=float))
    return np.searchsorted(np.cumsum(weights / weights.sum())[:-1], uniform_floats(size, coins), side="right")


def truthful(data: int, size: int, coins: Coins, *, truth: float) -> NDArray[Any]:
    """A bit, which is turned with probability 1 − truth."""
    return np.where(uniform_floats(size, coins) < truth, data, 1 - data)


def thresholded(data: int, size: int, coins: Coins, *, least: int, scale: float = 1) -> NDArray[Any]:
    """The noisy count of a key that is shown if it is at least this large, and NaN for one that is not shown.

    A key that nobody has cannot be shown.
    """
    if data == 0:
        return np.full(size, math.nan)
    noisy = data + discrete_laplace(scale=scale, size=size, coins=coins)
    return np.where(noisy >= least, noisy, math.nan)


def tested(data: tuple[int, int], size: int, coins: Coins, *, least: int) -> NDArray[Any]:
    """The exact value if the noisy distance to another value is large enough, and NaN otherwise."""
    value, distance = data
    noisy = distance + discrete_laplace(scale=1, size=size, coins=coins)
    return np.where(noisy >= least, float(value), math.nan)


CHOICES = (
    Specimen(
        "sparse vector, variant 3",
        PureDP(1.0),
        "The noisy value that passed the threshold is released too, and bounds the threshold from above.",
        "[LSL17, Alg. 3]",
        ((0, 0, 0, 0, 0, 0, 0), (1, 1, 1, 1, 1, 1, 0)),
        lambda data, size, coins: above(data, size, coins, threshold=2, query=2, most=1, shown=True),
        draws=2_000_000,
    ),
    Specimen(
        "sparse vector, variant 4",
        PureDP(1.0),
        "The noise of the queries is not fitted to the number of positive answers: ε is (1 + 6c)/4 times the claim.",
        "[LSL17, Alg. 4]",
        ((0, 0, 1, 1, 1), (1, 1, 0, 0, 0)),
        lambda data, size, coins: above(data, size, coins, threshold=4, query=4 / 3, most=3),
    ),
    Specimen(
        "sparse vector, variant 5",
        PureDP(1.0),
        "The queries have no noise: a no and a yes may be impossible together.",
        "[LSL17, Alg. 5]",
        ((0, 1), (1, 0)),
        lambda data, size, coins: above(data, size, coins, threshold=2, query=None, most=None),
    ),
    Specimen(
        "sparse vector, variant 6",
        PureDP(1.0),
        "It never stops, and the noise of the queries is fitted to one positive answer.",
        "[LSL17, Alg. 6]",
        ((0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)),
        lambda data, size, coins: above(data, size, coins, threshold=2, query=2, most=None),
    ),
    Specimen(
        "noisy max that releases its value",
        PureDP(1.0),
        "Only the place of the largest noisy value is private: its size depends on all candidates at once.",
        "[DWWZK18]",
        ((0,) * 8, (1,) * 8),
        lambda data, size, coins: noisy_max(data, size, coins, scale=2, value=True),
    ),
    Specimen(
        "exponential mechanism without the factor 2",
        PureDP(1.0),
        "Weights are e^{ε·q/Δ}, but qualities move in opposite directions, and so does the sum of the weights.",
        "[MT07, Thm 6]",
        ((0, 4), (1, 3)),
        lambda data, size, coins: exponential(data, size, coins, rate=1.0),
    ),
    Specimen(
        "randomized response with three fourths of the truth",
        PureDP(math.log(2)),
        "The truth with probability 3/4 has ε = ln 3; the claim forgets that the second coin may tell the truth too.",
        "[War65]",
        (0, 1),
        lambda data, size, coins: truthful(data, size, coins, truth=0.75),
    ),
    Specimen(
        "threshold off by one",
        ApproximateDP(1.0, 0.0134),
        "δ is the probability that one person alone passes 5; the code compares with at least 4.",
        "[KKMN09, Thm 1]",
        (1, 0),
        lambda data, size, coins: thresholded(data, size, coins, least=4),
    ),
    Specimen(
        "keys inferred from the data",
        ApproximateDP(1.0, 1e-6),
        "Every key that occurs is shown with a noisy count: a key of one person appears with that person.",
        "[KKMN09]",
        (1, 0),
        lambda data, size, coins: thresholded(data, size, coins, least=-(10**9)),
        draws=20_000,
    ),
    Specimen(
        "propose-test-release without the δ of its test",
        PureDP(2.0),
        "The test passes by mistake with probability δ, and then the exact value is released; the claim has no δ.",
        "[DL09]",
        ((0, 0), (1, 0)),
        lambda data, size, coins: tested(data, size, coins, least=5),
        draws=1_000_000,
    ),
)
