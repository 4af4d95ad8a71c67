"""The coins: exact discrete noise, and the only door to entropy."""

from sitr.noise.bernoulli import bernoulli, bernoulli_exponential
from sitr.noise.coins import Coins, HardwareCoins, Provenance, TestCoins, system_coins
from sitr.noise.gaussian import discrete_gaussian, discrete_gaussian_width
from sitr.noise.geometric import geometric
from sitr.noise.laplace import discrete_laplace, discrete_laplace_tail, discrete_laplace_width
from sitr.noise.rounded import (
    rounded_gaussian,
    rounded_gaussian_width,
    rounded_laplace,
    rounded_spherical,
    rounded_student,
)
from sitr.noise.selection import select
from sitr.noise.staircase import staircase
from sitr.noise.uniform import permutation, uniform

__all__ = [
    "Coins",
    "HardwareCoins",
    "Provenance",
    "TestCoins",
    "bernoulli",
    "bernoulli_exponential",
    "discrete_gaussian",
    "discrete_gaussian_width",
    "discrete_laplace",
    "discrete_laplace_tail",
    "discrete_laplace_width",
    "geometric",
    "permutation",
    "rounded_gaussian",
    "rounded_gaussian_width",
    "rounded_laplace",
    "rounded_spherical",
    "rounded_student",
    "select",
    "staircase",
    "system_coins",
    "uniform",
]
