"""Mechanisms that keep their claims. An auditor that accuses one of them is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sitr.audit.corpus.broken_choices import above, noisy_max, tested, thresholded
from sitr.audit.corpus.broken_data import AMPLIFIED, noisy_sum, sampled_sum
from sitr.audit.corpus.broken_noise import UNIT, cells, gaussian, laplace
from sitr.audit.corpus.specimen import Specimen
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.laplace import discrete_laplace
from sitr.noise.rounded import rounded_gaussian
from sitr.numbers import upward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")


def _response(data: int, size: int, coins: Coins) -> NDArray[Any]:
    """Turned with probability 1/4, exactly."""
    return np.where(coins.words(size) >> np.uint64(62) == 0, 1 - data, data)


def _halves(data: int, size: int, coins: Coins) -> Any:
    return cells((data, data), size, coins, scale=2 * UNIT)


def _clamped(data: int, size: int, coins: Coins) -> Any:
    return np.clip(laplace(data, size, coins), 0, 10 * UNIT)


def _ratio(data: Sequence[float], size: int, coins: Coins) -> NDArray[Any]:
    """A mean from a noisy sum of values up to 1 and a noisy count, each for half of ε."""
    total = noisy_sum(data, size, coins, scale=2.0)
    rows = len(data) * 1_000 + discrete_laplace(scale=2_000, size=size, coins=coins)
    return total / np.maximum(rows, 1)


CORRECT = (
    Specimen(
        "Laplace noise",
        PureDP(1.0),
        "Discrete noise of scale Δ/ε.",
        "[GRS12, Sec. 2]",
        (0, UNIT),
        laplace,
        broken=False,
    ),
    Specimen(
        "Gaussian noise, as zero-concentrated",
        ZeroConcentratedDP(0.5),
        "Discrete noise with ρ = Δ²/2σ².",
        "[CKS20]",
        (0, UNIT),
        gaussian,
        broken=False,
    ),
    Specimen(
        "Gaussian noise, as approximate",
        ApproximateDP(1.0, upward(GaussianDP(1.0).delta(epsilon=1.0) * 1.001)),
        "σ = Δ; the profile of a Gaussian, and a thousandth for the granules.",
        "[BW18, Thm 8]",
        (0, UNIT),
        gaussian,
        broken=False,
    ),
    Specimen(
        "rounded Gaussian noise",
        GaussianDP(1.0),
        "Continuous noise on a whole number, rounded: what is computed from an answer keeps its promise.",
        "[DRS22, Def. 2.6]",
        (0, 1),
        lambda data, size, coins: data + rounded_gaussian(sigma=1, size=size, coins=coins),
        broken=False,
    ),
    Specimen(
        "randomized response",
        PureDP(upward(math.log(3.0) * (1 + 1e-12))),
        "The truth with probability 3/4.",
        "[War65]",
        (0, 1),
        _response,
        broken=False,
    ),
    Specimen(
        "noisy max without its value",
        PureDP(1.0),
        "The place of the largest value with noise of scale 2Δ/ε.",
        "[DR14]",
        ((0, 0, 0, 0), (1, 1, 1, -1)),
        lambda data, size, coins: noisy_max(data, size, coins, scale=2, value=False),
        broken=False,
    ),
    Specimen(
        "sparse vector",
        PureDP(1.0),
        "Half of ε for the threshold, noise of scale 4cΔ/ε on the queries, and an end after c = 2 times yes.",
        "[LSL17, Alg. 1]",
        ((0, 0, 1, 1), (1, 1, 0, 0)),
        lambda data, size, coins: above(data, size, coins, threshold=2, query=8, most=2),
        broken=False,
    ),
    Specimen(
        "two counts under replace-one",
        PureDP(1.0),
        "Both counts move by one, and the noise is fitted to two.",
        "[DMNS06]",
        ((5 * UNIT, 5 * UNIT), (4 * UNIT, 6 * UNIT)),
        lambda data, size, coins: cells(data, size, coins, scale=2 * UNIT),
        broken=False,
    ),
    Specimen(
        "two answers at half the price",
        PureDP(1.0),
        "ε = 1/2 for each.",
        "[DR14, Thm 3.16]",
        (0, UNIT),
        _halves,
        broken=False,
    ),
    Specimen(
        "clamped answer",
        PureDP(1.0),
        "The noisy answer is moved into the range, which needs nothing but the answer.",
        "[DR14]",
        (0, UNIT),
        _clamped,
        broken=False,
    ),
    Specimen(
        "threshold",
        ApproximateDP(1.0, 0.0134),
        "δ is the probability that one person alone passes 5.",
        "[KKMN09, Thm 1]",
        (1, 0),
        lambda data, size, coins: thresholded(data, size, coins, least=5),
        broken=False,
    ),
    Specimen(
        "propose-test-release",
        ApproximateDP(1.0, upward(math.exp(-5) / (1 + math.exp(-1)) * (1 + 1e-9))),
        "The same test with its δ, the probability that it passes by mistake.",
        "[DL09]",
        ((0, 0), (1, 0)),
        lambda data, size, coins: tested(data, size, coins, least=5),
        broken=False,
    ),
    Specimen(
        "sampling under add-remove",
        PureDP(upward(AMPLIFIED * (1 + 1e-9))),
        "A person of value 1 is in the sample with probability 1/2, or is not in the table.",
        "[BBG18, Thm 8]",
        (1, 0),
        sampled_sum,
        broken=False,
    ),
    Specimen(
        "mean of a noisy sum and a noisy count",
        PureDP(1.0),
        "Values are between 0 and 1, and both numbers have noise for half of ε.",
        "[DR14, Thm 3.16]",
        ((1.0, 0.0, 1.0), (1.0, 0.0)),
        _ratio,
        broken=False,
    ),
)
