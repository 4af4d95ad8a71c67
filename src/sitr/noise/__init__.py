"""The coins: exact discrete noise, and the only door to entropy."""

from sitr.noise.coins import Coins, TestCoins, system_coins
from sitr.noise.gaussian import discrete_gaussian, discrete_gaussian_width
from sitr.noise.laplace import discrete_laplace, discrete_laplace_tail, discrete_laplace_width

__all__ = [
    "Coins",
    "TestCoins",
    "discrete_gaussian",
    "discrete_gaussian_width",
    "discrete_laplace",
    "discrete_laplace_tail",
    "discrete_laplace_width",
    "system_coins",
]
