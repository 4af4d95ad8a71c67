"""Transforms of noise: against sums over all integers in Arb, to within the slack that is stated."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from sitr.mechanisms.transform import UNIT, GaussianTransform, LaplaceTransform, RoundedTransform
from sitr.numbers import ball

Transform = LaplaceTransform | GaussianTransform | RoundedTransform

LAWS: list[tuple[Transform, Fraction]] = [
    (law.of(scale), scale)
    for law in (LaplaceTransform, GaussianTransform, RoundedTransform)
    for scale in (Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(11, 10), Fraction(7, 3), Fraction(6))
]


def summed(law: Transform, scale: Fraction, tilt: float, omega: float) -> acb:
    """Σ_y P(y)·e^{zy}·constant, over all integers that matter."""
    laplace = isinstance(law, LaplaceTransform)
    reach = math.ceil((450 if laplace else 60) * scale) + 20
    total = acb(0)
    for y in range(-reach, reach + 1):
        turned = acb(arb(tilt) * y, arb(omega) * y).exp()
        if isinstance(law, RoundedTransform):
            ends = [ball((abs(y) + half) / scale) / arb(2).sqrt() for half in (Fraction(-1, 2), Fraction(1, 2))]
            total += (ends[0].erfc() - ends[1].erfc()) / 2 * turned
        else:
            weight = -abs(y) / scale if laplace else -(y**2) / (2 * scale**2)
            total += ball(weight).exp() * turned
    return total


@pytest.mark.sampled(14)
@pytest.mark.parametrize(("law", "scale"), LAWS, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_moments_and_ratios_are_those_of_the_law(law: Transform, scale: Fraction, share: float) -> None:
    tilt = share * min(law.most, 3 / float(scale))
    turns = np.array([0.0, 0.01, 0.7, math.pi, 40.0])
    with ctx.workprec(128):
        zero, whole = summed(law, scale, 0.0, 0.0), summed(law, scale, tilt, 0.0)
        moment = float((whole / zero).real.log())
        exact = np.array([complex(summed(law, scale, tilt, turn) / whole) for turn in turns.tolist()])
    assert law.log_moment(tilt) == pytest.approx(moment, abs=2 * float(law.slack(tilt, np.zeros(1))[0]), rel=8 * UNIT)
    off = np.abs(np.exp(law.log_ratio(tilt, turns)) - exact)
    assert (off <= law.slack(tilt, turns)).all()
    assert (np.abs(exact) <= 1 + 1e-12).all()
    twin = type(law)(1.001 * (law.rate if isinstance(law, LaplaceTransform) else law.sigma))  # another scale is seen
    far = np.abs(np.exp(twin.log_ratio(tilt, turns)) - exact)
    assert (far > law.slack(tilt, turns)).any()


def test_scales_of_any_size_have_transforms() -> None:
    turns = np.array([0.0, 1e-91, 1.0])
    for scale in (Fraction(1, 10**9), Fraction(10**90)):
        for law in (LaplaceTransform.of(scale), GaussianTransform.of(scale), RoundedTransform.of(scale)):
            tilt = 1e-3 * min(law.most, 1 / float(scale))
            assert np.isfinite(law.log_moment(tilt))
            assert (law.log_ratio(tilt, turns).real <= 1e-12).all()


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.3, 0.7, 1.0, 1.01, 1.5, 4.0])
@pytest.mark.parametrize("tilt", [0.0, 0.01, 0.5, 3.0, 40.0])
def test_the_ratio_of_rounded_noise_falls(sigma: float, tilt: float) -> None:
    """What total positivity says, to within the slack; a law with two peaks has no such ratio."""
    law = RoundedTransform(sigma)
    turns = np.linspace(0.0, math.pi, 500)
    sizes = np.exp(law.log_ratio(tilt, turns).real)
    assert (np.diff(sizes) <= 2 * law.slack(tilt, turns)[1:]).all()
    assert (np.diff(np.abs(np.cos(2 * turns))) > 0.01).any()
