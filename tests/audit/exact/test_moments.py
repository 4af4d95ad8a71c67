"""Moments of many pairs and their derivatives, against Arb."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from sitr.audit.exact.mechanism import FiniteMechanism, finite
from sitr.audit.exact.moments import Moments, Steps
from sitr.precision import precision

ROWS = [[Fraction(one, 20) for one in row] for row in ((9, 4, 5, 2), (3, 8, 2, 7), (4, 6, 5, 5))]
STEPS = (Steps(0.3), Steps(0.5, 0.75, 6), Steps(0.01, count=9, doubled=True), Steps(2000.0, 500.0, 2))


def mechanisms() -> list[FiniteMechanism]:
    return [finite(ROWS), finite(np.array([[float(one) for one in row] for row in ROWS]) * (1 - 1e-14))]


def known(p: list[Fraction], q: list[Fraction], tilt: float) -> list[arb]:
    """K, K′, K″ and K‴/K″ of one pair."""
    masses = [arb(fmpq(a.numerator, a.denominator)) for a in p]
    losses = [(arb(fmpq(*(a / b).as_integer_ratio()))).log() for a, b in zip(p, q, strict=True)]
    weights = [mass * (loss * arb(tilt)).exp() for mass, loss in zip(masses, losses, strict=True)]
    total = sum(weights, arb(0))
    mean = sum((w * x for w, x in zip(weights, losses, strict=True)), arb(0)) / total
    second, third = (
        sum((w * (x - mean) ** k for w, x in zip(weights, losses, strict=True)), arb(0)) / total for k in (2, 3)
    )
    return [total.log(), mean, second, third / second]


@pytest.mark.parametrize("steps", STEPS)
def test_moments_and_derivatives_hold_the_truth(steps: Steps) -> None:
    for mechanism in mechanisms():
        pairs = mechanism.pairs()
        found = Moments.of(pairs).log_moments(steps)
        for tilt, value in zip(steps, found, strict=True):
            for row, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
                with precision(300):
                    truth = known(ROWS[first], ROWS[second], tilt)
                    for one, low, high in zip(truth, value[::2], value[1::2], strict=True):
                        assert not arb(float(low[row])) > one
                        assert not one > arb(float(high[row]))
                    assert value.upper[row] - value.lower[row] <= 1e-9 * (1 + value.upper[row])


def test_steps_agree_with_fresh_exponentials() -> None:
    moments = Moments.of(mechanisms()[1].pairs())
    for steps in STEPS[1:3]:
        for tilt, value in zip(steps, moments.log_moments(steps), strict=True):
            (fresh,) = moments.log_moments(Steps(tilt))
            assert np.all(value.lower <= fresh.upper)
            assert np.all(fresh.lower <= value.upper)


def test_a_twin_without_the_error_of_the_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded = np.array([[float(one) for one in row] for row in ROWS]) * (1 + 1e-6 * np.array([1, -1, 1, -1]))
    rounded = rounded / rounded.sum(axis=1, keepdims=True)
    truth = {}
    for place, wrong in ((0, 3e-6), (1, 1e-15)):
        mechanism = finite(rounded, rounding=3e-6)
        if place:
            monkeypatch.setattr(type(mechanism.pairs()), "wrong", wrong)
        pairs = mechanism.pairs()
        value = Moments.of(pairs).log_moment(2.0)
        with precision(200):
            exact = known(ROWS[pairs.first[0]], ROWS[pairs.second[0]], 2.0)[0]
            truth[place] = bool(arb(float(value.lower[0])) <= exact <= arb(float(value.upper[0])))
    assert truth == {0: True, 1: False}
