"""Spherical noise: its law is tested with the sampler; here what it promises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.pure import PureDP
from sitr.mechanisms.spherical import Spherical
from sitr.noise.coins import TestCoins


def test_fitting_keeps_the_promise_exactly() -> None:
    noise = Spherical.fitting(PureDP(0.3), sensitivity=Fraction(3, 7), granularity=2.0**-20)
    assert noise.promise() == PureDP(0.3)
    assert noise.scale == Fraction(10, 7)


def test_a_float_is_rounded_up_where_other_lengths_have_the_same() -> None:
    """√(2⁶⁰ + 1) granules is 2³⁰ as a float."""
    assert Spherical(scale=1, sensitivity=2.0**30).sensitivity > 2**30
    assert Spherical.fitting(PureDP(1.0), sensitivity=2.0**30).scale > 2**30
    assert Spherical(scale=1, sensitivity=3.0).sensitivity == 3


def test_released_numbers_are_on_the_grid_and_as_far_as_the_error_says() -> None:
    noise, coins = Spherical(scale=2, granularity=Fraction(1, 8)), TestCoins(7)
    drawn = [noise.release([Fraction(1, 8)] * 4, coins=coins) for _ in range(2000)]
    assert all((number * 8).denominator == 1 for row in drawn for number in row)
    lengths = np.linalg.norm([[float(number) - 0.125 for number in row] for row in drawn], axis=1)
    # Binomial(2000, 0.95) is 1900 ± 5·9.7; the error is a little generous for the rounding.
    assert 1850 <= np.sum(lengths <= float(noise.error(size=4))) <= 1960
    assert abs(np.mean(lengths) - 8) < 5 * 4 / np.sqrt(2000)  # Gamma(4)·2: mean 8, deviation 4


@pytest.mark.parametrize("value", [0.5, Fraction(1, 3)])
def test_numbers_off_the_grid_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="multiples of 1/2 for Spherical"):
        Spherical(scale=1, granularity=Fraction(1, 2)).release([value])  # type: ignore[list-item]
