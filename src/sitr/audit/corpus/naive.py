"""Textbook noise in floats, as many programs have it. It is here to be caught, and protects nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sitr.namespace import Later
from sitr.noise.coins import Coins

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")


def uniform_floats(size: int, coins: Coins) -> NDArray[np.float64]:
    """Multiples of 2⁻⁵³ from 0 up to, but not including, 1: the uniform floats of most libraries."""
    return (coins.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def float_laplace(scale: float, size: int, coins: Coins) -> NDArray[np.float64]:
    """±scale·ln U, rounded at every step.      [Mir12]"""
    sign = np.where(uniform_floats(size, coins) < 0.5, -1.0, 1.0)
    return sign * scale * -np.log(1.0 - uniform_floats(size, coins))


def float_gaussian(sigma: float, size: int, coins: Coins) -> NDArray[np.float64]:
    """σ·√(−2 ln U)·cos 2πV, the method of Box and Muller, rounded at every step.      [JMRO22]"""
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform_floats(size, coins)))
    return sigma * radius * np.cos(2.0 * math.pi * uniform_floats(size, coins))
