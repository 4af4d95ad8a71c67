from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx

from sitr.noise.exponential import _LN2_HIGH, _LN2_LOW, LARGE, SMALL, exponential, small_exponential


def worst(points: np.ndarray, found: np.ndarray) -> arb:
    """The largest relative error, by Arb."""
    with ctx.workprec(200):
        return max(abs(arb(float(y)) / (-arb(float(x))).exp() - 1).upper() for x, y in zip(points, found, strict=True))


def test_small_exponents_are_as_near_as_is_proved():
    points = np.concatenate([np.linspace(-SMALL, SMALL, 4001), [0.0, 5e-324, 1e-300, 1e-17, SMALL]])
    error = worst(points, small_exponential(points))
    assert error <= 5 * arb(2) ** -53
    assert error > arb(2) ** -54  # the test sees what floats do
    assert [small_exponential(float(x)) for x in points] == small_exponential(points).tolist()


def test_all_exponents_are_as_near_as_is_proved():
    halves = (np.arange(1, 1010) - 0.5) * math.log(2)
    near = np.concatenate([halves, np.nextafter(halves, 0), np.nextafter(halves, 999)])
    points = np.concatenate([np.linspace(0, LARGE, 4001), near, 2.0 ** -np.arange(0, 1075, 7)])
    assert worst(points, exponential(points)) <= arb(2) ** -49


def test_beyond_all_of_them_next_to_nothing_is_left():
    assert (exponential(np.array([700.0, 701.0, 1e300, math.inf])) < 2.0**-1009).all()
    assert (exponential(np.array([700.0, math.inf])) > 0).all()


def test_the_two_parts_of_ln_2():
    assert all((k * _LN2_HIGH).as_integer_ratio() == tuple(_product(k)) for k in (1, 3, 1009, 2**21 - 1))
    with ctx.workprec(200):
        assert abs(arb(_LN2_HIGH) + arb(_LN2_LOW) - arb(2).log()) < arb(2) ** -86


def _product(k: int) -> tuple[int, int]:
    """k·high without floats, in lowest terms."""
    numerator, denominator = _LN2_HIGH.as_integer_ratio()
    divisor = math.gcd(k * numerator, denominator)
    return k * numerator // divisor, denominator // divisor


@pytest.mark.parametrize("degree", [8, 10])
def test_a_shorter_series_is_noticed(degree, monkeypatch):
    monkeypatch.setattr("sitr.noise.exponential._DEGREE", degree)
    points = np.linspace(-SMALL, SMALL, 101)
    assert worst(points, small_exponential(points)) > 5 * arb(2) ** -53
