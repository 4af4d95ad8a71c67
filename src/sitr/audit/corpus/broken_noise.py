"""Broken mechanisms whose flaw is in the noise: too little of it, used twice, of the wrong law, or rounded badly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitr.audit.corpus.naive import float_gaussian, float_laplace
from sitr.audit.corpus.specimen import Specimen
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.gaussian import discrete_gaussian
from sitr.noise.geometric import geometric
from sitr.noise.laplace import discrete_laplace

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

UNIT = 1_000
"""Granules in one unit: fine enough that discrete noise looks continuous."""


def laplace(data: int, size: int, coins: Coins, *, scale: float = UNIT) -> Any:
    """A whole number of granules and discrete Laplace noise."""
    return data + discrete_laplace(scale=scale, size=size, coins=coins)


def gaussian(data: int, size: int, coins: Coins, *, sigma: float = UNIT) -> Any:
    """The same with discrete Gaussian noise."""
    return data + discrete_gaussian(sigma=sigma, size=size, coins=coins)


def cells(data: tuple[int, ...], size: int, coins: Coins, *, scale: float = UNIT) -> Any:
    """Several counts, in granules, each with its own noise."""
    noise = discrete_laplace(scale=scale, size=(size, len(data)), coins=coins)
    return np.asarray(data) + noise


def _resampled(data: int, size: int, coins: Coins) -> Any:
    found = laplace(data, size, coins)
    while (outside := np.flatnonzero((found < 0) | (found > 10 * UNIT))).size:
        found[outside] = laplace(data, outside.size, coins)
    return found


def _reused(data: tuple[int, ...], size: int, coins: Coins) -> Any:
    return np.asarray(data) + discrete_laplace(scale=UNIT, size=(size, 1), coins=coins)


def _twice(data: int, size: int, coins: Coins) -> Any:
    return cells((data, data), size, coins)


def _twice_gaussian(data: int, size: int, coins: Coins) -> Any:
    return data + discrete_gaussian(sigma=UNIT, size=(size, 2), coins=coins)


def _one_sided(data: int, size: int, coins: Coins) -> Any:
    return data + geometric(scale=UNIT, size=size, coins=coins)


def _fixed(data: int, size: int, coins: Coins) -> Any:  # noqa: ARG001 - that is the flaw
    return np.full(size, data + 123)


def _wrapped(data: int, size: int, coins: Coins) -> Any:
    wrapped = (data + 2**15) % 2**16 - 2**15
    return wrapped + discrete_laplace(scale=1, size=size, coins=coins)


def _single_precision(data: float, size: int, coins: Coins) -> Any:
    noise = float_laplace(1.0, size, coins).astype(np.float32)
    return np.float32(data) + noise


def _short(percent: int, draws: int) -> Specimen:
    return Specimen(
        f"Laplace noise {percent}% short",
        PureDP(1.0),
        f"The scale is {percent}% less than Δ/ε, so ε is {100 / (100 - percent):.4g} instead of 1.",
        "[DMNS06]",
        (0, UNIT),
        lambda data, size, coins: laplace(data, size, coins, scale=UNIT * (100 - percent) / 100),
        draws=draws,
    )


NOISE = (
    _short(3, 4_000_000),
    _short(10, 800_000),
    _short(50, 100_000),
    Specimen(
        "Gaussian noise 3% short",
        GaussianDP(1.0),
        "σ is 3% less than Δ/μ, so μ is 1.031 instead of 1.",
        "[DRS22, Def. 2.6]",
        (0, UNIT),
        lambda data, size, coins: gaussian(data, size, coins, sigma=UNIT * 0.97),
        draws=4_000_000,
    ),
    Specimen(
        "ε for 1/ε",
        PureDP(0.5),
        "The scale is Δ·ε instead of Δ/ε: 0.5 instead of 2.",
        "[DMNS06]",
        (0, UNIT),
        lambda data, size, coins: laplace(data, size, coins, scale=UNIT * 0.5),
    ),
    Specimen(
        "add-remove noise under replace-one",
        PureDP(1.0),
        "A replaced person leaves one cell and enters another, so two counts move; the noise is fitted to one.",
        "[DMNS06]",
        ((5 * UNIT, 5 * UNIT), (4 * UNIT, 6 * UNIT)),
        cells,
    ),
    Specimen(
        "resampled truncation",
        PureDP(1.0),
        "Noise is drawn again until the answer is between 0 and 10. How likely that is depends on the value, and this "
        "factor comes on top of e^ε.",
        "[HABMA20]",
        (0, UNIT),
        _resampled,
    ),
    Specimen(
        "naive Laplace noise in floats",
        PureDP(1.0),
        "Which floats can occur depends on the value: the last bits of an answer tell.",
        "[Mir12]",
        (0.0, 1.0),
        lambda data, size, coins: data + float_laplace(1.0, size, coins),
    ),
    Specimen(
        "naive Gaussian noise in floats",
        GaussianDP(1.0),
        "The same with the method of Box and Muller.",
        "[JMRO22]",
        (0.0, 1.0),
        lambda data, size, coins: data + float_gaussian(1.0, size, coins),
    ),
    Specimen(
        "naive Laplace noise in single precision",
        PureDP(1.0),
        "The same in floats of 32 bits.",
        "[Mir12]",
        (0.0, 1.0),
        _single_precision,
    ),
    Specimen(
        "discrete Gaussian noise claimed to be Δ/σ-Gaussian",
        GaussianDP(1.0),
        "Its law is zero-concentrated with ρ = Δ²/2σ², but some tests are better than between two Gaussians.",
        "[CKS20; DRS22, Def. 2.6]",
        (0, 1),
        lambda data, size, coins: gaussian(data, size, coins, sigma=1),
        draws=1_000_000,
    ),
    Specimen(
        "noise reused after a fork",
        PureDP(1.0),
        "Two processes copied the state of the generator: both counts have the same noise, and their difference none.",
        "[GL20]",
        ((5 * UNIT, 7 * UNIT), (6 * UNIT, 7 * UNIT)),
        _reused,
    ),
    Specimen(
        "double spend",
        PureDP(1.0),
        "Two answers about the same person with ε = 1 each, reported as ε = 1.",
        "[DR14, Thm 3.16]",
        (0, UNIT),
        _twice,
    ),
    Specimen(
        "double spend of Gaussian noise",
        GaussianDP(1.0),
        "Two answers with μ = 1 each are √2-Gaussian.",
        "[DRS22, Cor. 3.3]",
        (0, UNIT),
        _twice_gaussian,
    ),
    Specimen(
        "half of ρ",
        ZeroConcentratedDP(0.25),
        "Gaussian noise of σ = Δ has ρ = 1/2; the formula Δ²/2σ² was halved once more.",
        "[BS16, Prop. 1.6]",
        (0, UNIT),
        gaussian,
    ),
    Specimen(
        "one-sided noise",
        PureDP(1.0),
        "Exponential noise never lowers a value: an answer below the larger value reveals the smaller one.",
        "[DMNS06]",
        (0, UNIT),
        _one_sided,
    ),
    Specimen(
        "seed in the source code",
        PureDP(1.0),
        "The generator starts from the same seed every time, so the noise is always the same.",
        "[GL20]",
        (0, UNIT),
        _fixed,
        draws=10_000,
    ),
    Specimen(
        "overflow wraps around",
        PureDP(1.0),
        "The sum is kept in 16 bits: 32,767 and one more is −32,768.",
        "[CSVW22]",
        (2**15 - 1, 2**15),
        _wrapped,
        draws=20_000,
    ),
)
