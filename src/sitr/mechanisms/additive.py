"""Noise that is added to integers: what the three laws have in common."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.numbers import exact

Noise = Laplace | Gaussian | RoundedGaussian
"""For pure, zero-concentrated and approximate prices."""

LAWS: dict[type, str] = {
    Laplace: "discrete Laplace",
    Gaussian: "discrete Gaussian",
    RoundedGaussian: "rounded Gaussian",
}
"""How reports name them."""


def size(noise: Noise) -> Fraction:
    """The parameter of the law: its scale or its σ."""
    return exact(noise.scale if isinstance(noise, Laplace) else noise.sigma)


def deviation(noise: Noise) -> float:
    """The standard deviation, nearly: σ, or √2 times the scale of Laplace noise.

    >>> deviation(Gaussian(sigma=3)), deviation(Laplace(scale=1))
    (3.0, 1.414...)
    """
    return float(size(noise)) * (math.sqrt(2) if isinstance(noise, Laplace) else 1.0)


def mean_size(noise: Noise) -> float:
    """E|Y|: 1/sinh(1/t) for discrete Laplace noise of scale t; σ·√(2/π) for Gaussian, to within a few percent if σ ≥ 1.

    >>> round(mean_size(Laplace(scale=10)), 3), round(mean_size(Gaussian(sigma=10)), 3)
    (9.983, 7.979)
    """
    if isinstance(noise, Laplace):
        return 1 / math.sinh(min(700.0, float(1 / exact(noise.scale))))
    return float(exact(noise.sigma)) * math.sqrt(2 / math.pi)
