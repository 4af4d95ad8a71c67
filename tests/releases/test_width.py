"""Bounds on weighed sums of noise: they hold, and are not much wider than they must be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import TestCoins
from sitr.releases.width import width


@pytest.mark.parametrize("noise", [Laplace(scale=3), Laplace(scale=Fraction(1, 5)), Gaussian(sigma=2)], ids=str)
@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.5, 0.25, 0.25], [1.0, -1.0], [0.1] * 40], ids=str)
def test_the_width_of_a_sum_holds_its_noise(noise: Any, weights: list[float]) -> None:
    w = np.array(weights)
    far = width(noise, squares=float(w @ w), largest=float(np.abs(w).max()), confidence=0.9)
    drawn = noise.release(np.zeros((20_000 * len(w)), np.int64), coins=TestCoins(5)).reshape(20_000, len(w)) @ w
    beyond = (np.abs(drawn) > far).mean()
    assert beyond <= 0.1 + 6 * 0.3 / math.sqrt(20_000)
    spread = float(np.std(drawn))
    assert far <= 3.2 * spread + float(np.abs(w).max())  # two standards would be enough for a bell


def test_one_number_has_its_exact_quantile() -> None:
    noise = Laplace(scale=4)
    assert width(noise, squares=1.0, largest=1.0, confidence=0.95) == noise.error()
    assert width(noise, squares=0.0, largest=0.0, confidence=0.95) == 0.0
