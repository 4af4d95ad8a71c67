"""The noises from which plans choose, and the choice for a price: the only place that lists them."""

from __future__ import annotations

from functools import lru_cache

from sitr.mechanisms.additive import Noise, NoisePrice
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.numbers import Number

NOISES: tuple[type[Noise], ...] = (Laplace, Gaussian, RoundedGaussian)
"""For pure, zero-concentrated and Gaussian prices."""


def least_noise(price: NoisePrice, *, l1: Number, l2: Number, granularity: Number = 1) -> Noise:
    """The noise with the smallest error that keeps this price.

    One unit moves the vector by at most `l1` in the sum of sizes and by at most `l2` in Euclidean length.

    >>> from sitr.flavors import PureDP, ZeroConcentratedDP
    >>> least_noise(PureDP(0.5), l1=2, l2=2)
    Laplace(scale=Fraction(4, 1), sensitivity=Fraction(2, 1), granularity=Fraction(1, 1))
    >>> least_noise(ZeroConcentratedDP(0.125), l1=4, l2=2).size
    Fraction(4, 1)
    """
    return _least(NOISES, price, l1, l2, granularity)


@lru_cache(1024, typed=True)  # what is measured beside each other often costs and moves the same
def _least(kinds: tuple[type[Noise], ...], price: NoisePrice, l1: Number, l2: Number, granularity: Number) -> Noise:
    fitted = [
        kind.fitting(price, sensitivity=l2 if kind.euclidean else l1, granularity=granularity)
        for kind in kinds
        if kind.flavor is type(price)
    ]
    return fitted[0] if len(fitted) == 1 else min(fitted, key=lambda noise: noise.error())
